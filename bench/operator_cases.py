"""`muster operator` beside training-operator and mpi-operator, on kube-apiserver and etcd with stand-in nodes."""

import contextlib
import itertools
import json
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from figure import Figure
from measure import ROOT, Failed, cpu_seconds, median, memory_bytes, wait_for
from peer_cases import Peer
from up_cases import place

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import cluster  # noqa: E402
import peers  # noqa: E402
from programs import Missing, build, module_folder  # noqa: E402

REPLICAS = 1000
IN_FLIGHT = 32
PATIENCE = 240


# ---- what there is beside the operator ----

class Server(Peer):
    """etcd and kube-apiserver alone, with answers as JSON."""

    def must(self, method, path, body=None, content="application/json"):
        status, text = self.call(method, path, body, content)
        if status not in (200, 201):
            raise Failed(f"{method} {path} was answered {status}: {text[:500]}")
        return json.loads(text)

    def define(self, definitions):
        for definition in definitions:
            self.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        for definition in definitions:
            group, plural = definition["spec"]["group"], definition["spec"]["names"]["plural"]
            version = next(v["name"] for v in definition["spec"]["versions"] if v["served"])
            deadline = time.monotonic() + 60
            while self.call("GET", f"/apis/{group}/{version}/{plural}")[0] != 200:
                if time.monotonic() > deadline:
                    raise Failed(f"{plural} are not served")
                time.sleep(0.05)


class Nodes:
    """The stand-in nodes and their stopwatch."""

    def __init__(self, server, *mode):
        program = ROOT / "build" / "release" / "bench" / "muster_nodes_bench"
        if not program.exists():
            raise Failed(f"{program.name} is not built")
        self.directory = server.state
        self.process = subprocess.Popen(
            [program, str(server.ports["kube-apiserver"]), server.credentials["ca.crt"], server.token_file, *mode],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=cluster.end_with_parent)
        self.numbers = itertools.count()

    def say(self, line, patience=PATIENCE):
        signal.alarm(patience)
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            said = self.process.stdout.readline()
        finally:
            signal.alarm(0)
        if not said:
            raise Failed(f"the stand-in nodes ended at: {line}")
        return json.loads(said)

    def write(self, *posts):
        """A file of (path, object)."""
        file = self.directory / f"posts-{next(self.numbers)}"
        file.write_text("".join(json.dumps({"path": path, "object": each}) + "\n" for path, each in posts))
        return file

    def post(self, path, objects, in_flight=IN_FLIGHT):
        return self.say(f"post {self.write(*((path, each) for each in objects))} {in_flight}")

    def chain(self, *posts):
        """Seconds until a watch shows the second, which is posted when another shows the first."""
        said = self.say(f"chain {self.write(*posts)}")
        return said["ended"] - said["began"]

    def when(self, what):
        return self.say("wait " + what)["at"]

    def stop(self):
        self.process.stdin.close()
        if wait_for(self.process, 10) is None:
            self.process.kill()
            self.process.wait()


