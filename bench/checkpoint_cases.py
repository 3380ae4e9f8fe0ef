"""How long training stands still while its state is copied into memory."""

import json
import subprocess

from figure import Figure
from measure import ROOT, Failed, rounds

PROGRAM = ROOT / "build" / "release" / "src" / "checkpoint" / "checkpoint_bench"


def stall(size, tensors, usual):
    """Of a save of `size` bytes in so many tensors: what checkpoint_bench says, in seconds."""
    command = [PROGRAM, "/dev/shm", str(size), str(tensors), str(rounds(usual))]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if run.returncode != 0:
        raise Failed(f"checkpoint_bench ended with {run.returncode}\n{run.stderr[-2000:]}")
    return json.loads(run.stdout)


def checkpoint_copy(muster):
    del muster
    large, small, many = stall(4 << 30, 300, 7), stall(256 << 20, 300, 31), stall(10_000 * 4096, 10_000, 31)
    return [
        Figure("stall of a save of 4 GiB, against a copy by two threads", large["save"] / large["copy"], 1.25, "times",
               f"{large['save']:.3g} s, the copy {large['copy']:.3g} s; to make the memory takes {large['made'] + large['touched']:.3g} s, before"),
        Figure("stall of the first save of 4 GiB", large["first"], 0.3, "s", "its memory is there"),
        Figure("stall of a save of 256 MiB, against a copy by two threads", small["save"] / small["copy"], 1.25, "times",
               f"{small['save'] * 1000:.3g} ms, the copy {small['copy'] * 1000:.3g} ms"),
        Figure("stall of a save of 10,000 tensors of 4 KiB", many["save"] * 1000, 10, "ms",
               f"the first one, whose table is made, {many['first'] * 1000:.3g} ms"),
    ]


CASES = {"checkpoint-copy": checkpoint_copy}
