"""Muster is installed where DLRover's operator is: no object of the one has the name of an object of the other, but for the two definitions,
and these lose no field that jobs and plans use."""

import json
import subprocess

import pytest
import yaml

from conftest import BINARY, DEFINITIONS, BuildFailed, Missing, Server, Stage, cluster
from test_clients import Kubectl, program

GROUP = "elastic.iml.github.io"
OBJECTS = f"/apis/{GROUP}/v1alpha1/namespaces/dlrover"

# ---- what DLRover installs, by its chart and its kustomization (v0.3.7 to v0.6.1) ----

TEXT, NUMBER, SWITCH, ANYTHING = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {
    "type": "object", "x-kubernetes-preserve-unknown-fields": True}


def fields(**each):
    return {"type": "object", "properties": each}


def map_of(value):
    return {"type": "object", "additionalProperties": value}


def list_of(item):
    return {"type": "array", "items": item}


def definition(kind, spec, status):
    plural = kind.lower() + "s"
    schema = fields(apiVersion=TEXT, kind=TEXT, metadata={"type": "object"}, spec=spec, status=status)
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced", "versions": [version],
                     "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}}}


REPLICA = fields(replicas=NUMBER, template=ANYTHING, restartPolicy=TEXT, restartCount=NUMBER, autoScale=SWITCH, restartTimeout=NUMBER,
                 priority=TEXT, BatchScheduler=TEXT)
JOB_STATUS = fields(conditions=list_of(ANYTHING), replicaStatuses=map_of(ANYTHING), startTime=TEXT, completionTime=TEXT, lastReconcileTime=TEXT)
PLANNED_POD = fields(name=TEXT, id=NUMBER, type=TEXT, rankIndex=NUMBER, service=TEXT, resource=map_of(TEXT))
DEFINED = [
    definition("ElasticJob", fields(
        distributionStrategy=TEXT, resourceLimits=map_of(TEXT), optimizeMode=TEXT, brainService=TEXT, enableElasticScheduling=SWITCH,
        enableDynamicSharding=SWITCH, replicaSpecs=map_of(REPLICA), envs=map_of(ANYTHING), suspend=SWITCH),
        fields(phase=TEXT, scalePlan=TEXT, status=JOB_STATUS)),
    definition("ScalePlan", fields(
        ownerJob=TEXT, replicaResourceSpecs=map_of(fields(replicas=NUMBER, resource=map_of(TEXT))), createPods=list_of(PLANNED_POD),
        removePods=list_of(PLANNED_POD), migratePods=list_of(PLANNED_POD), psHosts=list_of(TEXT)),
        fields(createTime=TEXT, finishTime=TEXT, phase=TEXT)),
]

ACCOUNT = {"kind": "ServiceAccount", "name": "dlrover-controller-manager", "namespace": "dlrover"}
PROGRAM = {"metadata": {"labels": {"control-plane": "controller-manager"}}, "spec": {
    "serviceAccountName": ACCOUNT["name"], "containers": [{"name": "manager", "image": "dlrover:1"}]}}
CONTROL_PLANE = {"control-plane": "controller-manager"}


RBAC = "rbac.authorization.k8s.io"


def role(kind, name, resources, binding=None, subject=ACCOUNT):
    """With what binds it, where something does."""
    scope = {"namespace": "dlrover"} if kind == "Role" else {}
    made = [{"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": name, **scope},
             "rules": [{"apiGroups": ["*"], "resources": resources, "verbs": ["get", "list", "watch"]}]}]
    if binding:
        made.append({"apiVersion": f"{RBAC}/v1", "kind": f"{kind}Binding", "metadata": {"name": binding, **scope},
                     "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name}, "subjects": [subject]})
    return made


def of_namespace(version, kind, name, **rest):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "dlrover"}, **rest}


