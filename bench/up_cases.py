"""What `muster up` takes: to start, to keep many objects, to do nothing."""

import contextlib
import http.client
import json
import pathlib
import signal
import ssl
import subprocess
import tempfile
import threading
import time

from figure import Figure
from measure import Failed, exact_cpu_seconds, median, memory_bytes, wait_for

PODS = "/api/v1/namespaces/default/pods"


class Up:
    """A `muster up` in the foreground; `seconds` from its start to ready, kubeconfig written. Its pods have its directory and PATH."""

    def __init__(self, muster, directory, *flags, **of_process):
        self.state = pathlib.Path(directory) / "state"
        begin = time.perf_counter()
        self.process = subprocess.Popen([muster, "up", "--state", self.state, "--listen", "127.0.0.1:0", *flags],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, **of_process)
        line = self.process.stdout.readline()
        self.seconds = time.perf_counter() - begin
        if "is up at" not in line or not (self.state / "kubeconfig").exists():
            raise Failed(f"muster up did not come up: {line}")
        self.port = int(line.strip().rsplit(":", 1)[1])
        self.ca_file, self.token_file = self.state / "ca.crt", self.state / "admin.token"
        self.headers = {"Authorization": "Bearer " + self.token_file.read_text(),
                        "Content-Type": "application/json"}
        self.context = ssl.create_default_context(cafile=self.ca_file)

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)

    def call(self, connection, method, path, body=None):
        connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise Failed(f"{method} {path} was answered {answer.status}: {text[:300]}")
        return json.loads(text)

    @property
    def kubeconfig(self):
        return self.state / "kubeconfig"

    def memory(self):
        return memory_bytes(self.process.pid, "Rss")

    def cpu(self):
        return exact_cpu_seconds(self.process.pid)

    def stop(self):
        self.process.send_signal(signal.SIGINT)  # which ends the pods too
        if wait_for(self.process, 30) is None:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory(prefix="muster-bench-", dir="/var/tmp") as directory:
        yield directory


def up_start(muster):
    seconds, memory = [], []
    for _ in range(15):
        with place() as directory:
            up = Up(muster, directory)
            seconds.append(up.seconds)
            memory.append(up.memory())
            up.stop()
    return [Figure("muster up, cold: start to ready and kubeconfig written", median(seconds) * 1000, 150, "ms",
                   "median of 15, each with a new state directory"),
            Figure("muster up, cold: resident memory", max(memory) / 1e6, 40, "MB", "largest of 15")]


def fill(up, count, threads=8):
    """Pods of another node, so that nothing happens to them."""
    blob = "x" * 3000
    failed = []

    def create(part):
        try:
            connection = up.connect()
            for number in range(part, count, threads):
                up.call(connection, "POST", PODS, {
                    "metadata": {"name": f"p{number}", "labels": {"app": "bench"}, "annotations": {"blob": blob}},
                    "spec": {"nodeName": "elsewhere", "containers": [{"name": "main", "image": "none"}]}})
        except (Failed, OSError) as why:
            failed.append(why)

    workers = [threading.Thread(target=create, args=(part,)) for part in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise Failed(str(failed[0]))


def up_stored(muster):
    count = 100_000
    with place() as directory:
        up = Up(muster, directory)
        fill(up, count)
        up.stop()
        size = (up.state / "store.db").stat().st_size
        seconds = []
        for _ in range(5):
            up = Up(muster, directory)
            seconds.append(up.seconds)
            memory = up.memory()
            up.stop()
    return [Figure("muster up with 100,000 stored pods: start to ready", median(seconds), 2, "s",
                   f"median of 5; a file of {size / 1e6:.0f} MB, {memory / 1e6:.0f} MB resident")]


JOB = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Master": {
    "replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [
        {"name": "pytorch", "image": "none", "command": ["true"]}]}}}}}}


def up_idle(muster):
    jobs, window = 100, 20
    path = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
    with place() as directory:
        up = Up(muster, directory)
        connection = up.connect()
        for number in range(jobs):
            up.call(connection, "POST", path, {**JOB, "metadata": {"name": f"j{number}"}})
        deadline = time.monotonic() + 120
        while True:
            listed = up.call(connection, "GET", path)["items"]
            ended = sum(any(c["type"] == "Succeeded" and c["status"] == "True"
                            for c in job.get("status", {}).get("conditions", [])) for job in listed)
            if ended == jobs:
                break
            if time.monotonic() > deadline:
                raise Failed(f"only {ended} of {jobs} jobs have ended")
            time.sleep(0.2)
        time.sleep(2)
        before = up.cpu()
        begin = time.monotonic()
        time.sleep(window)
        share = (up.cpu() - before) / (time.monotonic() - begin) * 100
        up.stop()
    return [Figure("idle muster up with 100 finished jobs, CPU", share, 0.1, "% of a core", f"over {window} s")]


CASES = {"up-start": up_start, "up-stored": up_stored, "up-idle": up_idle}
