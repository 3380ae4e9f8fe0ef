"""What passed before and has not changed since needs no second run: remembers it for ./dev test.

unchanged.py programs STORE ROOT BUILD OUTPUT [CTEST_OPTION...]
    Of the test programs that ctest would run, those that passed before as they are: puts their reports into OUTPUT/unchanged.
    Prints how many are left to run, and a regular expression of the others' names.
unchanged.py keep-programs STORE ROOT BUILD OUTPUT
    Remembers those that passed in the run that followed; OUTPUT has its reports.
unchanged.py suite STORE ROOT REPORT INPUT...
    Exits with 0 if a suite of pytest passed before with these inputs (files, folders, or words that say what else there is), and
    puts its report at REPORT; with 1 if not.
unchanged.py keep-suite STORE ROOT REPORT INPUT...
    Remembers it if it passed, and no input changed while it ran.

A program's outcome depends on the program, on what its tests say that they read (src/base/test_inputs.h: files of the source
tree, seeds) and on the machine: its packages, its kernel, the user. That of a suite depends on the machine and on its inputs.
What can depend on more (a command that isn't a program of the build) is always run, and so is what failed. STORE may be removed
at any time.
"""

import hashlib
import json
import os
import pathlib
import re
import site
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

# Another number when entries mean something else.
FORMAT = 1
KEPT_SECONDS = 30 * 24 * 3600
SEEDS = "MUSTER_SEED_SLICE"


def hash_of(*parts):
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def hash_of_path(path):
    """Of a file's content, or of all names and contents in a folder; None if there is nothing."""
    if path.is_dir():
        inside = (each for each in sorted(path.rglob("*")) if each.is_file() and "__pycache__" not in each.parts)
        return hash_of(*(part for each in inside for part in (each.relative_to(path), each.read_bytes())))
    return hash_of(path.read_bytes()) if path.is_file() else None


def machine():
    """What tests can find on this machine besides the source tree."""
    packages = pathlib.Path("/var/lib/dpkg/status")
    modules = {*site.getsitepackages(), "/usr/lib/python3/dist-packages", *map(str, pathlib.Path("/usr/local/lib").glob("python3*/dist-packages"))}
    return hash_of(FORMAT, packages.read_bytes() if packages.exists() else "", os.uname().release, os.geteuid(), os.cpu_count(),
                   *(name for folder in sorted(modules) if os.path.isdir(folder) for name in sorted(os.listdir(folder))))


class Entry:
    """One thing that passed: a file of STORE."""

    def __init__(self, store, key):
        self.path = pathlib.Path(store) / f"{key}.json"

    def read(self):
        try:
            kept = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return None
        os.utime(self.path)
        return kept

    def write(self, **kept):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(kept))
        new.replace(self.path)


def forget_old(store):
    for path in pathlib.Path(store).glob("*"):
        if path.stat().st_mtime < time.time() - KEPT_SECONDS:
            path.unlink(missing_ok=True)


def is_good(report):
    """Whether a JUnit report has cases of which none failed. What was skipped this machine can't run."""
    cases = list(ElementTree.fromstring(report).iter("testcase"))
    return bool(cases) and not any(case.find(what) is not None for case in cases for what in ("failure", "error"))


# ---- test programs ----

class Program:
    """One test of ctest. `key` is None if its outcome may depend on what is not known."""

    def __init__(self, test, build, machine):
        self.name, command = test["name"], test.get("command", [])
        environment = next((each["value"] for each in test.get("properties", []) if each["name"] == "ENVIRONMENT"), [])
        shard = next((value.partition("=")[2] for value in environment if value.startswith("GTEST_SHARD_INDEX=")), None)
        self.key = None
        if not command or not pathlib.Path(command[0]).is_relative_to(build):
            return
        program = pathlib.Path(command[0])
        # Where tests say what they read: see note_test_input().
        self.notes = program.name + (f"-{shard}" if shard else "")
        arguments = [hash_of_path(pathlib.Path(word)) if word.startswith("/") else word for word in command[1:]]
        if program.is_file() and None not in arguments:
            self.key = hash_of(machine, self.name, hash_of_path(program), *environment, *arguments)