def out_of_patience(*_):
    raise Failed(f"nothing happened for {PATIENCE} s")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Operator:
    """Ours, or a peer, of a server. `ready` when its process says so."""

    def __init__(self, server, muster, peer=None, arguments=(), raised=False):
        self.health, self.metrics = free_port(), free_port()
        self.log = server.state / f"operator-{self.health}.log"
        if peer is None:
            command = [muster, "operator", "--kubeconfig", server.kubeconfig, "--log-format=text",
                       f"--health-probe-bind-address=127.0.0.1:{self.health}",
                       f"--metrics-bind-address=127.0.0.1:{self.metrics}", *arguments]
        elif peer == "training-operator":
            server.ports["operator-health"], server.ports["operator-metrics"] = self.health, self.metrics
            command = [build(peer), *peers.arguments_of(peer, server)]
            command += ["--controller-threads=10", "--kube-api-qps=1000", "--kube-api-burst=1000"] if raised else []
        else:
            command = [build(peer), *peers.arguments_of(peer, server)]
            command += ["--threadiness=10", "--kube-api-qps=1000", "--kube-api-burst=1000",
                        "--controller-queue-rate-limit=1000", "--controller-queue-burst=1000"] if raised else []
        self.peer, self.server, self.command = peer, server, [str(word) for word in command]
        self.environment = peers.environment_of(peer, server) if peer else None
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment, preexec_fn=cluster.end_with_parent)
        deadline = time.monotonic() + 60
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed("the operator did not start", self.log)
            time.sleep(0.02)

    def is_ready(self):
        try:
            if self.peer == "mpi-operator":
                return "Starting workers" in self.log.read_text(errors="replace")
            if self.peer == "training-operator":
                return peers.mount_certificates(self.server) or peers.http_ok(self.health, "/readyz")
            return peers.http_ok(self.health, "/readyz")
        except OSError:
            return False

    def cpu(self):
        return cpu_seconds(self.process.pid)

    def forget_peak(self):
        """The program and its libraries are read when it starts, and dropped then: what of them is resident for that moment is the kernel's
        choice, 7 MB here, and no one else lacks it."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak(self):
        """Bytes that were resident at most."""
        [line] = [line for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
                  if line.startswith("VmHWM")]
        return int(line.split()[1]) * 1024

    def resident(self):
        return memory_bytes(self.process.pid, "Rss")

    def requests(self):
        """{(verb, resource): count} of what ours sent; watches and the Lease left out."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=10).read().decode()
        counts = {}
        for line in text.splitlines():
            if line.startswith("muster_api_requests_total{"):
                labels = dict(part.split("=", 1) for part in line[line.index("{") + 1:line.index("}")].split(","))
                key = labels["verb"].strip('"'), labels["resource"].strip('"')
                counts[key] = counts.get(key, 0) + float(line.rsplit(" ", 1)[1])
        return counts

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is not None:
            return
        self.process.terminate()
        if wait_for(self.process, 20) is None:
            self.kill()