INSTALLED = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dlrover", "labels": CONTROL_PLANE}},
    of_namespace("v1", "ServiceAccount", ACCOUNT["name"]),
    of_namespace("v1", "ConfigMap", "dlrover-manager-config", data={"controller_manager_config.yaml": "health: {}"}),
    of_namespace("v1", "ConfigMap", "node-topology-config", data={"topology_config": ""}),
    of_namespace("v1", "Service", "dlrover-controller-manager-metrics-service", spec={"ports": [{"port": 8443}], "selector": CONTROL_PLANE}),
    of_namespace("apps/v1", "Deployment", "dlrover-controller-manager", spec={"selector": {"matchLabels": CONTROL_PLANE}, "template": PROGRAM}),
    # Of its leader: the name in its program, and the one in its configuration.
    *[of_namespace("coordination.k8s.io/v1", "Lease", name, spec={"holderIdentity": "dlrover-controller-manager-0"})
      for name in ("dlrover-elasticjob", "9b6611a4.iml.github.io")],
    *role("Role", "dlrover-leader-election-role", ["leases", "configmaps"], "dlrover-leader-election-rolebinding"),
    *role("ClusterRole", "dlrover-manager-role", ["elasticjobs", "pods", "services"], "dlrover-manager-rolebinding"),
    *role("ClusterRole", "dlrover-proxy-role", ["tokenreviews"], "dlrover-proxy-rolebinding"),
    *role("ClusterRole", "dlrover-metrics-reader", ["services"]),
    # Of the masters, which run as the account `default`.
    *role("ClusterRole", "default-role", ["nodes", "pods", "services"], "default-role-binding", {**ACCOUNT, "name": "default"}),
]


def key_of(each):
    return each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]


def path_of(each):
    group = f"/apis/{each['apiVersion']}" if "/" in each["apiVersion"] else f"/api/{each['apiVersion']}"
    place = f"/namespaces/{each['metadata']['namespace']}" if "namespace" in each["metadata"] else ""
    return f"{group}{place}/{each['kind'].lower()}s"


def where(each):
    return f"{path_of(each)}/{each['metadata']['name']}"


# ---- what its users have ----

