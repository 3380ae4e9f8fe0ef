"""Where the time of a ./dev test went: each step, the slowest tests of each suite, the slowest objects of each build.

times.py LOGS BUILD SINCE    LOGS/steps, which `step` writes; the reports of pytest (LOGS/SUITE.junit) and of GoogleTest
                             (LOGS/SUITE/PROGRAM_test.xml); BUILD/PRESET/.ninja_log. Of the builds, what was made
                             since SINCE, in milliseconds since 1970.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

from count_tests import name_of

SHOWN = 10


class Step(NamedTuple):
    name: str
    seconds: float
    busy: float  # of all cores together


class Timed(NamedTuple):
    seconds: float
    name: str


def read_steps(path):
    steps = []
    for line in path.read_text().splitlines():
        name, seconds, user, system = line.split("\t")
        steps.append(Step(name, float(seconds), float(user) + float(system)))
    return steps


def read_tests(report):
    return [Timed(float(case.get("time") or 0), name_of(case)) for case in ElementTree.parse(report).getroot().iter("testcase")]


def suites(logs):
    """{suite: its tests}. A C++ suite has a report of each program, and ctest.junit, which names those without one."""
    found = {report.stem: read_tests(report) for report in logs.glob("*.junit")}
    for programs in logs.glob("*/ctest.junit"):
        tests = []
        for program in read_tests(programs):
            report = programs.parent / f"{program.name}_test.xml"
            tests += read_tests(report) if report.exists() else [program]
        found[programs.parent.name] = tests
    return found


def read_builds(log, since):
    """What a build made since then. A later line about the same output replaces an earlier one."""
    made = {}
    for line in log.read_text().splitlines()[1:]:
        begin, end, modified, output, _ = line.split("\t")
        if int(modified) // 1_000_000 >= since:
            made[output] = Timed((int(end) - int(begin)) / 1000, output.replace("CMakeFiles/", ""))
    return list(made.values())


def shown(title, timed):
    total = sum(one.seconds for one in timed)
    yield f"{title}: {len(timed)} in {total:.1f} s, the slowest:"
    for one in sorted(timed, reverse=True)[:SHOWN]:
        yield f"{one.seconds:9.1f}  {one.name}"


def report(logs, build, since):
    yield "  seconds     busy  step"
    steps = read_steps(logs / "steps")
    for step in sorted(steps, key=lambda step: -step.seconds):
        yield f"{step.seconds:9.1f} {step.busy:8.1f}  {step.name}"
    for suite, tests in sorted(suites(logs).items()):
        yield from shown(f"tests of {suite}", tests)
    for log in sorted(build.glob("*/.ninja_log")):
        made = read_builds(log, since)
        if made:
            yield from shown(f"made in {log.parent.name}", made)


def main(logs, build, since):
    print(*report(pathlib.Path(logs), pathlib.Path(build), int(since)), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
