"""DLRover's published manifests on a real kube-apiserver: the pods of each have upstream's names, labels, variables and Services, run, and end.

MUSTER_CORPUS names the directory that has them as manifests/dlrover-*.yaml. Nothing of a manifest is changed but its namespace.
"""

import collections
import json
import sys

import pytest
import yaml

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from corpus_drill import CORPUS, published  # noqa: E402

GROUP = "/apis/elastic.iml.github.io/v1alpha1/namespaces"
MANIFESTS = {path.stem: each for path in published() for each in yaml.safe_load_all(path.read_text())
             if each and each["apiVersion"].startswith("elastic.iml.github.io/")}
JOBS = [name for name, each in MANIFESTS.items() if each["kind"] == "ElasticJob"]
PLANS = [name for name, each in MANIFESTS.items() if each["kind"] == "ScalePlan"]

pytestmark = pytest.mark.skipif(
    not MANIFESTS, reason=f"no corpus: {CORPUS}/manifests has no manifest of DLRover; set MUSTER_CORPUS")


def each_of(names):
    return pytest.mark.parametrize("name", names or [None], ids=str)


# ---- what upstream has (v0.6.1: elasticjob_controller.go, pod_scaler.py, dlrover/python/common/constants.py) ----

PORTS = collections.defaultdict(lambda: 3333, ps=2222)
FIELDS = {"POD_IP": "status.podIP", "NODE_IP": "status.hostIP", "POD_NAME": "metadata.name"}


class Wanted:
    """What a job is to have. Where parameter servers have no chief, the first worker is it."""

    def __init__(self, job):
        self.job, self.name, spec = job, job["metadata"]["name"], job["spec"]
        self.namespace = job["metadata"]["namespace"]
        self.written = spec["replicaSpecs"]
        self.asks_servers = spec["distributionStrategy"] == "ParameterServerStrategy"
        self.counts = {kind: each.get("replicas", 1) for kind, each in self.written.items() if kind != "dlrover-master"}
        if self.asks_servers and "chief" not in self.counts and self.counts["worker"] > 0:
            self.counts.update(chief=1, worker=self.counts["worker"] - 1)
        self.master = f"elasticjob-{self.name}-dlrover-master"
        self.replicas = {self.pod(kind, at): (kind, at) for kind, count in self.counts.items() for at in range(count)}
        self.pods = [f"{self.master}-0", *self.replicas]
        ends = ("chief", "evaluator") if self.asks_servers else ("worker",)
        self.deciding = [pod for pod, (kind, _) in self.replicas.items() if kind in ends]

    def pod(self, kind, at):
        return f"{self.name}-edljob-{kind}-{at}"

    def address(self, kind, at):
        return f"{self.pod(kind, at)}.{self.namespace}.svc:{PORTS[kind]}"

    def template(self, kind):
        return self.written[kind if kind in self.written or kind != "chief" else "worker"]["template"]

    def labels(self, kind, at):
        prefix = "elasticjob.dlrover/"
        return {"app": "dlrover", f"{prefix}name": self.name, f"{prefix}replica-type": kind, f"{prefix}replica-index": str(at),
                f"{prefix}rank-index": str(at), f"{prefix}relaunch-count": "0"}

    def variables(self, kind, at, uid):
        nodes = str(self.counts.get("worker", 0) + self.counts.get("chief", 0))
        place = {"TYPE": kind, "ID": str(at), "NUM": nodes, "RANK": str(at)}
        made = {"ELASTIC_JOB_NAME": self.name, "JOB_UID": uid, "GRPC_ENABLE_FORK_SUPPORT": "false", "MONITOR_ENABLED": "true",
                "DLROVER_MASTER_ADDR": f"{self.master}.{self.namespace}.svc:50001", "DLROVER_MASTER_SERVICE_TYPE": "grpc",
                "DLROVER_TRAINING_ELASTIC_MODE": "base",
                **{f"{prefix}_{key}": value for prefix in ("NODE", "WORKER") for key, value in place.items()}}
        return made if self.asks_servers else {**made, "WORLD_SIZE": nodes, "RANK": str(at)}

    def tf_config(self, kind, at):
        cluster = {each: [self.address(each, at) for at in range(self.counts[each])]
                   for each in ("chief", "ps", "worker") if self.counts.get(each)}
        return {"cluster": cluster, "task": {"type": kind, "index": at}}


# ---- what there is ----

