"""`muster master` with its record in a ConfigMap: of `muster up`, over TLS, with faults of it."""

import base64
import signal
import time

import pytest

from conftest import BINARY, free_port
from test_master_process import Masters, kill, kill_worker
from test_up import Up

NAME = "elasticjob-a-dlrover-master"
PATH = f"/api/v1/namespaces/default/configmaps/{NAME}"


class Api(Up):
    def __init__(self, directory):
        super().__init__(directory)
        self.port = free_port()

    def serve(self):
        self.muster("up", "--state", str(self.state), "--listen", f"127.0.0.1:{self.port}", "--detach")


class RecordedMasters(Masters):
    def __init__(self, job, api):
        super().__init__(job)
        self.api = api

    def start(self, *flags, wait=True):
        master = self.job.call("master", "--job", "a", "--record-object", NAME, "--kubeconfig", self.api.kubeconfig,
                               "--port", self.port, *flags, environment={"MUSTER_TOKEN": "secret"}, program=BINARY)
        if wait:
            self.job.until(lambda: "a master is in charge" in master.text)
        return master


@pytest.fixture
def api(tmp_path_factory):
    made = Api(tmp_path_factory.mktemp("api"))
    made.serve()
    yield made
    made.down()


@pytest.fixture
def masters(job, api):
    api.send("POST", "/api/v1/namespaces/default/configmaps",
             {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "labels": {"mine": "yes"}}})
    return RecordedMasters(job, api)


def test_masters_follow_each_other_and_the_record_has_the_end(job, masters, api):
    agents = [masters.agent("--max-restarts", "3") for _ in range(2)]
    master = masters.start()
    job.until(lambda: len(job.lines("started")) == 2)
    quiet = api.send("GET", PATH)["metadata"]["resourceVersion"]
    time.sleep(2)
    found = api.send("GET", PATH)
    assert found["metadata"]["resourceVersion"] == quiet, "a quiet job writes nothing"
    kill(master)
    master = masters.start()
    assert int(api.send("GET", PATH)["data"]["epoch"]) > int(found["data"]["epoch"])
    kill_worker(job.lines("started")[0]["pid"])
    job.until(lambda: len(job.lines("started", attempt=1)) == 2)
    masters.finish()
    assert [agent.wait() for agent in agents] == [0, 0]
    assert master.wait() == 0
    found = api.send("GET", PATH)
    assert found["data"]["end"].startswith("succeeded: ")
    assert found["metadata"]["labels"] == {"mine": "yes"}
    assert base64.b64decode(found["binaryData"]["record"])
    again = masters.start(wait=False)
    assert again.wait() == 0


def test_an_api_server_that_is_away_disturbs_no_worker(job, masters, api):
    for _ in range(2):
        masters.agent("--max-restarts", "3")
    master = masters.start()
    job.until(lambda: len(job.lines("started")) == 2)
    api.kill()
    kill(master)
    master = masters.start(wait=False)
    job.until(lambda: "the job's record can't be had" in master.text)
    assert len(job.lines("started")) == 2
    api.serve()
    job.until(lambda: "a master is in charge" in master.text)
    job.until(lambda: "generation 1 runs" in master.text)
    assert len(job.lines("started")) == 2, "no worker was disturbed"
    # What has to be written first waits for the server.
    api.kill()
    kill_worker(job.lines("started")[0]["pid"])
    job.until(lambda: "can't be written" in master.text)
    assert len(job.lines("started")) == 2
    api.serve()
    job.until(lambda: len(job.lines("started", attempt=1)) == 2)
    masters.finish()
    assert master.wait() == 0


def test_of_two_masters_the_older_one_goes(job, masters, api):
    older = masters.start()
    masters.port = free_port()
    newer = masters.start()
    job.start("--nnodes", "1", "--max-restarts", "3", steps=0, script=masters.light, environment=masters.environment)
    assert older.wait() == 3
    assert "has ended" in older.text
    newer.send(signal.SIGTERM)
    assert newer.wait() == 143


def test_an_object_that_is_missing_is_waited_for(job, masters, api):
    api.send("DELETE", PATH)
    master = masters.start(wait=False)
    job.until(lambda: f"ConfigMap default/{NAME} does not exist: the operator makes it" in master.text)
    api.send("POST", "/api/v1/namespaces/default/configmaps",
             {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}})
    job.until(lambda: "a master is in charge" in master.text)
    master.send(signal.SIGTERM)
    assert master.wait() == 143
