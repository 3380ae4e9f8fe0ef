"""The short form of `./dev drill soak`: random calls of many clients, and nothing of the server grows."""

import subprocess
import sys

from conftest import BINARY, ROOT


def test_nothing_grows_under_random_calls():
    """The clients that are here take part (./dev test conformance builds them)."""
    done = subprocess.run([sys.executable, ROOT / "scripts" / "soak_drill.py", BINARY, "--rounds", "2"],
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " rounds of HTTP" in done.stdout and "nothing grows" in done.stdout
    assert "the longest hold of the loop: " in done.stdout