def main_container(pod):
    return next(each for each in pod["spec"]["containers"] if each["name"] == "main")


def environment(pod):
    """Values, and of the others the fields that they are taken from."""
    listed = main_container(pod)["env"]
    assert len({each["name"] for each in listed}) == len(listed), "a variable is there once"
    fields = {each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] for each in listed if "fieldRef" in each.get("valueFrom", {})}
    return {each["name"]: each["value"] for each in listed if "value" in each}, fields


def resource_names(container):
    """Servers spell the amounts in their own way."""
    return {part: set(amounts) for part, amounts in container.get("resources", {}).items()}


def check_template(pod, template):
    """The pod is what its template says, with additions."""
    wanted, made = template["spec"]["containers"][0], main_container(pod)
    assert made["image"] == wanted["image"] and made["imagePullPolicy"] == wanted.get("imagePullPolicy", made["imagePullPolicy"])
    words = [*made.get("command", []), *made.get("args", [])]
    assert words[-len(wanted["command"]):] == wanted["command"]
    assert resource_names(made) == resource_names(wanted)
    for mount in wanted.get("volumeMounts", []):
        assert mount in [{key: each[key] for key in mount} for each in made["volumeMounts"] if each["name"] == mount["name"]]
    names = [volume["name"] for volume in pod["spec"].get("volumes", [])]
    assert {volume["name"] for volume in template["spec"].get("volumes", [])} <= set(names)
    assert template.get("metadata", {}).get("annotations", {}).items() <= pod["metadata"].get("annotations", {}).items()
    assert pod["spec"]["restartPolicy"] == "Never"


def check_replica(pod, wanted, kind, at, uid):
    assert wanted.labels(kind, at).items() <= pod["metadata"]["labels"].items()
    values, fields = environment(pod)
    assert wanted.variables(kind, at, uid).items() <= values.items() and FIELDS.items() <= fields.items()
    given = {each["name"]: each["value"] for each in wanted.template(kind)["spec"]["containers"][0].get("env", [])}
    assert given.items() <= values.items()
    if wanted.asks_servers:
        assert json.loads(values["TF_CONFIG"]) == wanted.tf_config(kind, at) and "RANK" not in values and "WORLD_SIZE" not in values
    else:
        assert "TF_CONFIG" not in values
    written = wanted.written.get(kind, {})
    assert pod["spec"].get("priorityClassName") == written.get("priority")
    check_template(pod, wanted.template(kind))


def check_master(pod, wanted, uid):
    labels = {"app.kubernetes.io/name": "elasticjob", "elasticjob.dlrover/name": wanted.name,
              "elasticjob.dlrover/replica-type": "dlrover-master", "elasticjob.dlrover/replica-index": "0"}
    assert labels.items() <= pod["metadata"]["labels"].items()
    values, fields = environment(pod)
    assert {"NODE_TYPE": "dlrover-master", "JOB_UID": uid, "ELASTIC_JOB_NAME": wanted.name}.items() <= values.items()
    assert fields["POD_IP"] == "status.podIP" and pod["spec"]["restartPolicy"] == "Never"
    if "dlrover-master" not in wanted.written:
        assert main_container(pod)["resources"]["requests"] == {"cpu": "20m", "memory": "32Mi"}


