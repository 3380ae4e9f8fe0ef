"""The annotation muster.dev/elastic of a PyTorchJob on `muster up`: an agent before each replica's command, as `muster run --elastic` has it,
and their master in a pod of its own."""

import json
import os
import re
import signal
import time

import pytest

from test_elasticjob import TRAIN, log_of, masters_of
from test_verbs import Server


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    made.start()
    yield made
    made.down("--kill")


def job(name, command, annotation="true"):
    container = {"name": "pytorch", "image": "local", "command": command}
    return json.dumps({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": {"name": name, "annotations": {"muster.dev/elastic": annotation}},
        "spec": {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2, "maxRestarts": 3},
                 "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": {
                     "terminationGracePeriodSeconds": 1, "containers": [container]}}}}}})


def restarts_of(server, name):
    """By pod."""
    pods = json.loads(server.verb("get", "pods", "-l", f"training.kubeflow.org/job-name={name}", "-o", "json").stdout)["items"]
    return {pod["metadata"]["name"]: pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods}


def test_a_worker_that_dies_is_started_again_in_its_pod(server):
    """All workers begin again as torchrun's do, and no pod does."""
    script = ("echo rank $RANK of $WORLD_SIZE attempt $TORCHELASTIC_RESTART_COUNT; sh -c 'echo $PPID > /tmp/pid'; "
              "[ $TORCHELASTIC_RESTART_COUNT != 0 ] || exec sleep 1000")
    server.apply(job("el", ["sh", "-c", script]))
    logs = server.follow("logs", "el", "-f")
    seen = ""
    while not all(f"rank {rank} of 2 attempt 0" in seen for rank in (0, 1)):
        line = logs.stdout.readline()
        assert line, seen
        seen += line
    # A file of the pod, which its worker may be about to write.
    server.verb("exec", "el/worker-1", "--", "sh", "-c", "until [ -s /tmp/pid ]; do :; done; kill $(cat /tmp/pid)")
    server.verb("wait", "pytorchjob/el", "--for", "condition=Succeeded", "--timeout", "60s")
    rest, _ = logs.communicate(timeout=30)
    assert "attempt 1" in rest
    assert restarts_of(server, "el") == {"el-elasticmaster-0": 0, "el-worker-0": 0, "el-worker-1": 0}
    # What was written stays as it was written.
    kept = server.verb("get", "pytorchjob", "el", "-o",
                       "jsonpath={.spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].command[0]}").stdout
    assert kept == "sh"


def test_a_command_without_a_place_for_an_agent_fails_the_job_and_says_so(server):
    server.apply(job("bad", ["python", "-O", "-m", "torch.distributed.launch", "x.py"]))
    server.verb("wait", "pytorchjob/bad", "--for", "condition=Failed", "--timeout", "30s")
    said = server.verb("describe", "pytorchjob", "bad").stdout
    assert "containers[0].command: muster.dev/elastic:" in said and "write torchrun" in said


def test_words_arrive_as_without_an_agent(server):
    """The node makes one dollar of two, as Kubernetes does, and the agent changes nothing."""
    server.apply(job("words", ["python3", "-c", "import sys; print(sys.argv[1:])", "$$$$ $$(HOME) $local_rank ${local_rank}"]))
    server.verb("wait", "pytorchjob/words", "--for", "condition=Succeeded", "--timeout", "60s")
    assert "['$$ $(HOME) $local_rank ${local_rank}']" in server.verb("logs", "words").stdout


def test_another_value_means_nothing(server):
    server.apply(job("plain", ["sh", "-c", "echo [$TORCHELASTIC_RUN_ID]"], annotation="false"))
    server.verb("wait", "pytorchjob/plain", "--for", "condition=Succeeded", "--timeout", "30s")
    assert "[]" in server.verb("logs", "plain").stdout


def trains(name, policy="OnFailure", script=None):
    """Two pods, whose program is that of test_elasticjob.py, or a shell's text."""
    command = ["torchrun", "--nproc-per-node=1", *(["train.py"] if script is None else ["--no-python", "sh", "-c", script])]
    replica = {"replicas": 1, "restartPolicy": policy, "template": {"spec": {
        "terminationGracePeriodSeconds": 1, "containers": [{"name": "pytorch", "image": "local", "command": command}]}}}
    return json.dumps({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name, "annotations": {"muster.dev/elastic": "true"}},
        "spec": {"pytorchReplicaSpecs": {"Master": replica, "Worker": replica}}})


