"""Restarts that lead nowhere end, with one line that says why and what to do."""

import pytest

from conftest import pytorchjob

FAILS = "echo starts; exit 3"


def run_failing(muster, script, *flags, policy="OnFailure"):
    job = muster.write("loops.yaml", pytorchjob("loops", script, master_restart_policy=policy))
    return muster.run("run", job, *flags)


def test_the_same_failure_three_times_ends_the_run(muster):
    finished = run_failing(muster, FAILS)
    assert finished.status == 3, finished
    assert finished.out.count("-0 | starts") == 3, finished
    line = "pod loops-master-0, container pytorch exited with code 3, 3 times in a row"
    assert finished.out.count(line) == 1 and "--give-up-after 0 lets it continue" in finished.out, finished
    assert "PyTorchJob default/loops failed after" in finished.out, finished
    assert "muster:     | starts" in finished.out, finished


def test_how_many_can_be_said(muster):
    finished = run_failing(muster, FAILS, "--give-up-after", "2")
    assert finished.status == 3 and finished.out.count("-0 | starts") == 2, finished


def test_zero_means_never(muster):
    started = muster.start("run", muster.write("loops.yaml", pytorchjob(
        "loops", FAILS, master_restart_policy="OnFailure")), "--give-up-after", "0")
    # The pause after the third failure.
    started.wait_for("back-off 20s restarting failed container")
    assert "lead nowhere" not in started.read()
    started.interrupt()
    assert started.finish().status == 130


@pytest.mark.parametrize("script", [
    # The failures differ: something changes.
    "n=$(cat n || echo 0); echo $((n + 1)) > n; [ $n = 3 ] || exit $((n + 1))",
], ids=["progress"])
def test_what_makes_progress_continues(muster, shared, script):
    job = muster.write("loops.yaml", pytorchjob("loops", f"cd {shared}; {script}", master_restart_policy="OnFailure"))
    finished = muster.run("run", job)
    assert finished.status == 0, finished
