"""`muster up` beside kube-apiserver with etcd: the same clients against both, on the same disk, in the same run."""

import collections
import contextlib
import datetime
import itertools
import json
import pathlib
import subprocess
import sys

from figure import Figure
from measure import ROOT, Failed, Skipped, cpu_seconds, median, memory_bytes, run_built, run_quietly
from up_cases import Up, place

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import cluster  # noqa: E402
from credentials import write_private  # noqa: E402
from programs import BuildFailed, Missing, build  # noqa: E402

PODS = 5000
CONNECTIONS = 32
BYTES = 1536
LISTED = 10_000


class Peer(cluster.Cluster):
    """etcd and kube-apiserver, with the questions that Up answers."""

    def __init__(self, directory, more=()):
        try:
            super().__init__(pathlib.Path(directory) / "peer", bare=True, more=more)
            self.port, self.ca_file = self.ports["kube-apiserver"], self.credentials["ca.crt"]
            self.token_file = self.state / "token"
            write_private(self.token_file, self.credentials.token)
        except Missing as why:
            raise Skipped(str(why)) from None
        except (cluster.Failed, BuildFailed) as why:
            raise Failed(str(why)) from None

    def pids(self):
        return [process.pid for process in self.processes.values()]

    def memory(self):
        return sum(memory_bytes(pid, "Rss") for pid in self.pids())

    def cpu(self):
        return sum(cpu_seconds(pid) for pid in self.pids())


def program(name):
    try:
        return build(name)
    except Missing as why:
        raise Skipped(str(why)) from None
    except BuildFailed as why:
        raise Failed(str(why)) from None


@contextlib.contextmanager
def running(kind, muster, *flags):
    """A new server of one kind in a folder of its own, and its end."""
    with place() as directory:
        server = Up(muster, directory, *flags) if kind == "muster" else Peer(directory)
        try:
            yield server
        finally:
            server.stop()


def load(server, verb, *arguments):
    run = subprocess.run([program("load"), verb, "-kubeconfig", server.kubeconfig, *map(str, arguments)],
                         capture_output=True, text=True, check=False, timeout=300)
    if run.returncode != 0:
        raise Failed(f"load {verb} failed: {run.stderr[-1000:]}")
    return json.loads(run.stdout)


def create_barely(server, count):
    """Creates by a client that costs next to nothing of the two cores and their cache."""
    [seen] = run_built("muster_creates_bench", server.port, server.ca_file, server.token_file, count, CONNECTIONS, BYTES)
    return seen


def create_by_client_go(server, *arguments):
    return load(server, "create", "-count", PODS, "-size", BYTES, "-connections", CONNECTIONS, *arguments)


def creates_once(kind, muster, create):
    """Creates a second, CPU seconds of the server a create, and its memory afterwards; a new server each time."""
    with running(kind, muster) as server:
        before = server.cpu()
        rate = create(server)["rate"]
        return rate, (server.cpu() - before) / PODS, server.memory()


def peer_creates(muster):
    rounds = 5
    clients = {"client-go": create_by_client_go, "http2": lambda server: create_by_client_go(server, "-http2"),
               "bare": lambda server: create_barely(server, PODS)}
    ways = {way: [] for way in (("peer", "client-go"), ("peer", "http2"), ("muster", "client-go"), ("muster", "bare"), ("peer", "bare"))}
    for _, ((kind, client), seen) in itertools.product(range(rounds), ways.items()):
        seen.append(creates_once(kind, muster, clients[client]))
    middle = {way: tuple(map(median, zip(*seen))) for way, seen in ways.items()}
    ours = middle["muster", "client-go"]
    # client-go shares one HTTP/2 connection by default: the peer gets whichever way is faster for it.
    way = max((("peer", "client-go"), ("peer", "http2")), key=lambda way: middle[way][0])
    peer, how = middle[way], "one shared HTTP/2 connection" if way[1] == "http2" else f"{CONNECTIONS} connections"
    bare, bare_peer = middle["muster", "bare"], middle["peer", "bare"]
    return [
        Figure(f"kube-apiserver's creates a second against ours, {PODS} pods of 1.5 KB by client-go", peer[0] / ours[0], 0.25,
               "times", f"medians of {rounds}: {ours[0]:.0f} against {peer[0]:.0f}/s ({how}); "
               f"{bare[0]:.0f} against {bare_peer[0]:.0f}/s with a bare C++ client"),
        Figure("CPU of the server a create, against kube-apiserver and etcd", ours[1] / peer[1], 0.1, "times",
               f"{ours[1] * 1e6:.0f} against {peer[1] * 1e6:.0f} us; {bare[1] * 1e6:.0f} against {bare_peer[1] * 1e6:.0f} us "
               f"with a bare C++ client"),
        Figure("memory of the server after them, against kube-apiserver and etcd", ours[2] / peer[2], 0.1, "times",
               f"{ours[2] / 1e6:.0f} against {peer[2] / 1e6:.0f} MB resident")]


def peer_list(muster):
    lists = {}
    for kind in ("peer", "muster"):
        with running(kind, muster) as server:
            create_barely(server, LISTED)
            lists[kind] = load(server, "list", "-count", 9)
    ours, peer = (median(lists[kind]["seconds"]) for kind in ("muster", "peer"))
    return [Figure(f"list of {LISTED:,} pods over TLS, against kube-apiserver", ours / peer, 0.5, "times",
                   f"medians of 9: {ours * 1000:.0f} ms for {lists['muster']['bytes'] / 1e6:.1f} MB against "
                   f"{peer * 1000:.0f} ms for {lists['peer']['bytes'] / 1e6:.1f} MB")]


