"""`muster step` against any Kubernetes API, whose operator the test plays: what it creates, replaces and deletes, and how it ends. With a
node that runs pods it is in tests/e2e/test_step.py."""

import os
import pathlib
import select
import signal
import socket
import subprocess
import threading

import pytest
import yaml

from conftest import BINARY, Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = "pytorchjobs.kubeflow.org"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The kubeconfig of a server without an operator that has the kind."""
    if os.environ.get("KUBECONFIG"):
        yield pathlib.Path(os.environ["KUBECONFIG"])
        return
    state = tmp_path_factory.mktemp("step") / "state"
    subprocess.run([BINARY, "up", "--state", state, "--listen", "127.0.0.1:0", "--detach", "--without-operator"], check=True, timeout=60,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield state / "kubeconfig"
    finally:
        subprocess.run([BINARY, "down", "--state", state, "--kill"], check=False, timeout=60, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def server(place):
    server = Api(place)
    if server.get(f"{DEFINITIONS}/{NAME}").status == 404:
        text = subprocess.run([BINARY, "manifests", "--crds-only"], capture_output=True, text=True, timeout=60, check=True).stdout
        [definition] = [each for each in yaml.load_all(text, Loader=yaml.CSafeLoader) if each["metadata"]["name"] == NAME]
        assert server.post(DEFINITIONS, definition).status == 201
        watch = server.watch(f"{DEFINITIONS}?watch=1&fieldSelector=metadata.name%3D{NAME}")
        watch.until(lambda event: any(each["type"] == "Established" and each["status"] == "True"
                                      for each in event["object"].get("status", {}).get("conditions") or []))
        watch.close()
        while server.get("/apis/kubeflow.org/v1/pytorchjobs").status == 429:
            pass  # "storage is (re)initializing", for a moment
    return server


def status_with(condition):
    return {"conditions": [{"type": condition, "status": "True", "reason": condition, "message": "told by the test",
                            "lastUpdateTime": "2026-01-02T03:04:05Z", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}


class Steps:
    def __init__(self, server, kubeconfig, directory, run):
        self.server, self.kubeconfig, self.directory, self.run = server, kubeconfig, directory, run
        self.jobs = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"

    def begin(self, *flags, task="1", kubeconfig=None):
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "KUBECONFIG": str(kubeconfig or self.kubeconfig),
                     "KFJ_RUN_ID": self.run, "KFJ_TASK_ID": task, "KFJ_NAMESPACE": "default", "KFJ_TASK_IMAGES": "train:1",
                     "KFJ_TASK_VOLUME_MOUNT": "data(pvc):/mnt", "KFJ_CREATOR": "ann", "KFJ_TASK_RESOURCE_GPU": "1(V100)"}
        return subprocess.Popen([BINARY, "step", "pytorch", "--num_worker", "2", "--command", "python3 train.py", *flags], env=variables,
                                cwd=self.directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def watch(self):
        return self.server.watch(f"{self.jobs}?watch=1&labelSelector=run-id%3D{self.run}")

    def created(self, watch):
        return watch.until(lambda event: event["type"] == "ADDED")[-1]["object"]

    def gone(self, watch):
        return watch.until(lambda event: event["type"] == "DELETED")[-1]["object"]

    def tell(self, job, condition):
        """As an operator does."""
        answer = self.server.patch(f"{self.jobs}/{job['metadata']['name']}/status", {"status": status_with(condition)})
        assert answer.status == 200, answer

    def begin_and_follow(self, *flags, **more):
        """The step, and its job, whose creation it knows of."""
        watch = self.watch()
        step = self.begin(*flags, **more)
        job = self.created(watch)
        watch.close()
        self.tell(job, "Running")
        for line in step.stdout:
            if "Running: told by the test" in line:
                return step, job
        raise AssertionError(step.stderr.read())

    @staticmethod
    def end_of(step, status):
        out, err = step.communicate(timeout=120)
        assert step.returncode == status, (step.returncode, out, err)
        return out


@pytest.fixture
def steps(server, place, tmp_path, request):
    return Steps(server, place, tmp_path, f"run-{request.node.name[:50].strip('_')}".replace("[", "-").replace("]", ""))


@pytest.mark.parametrize("condition, status", [("Succeeded", 0), ("Failed", 1)])
def test_it_ends_as_the_job_does(steps, condition, status):
    watch = steps.watch()
    step = steps.begin()
    job = steps.created(watch)
    assert job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["nodeSelector"] == {"gpu-type": "V100"}
    steps.tell(job, condition)
    steps.end_of(step, status)
    assert steps.server.get(f"{steps.jobs}/{job['metadata']['name']}").status == 200, "it stays"


def test_a_job_that_is_deleted_is_told_apart(steps):
    watch = steps.watch()
    step = steps.begin()
    job = steps.created(watch)
    assert steps.server.delete(f"{steps.jobs}/{job['metadata']['name']}").status == 200
    assert "the job was deleted by someone else" in steps.end_of(step, 3)


@pytest.mark.parametrize("which, status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stop_deletes_the_job(steps, which, status):
    watch = steps.watch()
    step = steps.begin()
    steps.created(watch)
    step.send_signal(which)
    steps.gone(watch)
    steps.end_of(step, status)


def test_the_job_of_an_earlier_try_is_replaced_and_that_of_another_task_is_not(steps):
    watch = steps.watch()
    first, other = steps.begin(), steps.begin(task="2")
    jobs = {job["metadata"]["labels"]["task-id"]: job for job in (steps.created(watch), steps.created(watch))}
    again = steps.begin()
    assert steps.gone(watch)["metadata"]["uid"] == jobs["1"]["metadata"]["uid"]
    second = steps.created(watch)
    assert second["metadata"]["name"] == jobs["1"]["metadata"]["name"]
    steps.tell(second, "Succeeded")
    steps.tell(jobs["2"], "Succeeded")
    steps.end_of(first, 3)
    steps.end_of(again, 0)
    steps.end_of(other, 0)


def test_a_job_that_the_server_refuses_has_the_code_of_bad_input(steps):
    out = steps.begin("--priority-class", "x", "--namespace", "nowhere-at-all")
    steps.end_of(out, 2)


class Way:
    """To a server, which can be closed: every connection breaks, and none is made, until it is opened."""

    def __init__(self, server):
        self.target = (server.url.hostname, server.url.port)
        self.open_again(0)

    def open_again(self, port):
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        self.waker, self.wake = socket.socketpair()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def close(self):
        self.wake.close()
        self.thread.join()

    def serve(self):
        pairs = {}
        while True:
            ready, _, _ = select.select([self.listener, self.waker, *pairs], [], [])
            if self.waker in ready:
                for one in [self.listener, self.waker, *pairs]:
                    one.close()
                return
            for one in ready:
                if one is self.listener:
                    near, _ = one.accept()
                    far = socket.create_connection(self.target)
                    pairs.update({near: far, far: near})
                elif one in pairs:
                    try:
                        data = one.recv(1 << 16)
                        if data:
                            pairs[one].sendall(data)
                            continue
                    except OSError:
                        pass
                    other = pairs.pop(one)
                    pairs.pop(other, None)
                    one.close()
                    other.close()


def test_a_server_that_is_away_for_a_while_is_waited_for(steps, server):
    way = Way(server)
    kubeconfig = steps.directory / "way"
    kubeconfig.write_text(steps.kubeconfig.read_text().replace(f":{server.url.port}", f":{way.port}"))
    step, job = steps.begin_and_follow(kubeconfig=kubeconfig)
    way.close()
    steps.tell(job, "Succeeded")
    assert step.poll() is None
    way.open_again(way.port)
    out = steps.end_of(step, 0)
    way.close()
    assert "Succeeded: told by the test" in out


def test_a_creation_whose_answer_is_lost_leaves_no_second_job(steps, server):
    way = Way(server)
    kubeconfig = steps.directory / "way"
    kubeconfig.write_text(steps.kubeconfig.read_text().replace(f":{server.url.port}", f":{way.port}"))
    watch = steps.watch()
    step = steps.begin(kubeconfig=kubeconfig)
    steps.created(watch)
    way.close()  # the answer has arrived, or it has not
    way.open_again(way.port)
    # Whichever it was, one job is left, and the step follows it.
    while step.poll() is None:
        jobs = steps.server.get(f"{steps.jobs}?labelSelector=run-id%3D{steps.run}").json["items"]
        assert len(jobs) <= 1
        if jobs and not jobs[0]["metadata"].get("deletionTimestamp"):
            steps.server.patch(f"{steps.jobs}/{jobs[0]['metadata']['name']}/status", {"status": status_with("Succeeded")})
    steps.end_of(step, 0)
    way.close()


def test_a_server_that_stays_away_has_a_code_of_its_own(steps, server):
    way = Way(server)
    kubeconfig = steps.directory / "way"
    kubeconfig.write_text(steps.kubeconfig.read_text().replace(f":{server.url.port}", f":{way.port}"))
    step, job = steps.begin_and_follow("--away-after", "1s", "--stop-timeout", "1s", kubeconfig=kubeconfig)
    way.close()
    out = steps.end_of(step, 4)
    assert "the API server has not answered for " in out
    assert f"default/{job['metadata']['name']} stays: " in out
