"""The short form of `./dev drill elastic`: six rounds of each kind of victim, half of them on one node and half on two."""

import subprocess
import sys

from conftest import MUSTER_RUN, ROOT


def test_whoever_is_killed_the_others_step_on_and_the_losses_are_the_same():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "elastic_drill.py", MUSTER_RUN, "3"],
                          capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "27 of 27 rounds recovered" in done.stdout, done.stdout
