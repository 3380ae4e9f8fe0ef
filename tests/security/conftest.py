"""Attacks on the release binary: a real daemon, clients without credentials, and whether it still serves others.

Each is bounded in time and memory. MUSTER_BIN names another binary."""

import pytest

from daemon import Target


@pytest.fixture
def up(tmp_path):
    made = Target(tmp_path)
    yield made
    made.down()
