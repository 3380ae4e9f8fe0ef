"""From `muster run train.py` to the script's first line, against the same processes started by hand, and torchrun."""

import os
import pathlib
import subprocess
import tempfile
import time

from figure import Figure
from measure import Failed, median, rounds

PYTHON = "/usr/bin/python3"
PROCESSES = 2
# The clock of the whole machine, before anything is imported: the last process to get there counts.
SCRIPT = """\
import os, time
with open(os.environ["STARTED"] + "." + os.environ["RANK"], "w") as file:
    file.write(repr(time.clock_gettime(time.CLOCK_MONOTONIC)))
"""


def by_hand(script):
    return [([PYTHON, "-u", script], {"RANK": str(rank)}) for rank in range(PROCESSES)]


def under_torchrun(script):
    # The last two say where output goes, which PyTorch 1.13 can't find out for itself with Python 3.11.
    return [([PYTHON, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={PROCESSES}", "--redirects", "1", "--tee", "1",
              script], {})]


def under_muster(muster):
    return lambda script: [([muster, "run", "-q", "--framework", "pytorch", "-n", str(PROCESSES), script], {})]


def first_line(commands, directory):
    """Seconds until every process has begun."""
    script = directory / "train.py"
    script.write_text(SCRIPT)
    started = directory / "started"
    for rank in range(PROCESSES):
        pathlib.Path(f"{started}.{rank}").unlink(missing_ok=True)
    path = f"/usr/bin:{os.environ['PATH']}"
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    running = [subprocess.Popen(argv, env={**os.environ, "PATH": path, "STARTED": str(started), **variables}, cwd=directory,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for argv, variables in commands(str(script))]
    for process in running:
        if process.wait(timeout=120) != 0:
            raise Failed(f"{process.args} ended with exit status {process.returncode}")
    return max(float(pathlib.Path(f"{started}.{rank}").read_text()) for rank in range(PROCESSES)) - begin


def script_first_line(muster):
    kinds = {"by hand": by_hand, "muster run": under_muster(str(muster)), "torchrun": under_torchrun}
    times = {name: [] for name in kinds}
    # Not below /tmp, of which a pod has its own.
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="muster-bench-") as directory:
        for _ in range(rounds(7)):
            for name, commands in kinds.items():
                times[name].append(first_line(commands, pathlib.Path(directory)))
    told = "; ".join(f"{name} {median(values):.3f} s" for name, values in times.items())
    return [Figure(f"muster run of a script, {PROCESSES} processes: to its first line, beyond the same by hand",
                   median(times["muster run"]) - median(times["by hand"]), 0.1, "s", f"medians of {len(times['by hand'])}: {told}")]


CASES = {"script-first-line": script_first_line}
