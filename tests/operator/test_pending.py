"""ElasticJobs whose pods find no node: Kubernetes' own scheduler says so of nodes that a test makes, and the operator tells it, or ends the job."""

import datetime
import re
import threading

import pytest

from conftest import installed, told_of

GROUP = "/apis/elastic.iml.github.io/v1alpha1/namespaces"
NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
GPU = "nvidia.com/gpu"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
# Without a Lease that is renewed, a node counts as lost after 50 s.
RENEW_S = 10
LONG = {"pending_timeout": "600"}


# ---- nodes, and what pods find of them ----

@pytest.fixture(scope="module")
def server(tmp_path_factory, definitions, manifests):
    """With Kubernetes' scheduler and controllers."""
    with installed(tmp_path_factory.mktemp("pending") / "cluster", definitions, manifests) as made:
        made.make_priorities({"high": 1000, "low": 10})
        yield made


def lease_of(node):
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"metadata": {"name": node}, "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": now}}


class Nodes:
    """What kubelets write of the nodes that they are on."""

    def __init__(self, server):
        self.server, self.names, self.ended = server, [], threading.Event()
        self.renewing = threading.Thread(target=self.renew, daemon=True)
        self.renewing.start()

    def renew(self):
        while not self.ended.wait(RENEW_S):
            for node in tuple(self.names):
                self.server.merge(f"{LEASES}/{node}", lease_of(node))

    def add(self, name, gpus):
        """Returns once pods may be placed there."""
        now = format_time(datetime.datetime.now(datetime.UTC))
        amounts = {"cpu": "8", "memory": "16Gi", "pods": "110", GPU: str(gpus)}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now, "lastTransitionTime": now}
        self.server.until("/api/v1/namespaces/kube-node-lease", bool)
        self.server.must("POST", LEASES, lease_of(name))
        self.server.must("POST", NODES, {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                                         "status": {"allocatable": amounts, "capacity": amounts, "conditions": [ready]}})
        self.names.append(name)
        # Each begins with a taint, which a controller takes away from those that are ready.
        self.server.until(f"{NODES}/{name}", lambda node: node and not node["spec"].get("taints"))

    def end(self):
        self.ended.set()
        self.renewing.join()
        for name in self.names:
            self.server.must("DELETE", f"{LEASES}/{name}")
            self.server.must("DELETE", f"{NODES}/{name}")
            self.server.until(f"{NODES}/{name}", lambda node: node is None)


@pytest.fixture
def namespace(namespace, server):
    """With the account of its pods. Pods go with the test, so that none is in the way of the next one's."""
    path = f"/api/v1/namespaces/{namespace}"
    server.until(f"{path}/serviceaccounts/default", bool)
    yield namespace
    # Nothing is made in one that goes.
    server.must("DELETE", path)
    server.must("DELETE", f"{path}/pods", {"gracePeriodSeconds": 0})
    server.until_listed(f"{path}/pods", lambda there: not there)


@pytest.fixture
def nodes(server):
    made = Nodes(server)
    yield made
    made.end()


def refusal(pod):
    """What the scheduler says of a pod that no node takes."""
    return next((each for each in pod.get("status", {}).get("conditions", []) if each["type"] == "PodScheduled"
                 and each["status"] == "False" and each["reason"] == "Unschedulable"), None)


def refused_since(pod):
    return datetime.datetime.fromisoformat(refusal(pod)["lastTransitionTime"])


