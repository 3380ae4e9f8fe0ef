"""How long training stands still while its state is copied into memory, and how long it takes until the copy is on the disk."""

import json
import subprocess
import tempfile

from figure import Figure
from measure import ROOT, Failed, rounds

PROGRAMS = ROOT / "build" / "release" / "src" / "checkpoint"


def said_by(program, *arguments):
    """What the program says, in seconds."""
    run = subprocess.run([PROGRAMS / program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=600)
    if run.returncode != 0:
        raise Failed(f"{program} ended with {run.returncode}\n{run.stderr[-2000:]}")
    return json.loads(run.stdout)


def stall(size, tensors, usual):
    """Of a save of `size` bytes in so many tensors."""
    return said_by("checkpoint_bench", "/dev/shm", size, tensors, rounds(usual))


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


def checkpoint_durable(muster):
    """A shard of 4 GiB with its digests, against the disk's own direct write of as much."""
    del muster
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as directory:
        took = said_by("checkpoint_durable_bench", "/dev/shm", directory, 4 << 30, 2, rounds(5))
    return [Figure("4 GiB durable with digests, against the disk's direct write", took["ratio"], 1.25, "times",
                   f"{took['write']:.3g} s, the disk {took['disk']:.3g} s; to verify it takes {took['verify']:.3g} s")]


CASES = {"checkpoint-copy": checkpoint_copy, "checkpoint-durable": checkpoint_durable}