def our_definitions(muster):
    made = subprocess.run([muster, "manifests", "--crds-only"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Failed(f"muster manifests ended with {made.returncode}: {made.stderr[-500:]}")
    return peers.definitions_in([made.stdout])


def peer_definitions(peer):
    return peers.definitions_in([path.read_text() for path in peers.definition_files(peer, module_folder(peer))])


@contextlib.contextmanager
def scene(muster, peer=None, more=(), **options):
    """A server with definitions, an operator and nodes, all new; None as operator: without one. `more`: arguments of the server."""
    signal.signal(signal.SIGALRM, out_of_patience)
    with place() as directory, Server(directory, more) as server:
        if peer is None:
            server.define(our_definitions(muster))
        else:
            server.define(peer_definitions(peer))
            for part in peers.OPERATORS:
                if part == peer:
                    peers.prepare(part, server)
        operator = Operator(server, muster, peer, **options)
        nodes = Nodes(server)
        try:
            rehearse(server)
            yield server, operator, nodes
        finally:
            nodes.stop()
            operator.stop()


def rehearse(server):
    """The first job of a kind takes a new kube-apiserver two seconds in which it computes nothing, whichever operator makes it."""
    for path, job in ((PYTORCH, pytorch_job("rehearsal", 1)), (MPI, mpi_job("rehearsal", 1))):
        status, text = server.call("POST", path + "?dryRun=All", job)
        if status not in (201, 404):
            raise Failed(f"POST {path} was answered {status}: {text[:500]}")


# ---- jobs ----

PYTORCH = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
MPI = "/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs"
CONTAINER = {"name": "pytorch", "image": "registry.example.org/team/train:1",
             "command": ["python", "/workspace/train.py", "--epochs", "3", "--batch-size", "64"],
             "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
             "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]}


def replicas_of(count, container=CONTAINER):
    return {"replicas": count, "restartPolicy": "OnFailure", "template": {"spec": {"containers": [container]}}}


def pytorch_job(name, replicas):
    specs = {"Master": replicas_of(1)}
    if replicas > 1:
        specs["Worker"] = replicas_of(replicas - 1)
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name, "namespace": "default"},
            "spec": {"pytorchReplicaSpecs": specs}}


def copies_of(server, namespace):
    """What an operator made in `default`, as posts to another namespace: (path, objects) each."""
    server.must("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    for plural in ("pods", "services"):
        listed = server.must("GET", f"/api/v1/namespaces/default/{plural}")
        objects = []
        for item in listed["items"]:
            metadata = {key: item["metadata"][key] for key in ("name", "labels", "annotations") if key in item["metadata"]}
            spec = {key: value for key, value in item["spec"].items() if key not in ("nodeName", "clusterIP", "clusterIPs")}
            if plural == "services":
                spec["clusterIP"] = "None"
            objects.append({"apiVersion": "v1", "kind": plural[:-1].capitalize(),
                            "metadata": {**metadata, "namespace": namespace}, "spec": spec})
        yield f"/api/v1/namespaces/{namespace}/{plural}", objects


def bare_creates(server):
    """Seconds that a bare client takes for the creates that an operator just made, with the same nodes at work."""
    posts = list(copies_of(server, "bare"))
    file = server.state / "bare"
    # As an operator does: a replica's service next to its pod.
    rows = itertools.zip_longest(*([{"path": path, "object": each} for each in objects] for path, objects in posts))
    file.write_text("".join(json.dumps(one) + "\n" for row in rows for one in row if one))
    client = Nodes(server, "client")
    try:
        seen = client.say(f"post {file} {IN_FLIGHT}")
    finally:
        client.stop()
    return seen["ended"] - seen["began"]


def one_job(operator, nodes, job, path, kinds, pods, decides):
    """(to the last pod, to Running, from `decides`, the pod that makes the job Running, to that, CPU) of one job."""
    nodes.say("reset")
    nodes.say(f"watch {kinds}")
    before = operator.cpu()
    began = nodes.post(path, [job])["began"]
    last = nodes.when(f"pods {pods}")
    running, on_record = nodes.when(f"ran {decides}"), nodes.when("jobs 1")
    nodes.when(f"running {pods}")
    return last - began, on_record - began, on_record - running, operator.cpu() - before


ROUNDS = 3
# Of so many jobs: 200 take less than a second, of which a moment of the server's is much.
MANY_ROUNDS = {200: 15, 1000: 7}
TURN_ROUNDS = 11


def peer_text(peer, took):
    """What a peer took for the same, with raised limits and with its own, as `took` tells it: a text for a figure."""
    texts = []
    for name, raised in (("raised limits", True), ("its own", False)):
        with contextlib.suppress(Missing), scene(None, peer, raised=raised) as (_, operator, nodes):
            texts.append(f"{took(operator, nodes)} with {name}")
    return f"; {peer} {'; '.join(texts)}" if texts else ""


def operator_job(muster):
    """One PyTorchJob of 1,000 replicas."""
    def make(operator, nodes):
        operator.forget_peak()
        return one_job(operator, nodes, pytorch_job("big", REPLICAS), PYTORCH, "v1/pytorchjobs", REPLICAS, "big-master-0")

    def took(operator, nodes):
        last, record, late, cpu = make(operator, nodes)
        return f"{last:.2f} s, Running {late:.2f} s late, CPU {cpu:.2f} s, {operator.peak() / 1e6:.0f} MB"

    lasts, bares, records, lates, cpus, peaks = [], [], [], [], [], []
    for _ in range(ROUNDS):
        with scene(muster) as (server, operator, nodes):
            requests = operator.requests()
            last, record, late, cpu = make(operator, nodes)
            sent = {key: count - requests.get(key, 0) for key, count in operator.requests().items()
                    if key[0] not in ("watch", "list") and count != requests.get(key, 0)}
            peaks.append(operator.peak())
            nodes.when(f"running {REPLICAS}")
            bares.append(bare_creates(server))
        lasts, records, lates, cpus = [*lasts, last], [*records, record], [*lates, late], [*cpus, cpu]
    peer = peer_text("training-operator", took)
    writes = sum(count for (verb, resource), count in sent.items() if resource == "pytorchjobs/status")
    ratios = [last / bare for last, bare in zip(lasts, bares, strict=True)]
    return [
        Figure(f"one job of {REPLICAS:,}: create to last pod, against a bare client", median(ratios), 1.3, "times",
               f"{median(lasts):.2f} s against {median(bares):.2f} s, {', '.join(f'{each:.2f}' for each in ratios)}{peer}"),
        Figure("its master running to condition Running", max(lates), 0.2, "s",
               f"the most of {ROUNDS}; Running after {median(records):.2f} s"),
        Figure("requests a replica until Running", sum(sent.values()) / REPLICAS, 2.01, "",
               ", ".join(f"{verb} {resource} {count:.0f}" for (verb, resource), count in sorted(sent.items()))),
        Figure("status writes until Running", writes, 12, ""),
        Figure("peak memory", max(peaks) / 1e6, 20, "MB"),
        Figure("CPU", median(cpus), 0.4, "s", ", ".join(f"{each:.2f}" for each in cpus))]


def many_jobs(server, operator, nodes, count, path=PYTORCH, kinds="v1/pytorchjobs", make=pytorch_job):
    """(to the last pod, to the last Running) of jobs of one pod, posted with 32 in flight."""
    nodes.say("reset")
    nodes.say(f"watch {kinds}")
    began = nodes.post(path, [make(f"job-{number}", 1) for number in range(count)])["began"]
    last, record = nodes.when(f"pods {count}"), nodes.when(f"jobs {count}")
    return last - began, record - began


def operator_jobs(muster):
    """200 and 1,000 jobs of one pod each; the bare client also makes the jobs."""
    figures = []
    for count, rounds in MANY_ROUNDS.items():
        ratios, notes = [], []
        for _ in range(rounds):
            with scene(muster) as (server, operator, nodes):
                last, record = many_jobs(server, operator, nodes, count)
                jobs = [pytorch_job(f"bare-{number}", 1) for number in range(count)]
                operator.kill()
                bare = nodes.post(PYTORCH, jobs)
                bare = bare["ended"] - bare["began"] + bare_creates(server)
            ratios.append(last / bare)
            notes.append(f"{last:.2f} s against {bare:.2f} s; all Running after {record:.2f} s")
        figures.append(Figure(f"{count:,} jobs of one pod: to all pods, against a bare client", median(ratios), 1.3, "times", "; ".join(notes)))
    return figures


def operator_turns(muster):
    """A job of one pod that comes a second after one of 1,000. In turns with a client that does nothing but make that pod when it sees the job."""
    unmanaged = pytorch_job("small", 1)
    unmanaged["spec"].setdefault("runPolicy", {})["managedBy"] = "kueue.x-k8s.io/multikueue"

    def small(nodes):
        began = nodes.post(PYTORCH, [pytorch_job("small", 1)])["began"]
        return nodes.when("first small-") - began

    def bare(nodes):
        return nodes.chain((PYTORCH, unmanaged), ("/api/v1/namespaces/default/pods", stranger("small-master-0")))

    waits = {small: [], bare: []}
    for _ in range(TURN_ROUNDS):
        for measure, seen in waits.items():
            with scene(muster) as (_, _, nodes):
                nodes.say("watch v1/pytorchjobs")
                nodes.post(PYTORCH, [pytorch_job("big", REPLICAS)])
                time.sleep(1)
                seen.append(measure(nodes))
                nodes.when(f"pods {REPLICAS + 1}")
    said = {measure: ", ".join(f"{each * 1000:.0f}" for each in sorted(seen)) for measure, seen in waits.items()}
    return [Figure(f"a job of one pod made while one of {REPLICAS:,} is made: to its pod", median(waits[small]), 0.1, "s",
                   f"{said[small]} ms; who does nothing else: median {median(waits[bare]) * 1000:.0f} of {said[bare]} ms")]


def operator_delete(muster):
    """A job of 1,000 replicas deleted: to all of its pods gone."""
    with scene(muster) as (server, _, nodes):
        nodes.say("watch v1/pytorchjobs")
        nodes.post(PYTORCH, [pytorch_job("big", REPLICAS)])
        nodes.when(f"running {REPLICAS}")
        nodes.when("jobs 1")
        before = sum(cpu_seconds(process.pid) for process in server.processes.values())
        began = nodes.say("reset")["at"]
        server.must("DELETE", PYTORCH + "/big", {"propagationPolicy": "Background"})
        took = nodes.when("gone") - began
        busy = sum(cpu_seconds(process.pid) for process in server.processes.values()) - before
        services = server.must("GET", "/api/v1/namespaces/default/services")["items"]
        left = len([each for each in services if each["metadata"]["name"] != "kubernetes"])
    return [Figure(f"a job of {REPLICAS:,} deleted: to all pods gone", took, 3, "s",
                   f"{left} services left then; kube-apiserver and etcd used {busy:.1f} s of CPU for it")]


def operator_killed(muster):
    """Killed when 300 of 1,000 pods are there, and started again at once."""
    with scene(muster) as (server, operator, nodes):
        began = nodes.post(PYTORCH, [pytorch_job("big", REPLICAS)])["began"]
        nodes.when("pods 300")
        operator.kill()
        operator.start()
        last = nodes.when(f"pods {REPLICAS}") - began
        nodes.when(f"running {REPLICAS}")
        names = [each["metadata"]["labels"]["training.kubeflow.org/replica-index"] + each["metadata"]["labels"][
            "training.kubeflow.org/replica-type"] for each in server.must("GET", "/api/v1/namespaces/default/pods")["items"]]
        bare = bare_creates(server)
    return [Figure("killed at 300 of 1,000 and started again: to the last pod, beyond the first row", last - 1.3 * bare, 1, "s",
                   f"{last:.2f} s; a bare client {bare:.2f} s"),
            Figure("replicas that have more than one pod", len(names) - len(set(names)), 0, "")]


def stranger(name, size=1200):
    """A pod that does not concern the operator."""
    spec = {"containers": [CONTAINER], "nodeName": "elsewhere"}
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}, "annotations": {"filler": "x" * (size - 600)}}}


