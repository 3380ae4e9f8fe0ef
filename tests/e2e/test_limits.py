"""Limits of a job's life, and restarts of all its pods, with real processes."""

import json

import pytest

from conftest import pytorchjob
from test_lifecycle import conditions, final_job


def limited(text, policy):
    assert "spec:\n" in text
    return text.replace("spec:\n", f"spec:\n  runPolicy: {policy}\n", 1)


def test_a_deadline_stops_what_runs(muster):
    text = limited(pytorchjob("late", "echo up; sleep 1000", 1, "sleep 1000"), "{activeDeadlineSeconds: 1}")
    finished = muster.run("run", muster.write("job.yaml", text), "--output", "json", limit=30)
    assert finished.status == 1, finished
    job = final_job(finished, "late")
    assert conditions(job)["Failed"] == "True", finished
    assert "active longer than specified deadline" in finished.err, finished
    assert "first to fail" not in finished.err, finished


# A container that the node restarts has begun again when the restart is counted; a pod that would
# reach the limit is not made again, and is no restart.
@pytest.mark.parametrize("policy, lives, restarts", [("ExitCode", 2, 1), ("OnFailure", 3, 2)])
def test_a_backoff_limit_ends_a_job_that_only_restarts(muster, policy, lives, restarts):
    text = limited(pytorchjob("tries", "sleep 1000", 1, "echo try; exit 143", restart_policy=policy,
                              master_restart_policy="Never"), "{backoffLimit: 2}")
    finished = muster.run("run", muster.write("job.yaml", text), "--output", "json", limit=90)
    assert finished.status == 143, finished
    job = final_job(finished, "tries")
    assert "has reached the specified backoff limit" in finished.err, finished
    assert job["status"]["replicaStatuses"]["Worker"]["restarts"] == restarts, finished
    assert 1 < finished.text.count("tries-worker-0 | try") <= lives, finished


def test_a_job_that_expires_has_its_verdict_all_the_same(muster):
    text = limited(pytorchjob("gone", "echo done"), "{ttlSecondsAfterFinished: 0}")
    finished = muster.run("run", muster.write("job.yaml", text))
    assert finished.status == 0, finished
    assert "PyTorchJob default/gone succeeded" in finished.text, finished


# The worker of rank 1 fails in its first life, once all have begun theirs. None ends before all have
# begun their second.
MEMBER = """
echo life >> "$MARKS/lives-$RANK"
lives() { cat "$MARKS"/lives-* | wc -l; }
if [ "$RANK" = 1 ] && [ ! -e "$MARKS/failed" ]; then
    until [ "$(lives)" -ge 3 ]; do sleep 0.05; done
    touch "$MARKS/failed"
    exit 7
fi
until [ "$(lives)" -ge 6 ]; do sleep 0.05; done
"""


def test_one_failure_restarts_all_pods_of_a_group(muster, shared):
    text = pytorchjob("group", MEMBER, 2, MEMBER, restart_policy="OnFailure")
    text = text.replace("metadata:\n", "metadata:\n  annotations: {muster.dev/restart: group}\n", 1)
    finished = muster.run("run", muster.write("job.yaml", text), "--env", f"MARKS={shared}",
                          "--output", "json", limit=60)
    assert finished.status == 0, finished
    job = final_job(finished, "group")
    assert job["status"]["restartGeneration"] == 1, finished
    assert "restarts" not in json.dumps(job["status"]["replicaStatuses"]), finished
    assert "1 restart of all its pods" in finished.err, finished
