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

from examples import BRIEF, EXAMPLES, TRACES, environment_for, manifest  # noqa: E402
from programs import Missing  # noqa: E402

# The one with a kill of its own, below; and the one that test_lifecycle.py runs.
ELSEWHERE = ("pytorch-elastic.yaml", "pytorch-digits.yaml")


def use(muster, example):
    try:
        muster.environment = environment_for(example, muster.environment)
    except Missing as why:
        pytest.skip(str(why))
    shutil.rmtree(TRACES.get(example, "/nonexistent"), ignore_errors=True)


def check(finished, example):
    assert finished.status == 0, finished
    assert "Succeeded" in finished.text
    accuracy = re.findall(r"^.*accuracy: (\d\.\d+)", finished.text, re.M)
    least = EXAMPLES[example][1]
    assert accuracy and all(float(value) > least for value in accuracy), finished


@pytest.mark.parametrize("example", [name for name in EXAMPLES if name not in ELSEWHERE])
def test_the_framework_learns(muster, example):
    use(muster, example)
    brief = ["--env", BRIEF[example]] if example in BRIEF else []
    finished = muster.run("run", manifest(example), *brief)
    check(finished, example)
    # Each has two ranks at least, and they know of each other.
    assert not re.search(r"(rank|worker|process) 0 of 1 is ready", finished.text), finished


def process_of(muster, pod):
    """The first process of the pod's container: the one that a kubelet would call its main process."""
    of_pod = [pid for pid in muster.processes()
              if f"HOSTNAME={pod}".encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
    assert of_pod, f"{pod} has no process"
    return min(of_pod)


def test_an_elastic_job_goes_on_when_a_worker_is_killed(muster):
    use(muster, "pytorch-elastic.yaml")
    # So many that it still trains when the kill comes, however long this test waits for the processor.
    started = muster.start("run", manifest("pytorch-elastic.yaml"), "--env", "EPOCHS=100")
    started.wait_for("epoch 20 of")
    os.kill(process_of(muster, "elastic-worker-2"), signal.SIGKILL)
    finished = started.finish()
    check(finished, "pytorch-elastic.yaml")
    assert "elastic-worker-2 restarted (restart 1): it exited with code 137" in finished.text, finished
    begun = [int(epoch) for epoch in re.findall(r"begins with epoch (\d+)", finished.text)]
    assert begun.count(1) >= 2 and max(begun) > 20, f"nobody went on from a checkpoint: {begun}\n{finished}"
