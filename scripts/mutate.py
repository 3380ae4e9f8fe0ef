#!/usr/bin/env python3
"""Makes small deliberate mistakes, one at a time, and sees that a test catches each.

mutate.py ROOT [--only WORDS] [--record]: the mistakes stand in tests/mutations/*.toml. They are made
in a copy of the tree below build/mutants, never in the tree itself. --record writes docs/mutations.md; the rows of those
that were not made this time stay as they are. Exit status 1 when one survives.
"""

import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib


@dataclasses.dataclass
class Mutation:
    what: str
    file: str
    old: str
    new: str
    target: str
    folder: str

    def apply(self, tree):
        path = tree / self.folder / self.file
        text = path.read_text()
        if text.count(self.old) != 1:
            raise SystemExit(f"{self.what}: its text stands {text.count(self.old)} times in {self.folder}/{self.file}, "
                             "and it must stand there once")
        path.write_text(text.replace(self.old, self.new))
        return path, text


def read_mutations(root):
    found = []
    for file in sorted((root / "tests/mutations").glob("*.toml")):
        data = tomllib.loads(file.read_text())
        for row in data["mutation"]:
            found.append(Mutation(row["what"], row["file"], row["from"], row["to"], data["target"], data["folder"]))
    return found


def refresh(root, tree):
    """Brings the copy up to date and leaves the times of what did not change alone."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    wanted = [name for name in listed.split("\0") if name and (root / name).is_file()]
    for name in wanted:
        source, copy = root / name, tree / name
        if copy.is_file() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
    for copy in (tree / "src").rglob("*"):
        if copy.is_file() and str(copy.relative_to(tree)) not in wanted:
            copy.unlink()


def build(tree, target):
    done = subprocess.run(["ninja", "-C", "build/asan", "-j2", target], check=False, cwd=tree, capture_output=True, text=True)
    return done.returncode == 0, done.stdout


def failing_test(output):
    """The first test that failed, or the one that was running when the program ended."""
    failed = re.search(r"\[  FAILED  \] (\S+?)(?:,| \()", output)
    if failed:
        return failed.group(1)
    begun = re.findall(r"\[ RUN      \] (\S+)", output)
    return begun[-1] if begun else "(before the first test)"


def run(tree, mutation):
    """What caught it; None: nothing did."""
    program = next((tree / "build/asan").rglob(mutation.target))
    try:
        done = subprocess.run([program, "--gtest_fail_fast"], check=False, cwd=tree, capture_output=True, text=True,
                              errors="replace", timeout=300)
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace")
        return failing_test(output) + " (never ends)"
    return None if done.returncode == 0 else failing_test(done.stdout)


def plain(test):
    """Suite.Test, without what parameters add: Upstream/Suite.Test/Row."""
    parts = test.split("/")
    return next((part for part in parts if "." in part), test)


def row(mutation, caught):
    return (f"| {mutation.what} | `{mutation.folder}/{mutation.file}` | "
            f"{'nothing' if caught is None else f'`{plain(caught)}`'} |")


def document(text, every, found):
    """The page with what was found; of the others what it said before. It has no mistake that is not listed any more."""
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in text.splitlines() if line.startswith("| ")}
    rows.update({mutation.what: row(mutation, caught) for mutation, caught in found})
    lines = ["# Mistakes that the tests catch", "",
             "`./dev drill mutations` makes each of these small deliberate mistakes, one at a time, in a copy of the tree,",
             "builds it and runs the tests of the folder. The test is the first that failed; others may fail as well.",
             "This page is written by `./dev drill mutations --record`.", "",
             "| Mistake | In | Caught by |", "|---|---|---|"]
    lines += [rows[mutation.what] for mutation in every if mutation.what in rows]
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("root", type=pathlib.Path)
    arguments.add_argument("--only", default="", help="words of what is wrong, or the tests that are to catch it")
    arguments.add_argument("--record", action="store_true")
    wanted = arguments.parse_args()
    tree = wanted.root / "build/mutants"
    tree.mkdir(parents=True, exist_ok=True)
    refresh(wanted.root, tree)
    subprocess.run(["cmake", "--preset", "asan", "-B", "build/asan"], cwd=tree, check=True, capture_output=True)
    every = read_mutations(wanted.root)
    mutations = [m for m in every if wanted.only in m.what or wanted.only == m.target]
    for target in sorted({m.target for m in mutations}):
        good, output = build(tree, target)
        if not good:
            raise SystemExit(f"{target} does not build:\n{output[-3000:]}")
    if mutations and (caught := run(tree, mutations[0])):
        raise SystemExit(f"{caught} fails without any mistake")
    rows = []
    for mutation in mutations:
        path, text = mutation.apply(tree)
        try:
            good, output = build(tree, mutation.target)
            # A mistake that the compiler catches need not be caught by a test: the list is wrong.
            caught = run(tree, mutation) if good else None
            if not good:
                print(f"does not compile:\n{output[-3000:]}")
        finally:
            path.write_text(text)
        rows.append((mutation, caught))
        print(f"{'SURVIVED' if caught is None else 'caught'}: {mutation.what}: {caught or ''}", flush=True)
    if wanted.record:
        page = wanted.root / "docs/mutations.md"
        page.write_text(document(page.read_text(), every, rows))
    survived = sum(caught is None for _, caught in rows)
    print(f"{len(rows) - survived} caught, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
