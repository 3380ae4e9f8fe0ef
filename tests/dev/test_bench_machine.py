"""That a machine which makes figures worthless is told."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import machine  # noqa: E402


def test_a_machine_that_takes_idle_memory_away_is_told():
    assert "28 us" in machine.warning(28.4)
    assert machine.warning(0.4) == ""


def test_idle_memory_is_read():
    assert 0 < machine.idle_page_us() < 100_000
