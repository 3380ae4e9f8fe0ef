"""ScalePlans of an ElasticJob on `muster up`, with its real pods; and the other ways to change the number of its workers."""

import json
import re
import time

from test_elasticjob import elasticjob
from test_up import needs_kubectl
from test_verbs import server  # noqa: F401 (a fixture)

pytestmark = needs_kubectl

PLAN = """
apiVersion: elastic.iml.github.io/v1alpha1
kind: ScalePlan
metadata: {name: NAME, labels: {scale-type: manual}}
spec:
  ownerJob: JOB
  CHANGE
"""


def plan(name, job, change):
    return PLAN.replace("NAME", name).replace("JOB", job).replace("CHANGE", change)


def of_workers(number):
    return f"replicaResourceSpecs: {{worker: {{replicas: {number}}}}}"


class Job:
    def __init__(self, up, name, workers=2, more=""):
        self.server, self.name = up, name
        up.apply(elasticjob(name, {"worker": (workers, "sleep 600")}).replace("spec:\n", f"spec:\n{more}", 1))
        self.until_running(range(workers))

    def pods(self):
        """{id: uid} of the workers that run and stay."""
        listed = json.loads(self.server.verb("get", "pods", "-o", "json").stdout)["items"]
        found = {}
        for pod in listed:
            of_worker = re.fullmatch(rf"{self.name}-edljob-worker-(\d+)", pod["metadata"]["name"])
            if of_worker and "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") == "Running":
                found[int(of_worker[1])] = pod["metadata"]["uid"]
        return found

    def until_running(self, ids):
        deadline = time.monotonic() + 60
        while sorted(now := self.pods()) != sorted(ids):
            assert time.monotonic() < deadline, now
            time.sleep(0.05)
        return now

    def plan(self, name, change, phase="Succeeded"):
        """Its message, once it is in that phase."""
        self.server.apply(plan(name, self.name, change))
        self.server.kubectl("wait", f"scaleplan/{name}", f"--for=jsonpath={{.status.phase}}={phase}", "--timeout=60s")
        return json.loads(self.server.verb("get", "scaleplan", name, "-o", "json").stdout)["status"].get("message", "")


def test_up_and_down_and_the_pods_that_stay_are_the_same(server):  # noqa: F811
    job = Job(server, "grows")
    before = job.pods()
    job.plan("grows-a", of_workers(4))
    more = job.until_running(range(4))
    assert {each: more[each] for each in before} == before
    job.plan("grows-b", of_workers(2))
    assert job.until_running(range(2)) == before
    # An edit, kubectl and our own verb are followed as well, with ids that were never used.
    server.kubectl("scale", "elasticjob/grows", "--replicas=3")
    job.until_running([0, 1, 4])
    server.verb("scale", "grows", "--replicas", "worker=1")
    job.until_running([0])
    server.kubectl("patch", "elasticjob", "grows", "--type=merge", "-p", '{"spec": {"replicaSpecs": {"worker": {"replicas": 2}}}}')
    job.until_running([0, 5])


def test_one_pod_moves_and_one_is_removed(server):  # noqa: F811
    job = Job(server, "moves")
    before = job.pods()
    job.plan("moves-a", "migratePods: [{name: moves-edljob-worker-0}]")
    after = job.until_running([1, 2])
    assert after[1] == before[1]
    told = json.loads(server.verb("get", "pod", "moves-edljob-worker-2", "-o", "json").stdout)["metadata"]
    assert told["annotations"]["muster.dev/rank"] == "0", told
    job.plan("moves-b", "removePods: [{type: worker, id: 1}]")
    assert job.until_running([2]) == {2: after[2]}


def test_refused_plans_say_why(server):  # noqa: F811
    job = Job(server, "limited", more='  resourceLimits: {gpu: "0"}\n')
    assert "the job has no worker with the id 9" in job.plan("limited-a", "removePods: [{type: worker, id: 9}]", "Failed")
    assert "the job's manifest has no ps" in job.plan("limited-b", "createPods: [{type: ps}]", "Failed")
    assert "0 of worker is below the minimum of 1" in job.plan("limited-c", of_workers(0), "Failed")
    above = job.plan("limited-d", 'replicaResourceSpecs: {worker: {resource: {"nvidia.com/gpu": 1}}}', "Failed")
    assert "spec.resourceLimits.gpu: the pods request 2 together, and at most 0 are allowed" in above
    job.until_running([0, 1])
    server.verb("delete", "elasticjob", "limited")
    late = job.plan("limited-e", of_workers(3), "Pending")
    assert 'there is no job "limited" in the namespace default' in late


def test_of_two_plans_the_second_waits_for_the_first(server):  # noqa: F811
    job = Job(server, "both")
    server.apply("---".join([plan("both-a", "both", "migratePods: [{type: worker, id: 1}]"), plan("both-b", "both", of_workers(3)),
                             plan("both-c", "both", "removePods: [{type: worker, id: 0}]")]))
    for name in ("both-a", "both-b", "both-c"):
        server.kubectl("wait", f"scaleplan/{name}", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s")
    job.until_running([2, 3])


def test_one_machine_leaves_out_no_node(server):  # noqa: F811
    job = Job(server, "alone")
    told = job.plan("alone-a", "excludedNodes: [{node: localhost}]\n  migratePods: [{name: alone-edljob-worker-0}]")
    assert told == "excludedNodes has no effect on one machine, which has no other node"
    job.until_running([1, 2])
    refused = server.apply(plan("alone-b", "alone", "excludedNodes: [{node: a b}]"), status=2)
    assert "spec.excludedNodes[0].node: is no node's name" in refused.stderr
