"""Random calls of kubectl, of the Kubeflow SDK's Python and of plain HTTP against `muster up`, its memory flat.

soak_drill.py MUSTER [--minutes N | --rounds N] [--seed N]. kubectl and the Python client take part where they are here or
were built (./dev cluster build kubectl python-clients). In a round each client lives in a namespace of its own, makes
objects of many kinds, reads, changes, watches and deletes them, and the namespaces go. So every round leaves what the one
before left, once the server remembers as many changes for its watchers as it ever does. From there on rounds are counted,
and memory, descriptors and processes of the server stay what they are. With --rounds, one object is changed as often as
that takes and two rounds go before those that count. A call that fails in a way that it should not ends the drill, and it
fails if anything held the event loop for longer than 50 ms.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import ssl
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "cluster"), str(TESTS / "security")]

import holds  # noqa: E402
from programs import find  # noqa: E402

CALLS = 250  # of plain HTTP in a round
HISTORY = 10_000  # changes that the server remembers
WARM_UP = 2  # rounds, where history is filled by itself
GROWTH = 1.08  # of memory, or...
SLACK_KB = 4096  # ...what an allocator keeps or gives back by chance
PATCH = {"json": "application/json-patch+json", "merge": "application/merge-patch+json",
         "strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml"}

POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: soak}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: local, command: [sh, -c, "echo hello; exec sleep 600"]}]
"""
JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: NAME}
spec:
  runPolicy: {cleanPodPolicy: None}
  pytorchReplicaSpecs:
    Master: {restartPolicy: Never, template: {spec: {containers: [{name: pytorch, image: local, command: [sh, -c, "echo $RANK"]}]}}}
    Worker: {replicas: 2, restartPolicy: Never,
             template: {spec: {containers: [{name: pytorch, image: local, command: [sh, -c, "echo $RANK"]}]}}}
"""
SDK = textwrap.dedent("""
    import random, sys
    from kubernetes import client, config, dynamic, watch
    config.load_kube_config()
    core, apps = client.CoreV1Api(), dynamic.DynamicClient(client.ApiClient())
    for line in sys.stdin:  # a namespace and a seed
        namespace, seed = line.split()
        rng = random.Random(seed)
        for number in range(6):
            name = f"s{number}"
            body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"x": "1"}), data={"k": "1"})
            made = core.create_namespaced_config_map(namespace, body)
            core.patch_namespaced_config_map(name, namespace, {"data": {"k": str(rng.random())}})
            assert core.read_namespaced_config_map(name, namespace).metadata.uid == made.metadata.uid
            stream = watch.Watch()
            for event in stream.stream(core.list_namespaced_config_map, namespace, resource_version=made.metadata.resource_version):
                if event["object"].metadata.name == name:
                    break
            stream.stop()
            if rng.random() < 0.5:
                core.delete_namespaced_config_map(name, namespace)
        jobs = apps.resources.get(api_version="kubeflow.org/v1", kind="PyTorchJob")
        jobs.get(namespace=namespace)
        core.list_pod_for_all_namespaces(limit=3)
        print("done", flush=True)
""")


class Failed(Exception):
    pass


class Server:
    def __init__(self, muster, directory):
        self.muster, self.directory, self.state = muster, directory, directory / "state"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory),
                            "KUBECONFIG": str(self.state / "kubeconfig")}
        self.log = open(directory / "said", "w")  # noqa: SIM115 (as long as the server)
        subprocess.run([muster, "up", "--state", self.state, "--listen", "127.0.0.1:0", "--detach"], env=self.environment,
                       check=True, timeout=60, stdout=self.log, stderr=self.log)
        said = json.loads((self.state / "lock").read_text())
        self.pid, self.port = said["pid"], int(said["address"].rsplit(":", 1)[1])
        self.headers = {"Authorization": "Bearer " + (self.state / "admin.token").read_text()}
        self.context = ssl.create_default_context(cafile=self.state / "ca.crt")

    def down(self):
        subprocess.run([self.muster, "down", "--state", self.state, "--kill"], env=self.environment, check=False, timeout=60,
                       stdout=self.log, stderr=self.log)
        self.log.close()

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)

    def call(self, connection, method, path, body=None, expected=(200, 201), kind="application/json"):
        connection.request(method, path, None if body is None else json.dumps(body), {**self.headers, "Content-Type": kind})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status not in expected:
            raise Failed(f"{method} {path} was answered {answer.status}: {text[:500]}")
        return json.loads(text) if text.startswith(("{", "[")) else text

    def run(self, *command, stdin=None):
        done = subprocess.run([str(word) for word in command], env=self.environment, cwd=self.directory, input=stdin, text=True,
                              capture_output=True, timeout=120, check=False)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done.stdout

    def measure(self):
        """Resident memory in kB, descriptors, and children of the server."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        resident = int(status.split("VmRSS:")[1].split()[0])
        children = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return {"memory, kB": resident, "descriptors": len(os.listdir(f"/proc/{self.pid}/fd")), "children": len(children)}


