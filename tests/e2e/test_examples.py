"""The frameworks' own examples, each with the real framework in an environment of its own."""

import os
import pathlib
import re
import shutil
import signal
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import Missing, build  # noqa: E402

# What each needs beside the system's own Python, and the accuracy that it reaches at least.
EXAMPLES = [
    ("jax", "jax-digits.yaml", 0.9),
    ("mxnet", "mxnet-digits.yaml", 0.9),
    ("paddle", "paddle-digits.yaml", 0.9),
    (None, "pytorch-torchrun.yaml", 0.9),
    (None, "pytorch-launch.yaml", 0.9),
    ("torch", "pytorch-accelerate.yaml", 0.9),
    ("torch", "pytorch-lightning.yaml", 0.9),
    ("torch", "pytorch-transformers.yaml", 0.8),
    ("torch-deepspeed", "pytorch-deepspeed.yaml", 0.9),
    ("tensorflow", "tensorflow-digits.yaml", 0.9),
    ("tensorflow", "tensorflow-servers.yaml", 0.9),
    ("xgboost", "xgboost-cancer.yaml", 0.9),
]


def use(muster, environment):
    if environment is None:
        return
    try:
        python = build(f"python-{environment}")
    except Missing as why:
        pytest.skip(str(why))
    muster.environment["PATH"] = f"{pathlib.Path(python).parent}:{muster.environment['PATH']}"


def check(finished, least):
    assert finished.status == 0, finished
    assert "Succeeded" in finished.text
    accuracy = re.findall(r"^.*accuracy: (\d\.\d+)", finished.text, re.M)
    assert accuracy and all(float(value) > least for value in accuracy), finished


@pytest.mark.parametrize("environment, example, least", EXAMPLES, ids=[name for _, name, _ in EXAMPLES])
def test_the_framework_learns(muster, environment, example, least):
    use(muster, environment)
    finished = muster.run("run", ROOT / "examples" / example)
    check(finished, least)
    # Each has two ranks at least, and they know of each other.
    assert not re.search(r"(rank|worker|process) 0 of 1 is ready", finished.text), finished


def process_of(muster, pod):
    """The first process of the pod's container: the one that a kubelet would call its main process."""
    of_pod = [pid for pid in muster.processes()
              if f"HOSTNAME={pod}".encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
    assert of_pod, f"{pod} has no process"
    return min(of_pod)


def test_an_elastic_job_goes_on_when_a_worker_is_killed(muster):
    shutil.rmtree("/tmp/muster-pytorch-elastic", ignore_errors=True)
    started = muster.start("run", ROOT / "examples" / "pytorch-elastic.yaml")
    started.wait_for("epoch 20 of")
    os.kill(process_of(muster, "elastic-worker-2"), signal.SIGKILL)
    finished = started.finish()
    check(finished, 0.9)
    assert "elastic-worker-2 restarted (restart 1): it exited with code 137" in finished.text, finished
    begun = [int(epoch) for epoch in re.findall(r"begins with epoch (\d+)", finished.text)]
    assert begun.count(1) >= 2 and max(begun) > 20, f"nobody went on from a checkpoint: {begun}\n{finished}"
