"""Adds up a test report: prints PASSED FAILED SKIPPED EARLIER (of those that passed, how many did so in an earlier run), and
below it what failed, each with the first
lines of why and the last.

count_tests.py pytest REPORT    a JUnit report of pytest
count_tests.py earlier REPORT   the same, of an earlier run
count_tests.py ctest FOLDER     FOLDER/ctest.junit says which programs ran; FOLDER/PROGRAM.xml, which
                                GoogleTest wrote, says how many cases each held; FOLDER/unchanged has those of programs
                                that did not have to run (unchanged.py)
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

# An assertion stands first, and the output that it quotes ends with what went wrong.
FIRST_LINES = 8
LAST_LINES = 15


class Counts(NamedTuple):
    passed: int
    failed: int
    skipped: int
    earlier: int = 0


class Failure(NamedTuple):
    name: str
    why: str


def name_of(case):
    return ".".join(filter(None, (case.get("classname"), case.get("name"))))


def read_cases(path):
    """Cases of one JUnit file, and its failures. Errors in set-up count as failures."""
    passed = skipped = 0
    failures = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        problems = case.findall("failure") + case.findall("error")
        if problems:
            why = "\n".join(problem.get("message") or problem.text or "" for problem in problems)
            failures.append(Failure(name_of(case), why))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            # GoogleTest writes notrun for cases that a filter left out: those were not asked for.
            skipped += case.get("result") != "suppressed"
        else:
            passed += 1
    return Counts(passed, len(failures), skipped), failures


def read_programs(folder):
    total = Counts(0, 0, 0)
    failures = []
    for program in ElementTree.parse(folder / "ctest.junit").getroot().iter("testcase"):
        ok = program.get("status") == "run"
        name = program.get("name")
        report = folder / f"{name}_test.xml"
        # Without a report: one plain program, or a test program that died on the way.
        counts, failed = read_cases(report) if report.exists() else (Counts(int(ok), 0, 0), [])
        if not ok and not failed:
            # A program may fail after its last case too: a leak, a crash in a destructor.
            failed = [Failure(f"the program {name}", last_lines(program.findtext("system-out", "")))]
        total = Counts(total.passed + counts.passed, total.failed + len(failed), total.skipped + counts.skipped)
        failures += failed
    for report in (folder / "unchanged").glob("*.xml"):
        counts, _ = read_cases(report)
        total = Counts(total.passed + counts.passed, total.failed, total.skipped + counts.skipped, total.earlier + counts.passed)
    return total, failures


def last_lines(text):
    return "\n".join(text.rstrip().splitlines()[-LAST_LINES:])


def ends_of(text):
    lines = text.strip().splitlines()
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    return lines if left_out <= 1 else [*lines[:FIRST_LINES], f"... {left_out} lines ...", *lines[-LAST_LINES:]]


def main(kind, path):
    path = pathlib.Path(path)
    try:
        counts, failures = read_programs(path) if kind == "ctest" else read_cases(path)
        if kind == "earlier":
            counts = counts._replace(earlier=counts.passed)
    except (OSError, ElementTree.ParseError) as problem:
        print(f"no readable report: {problem}", file=sys.stderr)
        return 1
    print(*counts)
    for failure in failures:
        print(failure.name)
        for line in ends_of(failure.why):
            print("   ", line)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
