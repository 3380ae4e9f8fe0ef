"""ElasticJobs: what the operator and its API server have to do for one of 100 workers, with stand-in nodes."""

import time

from figure import Figure
from measure import median
from operator_cases import CONTAINER, ROUNDS, bare_creates, one_job, scene

PATH = "/apis/elastic.iml.github.io/v1alpha1/namespaces/default/elasticjobs"
KIND = "elastic.iml.github.io/v1alpha1/elasticjobs"
WORKERS = 100
LOST = 20
QUIET_SECONDS = 60
# Counts in a status are written a second late: they belong to what they count.
SETTLED = 3
NOT_COUNTED = ("watch", "list")


def elastic_job(name, workers):
    worker = {"replicas": workers, "restartCount": 3,
              "template": {"spec": {"containers": [{**CONTAINER, "name": "main", "command": ["torchrun", "--nnodes=$NODE_NUM", "train.py"]}]}}}
    return {"apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ElasticJob", "metadata": {"name": name, "namespace": "default"},
            "spec": {"distributionStrategy": "AllreduceStrategy", "replicaSpecs": {"worker": worker}}}


def sent_since(operator, before):
    """{(verb, resource): count} of the requests since then."""
    return {key: count - before.get(key, 0) for key, count in operator.requests().items()
            if key[0] not in NOT_COUNTED and key[1] != "leases" and count != before.get(key, 0)}


def told(sent):
    return ", ".join(f"{verb} {resource} {count:.0f}" for (verb, resource), count in sorted(sent.items()))


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
    """The first job of this kind makes an operator watch the kinds of objects that such a job has."""
    nodes.post(PATH, [elastic_job("first", 1)])
    nodes.when("running 2")
    server.must("DELETE", f"{PATH}/first", {"propagationPolicy": "Background"})
    nodes.when("gone")


def elasticjob_operator(muster):
    """One ElasticJob of 100 workers: made, then 20 of its workers lost one by one, then left alone."""
    lasts, bares, starts, losses, quiets = [], [], [], [], []
    for _ in range(ROUNDS):
        with scene(muster) as (server, operator, nodes):
            meet_the_kind(server, nodes)
            before = operator.requests()
            last, *_ = one_job(operator, nodes, elastic_job("big", WORKERS), PATH, KIND, WORKERS + 1, "big-edljob-worker-")
            time.sleep(SETTLED)
            starts.append(sent_since(operator, before))
            before = operator.requests()
            lose_workers(server, nodes, LOST)
            time.sleep(SETTLED)
            losses.append(sent_since(operator, before))
            before = operator.requests()
            time.sleep(QUIET_SECONDS)
            quiets.append(sent_since(operator, before))
            lasts.append(last)
            bares.append(bare_creates(server))
    ratios = [last / bare for last, bare in zip(lasts, bares, strict=True)]
    return [
        Figure(f"an ElasticJob of {WORKERS} workers: create to last pod, against a bare client", median(ratios), 1.3, "times",
               ", ".join(f"{last:.2f} s against {bare:.2f} s" for last, bare in zip(lasts, bares, strict=True))),
        Figure("requests a worker until Running", max(sum(each.values()) for each in starts) / WORKERS, 3, "", told(starts[-1])),
        Figure("requests for a worker that is lost and replaced", max(sum(each.values()) for each in losses) / LOST, 8, "",
               f"{LOST} workers one by one: {told(losses[-1])}"),
        Figure("requests of a job at rest but watches and the Lease", max(sum(each.values()) for each in quiets), 0, "",
               f"{told(quiets[-1])} in {QUIET_SECONDS} s".lstrip())]


CASES = {"elasticjob-operator": elasticjob_operator}
