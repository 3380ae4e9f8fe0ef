"""Restarts that lead nowhere end, with one line that says why and what to do."""

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


def test_what_makes_progress_continues(muster, shared):
    # The failures differ, so something has changed.
    script = f"cd {shared}; n=$(cat n || echo 0); echo $((n + 1)) > n; [ $n = 2 ] || exit $((n + 1))"
    job = muster.write("loops.yaml", pytorchjob("loops", script, master_restart_policy="OnFailure"))
    finished = muster.run("run", job, "--give-up-after", "2")
    assert finished.status == 0, finished


def test_an_agent_that_restarts_its_workers_ends_too(muster, shared):
    (shared / "train.py").write_text("print('starts', flush=True)\nraise KeyError('no such column')\n")
    muster.cwd = shared
    line = ("run", "--max-restarts", "5", "--framework", "pytorch")
    finished = muster.run(*line, "train.py")
    assert finished.status == 1 and finished.out.count("| starts") == 3, finished
    assert "the program fails in the same way each time (--give-up-after 0 lets it continue)" in finished.out, finished
    asked = muster.run(*line, "--give-up-after", "0", "train.py")
    assert asked.status == 1 and asked.out.count("| starts") == 6, asked