def check_pods(pods, wanted, uid):
    assert sorted(pods) == sorted(wanted.pods)
    for name, pod in pods.items():
        [owner] = pod["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("ElasticJob", uid, True)
        if name in wanted.replicas:
            check_replica(pod, wanted, *wanted.replicas[name], uid)
        else:
            check_master(pod, wanted, uid)


def check_services(server, pods, wanted):
    """Each address that a variable has leads to the pod that it means."""
    meant = {**{name: (name, PORTS[kind]) for name, (kind, _) in wanted.replicas.items()}, wanted.master: (f"{wanted.master}-0", 50001)}
    services = server.until_listed(f"/api/v1/namespaces/{wanted.namespace}/services", lambda there: there.keys() >= meant.keys())
    assert services.keys() == meant.keys()
    for name, (pod, port) in meant.items():
        spec = services[name]["spec"]
        assert [each["port"] for each in spec["ports"]] == [port]
        assert [each for each in pods if spec["selector"].items() <= pods[each]["metadata"]["labels"].items()] == [pod]


# ---- the tests ----

@pytest.fixture(scope="session")
def priorities(server):
    """The classes that upstream's `priority` names."""
    server.make_priorities({"high": 1000, "low": 1000})


def post(server, stage, name):
    """(its path, the manifest as it was posted)"""
    manifest = {**MANIFESTS[name], "metadata": {**MANIFESTS[name]["metadata"], "namespace": stage.namespace}}
    path = f"{GROUP}/{stage.namespace}/{manifest['kind'].lower()}s"
    # As kubectl does it: a field that is not known is refused.
    server.must("POST", f"{path}?fieldValidation=Strict", manifest)
    return f"{path}/{manifest['metadata']['name']}", manifest


def scaled(manifest, kind, replicas):
    types = manifest["spec"]["replicaSpecs"]
    return {**manifest, "spec": {**manifest["spec"], "replicaSpecs": {**types, kind: {**types[kind], "replicas": replicas}}}}


def play(server, stage, path, wanted):
    """From its pods to its end."""
    uid = server.must("GET", path)["metadata"]["uid"]
    pods = stage.pods(len(wanted.pods))
    check_pods(pods, wanted, uid)
    check_services(server, pods, wanted)
    stage.run(*pods)
    running = stage.condition(path, "Running")
    assert running["status"]["phase"] == "Running"
    stage.end(0, *wanted.deciding)
    done = stage.condition(path, "Succeeded")["status"]
    assert done["phase"] == "Succeeded" and done["completionTime"] and done["status"]["conditions"] == done["conditions"]
    ended = collections.Counter(wanted.replicas[pod][0] for pod in wanted.deciding)
    counted = {kind: done["status"]["replicaStatuses"][kind].get("succeeded") for kind in ended}
    assert counted == ended
    # What never ends by itself is stopped.
    assert sorted(stage.pods(len(wanted.deciding))) == sorted(wanted.deciding)


def has_workers(name):
    return MANIFESTS[name]["spec"]["replicaSpecs"]["worker"].get("replicas", 1) > 0


@pytest.fixture
def operator(start, namespace):
    """As it is installed: with an image that has its program."""
    return start(f"--namespace={namespace}", "--in-pods-image=muster:1").works()


@each_of([name for name in JOBS if has_workers(name)])
def test_a_published_job_from_its_pods_to_its_end(operator, server, stage, priorities, name):
    path, manifest = post(server, stage, name)
    play(server, stage, path, Wanted(manifest))


@each_of([name for name in JOBS if not has_workers(name)])
def test_a_published_job_without_workers_waits_until_it_is_scaled(operator, server, stage, name):
    path, manifest = post(server, stage, name)
    before = Wanted(manifest)
    uid = server.must("GET", path)["metadata"]["uid"]
    pods = stage.pods(len(before.pods))
    check_pods(pods, before, uid)
    stage.run(*pods)
    server.merge(f"{path}/scale", {"spec": {"replicas": 2}})
    wanted = Wanted(scaled(manifest, "worker", 2))
    pods = stage.pods(len(wanted.pods))
    assert sorted(pods) == sorted(wanted.pods)
    new = set(wanted.pods) - set(before.pods)
    for pod in new:
        check_replica(pods[pod], wanted, *wanted.replicas[pod], uid)
    check_services(server, pods, wanted)
    stage.run(*new)
    stage.condition(path, "Running")
    stage.end(0, *wanted.deciding)
    stage.condition(path, "Succeeded")


@each_of(PLANS)
def test_a_published_plan_changes_its_published_job(operator, server, stage, priorities, name):
    owner = MANIFESTS[name]["spec"]["ownerJob"]
    job = next(job for job in JOBS if MANIFESTS[job]["metadata"]["name"] == owner)
    path, manifest = post(server, stage, job)
    before = Wanted(manifest)
    stage.run(*stage.pods(len(before.pods)))
    stage.condition(path, "Running")
    plan, asked = post(server, stage, name)
    wanted = manifest
    for kind, change in asked["spec"]["replicaResourceSpecs"].items():
        wanted = scaled(wanted, kind, change["replicas"])
    wanted = Wanted(wanted)
    new = set(wanted.pods) - set(before.pods)
    assert new and sorted(pods := stage.pods(len(wanted.pods))) == sorted(wanted.pods)
    server.until(plan, lambda now: now.get("status", {}).get("phase") == "Succeeded")
    for pod in new:
        check_replica(pods[pod], wanted, *wanted.replicas[pod], server.must("GET", path)["metadata"]["uid"])
    stage.end(0, *wanted.deciding)
    stage.condition(path, "Succeeded")
