"""The loop of a developer of Muster: from nothing to a job and to every test, and from one changed file to its tests."""

import os
import pathlib
import re
import resource
import subprocess
import time

from figure import Figure
from measure import ROOT, Failed, Skipped, median

# What only waits for the network, in build/logs/steps.
NETWORK_STEPS = ("package lists", "package downloads")


def waited_for_network_s(steps):
    lines = (line.split("\t") for line in steps.read_text().splitlines())
    return sum(float(seconds) for name, seconds, *_ in lines if name in NETWORK_STEPS)


def cold(verb, minutes):
    def case(muster):
        del muster
        if os.geteuid() != 0:
            raise Skipped("a bare root needs root")
        times = ROOT / "build" / "logs" / "drill-bare-root.times"
        steps = times.with_suffix(".steps")
        for left in (times, steps):
            left.unlink(missing_ok=True)
        subprocess.run([ROOT / "dev", "drill", "bare-root", verb], check=False)
        if not (times.exists() and steps.exists()):
            raise Failed("the drill did not get as far")
        _, status, milliseconds = times.read_text().split()
        if status != "0":
            raise Failed(f"./dev {verb} failed in the bare root (exit status {status})")
        network_s = waited_for_network_s(steps)
        return [Figure(f"cold ./dev {verb} on a fresh machine", (int(milliseconds) / 1000 - network_s) / 60, minutes, "min",
                       f"a bare Debian root; apart from {network_s:.0f} s for lists and downloads of packages")]

    return case


def rooms():
    """Folders of src/ that have a library and tests of it."""
    for path in sorted((ROOT / "src").glob("*/CMakeLists.txt")):
        text = path.read_text()
        if "muster_library(" in text and "muster_test(" in text:
            yield path.parent


def source_of(room):
    """Of the room's library: the largest, which is the dearest to compile."""
    outside = re.compile(r"(_test|_bench|_fuzz|_fixture|main)\.cc$|/(fake|test)_[^/]*\.cc$|/fuzz/|/program/|/static/")
    return max((path for path in room.rglob("*.cc") if not outside.search(path.as_posix())), key=lambda path: path.stat().st_size)


def test(room):
    done = subprocess.run([ROOT / "dev", "test", room.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"./dev test {room.name} failed:\n" + "\n".join(done.stdout.splitlines()[-15:]))


def edit(muster):
    """An assertion that no file had before: a comment would come from ccache."""
    del muster
    figures = []
    for room in rooms():
        test(room)
        source = source_of(room)
        before = source.read_text()
        try:
            source.write_text(f"{before}static_assert({time.time_ns()} != 0);\n")
            began = time.monotonic()
            test(room)
            took = time.monotonic() - began
        finally:
            source.write_text(before)
        name = source.relative_to(ROOT / "src")
        figures.append(Figure(f"one file of {room.name} changed: built and its tests run", took, 20, "s", str(name)))
    return figures


def program(muster):
    """What every process of ours carries, and what the shortest one touches of it."""
    faults = []
    for _ in range(21):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
        subprocess.run([muster, "version"], stdout=subprocess.DEVNULL, check=True)
        faults.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before)
    size = pathlib.Path(muster).stat().st_size / 1e6
    return [Figure("the program muster", size, 22.7, "MB", f"{median(faults):.0f} page faults at muster version")]


CASES = {
    "program": program,
    "edit": edit,
    "cold-run": cold("run", 4),
    "cold-test": cold("test", 40),
}

# These take minutes and more, so they run by name only.
BY_NAME_ONLY = ("edit", "cold-run", "cold-test")