def settled_memory(operator):
    """Resident bytes once they have stopped changing."""
    before = None
    for _ in range(100):
        now = operator.resident()
        if now == before:
            return now
        before = now
        time.sleep(0.3)
    return before


def operator_memory(muster):
    """What pods cost that belong to others, and those of its own, at rest."""
    with scene(muster) as (_, operator, nodes):
        base = settled_memory(operator)
        nodes.post("/api/v1/namespaces/default/pods", [stranger(f"web-{number}") for number in range(5000)])
        others = (settled_memory(operator) - base) / 5000
    with scene(muster) as (_, operator, nodes):
        base = settled_memory(operator)
        nodes.say("reset")
        nodes.post(PYTORCH, [pytorch_job(f"job-{number}", 1000) for number in range(10)])
        nodes.when("running 10000")
        ours = (settled_memory(operator) - base) / 10_000
        operator.stop()
        operator.start()
        again = (settled_memory(operator) - base) / 10_000
    return [Figure("memory for each pod that is somebody else's, 5,000 of them", others, 16, "bytes"),
            Figure("memory for each pod of ours with its service, 10,000 of them", again, 1536, "bytes",
                   f"{ours:.0f} bytes in the process that made them")]


def operator_restart(muster):
    """Started again with 1,000 jobs and 10,000 pods."""
    with scene(muster) as (_, operator, nodes):
        nodes.say("watch v1/pytorchjobs")
        nodes.post(PYTORCH, [pytorch_job(f"job-{number}", 10) for number in range(1000)])
        nodes.when("running 10000")
        nodes.when("jobs 1000")
        time.sleep(5)  # counts are written a second late, and the last of them is what is waited for
        operator.stop()
        began = time.monotonic()
        operator.start()
        took = time.monotonic() - began
        before = operator.cpu()
        while operator.cpu() - before > 0.005 or took == 0:
            before = operator.cpu()
            time.sleep(0.2)
        steady = time.monotonic() - began
        writes = sum(count for (verb, _), count in operator.requests().items() if verb not in ("get", "list", "watch"))
    return [Figure("started again with 1,000 jobs and 10,000 pods: to steady", steady, 3, "s", f"caches full after {took:.2f} s"),
            Figure("writes then", writes, 0, "")]


