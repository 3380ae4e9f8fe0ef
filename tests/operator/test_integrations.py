"""Gang schedulers and autoscalers: their objects beside jobs. The schedulers themselves are played by the tests."""

import pytest

from conftest import DEFINITIONS, job

VOLCANO = ("scheduling.volcano.sh", "v1beta1")
COSCHEDULING = ("scheduling.x-k8s.io", "v1alpha1")


def pod_groups(group, version):
    """A definition that takes whatever the real one takes."""
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"podgroups.{group}", "annotations": {"api-approved.kubernetes.io": "a copy for tests"}},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
                     "versions": [{"name": version, "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
                         "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


@pytest.fixture
def defined(server):
    """Defines PodGroups for one test."""
    made = []

    def begin(group, version):
        server.define([pod_groups(group, version)])
        made.append(group)

    yield begin
    for group in made:
        server.must("DELETE", f"{DEFINITIONS}/podgroups.{group}")
        server.until(f"{DEFINITIONS}/podgroups.{group}", lambda now: now is None)


def group_path(stage, group, version, name="demo"):
    return f"/apis/{group}/{version}/namespaces/{stage.namespace}/podgroups/{name}"


def test_volcano_is_waited_for(server, start, stage, defined):
    defined(*VOLCANO)
    start(f"--namespace={stage.namespace}", "--gang-scheduler-name=volcano").works()
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 2}, runPolicy={
        "schedulingPolicy": {"minAvailable": 2, "queue": "research", "priorityClass": "high"}}))
    group = server.until(group_path(stage, *VOLCANO), lambda now: now)
    assert group["spec"]["minMember"] == 2 and group["spec"]["queue"] == "research" and group["spec"]["priorityClassName"] == "high"
    stage.condition(path, "Queued")
    assert server.must("GET", stage.pods_path)["items"] == []
    server.merge(group_path(stage, *VOLCANO) + "/status", {"status": {"phase": "Inqueue"}})
    pods = stage.pods(3)
    assert {pod["spec"]["schedulerName"] for pod in pods.values()} == {"volcano"}
    assert {pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] for pod in pods.values()} == {"demo"}
    stage.run(*pods)
    stage.condition(path, "Running")
    stage.end(0, *pods)
    stage.condition(path, "Succeeded")
    server.until(group_path(stage, *VOLCANO), lambda now: now is None)


def test_a_definition_that_is_missing_is_told_on_the_job_and_used_once_it_is_there(server, start, stage, defined):
    start(f"--namespace={stage.namespace}", "--gang-scheduler-name=coscheduling").works()
    path = stage.post(job("PyTorchJob", replicas={"Master": 1}))
    blocked = stage.condition(path, "Blocked")
    message = next(each["message"] for each in blocked["status"]["conditions"] if each["type"] == "Blocked")
    assert "podgroups.scheduling.x-k8s.io" in message
    defined(*COSCHEDULING)
    pods = stage.pods(1)
    assert pods["demo-master-0"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == "demo"
    assert pods["demo-master-0"]["spec"]["schedulerName"] == "coscheduling"
    assert server.must("GET", group_path(stage, *COSCHEDULING))["spec"]["minMember"] == 1
    server.merge(path, {"spec": {"runPolicy": {"schedulingPolicy": {"scheduleTimeoutSeconds": 60}}}})
    server.until(group_path(stage, *COSCHEDULING), lambda now: now["spec"].get("scheduleTimeoutSeconds") == 60)


def test_an_autoscaler_comes_follows_and_goes(server, operator, stage):
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    path = stage.post(job("PyTorchJob", replicas={"Worker": 2}, policy="OnFailure", elasticPolicy={
        "minReplicas": 1, "maxReplicas": 4, "metrics": [metric]}))
    autoscaler = f"/apis/autoscaling/v2/namespaces/{stage.namespace}/horizontalpodautoscalers/demo"
    made = server.until(autoscaler, lambda now: now)
    assert made["spec"]["scaleTargetRef"] == {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "demo"}
    assert (made["spec"]["minReplicas"], made["spec"]["maxReplicas"]) == (1, 4)
    server.merge(path, {"spec": {"elasticPolicy": {"maxReplicas": 6}}})
    server.until(autoscaler, lambda now: now["spec"]["maxReplicas"] == 6)
    stage.pods(2)
    server.merge(path, {"spec": {"elasticPolicy": {"metrics": None}}})
    server.until(autoscaler, lambda now: now is None)


def test_what_a_gang_needs_follows_its_priorities(server, start, stage, defined):
    defined(*COSCHEDULING)
    server.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": f"{stage.namespace}-high"}, "value": 1000})
    start(f"--namespace={stage.namespace}", "--gang-scheduler-name=coscheduling").works()
    wanted = job("PyTorchJob", replicas={"Master": 1, "Worker": 2}, runPolicy={"schedulingPolicy": {"minAvailable": 1}})
    for type_, cpu, priority in (("Master", "1", None), ("Worker", "4", f"{stage.namespace}-high")):
        spec = wanted["spec"]["pytorchReplicaSpecs"][type_]["template"]["spec"]
        spec["containers"] = [{**spec["containers"][0], "resources": {"requests": {"cpu": cpu}}}]
        if priority:
            spec["priorityClassName"] = priority
    stage.post(wanted)
    server.until(group_path(stage, *COSCHEDULING), lambda now: now and now["spec"].get("minResources", {}).get("cpu") == "4")


@pytest.mark.parametrize("name, group, mark", [("volcano", VOLCANO, ("annotations", "scheduling.k8s.io/group-name")),
                                               ("coscheduling", COSCHEDULING, ("labels", "scheduling.x-k8s.io/pod-group"))])
def test_mpijob_with_a_gang_scheduler(server, start, stage, defined, name, group, mark):
    """test/integration of the mpi-operator: a PodGroup for all, which every pod names."""
    defined(*group)
    start(f"--namespace={stage.namespace}", f"--gang-scheduler-name={name}").works()
    path = stage.post(job("MPIJob", replicas={"Launcher": 1, "Worker": 2}, version="v2beta1", launcherCreationPolicy="AtStartup"))
    made = server.until(group_path(stage, *group), lambda now: now)
    assert made["spec"]["minMember"] == 3 and made["metadata"]["ownerReferences"][0]["kind"] == "MPIJob"
    if group == VOLCANO:
        server.merge(group_path(stage, *group) + "/status", {"status": {"phase": "Inqueue"}})
    pods = stage.pods(3)
    assert {(pod["spec"]["schedulerName"], pod["metadata"][mark[0]][mark[1]]) for pod in pods.values()} == {(name, "demo")}
    stage.run(*pods)
    stage.condition(path, "Running")
    stage.end(0, "demo-launcher")
    stage.condition(path, "Succeeded")
    server.until(group_path(stage, *group), lambda now: now is None)
