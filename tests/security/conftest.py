"""Attacks on the release binary: a real daemon, clients without credentials, and whether it still serves others.

Each is bounded in time and memory. MUSTER_BIN names another binary."""

import pytest

import holds
from daemon import Target


@pytest.fixture
def up(tmp_path):
    made = Target(tmp_path)
    yield made
    made.down()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(holds.summary())
