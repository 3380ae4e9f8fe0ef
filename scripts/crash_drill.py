"""kill -9 of `muster up` under load, at random moments: what it acknowledged is there when it is up again.

crash_drill.py MUSTER [--count N] [--seed N]. Four clients create, change and delete objects, one watches, and a
job trains. After each kill: every acknowledged write is there and no deleted object is, revisions kept rising,
the watch continues from where it was without a gap, and so does the job; at the end it succeeds without a restart and
its log has every line. Exits 1 with what was lost.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading

CLIENTS = 4
COLLECTION = "/api/v1/namespaces/default/configmaps"
JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
PODS = "/api/v1/namespaces/default/pods"


class Server:
    def __init__(self, muster, directory):
        self.muster = muster
        self.state = directory / "state"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory)}

    def start(self):
        subprocess.run([self.muster, "up", "--state", self.state, "--listen", "127.0.0.1:0", "--detach",
                        "--sandbox", "none"], env=self.environment, check=True, timeout=60, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        said = json.loads((self.state / "lock").read_text())
        self.pid = said["pid"]
        self.port = int(said["address"].rsplit(":", 1)[1])
        self.token = (self.state / "admin.token").read_text()
        self.context = ssl.create_default_context(cafile=self.state / "ca.crt")

    def kill(self):
        pidfd = os.pidfd_open(self.pid)
        os.kill(self.pid, signal.SIGKILL)
        import select
        select.select([pidfd], [], [])
        os.close(pidfd)

    def down(self):
        subprocess.run([self.muster, "down", "--kill", "--state", self.state], env=self.environment, check=True,
                       timeout=60, stdout=subprocess.DEVNULL)

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=30)

    def call(self, connection, method, path, body=None):
        connection.request(method, path, None if body is None else json.dumps(body),
                           {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


class Writer:
    """One client. `known` is what its acknowledged writes left, by name: a value, or None for deleted.
    `unsure` are names whose last write was not answered."""

    def __init__(self, number, seed):
        self.number = number
        self.rng = random.Random(f"{seed}-{number}")
        self.known = {}
        self.unsure = set()
        self.last_revision = 0
        self.acknowledged = 0

    def run(self, server, enough):
        name = None
        try:
            connection = server.connect()
            while True:
                name = f"w{self.number}-{self.rng.randrange(60)}"
                self.write(server, connection, name)
                name = None
                self.acknowledged += 1
                enough()
        except (OSError, http.client.HTTPException, ValueError):
            if name is not None:
                self.unsure.add(name)

    def write(self, server, connection, name):
        value = str(self.rng.randrange(10**9))
        body = {"metadata": {"name": name}, "data": {"value": value}}
        present = self.known.get(name) is not None
        if name in self.unsure:
            status, answer = server.call(connection, "GET", f"{COLLECTION}/{name}")
            present = status == 200
            self.unsure.discard(name)
            self.known[name] = answer["data"]["value"] if present else None
        if not present:
            status, answer = server.call(connection, "POST", COLLECTION, body)
        elif self.rng.random() < 0.3:
            status, answer = server.call(connection, "DELETE", f"{COLLECTION}/{name}")
            value = None
        else:
            status, answer = server.call(connection, "PUT", f"{COLLECTION}/{name}", body)
        if status not in (200, 201):
            raise SystemExit(f"writing {name} was answered {status}: {answer}")
        self.known[name] = value
        revision = answer.get("metadata", {}).get("resourceVersion")
        if revision is not None:
            if int(revision) <= self.last_revision:
                raise SystemExit(f"revisions went back: {revision} after {self.last_revision}")
            self.last_revision = int(revision)


class Watcher:
    """A replica of the collection, made of one list and of watches that continue each other."""

    def __init__(self):
        self.objects = {}
        self.revision = None
        self.relists = 0

    def follow(self, server, until=None):
        """Until the connection breaks, or the revision `until` is reached."""
        try:
            connection = server.connect()
            if self.revision is None:
                _, listed = server.call(connection, "GET", COLLECTION)
                self.objects = {item["metadata"]["name"]: item["data"]["value"] for item in listed["items"]
                                if "value" in item.get("data", {})}
                self.revision = int(listed["metadata"]["resourceVersion"])
                self.relists += 1
            connection.request("GET", f"{COLLECTION}?watch=1&resourceVersion={self.revision}", None,
                               {"Authorization": "Bearer " + server.token})
            answer = connection.getresponse()
            while until is None or self.revision < until:
                line = answer.readline()
                if not line:
                    return
                self.take(json.loads(line))
        except (OSError, http.client.HTTPException, ValueError):
            return

    def take(self, event):
        if event["type"] == "ERROR":
            raise SystemExit(f"the watch could not continue: {event['object']}")
        metadata = event["object"]["metadata"]
        if int(metadata["resourceVersion"]) <= self.revision:
            raise SystemExit(f"an event came twice: {event}")
        self.revision = int(metadata["resourceVersion"])
        if event["type"] == "DELETED":
            self.objects.pop(metadata["name"], None)
        else:
            self.objects[metadata["name"]] = event["object"]["data"]["value"]


class Job:
    """One replica that counts until it is told to stop."""

    def __init__(self, directory):
        self.go = directory / "go"
        self.container = None

    def create(self, server):
        script = f"i=0; until [ -e {self.go} ]; do i=$((i+1)); echo step $i; sleep 0.02; done"
        worker = {"replicas": 1, "restartPolicy": "OnFailure", "template": {"spec": {"containers": [
            {"name": "pytorch", "image": "local", "command": ["sh", "-c", script]}]}}}
        connection = server.connect()
        status, answer = server.call(connection, "POST", JOBS, {
            "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "trains"},
            "spec": {"pytorchReplicaSpecs": {"Master": worker}}})
        if status != 201:
            raise SystemExit(f"the job was answered {status}: {answer}")
        self.container = self.wait_for(server, "Running")["containerID"]

    def wait_for(self, server, phase):
        connection = server.connect()
        connection.request("GET", f"{PODS}?watch=1", None, {"Authorization": "Bearer " + server.token})
        answer = connection.getresponse()
        while line := answer.readline():
            status = json.loads(line)["object"]["status"]
            if status.get("phase") == phase:
                return status["containerStatuses"][0]
        raise SystemExit(f"the watch for the job's pod to be {phase} ended")

    def check(self, server):
        status = self.wait_for(server, "Running")
        if status["containerID"] != self.container or status["restartCount"] != 0 or "running" not in status["state"]:
            return [f"the job's pod did not continue: {status}"]
        return []

    def finish(self, server):
        self.go.touch()
        ended = self.wait_for(server, "Succeeded")
        connection = server.connect()
        connection.request("GET", f"{PODS}/trains-master-0/log", None, {"Authorization": "Bearer " + server.token})
        lines = connection.getresponse().read().decode().splitlines()
        if ended["restartCount"] != 0:
            return [f"the job's pod was restarted: {ended}"]
        if lines != [f"step {number}" for number in range(1, len(lines) + 1)]:
            return ["the job's log has a gap"]
        return []


def check(server, writers, watcher):
    connection = server.connect()
    _, listed = server.call(connection, "GET", COLLECTION)
    stored = {item["metadata"]["name"]: item["data"]["value"] for item in listed["items"] if "value" in item.get("data", {})}
    wrong = []
    for writer in writers:
        for name, value in writer.known.items():
            if name not in writer.unsure and stored.get(name) != value:
                wrong.append(f"{name} is {stored.get(name)}, and {value} was acknowledged")
        if int(listed["metadata"]["resourceVersion"]) < writer.last_revision:
            wrong.append(f"revision {writer.last_revision} was given, and the list is at "
                         f"{listed['metadata']['resourceVersion']}")
    # One more write that every watch sees, so that nothing is waited for by time.
    _, last = server.call(connection, "POST", COLLECTION,
                          {"metadata": {"generateName": "last-"}, "data": {"value": "last"}})
    name = last["metadata"]["name"]
    stored[name] = "last"
    watcher.follow(server, until=int(last["metadata"]["resourceVersion"]))
    if watcher.objects != stored:
        different = {key for key in watcher.objects.keys() | stored.keys() if watcher.objects.get(key) != stored.get(key)}
        wrong.append(f"the watch has a gap: {sorted(different)[:5]} differ")
    return wrong


def one_round(server, writers, watcher, job, rng):
    """Kills after a random number of acknowledged writes."""
    wanted = rng.randrange(1, 400)
    counted = 0
    reached = threading.Event()
    lock = threading.Lock()

    def enough():
        nonlocal counted
        with lock:
            counted += 1
            if counted == wanted:
                reached.set()

    threads = [threading.Thread(target=writer.run, args=(server, enough)) for writer in writers]
    threads.append(threading.Thread(target=watcher.follow, args=(server,)))
    for thread in threads:
        thread.start()
    if not reached.wait(60):
        raise SystemExit("the writers did not get on")
    server.kill()
    for thread in threads:
        thread.join()
    server.start()
    return check(server, writers, watcher) + job.check(server)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="muster-crash-", dir="/var/tmp"))
    server = Server(options.muster.absolute(), directory)
    writers = [Writer(number, options.seed) for number in range(CLIENTS)]
    watcher = Watcher()
    job = Job(directory)
    server.start()
    try:
        job.create(server)
        for number in range(options.count):
            wrong = one_round(server, writers, watcher, job, rng)
            if number + 1 == options.count:
                wrong += job.finish(server)
            if wrong:
                print(f"round {number}, seed {options.seed}: ", *wrong, sep="\n  ")
                return 1
        total = sum(writer.acknowledged for writer in writers)
        print(f"{options.count} kills under load (seed {options.seed}): all of {total} acknowledged writes were kept, "
              f"the watch continued without a gap after {watcher.relists} list, and so did the job that trained")
        return 0
    finally:
        server.down()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
