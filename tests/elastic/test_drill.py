"""The short form of `./dev drill elastic`: two rounds of each kind of victim on one node, and two on two nodes."""

import subprocess
import sys

from conftest import MUSTER_RUN, ROOT


def test_whoever_is_killed_the_others_step_on_and_the_losses_are_the_same():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "elastic_drill.py", MUSTER_RUN, "2"],
                          capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "18 of 18 rounds recovered" in done.stdout, done.stdout