def programs_of(build, options):
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *options], check=True, capture_output=True, text=True)
    here = machine()
    return [Program(test, build, here) for test in json.loads(listed.stdout)["tests"]]


def is_as_before(kept, root):
    return kept["seeds"] in (None, os.environ.get(SEEDS, "")) and all(hash_of_path(root / path) == was for path, was in kept["files"].items())


def look_for_programs(store, root, build, output, options):
    forget_old(store)
    programs = programs_of(build, options)
    (output / "inputs").mkdir(parents=True)
    (output / "unchanged").mkdir()
    unchanged = []
    for program in programs:
        kept = program.key and Entry(store, program.key).read()
        if kept and is_as_before(kept, root):
            (output / "unchanged" / f"{program.name}.xml").write_text(kept["report"])
            unchanged.append(program.name)
    (output / "asked").write_text(json.dumps({program.name: [program.key, program.notes] for program in programs if program.key}))
    print(len(programs) - len(unchanged))
    print("^(" + "|".join(map(re.escape, unchanged)) + ")$" if unchanged else "")


def inputs_of(notes, root, since):
    """({path: hash}, seeds) of what a program noted, or None if a file changed while it ran, or it used several sets of seeds."""
    files, seeds = {}, None
    for line in set(notes.read_text().splitlines()) if notes.exists() else ():
        kind, _, what = line.partition(" ")
        if kind == "seeds":
            if seeds not in (None, what):
                return None
            seeds = what
            continue
        path = root / what
        newest = max((each.stat().st_mtime for each in [path, *path.rglob("*")] if each.exists()), default=0)
        if newest >= since:
            return None
        files[what] = hash_of_path(path)
    return files, seeds


def keep_programs(store, root, build, output):
    asked, since = json.loads((output / "asked").read_text()), (output / "asked").stat().st_mtime
    still = {program.name: program.key for program in programs_of(build, [])}
    for case in ElementTree.parse(output / "ctest.junit").getroot().iter("testcase"):
        name = case.get("name")
        if case.get("status") != "run" or name not in asked or still.get(name) != asked[name][0]:
            continue
        key, notes = asked[name]
        report = output / f"{name}_test.xml"
        text = report.read_text() if report.exists() else f'<testsuite><testcase name="{name}"/></testsuite>'
        inputs = inputs_of(output / "inputs" / notes, root, since)
        if inputs and is_good(text):
            Entry(store, key).write(files=inputs[0], seeds=inputs[1], report=text)


# ---- suites of pytest ----

def entry_of_suite(store, root, report, inputs):
    return Entry(store, hash_of(machine(), report.name, *(part for each in inputs for part in (each, hash_of_path(root / each)))))


def asked_for(report):
    """Where it says what the inputs were when the suite began."""
    return report.with_suffix(".asked")


def look_for_suite(store, root, report, inputs):
    entry = entry_of_suite(store, root, report, inputs)
    kept = entry.read()
    if not kept:
        asked_for(report).write_text(entry.path.name)
        return 1
    report.write_text(kept["report"])
    return 0


def keep_suite(store, root, report, inputs):
    entry, asked = entry_of_suite(store, root, report, inputs), asked_for(report)
    if report.exists() and is_good(report.read_text()) and asked.exists() and asked.read_text() == entry.path.name:
        entry.write(report=report.read_text())
    return 0


def main(verb, store, root, *words):
    root = pathlib.Path(root)
    if verb in ("programs", "keep-programs"):
        build, output = map(pathlib.Path, words[:2])
        if verb == "programs":
            return look_for_programs(store, root, build, output, words[2:])
        return keep_programs(store, root, build, output)
    return {"suite": look_for_suite, "keep-suite": keep_suite}[verb](store, root, pathlib.Path(words[0]), words[1:])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
