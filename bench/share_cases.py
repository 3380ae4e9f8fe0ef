"""What is gained by `muster share`: two processes that leave most of a core idle, at once and one after the other."""

import os
import time

from figure import Figure
from measure import Failed, Skipped, median, rounds, run_quietly

# 40 % of a core: 4 ms of work in each 10 ms, as one that waits for a GPU or for its input. What counts is its own CPU time, so that
# it does as much beside others as alone.
WORK = """\
import time
for _ in range(200):
    begin, worked = time.monotonic(), time.thread_time() + 0.004
    while time.thread_time() < worked:
        pass
    time.sleep(max(0.0, 0.010 - (time.monotonic() - begin)))
"""


def seconds_of(argv):
    seconds, status = run_quietly(argv)
    if status != 0:
        raise Failed(f"{' '.join(argv[:4])} ended with exit status {status}")
    return seconds


def share(muster):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skipped("one CPU")
    python = ["/usr/bin/python3", "-c", WORK]
    together, apart = [], []
    for _ in range(rounds(5)):
        together.append(seconds_of([muster, "share", "-n", "2", "--", *python]))
        begin = time.perf_counter()
        for _ in range(2):
            seconds_of(python)
        apart.append(time.perf_counter() - begin)
    # What is to be large is told by its inverse: a figure holds that is not above its limit.
    gain = median(apart) / median(together)
    return [Figure("muster share of two processes of 40 % of a core, as a part of one after the other", 1 / gain, 0.526, "times",
                   f"medians of {len(apart)}: {median(together):.2f} s against {median(apart):.2f} s, so {gain:.2f} times as fast; 1.9 are wanted")]


CASES = {"share": share}
