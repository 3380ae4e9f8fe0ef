"""GlobalBatch with real torch, DistributedDataParallel and gloo: what is learnt does not depend on the size of the world."""

import functools
import pathlib
import subprocess
import sys
import tempfile

import pytest

from conftest import HERE, SOURCES, environment, needs_torch

pytestmark = needs_torch
STEPS = 18  # three epochs of five full batches and one of three samples


def together(size, script, *words, **variables):
    """Runs that many ranks to their end. They meet in a file: a port that is free now may be another's a moment later."""
    with tempfile.TemporaryDirectory(prefix="muster-meeting-") as place:
        ranks = [subprocess.Popen([sys.executable, script, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env=environment(RANK=rank, WORLD_SIZE=size, LOCAL_RANK=rank, LOCAL_WORLD_SIZE=size,
                                                  MEETING=f"file://{place}/ranks", PYTHONPATH=SOURCES, **variables))
                 for rank in range(size)]
        said = []
        for rank in ranks:
            try:
                said.append(rank.communicate(timeout=120)[0])
            except subprocess.TimeoutExpired:
                rank.kill()
                said.append(rank.communicate()[0] + "and has not ended")
    assert [rank.returncode for rank in ranks] == [0] * size, "\n".join(said)
    return said


def trained(*stages, micro=2):
    """What is left after stages of (world size, until which step), each in new processes."""
    import torch

    with tempfile.TemporaryDirectory(prefix="muster-train-") as folder:
        for size, stop in stages:
            together(size, HERE / "programs" / "train.py", folder, stop, micro)
        return torch.load(pathlib.Path(folder, "state.pt"))


@functools.lru_cache(None)
def one_process():
    """Whole batches in one process."""
    return trained((1, STEPS), micro=10)


def equal(one, other):
    import torch

    assert one["done"] == other["done"] == STEPS
    assert one["losses"] == pytest.approx(other["losses"], rel=1e-4)
    for name, value in one["network"].items():
        assert torch.allclose(value, other["network"][name], rtol=1e-4, atol=1e-5), name
    assert one["sampler"] == other["sampler"]


def test_the_run_to_compare_with_learns():
    losses = one_process()["losses"]
    assert len(losses) == STEPS and sum(losses[-6:]) < 0.7 * sum(losses[:6])


@pytest.mark.parametrize("size, micro", [(1, 3), (2, 2), (3, 2), (4, 1), (4, 2)])
def test_the_same_at_any_size(size, micro):
    equal(trained((size, STEPS), micro=micro), one_process())


def test_the_same_when_the_size_changes_in_mid_epoch():
    changed = trained((3, 4), (1, 9), (4, 11), (2, STEPS))
    assert changed["worlds"] == [3, 1, 4, 2]
    equal(changed, one_process())
