"""The short form of `./dev drill kill`: whatever is killed at whatever moment, nothing is left over."""

import subprocess
import sys

import pytest

from conftest import BINARY, ROOT, pytorchjob


@pytest.mark.usefixtures("machine_network")
def test_nothing_is_left_after_kills_at_random_moments():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "kill_drill.py", BINARY, "--count", "14"],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing was left" in done.stdout


@pytest.mark.usefixtures("machine_network")
def test_what_up_acknowledged_is_kept_through_kills_under_load():
    """The short form of `./dev drill crash`."""
    done = subprocess.run([sys.executable, ROOT / "scripts" / "crash_drill.py", BINARY, "--count", "20"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "acknowledged writes were kept" in done.stdout


def test_clean_finds_nothing_after_an_ordinary_run(muster):
    muster.environment["TMPDIR"] = str(muster.directory / "temporary")
    (muster.directory / "temporary").mkdir()
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("short", "echo hello")))
    assert finished.status == 0, finished
    assert not list((muster.directory / "temporary").iterdir())
    cleaned = muster.run("clean")
    assert cleaned.status == 0, cleaned
    assert "muster-run" not in cleaned.text
