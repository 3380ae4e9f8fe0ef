"""Functions are short and simple. lint_functions.py ROOT, run by a Python that has lizard; exits 1 with one line a finding.

Tables may be long: a function without branches, and the cases of a switch, which count as one branch. Tests may be, too.
"""

import pathlib
import re
import sys

from cpp_text import TEST_FILE

MAX_LINES, MAX_BRANCHES, MAX_BRANCHES_OF_TABLE = 60, 25, 2

# function, by its name without namespaces -> why it may be longer or have more branches
PERMITTED = {
}


def short(name):
    """muster::runtime::Node::create as Node::create."""
    return re.sub(r"^(?:[a-z_]\w*::)+", "", name)


def too_much(function):
    """What is wrong with it; None: nothing."""
    if function.length > MAX_LINES and function.cyclomatic_complexity > MAX_BRANCHES_OF_TABLE:
        return f"{function.length} lines; more than {MAX_LINES} are several steps"
    if function.cyclomatic_complexity > MAX_BRANCHES:
        return f"{function.cyclomatic_complexity} branches; more than {MAX_BRANCHES} are several decisions"
    return None


def findings(root):
    import lizard

    paths = [str(path) for top in ("src", "bench", "cmake") for path in sorted((root / top).rglob("*"))
             if path.suffix in (".cc", ".h") and not TEST_FILE.search(path.as_posix())]
    used = set()
    for file in lizard.analyze_files(paths, exts=lizard.get_extensions(["modified"])):
        for function in file.function_list:
            wrong, name = too_much(function), short(function.name)
            if wrong and name in PERMITTED:
                used.add(name)
            elif wrong:
                yield f"{pathlib.Path(file.filename).relative_to(root)}:{function.start_line}: function: {name}: {wrong}"
    for name in PERMITTED:
        if name not in used:
            yield f"scripts/lint_functions.py:1: function: {name} does not need its permission any more"


def main(root):
    found = sorted(findings(pathlib.Path(root).resolve()))
    if found:
        print(*found, f"{len(found)} findings", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