def fill_history(server):
    """Changes of one object that is no smaller than most: what rounds leave takes the place of its versions."""
    connection = server.connect()
    path = "/api/v1/namespaces/default/configmaps"
    revision = 0
    server.call(connection, "POST", path, {"metadata": {"name": "history"}, "data": {"filling": "x" * 2000}})
    while revision <= HISTORY:
        body = {"data": {"revision": str(revision)}}
        changed = server.call(connection, "PATCH", f"{path}/history", body, kind=PATCH["merge"])
        revision = int(changed["metadata"]["resourceVersion"])
    connection.close()


def plain(server, namespace, rng):
    """CALLS random calls of HTTP. Keeps what it made in mind, so each has one right answer."""
    connection = server.connect()
    base = f"/api/v1/namespaces/{namespace}"
    collections = {"configmaps": lambda: {"data": {"value": str(rng.random())}},
                   "secrets": lambda: {"stringData": {"value": str(rng.random())}},
                   "services": lambda: {"spec": {"ports": [{"port": 80}], "selector": {"app": "soak"}}},
                   "serviceaccounts": dict}
    there = set()
    for _ in range(CALLS):
        kind = rng.choice(list(collections))
        path, name = f"{base}/{kind}", f"o{rng.randrange(8)}"
        what = rng.choice(["write", "write", "patch", "apply", "delete", "get", "list", "watch", "table", "review", "document"])
        if what == "write" and (kind, name) not in there:
            server.call(connection, "POST", path, {"metadata": {"name": name, "labels": {"app": "soak"}}, **collections[kind]()})
            there.add((kind, name))
        elif what in ("patch", "write") and (kind, name) in there:
            change = {"metadata": {"annotations": {"a": str(rng.random())}}}
            server.call(connection, "PATCH", f"{path}/{name}", change, kind=PATCH[rng.choice(["merge", "strategic"])])
        elif what == "apply":
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"own": str(rng.random())}}
            server.call(connection, "PATCH", f"{base}/configmaps/{name}?fieldManager=soak&force=true", body, kind=PATCH["apply"])
            there.add(("configmaps", name))
        elif what == "delete":
            server.call(connection, "DELETE", f"{path}/{name}", expected=(200,) if (kind, name) in there else (404,))
            there.discard((kind, name))
        elif what == "get":
            server.call(connection, "GET", f"{path}/{name}", expected=(200,) if (kind, name) in there else (404,))
        elif what == "list":
            server.call(connection, "GET", f"/api/v1/{kind}?limit=2&labelSelector=app%3Dsoak")
        elif what == "watch":
            listed = server.call(connection, "GET", path)
            other = server.connect()
            other.request("GET", f"{path}?watch=1&resourceVersion={listed['metadata']['resourceVersion']}", None, server.headers)
            other.getresponse()
            other.close()  # in the midst of it
        elif what == "table":
            connection.request("GET", path, None, {**server.headers, "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
            connection.getresponse().read()
        elif what == "review":
            server.call(connection, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                        {"spec": {"resourceAttributes": {"verb": "get", "resource": kind, "namespace": namespace}}})
        elif what == "document":
            server.call(connection, "GET", rng.choice(["/apis", "/openapi/v3", "/version", "/readyz", "/api/v1/nodes"]))
    connection.close()


def with_kubectl(server, kubectl, namespace, rng):
    """A pod and a job through kubectl, and some of its other verbs."""
    def call(*words, stdin=None):
        return server.run(kubectl, "-n", namespace, *words, stdin=stdin)

    call("apply", "-f", "-", stdin=POD.replace("NAME", "walker"))
    call("apply", "-f", "-", stdin=JOB.replace("NAME", "steps"))
    call("wait", "pod/walker", "--for=jsonpath={.status.phase}=Running", "--timeout=60s")
    if call("exec", "walker", "--", "echo", "inside") != "inside\n":
        raise Failed("kubectl exec said something else")
    if call("logs", "walker") != "hello\n":
        raise Failed("kubectl logs said something else")
    for words in rng.sample([["get", "all"], ["describe", "pod", "walker"], ["explain", "pod.spec.containers"], ["api-resources"],
                             ["auth", "can-i", "--list"], ["top", "node"], ["get", "events"], ["label", "pod", "walker", "a=b"],
                             ["create", "token", "default"], ["get", "pods", "-A", "-o", "wide"]], 4):
        call(*words)
    call("wait", "pytorchjob/steps", "--for=condition=Succeeded", "--timeout=60s")
    call("delete", "pod/walker", "pytorchjob/steps", "--wait")


class Sdk:
    """One process of the Python client that lives through all rounds, as a program of a user would."""

    def __init__(self, server, python):
        self.process = subprocess.Popen([python, "-c", SDK], env=server.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def round(self, namespace, rng):
        self.process.stdin.write(f"{namespace} {rng.random()}\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            raise Failed("the Python client failed: " + self.process.stderr.read()[-1500:])

    def end(self):
        self.process.kill()
        self.process.communicate()


def one_round(server, options, sdk, number, rng):
    """Every client in a namespace of its own, side by side; then the namespaces go, and all in them."""
    work = {"plain-a": lambda ns, r: plain(server, ns, r), "plain-b": lambda ns, r: plain(server, ns, r)}
    if options.kubectl:
        work["kubectl"] = lambda ns, r: with_kubectl(server, options.kubectl, ns, r)
    if sdk:
        work["sdk"] = sdk.round
    failures = []

    def live(name, act, seed):
        try:
            act(f"{name}-{number}", random.Random(seed))
        except Exception as failure:  # raised again where the thread is joined
            failures.append(f"{name}: {failure!r}")

    connection = server.connect()
    for name in work:
        server.call(connection, "POST", "/api/v1/namespaces", {"metadata": {"name": f"{name}-{number}"}})
    threads = [threading.Thread(target=live, args=(name, act, rng.random())) for name, act in work.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise Failed("; ".join(failures))
    revision = server.call(connection, "GET", "/api/v1/namespaces")["metadata"]["resourceVersion"]
    for name in work:
        server.call(connection, "DELETE", f"/api/v1/namespaces/{name}-{number}")
    left = {f"{name}-{number}" for name in work}
    connection.request("GET", f"/api/v1/namespaces?watch=1&resourceVersion={revision}", None, server.headers)
    answer = connection.getresponse()
    while left:
        event = json.loads(answer.readline())
        if event["type"] == "DELETED":
            left.discard(event["object"]["metadata"]["name"])
    connection.close()
    return int(revision)


def grown(early, late):
    """What of a measurement is more than chance above an earlier one."""
    allowed = {"memory, kB": max(early["memory, kB"] * GROWTH, early["memory, kB"] + SLACK_KB),
               "descriptors": early["descriptors"] + 8, "children": early["children"] + 2}
    return [f"{name}: {early[name]} at first, {late[name]} at the end" for name in early if late[name] > allowed[name]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster", type=pathlib.Path)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=60)
    length.add_argument("--rounds", type=int, help="that are compared")
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    options.kubectl = shutil.which("kubectl") or find("kubectl")
    python = find("python-clients")
    rng = random.Random(options.seed)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="muster-soak-", dir="/var/tmp"))
    server = Server(options.muster.absolute(), directory)
    sdk = Sdk(server, python) if python else None
    begin, number, measured = time.monotonic(), 0, []
    try:
        if options.rounds:
            fill_history(server)
        while len(measured) < options.rounds if options.rounds else time.monotonic() - begin < options.minutes * 60:
            revision = one_round(server, options, sdk, number, rng)
            number += 1
            if revision > HISTORY and not (options.rounds and number <= WARM_UP):
                measured.append(server.measure())
        if len(measured) < 2:
            raise Failed(f"{number} rounds are too few to compare: the server still remembers all {revision} changes")
        wrong = grown(measured[0], measured[-1])
        clients = ["HTTP"] + (["kubectl"] if options.kubectl else []) + (["the Python client"] if sdk else [])
        print(f"{number} rounds of {', '.join(clients)} (seed {options.seed}) in {time.monotonic() - begin:.0f} s; "
              f"{measured[0]} when {len(measured)} were to go, {measured[-1]} at the end")
        tenths = [measured[(len(measured) - 1) * part // 10]["memory, kB"] for part in range(11)]
        print(f"memory, kB, from tenth to tenth: {', '.join(map(str, tenths))}")
        print(*(["it grows: " + each for each in wrong] or ["nothing grows"]), sep="\n")
        hold = holds.of(server.state)
        print(f"the longest hold of the loop: {hold}")
        return 1 if wrong or hold.ms > holds.LIMIT_MS else 0
    except Failed as failure:
        print(f"round {number}, seed {options.seed}: {failure}")
        return 1
    finally:
        if sdk:
            sdk.end()
        server.down()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
