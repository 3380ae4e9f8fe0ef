"""ElasticJobs: what the operator and its API server have to do for one of 100 workers, with stand-in nodes."""

import datetime
import json
import pathlib
import tempfile
import time

from figure import Figure
from measure import Failed, median
from operator_cases import CONTAINER, PATIENCE, ROUNDS, bare_creates, one_job, scene

PATH = "/apis/elastic.iml.github.io/v1alpha1/namespaces/default/elasticjobs"
KIND = "elastic.iml.github.io/v1alpha1/elasticjobs"
WORKERS = 100
# A job is made in a third of a second, of which a moment of the server's is much.
TIMED = 15
LOST = 20
QUIET_SECONDS = 60
# Counts in a status are written a second late: they belong to what they count.
SETTLED = 3
NOT_COUNTED = ("watch", "list")
POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, verbs: [create], omitStages: [RequestReceived]}]\n"


def elastic_job(name, workers, namespace="default"):
    worker = {"replicas": workers, "restartCount": 3,
              "template": {"spec": {"containers": [{**CONTAINER, "name": "main", "command": ["torchrun", "--nnodes=$NODE_NUM", "train.py"]}]}}}
    return {"apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ElasticJob", "metadata": {"name": name, "namespace": namespace},
            "spec": {"distributionStrategy": "AllreduceStrategy", "replicaSpecs": {"worker": worker}}}


def sent_since(operator, before):
    """{(verb, resource): count} of the requests since then."""
    return {key: count - before.get(key, 0) for key, count in operator.requests().items()
            if key[0] not in NOT_COUNTED and key[1] != "leases" and count != before.get(key, 0)}


def told(sent):
    return ", ".join(f"{verb} {resource} {count:.0f}" for (verb, resource), count in sorted(sent.items()))


class Audit:
    """What the server itself says of each creation: when it came and when it was answered. A watch shows what was made up to a quarter of a
    second later, by chance: etcd catches up ten times a second with a watch that has fallen behind."""

    def __init__(self, directory):
        policy, self.log = directory / "policy.yaml", directory / "audit.log"
        policy.write_text(POLICY)
        self.arguments = (f"--audit-policy-file={policy}", f"--audit-log-path={self.log}")

    def span(self, namespace, begins):
        """Seconds from the first creation of this resource in the namespace to the last pod's."""
        times = {"pods": [], begins: []}
        for line in self.log.read_text().splitlines():
            entry = json.loads(line)
            about = entry["objectRef"]
            if about.get("namespace") == namespace and "subresource" not in about and about["resource"] in times:
                began, ended = (datetime.datetime.fromisoformat(entry[key]) for key in ("requestReceivedTimestamp", "stageTimestamp"))
                times[about["resource"]].append((began, ended))
        return (max(ended for _, ended in times["pods"]) - min(began for began, _ in times[begins])).total_seconds()


def lose_workers(server, nodes, count):
    """So many workers fail, one after the other: each is followed by another before the next one fails."""
    nodes.say("reset")
    for number in range(count):
        container = {"name": "main", "image": "", "imageID": "", "ready": False, "restartCount": 0,
                     "state": {"terminated": {"exitCode": 137, "reason": "Error"}}}
        server.must("PATCH", f"/api/v1/namespaces/default/pods/big-edljob-worker-{number}/status",
                    {"status": {"phase": "Failed", "containerStatuses": [container]}}, "application/merge-patch+json")
        nodes.when(f"running {number + 1}")


def meet_the_kind(server, nodes):
    """The first job of this kind makes an operator watch the kinds of objects that such a job has. It is as large as the one that is measured:
    a new server makes its first hundred pods more slowly than the next ones, which are the bare client's."""
    path = PATH.replace("default", "first")
    server.must("POST", "/api/v1/namespaces", {"metadata": {"name": "first"}})
    nodes.post(path, [elastic_job("first", WORKERS, namespace="first")])
    nodes.when(f"running {WORKERS + 1}")
    server.must("DELETE", f"{path}/first", {"propagationPolicy": "Background"})
    nodes.when("gone")
    deadline = time.monotonic() + PATIENCE
    # What the operator deletes itself; the rest is a garbage collector's, of which there is none here.
    while any(each["metadata"]["name"].startswith("first-edljob-") for each in server.must("GET", "/api/v1/namespaces/first/services")["items"]):
        if time.monotonic() > deadline:
            raise Failed(f"the services of a job that was deleted are still there after {PATIENCE} s")
        time.sleep(0.05)


def made_against_bare(muster):
    """Seconds from one ElasticJob to its last pod, and those of a bare client for the same creates."""
    with tempfile.TemporaryDirectory() as directory:
        audit = Audit(pathlib.Path(directory))
        with scene(muster, more=audit.arguments) as (server, operator, nodes):
            meet_the_kind(server, nodes)
            one_job(operator, nodes, elastic_job("big", WORKERS), PATH, KIND, WORKERS + 1, "big-edljob-worker-")
            time.sleep(SETTLED)
            bare_creates(server)
            return audit.span("default", "elasticjobs"), audit.span("bare", "pods")


def elasticjob_operator(muster):
    """One ElasticJob of 100 workers: made; then 20 of its workers lost one by one; then left alone."""
    took = [made_against_bare(muster) for _ in range(TIMED)]
    starts, losses, quiets = [], [], []
    for _ in range(ROUNDS):
        with scene(muster) as (server, operator, nodes):
            meet_the_kind(server, nodes)
            before = operator.requests()
            one_job(operator, nodes, elastic_job("big", WORKERS), PATH, KIND, WORKERS + 1, "big-edljob-worker-")
            time.sleep(SETTLED)
            starts.append(sent_since(operator, before))
            before = operator.requests()
            lose_workers(server, nodes, LOST)
            time.sleep(SETTLED)
            losses.append(sent_since(operator, before))
            before = operator.requests()
            time.sleep(QUIET_SECONDS)
            quiets.append(sent_since(operator, before))
    ratios = sorted(last / bare for last, bare in took)
    lasts, bares = zip(*took, strict=True)
    return [
        Figure(f"an ElasticJob of {WORKERS} workers: create to last pod, against a bare client", median(ratios), 1.3, "times",
               f"median of {TIMED}, from {ratios[0]:.2f} to {ratios[-1]:.2f}; medians {median(lasts):.2f} s against {median(bares):.2f} s, as the "
               "server's audit log has it"),
        Figure("requests a worker until Running", max(sum(each.values()) for each in starts) / WORKERS, 3, "", told(starts[-1])),
        Figure("requests for a worker that is lost and replaced", max(sum(each.values()) for each in losses) / LOST, 8, "",
               f"{LOST} workers one by one: {told(losses[-1])}"),
        Figure("requests of a job at rest but watches and the Lease", max(sum(each.values()) for each in quiets), 0, "",
               f"{told(quiets[-1])} in {QUIET_SECONDS} s".lstrip())]


CASES = {"elasticjob-operator": elasticjob_operator}
