"""Adds up a test report: prints PASSED FAILED SKIPPED.

count_tests.py pytest REPORT    a JUnit report of pytest
count_tests.py ctest FOLDER     FOLDER/ctest.junit says which programs ran; FOLDER/PROGRAM.xml, which
                                GoogleTest wrote, says how many cases each held
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count_cases(path):
    """Cases of one JUnit file: passed, failed, skipped. Errors in set-up count as failures."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            # GoogleTest writes notrun for cases that a filter left out: those were not asked for.
            skipped += case.get("result") != "suppressed"
        else:
            passed += 1
    return passed, failed, skipped


def count_programs(folder):
    passed = failed = skipped = 0
    for program in ElementTree.parse(folder / "ctest.junit").getroot().iter("testcase"):
        ok = program.get("status") == "run"
        cases = folder / f"{program.get('name')}_test.xml"
        if cases.exists():
            p, f, s = count_cases(cases)
            # A program may fail after its last case: a leak, a crash in a destructor.
            counted = p, max(f, 0 if ok else 1), s
        else:
            # No report: one plain program, or a test program that died on the way.
            counted = (1, 0, 0) if ok else (0, 1, 0)
        passed, failed, skipped = (a + b for a, b in zip((passed, failed, skipped), counted))
    return passed, failed, skipped


def main(kind, path):
    path = pathlib.Path(path)
    try:
        counted = count_cases(path) if kind == "pytest" else count_programs(path)
    except (OSError, ElementTree.ParseError) as problem:
        print(f"no readable report: {problem}", file=sys.stderr)
        return 1
    print(*counted)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
