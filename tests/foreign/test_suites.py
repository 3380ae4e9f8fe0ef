"""The integration suites of training-operator and mpi-operator, as they are published, each asked of a `muster up --api-only`
of its own. They wait for most of their time, so all run at once.

Not the one of TFJobs: it takes for granted that its informer has seen a write when the answer is there, which beside other work may
not be so with any server. ./dev drill foreign plays it."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MUSTER = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import find  # noqa: E402
from suites import SUITES as ALL  # noqa: E402
from suites import api_alone, begin, failures_of, finish, on_cluster  # noqa: E402

SUITES = [suite for suite in ALL if suite.name != "training-operator-tensorflow"]


@pytest.fixture(scope="module")
def running(request, tmp_path_factory):
    """{suite: (its process, its folder)} of those that this run chose and that are built."""
    chosen = {item.callspec.params["suite"] for item in request.session.items if "running" in getattr(item, "fixturenames", ())}
    begun = {}
    try:
        for suite in SUITES:
            if suite in chosen and find(suite.program):
                place = tmp_path_factory.mktemp(suite.name)
                server = request.getfixturevalue("servers")(place / "state")
                begun[suite] = begin(suite, on_cluster(server), place), place
        yield begun
    finally:
        for (process, _), _ in begun.values():
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def servers():
    states = []

    def start(state):
        states.append(state)
        return api_alone(MUSTER, state)

    yield start
    for state in states:
        subprocess.run([MUSTER, "down", "--state", state], check=False, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_all_cases_of_a_suite_pass(running, suite):
    if suite not in running:
        pytest.skip(f"{suite.program} is not built")
    outcome = finish(*running[suite])
    assert (outcome.passed, failures_of(outcome.said)) == (suite.cases, []), outcome.said[-4000:]
