"""Attacks on the release binary: a real daemon, clients without credentials, and whether it still serves others.

Each is bounded in time and memory. MUSTER_BIN names another binary."""

import pathlib
import sys

import pytest

import holds
from daemon import Target

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from machine_files import unchanged_machine  # noqa: E402, F401  (a fixture of every test)


@pytest.fixture
def up(tmp_path):
    made = Target(tmp_path)
    yield made
    made.down()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(holds.summary())
