"""The token that the agents of one job of `muster run --elastic` share."""

import json
import re

import pytest

from conftest import BINARY

# Each pod has one worker. That of the second one starts an agent without a token, for a place in the job that its own has.
WORKER = """
import os, subprocess, sys
assert not any(name.startswith("MUSTER_TOKEN") for name in os.environ), "workers have no token"
if os.environ["RANK"] == "1":
    came = subprocess.run([sys.argv[1], "muster-run", "--nnodes", "2", "--node-rank", "1", "--master-addr", os.environ["PET_MASTER_ADDR"],
                           "--master-port", os.environ["PET_MASTER_PORT"], "--no-python", "true"], capture_output=True, text=True)
    print("the stranger ended with", came.returncode, came.stderr, flush=True)
"""


@pytest.fixture
def job(muster):
    container = {"name": "pytorch", "image": "python:3.11", "command": ["python3", "-c", WORKER, str(BINARY)]}
    replica = {"restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    return muster.write("job.yaml", json.dumps({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "agents"},
        "spec": {"pytorchReplicaSpecs": {"Master": replica, "Worker": replica}}}))


def test_an_agent_without_the_token_is_refused(muster, job):
    ended = muster.run("run", job, "--elastic")
    assert ended.status == 0, ended
    said = ended.out.split("the stranger ended with 1", 1)
    assert len(said) == 2, ended
    assert "the job's master refuses this agent: this is not the token of the job served here" in said[1], ended
    assert "this job has no token" not in said[0], "the job's own agents have one"


def test_the_token_is_in_a_secret_of_jobs_with_agents_alone(muster, job):
    plain, elastic = muster.run("run", job, "--dry-run"), muster.run("run", job, "--elastic", "--dry-run")
    assert plain.status == 0 and elastic.status == 0, (plain, elastic)
    assert not re.search("kind: Secret|secretKeyRef", plain.out), plain
    assert elastic.out.count("kind: Secret") == 1 and elastic.out.count("name: agents-muster-token") == 3, elastic
    given = muster.run("run", job, "--elastic", "--dry-run", "--env", "MUSTER_TOKEN=mine")
    assert given.status == 0 and not re.search("kind: Secret|secretKeyRef", given.out), given