MANIFEST = """apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: bench}}
data: {epochs: "3"}
---
apiVersion: v1
kind: Service
metadata: {name: master, labels: {app: bench}}
spec: {clusterIP: None, selector: {app: bench}, ports: [{name: rendezvous, port: 29500}]}
"""


def peer_kubectl(muster):
    rounds, seconds = 15, {}
    kubectl = str(program("kubectl"))
    with place() as directory, running("peer", muster) as peer, running("muster", muster) as ours:
        manifest = pathlib.Path(directory) / "manifest.yaml"
        manifest.write_text(MANIFEST)
        verbs = {"apply": ["apply", "-f", str(manifest)], "get": ["get", "configmaps,services", "-l", "app=bench"]}
        # The first round fills the caches of discovery and is not counted.
        for number, (verb, (kind, server)) in itertools.product(range(rounds + 1), itertools.product(
                verbs, (("muster", ours), ("peer", peer)))):
            took, status = run_quietly([kubectl, "--kubeconfig", str(server.kubeconfig),
                                        "--cache-dir", f"{directory}/{kind}", *verbs[verb]])
            if status != 0:
                raise Failed(f"kubectl {verb} against {kind} ended with {status}")
            if number:
                seconds.setdefault((verb, kind), []).append(took)
    middle = {key: median(values) for key, values in seconds.items()}
    return [Figure(f"kubectl {verb}, warm, against kube-apiserver", middle[verb, "muster"] / middle[verb, "peer"], 1, "times",
                   f"medians of {rounds} in turns: {middle[verb, 'muster'] * 1000:.0f} against "
                   f"{middle[verb, 'peer'] * 1000:.0f} ms") for verb in verbs]


def watch_counts(server):
    """How many watch events were made into text, and how many were sent."""
    text = subprocess.run([program("kubectl"), "--kubeconfig", str(server.kubeconfig), "get", "--raw", "/metrics"],
                          capture_output=True, text=True, check=True).stdout
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    return [sum(float(value) for name, value in lines if name.startswith(metric + "{"))
            for metric in ("muster_watch_encodings_total", "apiserver_watch_events_total")]


def answered_at(audit_log):
    """Of each ConfigMap when its updates were answered, in order: microseconds since 1970."""
    times = collections.defaultdict(list)
    for line in audit_log.read_text().splitlines():
        event = json.loads(line)
        if event["verb"] == "update" and event.get("objectRef", {}).get("resource") == "configmaps":
            if event["responseStatus"]["code"] != 200:
                raise Failed(f"an update was refused: {line}")
            at = datetime.datetime.fromisoformat(event["stageTimestamp"])
            times[event["objectRef"]["name"]].append(round(at.timestamp() * 1e6))
    return times


def delays(seen, audit_log):
    """Milliseconds to the last watcher, sorted: from each change's request, and from its answer."""
    from_request, from_answer = [], []
    answered = {name: iter(times) for name, times in answered_at(audit_log).items()}
    for change in sorted(seen["changes"], key=lambda change: change["sent_us"]):
        from_request.append((change["last_us"] - change["sent_us"]) / 1000)
        from_answer.append((change["last_us"] - next(answered[change["object"]])) / 1000)
    return sorted(from_request), sorted(from_answer)


def quantile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def up_watchers(muster):
    watchers, changes, rate = 1000, 1000, 100
    with place() as directory:
        audit_log = pathlib.Path(directory) / "audit.log"
        with running("muster", muster, "--audit-log", audit_log) as server:
            client = subprocess.Popen(
                [program("load"), "watch", "-kubeconfig", server.kubeconfig, "-connections", str(watchers), "-count", str(changes),
                 "-rate", str(rate)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            before = server.memory()
            line = client.stderr.readline()
            if line != "ready\n":
                raise Failed(f"load watch failed: {line}{client.communicate()[1][-1000:]}")
            each = (server.memory() - before) / watchers
            cpu, counted = server.cpu(), watch_counts(server)
            text, errors = client.communicate("go\n", timeout=120)
            if client.returncode != 0:
                raise Failed(f"load watch failed: {errors[-1000:]}")
            seen, cpu = json.loads(text), server.cpu() - cpu
            encoded, sent = (now - then for now, then in zip(watch_counts(server), counted))
        from_request, from_answer = delays(seen, audit_log)
    made = changes / seen["seconds"]
    return [Figure(f"{watchers:,} watchers, {rate} changes a second: from a change's commit to its last watcher, p99",
                   quantile(from_answer, 0.99), 50, "ms",
                   f"median {quantile(from_answer, 0.5):.1f}, worst {from_answer[-1]:.1f}; from its request, before the commit, "
                   f"p99 {quantile(from_request, 0.99):.1f}, median {quantile(from_request, 0.5):.1f}; {made:.0f} changes/s made, "
                   f"{cpu / changes / watchers * 1e6:.1f} us of server CPU a change and watcher; the watchers share the 2 cores"),
            Figure(f"times a change is made into text for its {watchers:,} watchers", encoded / changes, 1.05, "times",
                   f"{encoded:.0f} encodings for {sent:.0f} deliveries; other changes of the same time among them"),
            Figure("memory of the server for each watcher", each / 1024, 64, "KiB", "resident, before the first change")]


CASES = {"peer-creates": peer_creates, "peer-list": peer_list, "peer-kubectl": peer_kubectl, "up-watchers": up_watchers}