@pytest.fixture
def cluster(tmp_path, shared):
    """A `muster up` whose pods run in the directory with train.py; Debian's Python has PyTorch."""
    (shared / "train.py").write_text(TRAIN)
    made = Server(tmp_path)
    made.cwd = shared
    made.environment["PATH"] = "/usr/bin:" + made.environment["PATH"]
    made.start()
    yield made
    made.down("--kill")


def test_no_worker_notices_that_the_program_of_the_master_was_killed(cluster, shared):
    (shared / "hold").touch()
    cluster.apply(trains("torched"))
    workers = [log_of(cluster, f"torched-{replica}-0") for replica in ("master", "worker")]
    for log in workers:
        log.until("rank . of 2 in attempt 0")
    master, = masters_of("torched")
    os.kill(master, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while masters_of("torched") in ([], [master]):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    second = log_of(cluster, "torched-elasticmaster-0")
    second.until("2 workers on 2 nodes")
    second.end()
    (shared / "hold").unlink()
    cluster.verb("wait", "pytorchjob/torched", "--for", "condition=Succeeded", "--timeout", "60s")
    for log in workers:
        assert re.findall(r"rank . of 2 in attempt (.)", log.end()) == ["0"], log.text
    # It ends when it has told all, and what it says about the job is no part of the status.
    cluster.verb("wait", "pod/torched-elasticmaster-0", "--for", "jsonpath={.status.phase}=Succeeded", "--timeout", "30s")
    assert restarts_of(cluster, "torched") == {"torched-elasticmaster-0": 1, "torched-master-0": 0, "torched-worker-0": 0}
    status = json.loads(cluster.verb("get", "pytorchjob", "torched", "-o", "json").stdout)["status"]
    assert sorted(status["replicaStatuses"]) == ["Master", "Worker"], status
    assert "torched-elasticmaster-0" in cluster.verb("describe", "pytorchjob", "torched").stdout
    cluster.verb("delete", "pytorchjob", "torched")
    for kind in ("serviceaccounts", "roles", "rolebindings", "configmaps"):
        cluster.verb("wait", f"{kind}/torched-elasticmaster", "--for", "delete", "--timeout", "30s")


def test_pods_that_start_again_after_a_failure_find_a_master_that_begins_again(cluster):
    """As the policy OnFailure has it, each time with whole budgets."""
    cluster.apply(trains("again", script="[ $RANK = 0 ] || [ -e tried ] || { touch tried; exit 3; }"))
    cluster.verb("wait", "pytorchjob/again", "--for", "condition=Succeeded", "--timeout", "80s")
    restarts = restarts_of(cluster, "again")
    assert restarts["again-elasticmaster-0"] == 1, restarts
    assert restarts["again-master-0"] == restarts["again-worker-0"] == 1, f"none is told an end that was not its own: {restarts}"
    assert "begins again, with whole budgets" in cluster.verb("logs", "again-elasticmaster-0").stdout


def test_where_no_pod_starts_again_the_master_shows_the_failure_and_the_policy_decides(cluster):
    cluster.apply(trains("over", policy="Never", script="[ $RANK = 1 ] || exec sleep 1000; exit 3"))
    cluster.verb("wait", "pytorchjob/over", "--for", "condition=Failed", "--timeout", "60s")
    cluster.verb("wait", "pod/over-elasticmaster-0", "--for", "jsonpath={.status.phase}=Failed", "--timeout", "30s")
    assert "the job has failed" in cluster.verb("logs", "over-elasticmaster-0").stdout
    assert "exited with code 3" in cluster.verb("logs", "over-elasticmaster-0").stdout
    status = json.loads(cluster.verb("get", "pytorchjob", "over", "-o", "json").stdout)["status"]
    assert status["conditions"][-1]["type"] == "Failed" and "ElasticMaster" not in json.dumps(status), status


def test_a_master_that_no_agent_asks_goes_with_the_job(cluster):
    """Each pod is a job of its own, as its command has it."""
    cluster.apply(job("idle", ["torchrun", "--nnodes=1", "--nproc-per-node=1", "--no-python", "true"]))
    cluster.verb("wait", "pytorchjob/idle", "--for", "condition=Succeeded", "--timeout", "60s")
    cluster.verb("wait", "pod/idle-elasticmaster-0", "--for", "delete", "--timeout", "30s")
    assert set(restarts_of(cluster, "idle")) == {"idle-worker-0", "idle-worker-1"}