def operator_away(muster):
    """The API server is away for a minute."""
    with scene(muster) as (server, operator, nodes):
        nodes.say("watch v1/pytorchjobs")
        nodes.post(PYTORCH, [pytorch_job(f"job-{number}", 10) for number in range(20)])
        nodes.when("running 200")
        nodes.when("jobs 20")
        before = {pod["metadata"]["uid"] for pod in server.must("GET", "/api/v1/namespaces/default/pods")["items"]}
        server.processes["kube-apiserver"].kill()
        server.processes["kube-apiserver"].wait()
        time.sleep(60)
        server.start("kube-apiserver")
        server.wait_for("kube-apiserver")
        began = time.monotonic()
        nodes.post(PYTORCH, [pytorch_job("later", 1)])
        while server.call("GET", "/api/v1/namespaces/default/pods/later-master-0")[0] != 200:
            time.sleep(0.02)
        steady = time.monotonic() - began
        after = {pod["metadata"]["uid"] for pod in server.must("GET", "/api/v1/namespaces/default/pods")["items"]}
        failed = [job["metadata"]["name"] for job in server.must("GET", PYTORCH)["items"]
                  if any(each["type"] in ("Failed", "Restarting") for each in job.get("status", {}).get("conditions", []))]
    return [Figure("API server away for 60 s: back to work after", steady, 3, "s"),
            Figure("pods that were lost or made twice, jobs that failed", len(before - after) + len(after - before) - 1 + len(failed), 0, "")]


