"""The figures of MPIJobs."""

import json
import re
import shutil
import subprocess
import time

from figure import Figure
from measure import Failed, Skipped, median

WORKERS = 8

# Twice the same: the job's own, and then by hand in the same pods, by the same remote shell, with nothing to set up.
LAUNCHER = f"""
run="mpirun --allow-run-as-root --oversubscribe --bind-to none -np {WORKERS} hostname"
$run
begin=$(date +%s%N)
$run | {{ read -r line; end=$(date +%s%N); cat >/dev/null; echo "by hand $((end - begin))"; }}
"""

MPIJOB = {
    "apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "bench"},
    "spec": {"runPolicy": {"cleanPodPolicy": "Running"}, "mpiReplicaSpecs": {
        "Launcher": {"replicas": 1, "template": {"spec": {"containers": [
            {"name": "mpi", "image": "none", "command": ["/bin/sh", "-c", LAUNCHER]}]}}},
        "Worker": {"replicas": WORKERS, "template": {"spec": {"containers": [{"name": "mpi", "image": "none"}]}}}}}}


def first_line_once(muster):
    """Seconds from the submission to the first line of a rank on the screen, and of mpirun by hand."""
    begin = time.monotonic()
    job = subprocess.Popen([muster, "run", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    job.stdin.write(json.dumps(MPIJOB))
    job.stdin.close()
    first, by_hand, said = None, None, []
    for line in job.stdout:
        said.append(line)
        if first is None and re.search(r"bench-launcher \| bench-worker-\d", line):
            first = time.monotonic() - begin
        if found := re.search(r"by hand (\d+)", line):
            by_hand = int(found[1]) / 1e9
    if job.wait() != 0 or first is None or by_hand is None:
        raise Failed("the MPIJob did not run as it should:\n" + "".join(said[-30:]))
    return first, by_hand


def first_line(muster):
    if shutil.which("mpirun") is None:
        raise Skipped("mpirun is not installed (Debian's package openmpi-bin)")
    rounds = [first_line_once(muster) for _ in range(9)]
    ours, by_hand = median(one for one, _ in rounds), median(other for _, other in rounds)
    return [Figure(f"MPIJob of {WORKERS} workers by muster rsh, submit to the first line of a rank, beyond mpirun by hand",
                   median(one - other for one, other in rounds), 0.5, "s",
                   f"median of 9, each in one run: {ours:.2f} s against {by_hand:.2f} s")]