TEMPLATE = {"spec": {"containers": [{"name": "main", "image": "train:1", "command": ["dlrover-run", "train.py"],
                                     "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}
JOB = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "ElasticJob", "metadata": {"name": "train", "namespace": "dlrover"}, "spec": {
    "distributionStrategy": "AllreduceStrategy", "optimizeMode": "single-job", "resourceLimits": {"cpu": "15", "memory": "30000Mi"},
    "brainService": "dlrover-brain.dlrover.svc:50001", "enableElasticScheduling": True, "enableDynamicSharding": True, "suspend": False,
    "envs": {"LEVEL": {"name": "LEVEL", "value": "info"}},
    "replicaSpecs": {"worker": {
        "replicas": 2, "restartPolicy": "Always", "restartCount": 3, "autoScale": True, "restartTimeout": 60, "priority": "high",
        "BatchScheduler": "default", "template": TEMPLATE}}}}
POD = {"name": "train-edljob-worker-0", "id": 0, "type": "worker", "rankIndex": 0, "service": "train-edljob-worker-0:3333",
       "resource": {"cpu": "1"}}
PLAN = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "ScalePlan", "metadata": {"name": "train-scaleplan-0", "namespace": "dlrover"}, "spec": {
    "ownerJob": "train", "replicaResourceSpecs": {"worker": {"replicas": 2, "resource": {"cpu": "1"}}},
    "createPods": [POD], "removePods": [POD], "migratePods": [POD], "psHosts": ["train-edljob-ps-0:2222"]}}
TIME = "2026-01-02T03:04:05Z"
ENDED = {"phase": "Succeeded", "scalePlan": PLAN["metadata"]["name"], "status": {
    "conditions": [{"type": "Succeeded", "status": "True", "reason": "JobSucceeded", "message": "", "lastUpdateTime": TIME,
                    "lastTransitionTime": TIME}],
    "replicaStatuses": {"dlrover-master": {"initial": 0, "pending": 0, "active": 0, "succeeded": 1, "failed": 0,
                                           "labelSelector": {"matchLabels": {"app": "dlrover"}}}},
    "startTime": TIME, "completionTime": TIME, "lastReconcileTime": TIME}}
EXECUTED = {"createTime": TIME, "finishTime": TIME, "phase": "Succeeded"}
DONE = {**JOB, "metadata": {"name": "done", "namespace": "dlrover"}}
USED = [JOB, DONE, PLAN]


def made_by(*flags):
    made = subprocess.run([BINARY, "manifests", *flags], capture_output=True, text=True, check=True)
    return made.stdout, list(yaml.load_all(made.stdout, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


# ---- the tests ----

@pytest.mark.parametrize("flags", [(), ("--mpi", "--agent-tokens"), ("--install-namespace", "dlrover"),
                                   ("--namespace", "dlrover", "--install-namespace", "dlrover")], ids=" ".join)
def test_no_object_has_the_name_of_one_of_theirs(flags):
    ours = {key_of(each) for each in made_by(*flags)[1]}
    theirs = {key_of(each) for each in [*INSTALLED, *DEFINED]}
    allowed = {key_of(each) for each in DEFINED} | {("Namespace", "", "dlrover")}
    assert theirs & ours <= allowed
    if "--namespace" not in flags:
        assert {key_of(each) for each in DEFINED} <= ours
    # Its leader holds a Lease that no manifest has.
    text = json.dumps(made_by(*flags)[1])
    assert "dlrover-elasticjob" not in text and "9b6611a4.iml.github.io" not in text


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A cluster with DLRover's operator, a job, one that has ended, and a plan."""
    place = tmp_path_factory.mktemp("dlrover")
    try:
        with Server(place / "cluster", bare=True) as made:
            for each in INSTALLED:
                made.must("POST", path_of(each), each)
            made.define(DEFINED)
            for each in USED:
                made.must("POST", f"{path_of(each)}?fieldValidation=Strict", each)
            made.merge(where(DONE) + "/status", {"status": ENDED})
            made.merge(where(PLAN) + "/status", {"status": EXECUTED})
            yield made
    except Missing as why:
        pytest.skip(str(why))
    except (cluster.Failed, BuildFailed) as why:
        pytest.fail(str(why))


@pytest.fixture(scope="module")
def both(theirs, tmp_path_factory):
    """The same, with ours installed as docs/dlrover.md says, and what was there before."""
    before = {where(each): theirs.must("GET", where(each)) for each in [*INSTALLED, *DEFINED, *USED]}
    place = tmp_path_factory.mktemp("kubectl")
    (place / "muster.yaml").write_text(made_by()[0])
    kubectl = Kubectl(program("kubectl"), theirs, "kubeflow", place)
    said = kubectl("apply", "--server-side", "--force-conflicts", "-f", place / "muster.yaml")
    assert f"customresourcedefinition.apiextensions.k8s.io/elasticjobs.{GROUP} serverside-applied" in said
    for each in DEFINED:
        name = each["metadata"]["name"]
        theirs.until(f"{DEFINITIONS}/{name}", lambda now: any(
            c["type"] == "Established" and c["status"] == "True" for c in now["status"]["conditions"]))
    theirs.must("GET", where(JOB))
    return theirs, before


def test_what_they_installed_stays_as_it_was(both):
    server, before = both
    for each in INSTALLED:
        assert server.must("GET", where(each)) == before[where(each)]
    for each in DEFINED:
        assert server.must("GET", where(each))["metadata"]["uid"] == before[where(each)]["metadata"]["uid"]


@pytest.mark.parametrize("each", USED, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_no_field_of_a_job_or_a_plan_is_lost(both, each):
    server, before = both
    was = before[where(each)]
    assert was["spec"] == each["spec"], "what is compared has all fields that theirs has"
    # A definition that is changed is served a moment later: the schema with `members` is ours.
    server.until_served(where(each) + "/scale" if each["kind"] == "ElasticJob" else where(each))
    now = server.must("GET", where(each))
    assert (now["spec"], now.get("status")) == (was["spec"], was.get("status"))
    # And it may be written again as it is.
    server.must("PUT", f"{where(each)}?fieldValidation=Strict", now)
    again = server.must("GET", where(each))
    assert (again["spec"], again.get("status")) == (was["spec"], was.get("status"))


def test_our_operator_runs_their_job_and_leaves_what_has_ended(both, start):
    server, _ = both
    stage = Stage(server, "dlrover")
    server.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000})
    ended = server.must("GET", where(DONE))
    start("--namespace=dlrover", "--leader-elect", "--leader-election-namespace=dlrover", kubeconfig=server.kubeconfig).works()
    pods = stage.pods(3)
    assert sorted(pods) == ["elasticjob-train-dlrover-master-0", "train-edljob-worker-0", "train-edljob-worker-1"]
    stage.run(*pods)
    stage.condition(where(JOB), "Running")
    leases = {each["metadata"]["name"]: each for each in server.must("GET", "/apis/coordination.k8s.io/v1/namespaces/dlrover/leases")["items"]}
    assert leases.keys() == {"dlrover-elasticjob", "9b6611a4.iml.github.io", "muster-operator.kubeflow.org"}
    assert leases["dlrover-elasticjob"]["spec"]["holderIdentity"] == "dlrover-controller-manager-0"
    stage.end(0, "train-edljob-worker-0", "train-edljob-worker-1")
    stage.condition(where(JOB), "Succeeded")
    now = server.must("GET", where(DONE))
    assert now["status"]["phase"] == "Succeeded" and now["status"]["status"]["conditions"] == ended["status"]["status"]["conditions"]
    assert not [pod for pod in server.must("GET", stage.pods_path)["items"] if "done" in pod["metadata"]["name"]]