def mpi_job(name, workers):
    def replica(count):
        return {"replicas": count, "template": {"spec": {"containers": [{**CONTAINER, "name": "mpi"}]}}}
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": name, "namespace": "default"},
            "spec": {"mpiReplicaSpecs": {"Launcher": replica(1), "Worker": replica(workers)}}}


def operator_mpi(muster):
    """One MPIJob of 500 workers, whose launcher comes when they are ready."""
    def took(_, nodes):
        """Its launcher is a Job, for which no pod is made here, so the MPIJob never becomes Running."""
        nodes.say("reset")
        began = nodes.post(MPI, [mpi_job("big", 500)])["began"]
        return f"{nodes.when('pods 500') - began:.2f} s to all workers"

    ratios, lates, notes = [], [], []
    for _ in range(ROUNDS):
        with scene(muster) as (server, operator, nodes):
            last, record, late, cpu = one_job(operator, nodes, mpi_job("big", 500), MPI, "v2beta1/mpijobs", 500, "big-launcher")
            bare = bare_creates(server)
        ratios, lates = [*ratios, last / bare], [*lates, late]
        notes.append(f"{last:.2f} s against {bare:.2f} s, Running after {record:.2f} s, CPU {cpu:.2f} s")
    peer = peer_text("mpi-operator", took)
    return [Figure("an MPIJob of 500 workers: create to last pod, against a bare client", median(ratios), 1.3, "times",
                   f"{'; '.join(notes)}{peer}"),
            Figure("its launcher running to condition Running", max(lates), 0.2, "s", f"the most of {ROUNDS}")]


CASES = {
    "operator-job": operator_job,
    "operator-jobs": operator_jobs,
    "operator-turns": operator_turns,
    "operator-delete": operator_delete,
    "operator-killed": operator_killed,
    "operator-memory": operator_memory,
    "operator-restart": operator_restart,
    "operator-away": operator_away,
    "operator-mpi": operator_mpi,
}
