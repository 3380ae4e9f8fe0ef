"""What a change can affect, as suites and names for ./dev test, one line each, what is nearest first.

affected.py ROOT    reads the paths of changed files, relative to ROOT, a line each. Last may come `left SUITE...`: suites of the
                    whole program, in which the change may show as well.
"""

import pathlib
import re
import sys
from typing import NamedTuple

WHOLE_PROGRAM = ["simulate", "e2e", "security", "elastic", "conformance", "cluster", "foreign"]

# Folders of tests in Python -> the suites that run them.
TESTS = {
    "tests/dev": ["tools"],
    "tests/e2e": ["e2e"],
    "tests/security": ["security"],
    "tests/elastic": ["elastic"],
    "tests/conformance": ["conformance", "cluster"],
    "tests/operator": ["cluster"],
    "tests/foreign": ["foreign"],
    "python/muster/tests": ["python"],
}

# Other paths -> what tests them: a suite with names, or `folder NAME`, which is as if a source of that folder changed.
# The first that fits counts.
OTHERS = [
    (r".*\.md$", ["tools test_docs", "e2e test_doc_commands"]),
    (r".*\.svg$", ["tools test_docs"]),
    (r"(cmake/|proto/|CMakeLists\.txt$|CMakePresets\.json$|src/[^/]+$)", ["every folder", "tools"]),
    (r"python/muster/src/muster/(hook/|zygote\.py$)", ["folder muster_run", "python", "elastic"]),
    (r"python/muster/", ["python"]),
    (r"tests/launch/", ["folder launch"]),
    (r"tests/mutations/", ["tools test_mutate"]),
    (r"tests/upstream/", ["tools test_upstream"]),
    (r"tests/cluster/", ["tools test_cluster", "conformance", "cluster", "foreign"]),
    (r"examples/", ["e2e test_examples", "tools test_docs"]),
    (r"deploy/", ["e2e test_deploy", "conformance test_install"]),
    (r"dev$|scripts/|bench/|\.ci/|\.github/", ["tools"]),
]


class Folder(NamedTuple):
    uses: frozenset  # by its library
    tests_use: frozenset  # by anything that is built in it
    threads: bool  # it has programs for the thread sanitizer


def read_folders(texts):
    """{folder: Folder}, from {folder: the text of its CMakeLists.txt}."""
    home = {f"muster_{name}": name for name in texts}
    for name, text in texts.items():
        for target in re.findall(r"add_(?:library|executable)\((\w+)|muster_static_program\((\w+)", text):
            home.setdefault("".join(target), name)
    folders = {}
    for name, text in texts.items():
        text = re.sub(r"#[^\n]*", "", text)
        declared = re.search(r"muster_library\(\w+[^)]*?\bDEPENDS\b([a-z_\s]*)", text)
        uses = set(declared.group(1).split()) & set(texts) if declared else set()
        tests_use = {home[word] for word in re.findall(r"\bmuster_\w+", text) if word in home} | uses
        folders[name] = Folder(frozenset(uses - {name}), frozenset(tests_use - {name}), bool(re.search(r"\bTSAN\b", text)))
    return folders


def dependents(changed, folders):
    """The folders whose library stands on one of those that changed."""
    found, before = set(changed), None
    while before != found:
        before = set(found)
        found |= {name for name, folder in folders.items() if folder.uses & found}
    return found


def by_nearness(names, changed, folders):
    """First what uses a changed folder itself, then what uses that, and so on."""
    ordered, known = [], set(changed)
    todo = set(names) - known
    while todo:
        # What is left hangs on them by its tests alone.
        ring = sorted(name for name in todo if folders[name].uses & known) or sorted(todo)
        ordered += ring
        known |= set(ring)
        todo -= known
    return ordered


class Affected:
    def __init__(self, folders):
        self.folders = folders
        self.libraries = set()  # folders of which more than tests changed
        self.near = set()  # folders of which anything changed
        self.suites = {}  # suite -> names; none: all of it

    def suite(self, line):
        what, *names = line.split()
        if what == "every":
            self.libraries |= set(self.folders)
            self.near |= set(self.folders)
        elif what == "folder":
            self.source(*names)
        elif not names:
            self.suites[what] = []
        elif self.suites.get(what, True):
            self.suites[what] = sorted({*self.suites.get(what, []), *names})

    def source(self, folder, test=False):
        self.near.add(folder)
        if not test:
            self.libraries.add(folder)

    def take(self, path):
        parts = path.split("/")
        if parts[0] == "src" and len(parts) > 2 and parts[1] in self.folders and not path.endswith(".md"):
            self.source(parts[1], path.endswith("_test.cc"))
            return
        for place, suites in TESTS.items():
            if path.startswith(place + "/"):
                own = re.fullmatch(r"(test_\w+)\.py", parts[-1])
                for suite in suites:
                    self.suite(f"{suite} {own.group(1)}" if own else suite)
                return
        for pattern, lines in OTHERS:
            if re.match(pattern, path):
                for line in lines:
                    self.suite(line)
                return

    def lines(self):
        yield "lint"
        if self.near:
            yield " ".join(["unit", *sorted(self.near)])
        reached = dependents(self.libraries, self.folders)
        reached |= {name for name, folder in self.folders.items() if folder.tests_use & reached}
        further = by_nearness(reached - self.near, self.near, self.folders)
        if further:
            yield " ".join(["dependents", *further])
        threads = [name for name in [*sorted(self.near), *further] if self.folders[name].threads]
        if threads:
            yield " ".join(["tsan", *threads])
        for suite in ["tools", "python", *WHOLE_PROGRAM]:
            if suite in self.suites:
                yield " ".join([suite, *self.suites[suite]])
        if self.libraries:
            left = [suite for suite in WHOLE_PROGRAM if self.suites.get(suite, True)]
            if left:
                yield " ".join(["left", *left])


def affected(paths, folders):
    change = Affected(folders)
    for path in paths:
        change.take(path)
    return list(change.lines()) if paths else []


def main(root):
    lists = sorted(pathlib.Path(root, "src").glob("*/CMakeLists.txt"))
    folders = read_folders({path.parent.name: path.read_text() for path in lists})
    print(*affected([line.strip() for line in sys.stdin if line.strip()], folders), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