def format_time(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class Ground:
    """Jobs in a namespace, and the kubelets of those of their pods that have a node."""

    def __init__(self, server, stage):
        self.server, self.stage = server, stage
        self.path = f"{GROUP}/{stage.namespace}"

    def post(self, name, workers, least=1, annotations=None, priority=None, gates=()):
        """The path of a job whose workers want a GPU each, and which begins with `least` of them."""
        command = ["/bin/sh", "-c", f"dlrover-run --nnodes={least}:$NODE_NUM --nproc_per_node=1 train.py"]
        container = {"name": "main", "image": "train:1", "command": command, "resources": {"limits": {GPU: "1"}}}
        worker = {"replicas": workers, "template": {"spec": {"containers": [container], "schedulingGates": [{"name": gate} for gate in gates]}}}
        if priority:
            worker["priority"] = priority
        self.server.must("POST", f"{self.path}/elasticjobs?fieldValidation=Strict", {
            "apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ElasticJob", "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"distributionStrategy": "AllreduceStrategy", "replicaSpecs": {"worker": worker}}})
        return f"{self.path}/elasticjobs/{name}"

    def workers(self, job, placed, refused):
        """The names of a job's workers that have a node, and those by name that the scheduler found none for, once there are so many of each."""
        def sort(there):
            mine = {name: pod for name, pod in there.items() if name.startswith(f"{job}-edljob-worker-") and
                    "deletionTimestamp" not in pod["metadata"]}
            return sorted(name for name, pod in mine.items() if "nodeName" in pod["spec"]), {
                name: pod for name, pod in mine.items() if refusal(pod)}
        there = self.server.until_listed(self.stage.pods_path, lambda there: tuple(map(len, sort(there))) == (placed, refused))
        return sort(there)

    def master(self, job):
        """The name of its master's pod, once it has a node."""
        name = f"elasticjob-{job}-dlrover-master-0"
        self.server.until(f"{self.stage.pods_path}/{name}", lambda pod: pod and "nodeName" in pod["spec"])
        return name

    def refused_master(self, job):
        """The pod of its master by name, once no node has been found for it."""
        name = f"elasticjob-{job}-dlrover-master-0"
        return {name: self.server.until(f"{self.stage.pods_path}/{name}", lambda pod: pod and refusal(pod))}

    def placed_on(self, pod, node):
        self.server.until(f"{self.stage.pods_path}/{pod}", lambda now: now["spec"].get("nodeName") == node)

    def incomplete(self, path):
        """What the job tells of those that wait, once it does."""
        job = self.stage.condition(path, "Incomplete")
        [told] = [each for each in job["status"]["conditions"] if each["type"] == "Incomplete"]
        assert told["reason"] == "JobUnschedulable"
        return told["message"]

    def complete(self, path, workers):
        """Returns once so many run and none is told to wait."""
        def holds(job):
            return told_of(job).get("worker", {}).get("active") == workers and \
                all(each["type"] != "Incomplete" for each in job["status"]["conditions"])
        job = self.server.until(path, holds)
        assert job["status"]["phase"] == "Running"

    def failed(self, path):
        """The condition with which it ended."""
        job = self.stage.condition(path, "Failed")
        return next(each for each in job["status"]["conditions"] if each["type"] == "Failed")


@pytest.fixture
def ground(server, stage, nodes, operator):
    return Ground(server, stage)


def amount_of(waiting, kind, wanted):
    """The pods that wait, as messages have them."""
    names = in_order(waiting)
    return f"{len(names)} of {wanted} {kind} pods ({', '.join(names)}) can't be scheduled since {format_time(refused_since(waiting[names[0]]))}"


def words_of(waiting):
    """The scheduler's own, about the first of the pods that wait."""
    first = in_order(waiting)[0]
    return f"{first}: {refusal(waiting[first])['message']}"


def in_order(waiting):
    """Names, that of who waits longest first."""
    return sorted(waiting, key=lambda name: (refused_since(waiting[name]), name))


# ---- the tests ----

def test_a_job_begins_without_a_worker_that_finds_no_node_and_it_joins_once_there_is_one(ground, nodes, stage):
    nodes.add("small", gpus=2)
    path = ground.post("short", workers=3, least=2)
    placed, waiting = ground.workers("short", placed=2, refused=1)
    stage.run(ground.master("short"), *placed)
    stage.condition(path, "Running")
    words = words_of(waiting)
    assert f"0/1 nodes are available: 1 Insufficient {GPU}." in words
    assert ground.incomplete(path) == \
        f"{amount_of(waiting, 'worker', 3)}; the job continues without them, and they join when they run. {words}"
    nodes.add("more", gpus=1)
    [joins] = waiting
    ground.placed_on(joins, "more")
    stage.run(joins)
    ground.complete(path, workers=3)


def test_jobs_say_what_becomes_of_them_while_there_is_no_node_and_run_once_there_is_one(ground, nodes, server, stage):
    # Workers, least of them, annotations; what is told, and how many can wait before the job lacks one.
    jobs = {"patient": (2, 1, {"pending_fail_strategy": "0", "pending_timeout": "1"}, "no time limit is set", None),
            "least": (3, 2, LONG, "the job ends at {} with PendingTimeout unless 2 of them run", 1),
            "whole": (2, 1, {"pending_fail_strategy": "2", **LONG}, "the job ends at {} with PendingTimeout unless they run", 0)}
    paths = {name: ground.post(name, workers, least, annotations) for name, (workers, least, annotations, *_) in jobs.items()}
    for name, (count, _, _, outlook, spare) in jobs.items():
        master, (_, workers) = ground.refused_master(name), ground.workers(name, placed=0, refused=count)
        ends = "never" if spare is None else format_time(sorted(map(refused_since, workers.values()))[spare] + datetime.timedelta(seconds=600))
        told = ground.incomplete(paths[name])
        assert told == f"{amount_of(master, 'dlrover-master', 1)}, {amount_of(workers, 'worker', count)}; {outlook.format(ends)}. {words_of(master)}"
        assert told.endswith(": no nodes available to schedule pods")
    nodes.add("large", gpus=7)
    placed = {name: ground.workers(name, placed=count, refused=0)[0] for name, (count, *_) in jobs.items()}
    for name in jobs:
        stage.run(ground.master(name), *placed[name])
    for name, (count, *_) in jobs.items():
        ground.complete(paths[name], workers=count)
        stage.end(0, *placed[name])
        stage.condition(paths[name], "Succeeded")


@pytest.mark.parametrize("strategy, least, gpus, needed", [("1", 2, 1, "1 of them"), ("2", 1, 2, "it")])
def test_a_job_ends_where_what_it_needs_has_found_no_node_in_time(ground, nodes, server, stage, strategy, least, gpus, needed):
    nodes.add("small", gpus=gpus)
    path = ground.post("needs", workers=3, least=least, annotations={"pending_timeout": "2", "pending_fail_strategy": strategy})
    failed = ground.failed(path)
    said = re.fullmatch(rf"PendingTimeout: {3 - gpus} of 3 worker pods \((.*)\) can't be scheduled since ({TIME}), longer than 2 s, "
                        rf"and the job needs {needed}\. (\S+): 0/1 nodes are available: 1 Insufficient {GPU}\. .*", failed["message"])
    assert failed["reason"] == "JobPendingTimeout" and said, failed
    assert datetime.datetime.fromisoformat(failed["lastTransitionTime"]) - datetime.datetime.fromisoformat(said[2]) >= \
        datetime.timedelta(seconds=2)
    assert stage.pods(0) == {}
    # Those that have a node stay until its kubelet has ended them; so it shows who had one.
    had_one = {name for name, pod in server.until_listed(stage.pods_path, bool).items() if "nodeName" in pod["spec"]}
    waited = {f"needs-edljob-worker-{rank}" for rank in range(3)} - had_one
    assert set(said[1].split(", ")) == waited and said[3] in waited


def test_a_worker_of_low_priority_makes_room_and_the_job_goes_on_without_it(ground, nodes, server, stage):
    """Also with the strategy that wants all of them, and a time limit that is over: those of low priority are not meant."""
    nodes.add("full", gpus=2)
    path = ground.post("tune", workers=2, annotations={"pending_timeout": "1", "pending_fail_strategy": "2"}, priority="0.5")
    placed, _ = ground.workers("tune", placed=2, refused=0)
    stage.run(ground.master("tune"), *placed)
    ground.complete(path, workers=2)

    urgent = ground.post("urgent", workers=1, priority="high")
    low = "tune-edljob-worker-1"
    going = server.until(f"{stage.pods_path}/{low}", lambda pod: "deletionTimestamp" in pod["metadata"])
    assert {each["type"]: each.get("reason") for each in going["status"]["conditions"]}["DisruptionTarget"] == "PreemptionByScheduler"
    stage.end(143, low)
    server.must("DELETE", f"{stage.pods_path}/{low}", {"gracePeriodSeconds": 0})
    first, _ = ground.workers("urgent", placed=1, refused=0)
    stage.run(ground.master("urgent"), *first)
    stage.condition(urgent, "Running")

    _, waiting = ground.workers("tune", placed=1, refused=1)
    assert list(waiting) == ["tune-edljob-worker-2"] and waiting["tune-edljob-worker-2"]["spec"]["priorityClassName"] == "low"
    assert ground.incomplete(path).startswith(
        f"{amount_of(waiting, 'worker', 2)}; the job continues without them, and they join when they run. tune-edljob-worker-2: 0/1 nodes")
    stage.end(0, *first)
    stage.condition(urgent, "Succeeded")
    ground.placed_on("tune-edljob-worker-2", "full")
    stage.run("tune-edljob-worker-2")
    ground.complete(path, workers=2)


def test_a_node_that_the_job_leaves_out_gets_none_of_its_pods_although_it_has_room(ground, nodes, server, stage):
    nodes.add("bad", gpus=1)
    nodes.add("good", gpus=1)
    path = ground.post("moves", workers=2, annotations=LONG)
    placed, _ = ground.workers("moves", placed=2, refused=0)
    stage.run(ground.master("moves"), *placed)
    ground.complete(path, workers=2)
    server.must("POST", f"{ground.path}/scaleplans", {
        "apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ScalePlan", "metadata": {"name": "leave", "labels": {"scale-type": "manual"}},
        "spec": {"ownerJob": "moves", "excludedNodes": [{"node": "bad"}]}})
    server.until(f"{ground.path}/scaleplans/leave", lambda now: now.get("status", {}).get("phase") == "Succeeded")

    pods = server.must("GET", stage.pods_path)["items"]
    [there] = [pod["metadata"]["name"] for pod in pods if pod["metadata"]["name"] in placed and pod["spec"]["nodeName"] == "bad"]
    stage.end(1, there)
    _, waiting = ground.workers("moves", placed=1, refused=1)
    assert list(waiting) == ["moves-edljob-worker-2"]
    told = ground.incomplete(path)
    assert told.startswith(f"{amount_of(waiting, 'worker', 2)}; the job continues without them, and they join when they run; "
                           "the job leaves out these nodes: bad. moves-edljob-worker-2: 0/2 nodes are available: "), told
    assert f"1 Insufficient {GPU}" in told and "1 node(s) didn't match Pod's node affinity/selector" in told, told
    nodes.add("other", gpus=1)
    ground.placed_on("moves-edljob-worker-2", "other")
    stage.run("moves-edljob-worker-2")
    ground.complete(path, workers=2)


def test_the_time_at_a_gate_does_not_count(ground, nodes, server, stage):
    nodes.add("without", gpus=0)
    annotations = {"pending_timeout": "3", "pending_fail_strategy": "2"}
    gated = ground.post("gated", workers=1, annotations=annotations, gates=["example.com/quota"])
    pod = f"{stage.pods_path}/gated-edljob-worker-0"
    server.until(pod, bool)
    # One without a gate, and with the same limit: when it ends, the other has been at its gate for as long.
    ground.failed(ground.post("free", workers=1, annotations=annotations))
    assert not {"Incomplete", "Failed"} & {each["type"] for each in server.must("GET", gated)["status"]["conditions"]}
    opened = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    server.merge(pod, {"spec": {"schedulingGates": None}})
    failed = ground.failed(gated)
    [since] = re.findall(rf"1 of 1 worker pods \(gated-edljob-worker-0\) can't be scheduled since ({TIME}), longer than 3 s", failed["message"])
    assert datetime.datetime.fromisoformat(since) >= opened, failed
    assert datetime.datetime.fromisoformat(failed["lastTransitionTime"]) - opened >= datetime.timedelta(seconds=3)
