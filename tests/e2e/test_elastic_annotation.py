"""The annotation muster.dev/elastic of a PyTorchJob on `muster up`: an agent before each replica's command, as `muster run --elastic` has it."""

import json

import pytest

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
    restarts = "jsonpath={range .items[*]}{.status.containerStatuses[0].restartCount} {end}"
    assert server.verb("get", "pods", "-o", restarts).stdout.split() == ["0", "0"]
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
