"""The short form of `./dev drill attacks`: each attack once, at random, beside a client that behaves."""

import subprocess
import sys

from daemon import BINARY, ROOT


def test_a_client_that_behaves_is_served_under_attack():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "attack_drill.py", BINARY, "--rounds", "1"], capture_output=True,
                          text=True, timeout=600, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the daemon serves" in done.stdout and "the longest hold of the loop: " in done.stdout
