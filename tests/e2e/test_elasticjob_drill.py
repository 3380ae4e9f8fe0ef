"""The short form of `./dev drill elasticjob`: master, operator, API, workers and agents are each killed at least twenty times."""

import os
import re
import subprocess
import sys

import pytest

from conftest import BINARY, ROOT


@pytest.mark.parametrize("training, operator, only, rounds, all_of_them", [
    # One of each of 7 kinds and 3 kinds, in each of its ways.
    ("torch", "within", "", 1, 8),
    ("torch", "apart", "", 1, 10),
    # What these lack of twenty, where a restart takes no import of torch.
    ("keys", "within", "an agent", 19, 19),
    ("keys", "within", "a worker", 8, 16),
    ("keys", "apart", "the operator", 11, 11),
    ("keys", "apart", "the API", 8, 8)])
def test_whoever_is_killed_nobody_else_notices_and_the_losses_are_the_same(training, operator, only, rounds, all_of_them):
    done = subprocess.run([sys.executable, ROOT / "scripts" / "elasticjob_drill.py", BINARY, str(rounds), "--training", training,
                           "--operator", operator, "--only", only],
                          capture_output=True, text=True, timeout=900, check=False,
                          env=dict(os.environ, PATH=f"/usr/bin:{os.environ['PATH']}"))
    assert done.returncode == 0, done.stdout + done.stderr
    recovered = re.search(r"^(\d+) of (\d+) rounds recovered", done.stdout, re.M)
    assert recovered and recovered.groups() == (str(all_of_them),) * 2, done.stdout
