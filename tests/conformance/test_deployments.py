"""Deployments and ReplicaSets: their pods, rollouts, conditions and revisions. The statuses of their pods are ours."""

import json

import pytest

from test_clients import kubectl  # noqa: F401
from workloads import end_pod, events_about, objects_when, set_ready, template, when

REVISION = "deployment.kubernetes.io/revision"
HASH = "pod-template-hash"


@pytest.fixture
def pods(namespace):
    return f"/api/v1/namespaces/{namespace}/pods"


@pytest.fixture
def sets(namespace):
    return f"/apis/apps/v1/namespaces/{namespace}/replicasets"


@pytest.fixture
def deployments(namespace):
    return f"/apis/apps/v1/namespaces/{namespace}/deployments"


def make(api, collection, replicas, name="d", **spec):
    labels = {"app": name}
    pod = template(labels, restartPolicy="Always")
    body = {"metadata": {"name": name}, "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": pod, **spec}}
    made = api.post(collection, body)
    assert made.status == 201, made
    assert "Warning" not in made.headers, made.headers["Warning"]
    return made.json


def running(api, pods, count, app="d"):
    """The pods that are not being deleted, once there are so many."""
    def there(found):
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
    return there(objects_when(api, pods, f"app={app}", lambda found: len(there(found)) == count))


def ready(api, pods, count, app="d"):
    """Those that are not ready yet become so; the others may go as soon as these are."""
    for pod in running(api, pods, count, app):
        if not any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", [])):
            set_ready(api, pod)


def roll(api, deployments, word):
    """Another template."""
    answer = api.patch(f"{deployments}/d", {"spec": {"template": {"metadata": {"annotations": {"word": word}}}}})
    assert answer.status == 200, answer


def conditions(status):
    return {condition["type"]: (condition["status"], condition["reason"]) for condition in status.get("conditions", [])}


def deployed(api, deployments, wanted):
    return when(api, deployments, "d", lambda seen: wanted(seen["status"]))


def complete(count):
    return lambda status: (status.get("updatedReplicas") == status.get("replicas") == status.get("availableReplicas") == count
                           and conditions(status).get("Progressing") == ("True", "NewReplicaSetAvailable"))


def test_a_replica_set_keeps_its_pods(api, namespace, sets, pods):
    made = make(api, sets, 2, "r")
    first, second = running(api, pods, 2, "r")
    assert first["metadata"]["generateName"] == "r-" and first["metadata"]["labels"] == {"app": "r"}
    assert first["metadata"]["ownerReferences"] == [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r",
                                                     "uid": made["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]
    set_ready(api, first)
    status = when(api, sets, "r", lambda seen: seen["status"].get("availableReplicas") == 1)["status"]
    assert status == {"replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 1, "availableReplicas": 1, "observedGeneration": 1}
    # What was deleted, and what has ended, is replaced.
    assert api.delete(f"{pods}/{first['metadata']['name']}").status == 200
    api.gone(pods, first["metadata"]["name"])
    running(api, pods, 2, "r")
    end_pod(api, second, "Failed", 1)
    objects_when(api, pods, "app=r", lambda found: len(found) == 3)
    # Of more than are wanted, those go that are not ready.
    keep = next(pod for pod in running(api, pods, 3, "r") if pod["metadata"]["name"] != second["metadata"]["name"])
    set_ready(api, keep)
    when(api, sets, "r", lambda seen: seen["status"].get("readyReplicas") == 1)
    assert api.patch(f"{sets}/r/scale", {"spec": {"replicas": 1}}).status == 200
    left = objects_when(api, pods, "app=r", lambda found: len(found) == 2)
    assert {pod["metadata"]["name"] for pod in left} == {keep["metadata"]["name"], second["metadata"]["name"]}
    assert api.delete(f"{sets}/r", {"propagationPolicy": "Background"}).status == 200
    objects_when(api, pods, "app=r", lambda found: not found)


def test_pods_that_can_not_be_made_are_told(api, namespace, deployments, sets):
    quotas = f"/api/v1/namespaces/{namespace}/resourcequotas"
    assert api.post(quotas, {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}).status == 201
    when(api, quotas, "q", lambda quota: quota["status"].get("hard"))
    make(api, deployments, 1)
    status = deployed(api, deployments, lambda status: "ReplicaFailure" in conditions(status))["status"]
    assert conditions(status)["ReplicaFailure"] == ("True", "FailedCreate")
    assert conditions(status)["Available"] == ("False", "MinimumReplicasUnavailable")
    failure = next(each for each in status["conditions"] if each["type"] == "ReplicaFailure")
    assert "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0" in failure["message"]


def test_a_deployment_is_rolled_out(api, namespace, deployments, sets, pods):
    make(api, deployments, 2)
    rs, = objects_when(api, sets, "app=d", lambda found: found)
    hashed = rs["metadata"]["labels"][HASH]
    assert rs["metadata"]["name"] == f"d-{hashed}" and rs["spec"]["selector"]["matchLabels"] == {"app": "d", HASH: hashed}
    assert rs["spec"]["template"]["metadata"]["labels"] == {"app": "d", HASH: hashed}
    assert rs["metadata"]["annotations"] == {REVISION: "1", "deployment.kubernetes.io/desired-replicas": "2",
                                             "deployment.kubernetes.io/max-replicas": "3"}
    status = deployed(api, deployments, lambda status: status.get("unavailableReplicas") == 2 and status.get("replicas") == 2)["status"]
    assert conditions(status)["Available"] == ("False", "MinimumReplicasUnavailable")
    assert conditions(status)["Progressing"][0] == "True"
    ready(api, pods, 2)
    made = deployed(api, deployments, complete(2))
    assert conditions(made["status"]) == {"Available": ("True", "MinimumReplicasAvailable"),
                                          "Progressing": ("True", "NewReplicaSetAvailable")}
    assert made["status"]["observedGeneration"] == 1 and "unavailableReplicas" not in made["status"]
    when(api, deployments, "d", lambda seen: seen["metadata"].get("annotations", {}).get(REVISION) == "1")
    assert events_about(api, namespace, "d", "ScalingReplicaSet") == [f"Scaled up replica set d-{hashed} from 0 to 2"]


def test_a_rolling_update_keeps_enough_pods(api, deployments, sets, pods):
    make(api, deployments, 4, strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}})
    ready(api, pods, 4)
    deployed(api, deployments, complete(4))
    roll(api, deployments, "2")
    # One more, and one less of the old ones; the place of that is taken, too.
    objects_when(api, sets, "app=d", lambda found: sorted(rs["spec"]["replicas"] for rs in found) == [2, 3])
    def of_new_template(count):
        def chosen(found):
            return [pod for pod in found if pod["metadata"].get("annotations", {}).get("word") == "2"]
        return chosen(objects_when(api, pods, "app=d", lambda found: len(chosen(found)) == count))
    assert len(running(api, pods, 5)) == 5
    for count in (2, 4):
        for pod in of_new_template(count):
            set_ready(api, pod)
    deployed(api, deployments, complete(4))
    sizes = {rs["metadata"]["annotations"][REVISION]: rs["spec"]["replicas"]
             for rs in objects_when(api, sets, "app=d", lambda found: len(found) == 2)}
    assert sizes == {"1": 0, "2": 4}


def test_recreate_ends_the_old_pods_first(api, deployments, sets, pods):
    make(api, deployments, 2, strategy={"type": "Recreate"})
    first = running(api, pods, 2)
    ready(api, pods, 2)
    deployed(api, deployments, complete(2))
    # One of the old ones takes its time.
    held = first[0]["metadata"]["name"]
    assert api.patch(f"{pods}/{held}", {"metadata": {"finalizers": ["example.com/held"]}}).status == 200
    roll(api, deployments, "2")
    objects_when(api, pods, "app=d", lambda found: [pod["metadata"]["name"] for pod in found] == [held])
    assert len(objects_when(api, sets, "app=d", lambda found: all(rs["spec"]["replicas"] == 0 for rs in found))) == 1
    assert api.patch(f"{pods}/{held}", {"metadata": {"finalizers": None}}).status == 200
    running(api, pods, 2)
    ready(api, pods, 2)
    deployed(api, deployments, complete(2))


def test_a_deployment_is_scaled(api, namespace, deployments, sets, pods):
    make(api, deployments, 1)
    ready(api, pods, 1)
    deployed(api, deployments, complete(1))
    assert api.patch(f"{deployments}/d/scale", {"spec": {"replicas": 3}}).status == 200
    ready(api, pods, 3)
    deployed(api, deployments, complete(3))
    rs, = objects_when(api, sets, "app=d", lambda found: found)
    assert rs["spec"]["replicas"] == 3 and rs["metadata"]["annotations"]["deployment.kubernetes.io/max-replicas"] == "4"
    assert api.patch(f"{deployments}/d/scale", {"spec": {"replicas": 0}}).status == 200
    running(api, pods, 0)
    deployed(api, deployments, lambda status: "replicas" not in status)


def test_a_paused_deployment_waits(api, deployments, sets, pods):
    make(api, deployments, 1, paused=True)
    status = deployed(api, deployments, lambda status: status.get("observedGeneration") == 1)["status"]
    assert conditions(status)["Progressing"] == ("Unknown", "DeploymentPaused")
    assert objects_when(api, sets, "app=d", lambda found: not found) == []
    assert api.patch(f"{deployments}/d", {"spec": {"paused": False}}).status == 200
    ready(api, pods, 1)
    deployed(api, deployments, complete(1))
    assert api.patch(f"{deployments}/d", {"spec": {"paused": True}}).status == 200
    roll(api, deployments, "2")
    deployed(api, deployments, lambda status: status.get("observedGeneration") == 4)
    assert len(api.get(f"{sets}?labelSelector=app%3Dd").json["items"]) == 1


def test_a_rollout_that_is_stuck_is_told(api, deployments, pods):
    make(api, deployments, 1, progressDeadlineSeconds=1)
    status = deployed(api, deployments, lambda status: conditions(status).get("Progressing", ("", ""))[0] == "False")["status"]
    assert conditions(status)["Progressing"] == ("False", "ProgressDeadlineExceeded")
    ready(api, pods, 1)
    deployed(api, deployments, complete(1))


def test_a_rollback_has_a_revision_of_its_own(api, deployments, sets, pods, kubectl):  # noqa: F811
    make(api, deployments, 1, revisionHistoryLimit=1)
    names = {}
    for word in ("2", "3"):
        ready(api, pods, 1)
        deployed(api, deployments, complete(1))
        roll(api, deployments, word)
        ready(api, pods, 2)
        deployed(api, deployments, complete(1))
    # Of the former states one is kept.
    for rs in objects_when(api, sets, "app=d", lambda found: len(found) == 2):
        names[rs["metadata"]["annotations"][REVISION]] = rs["metadata"]["name"]
    assert sorted(names) == ["2", "3"]
    when(api, deployments, "d", lambda seen: seen["metadata"]["annotations"][REVISION] == "3")
    assert "rolled back" in kubectl("rollout", "undo", "deployment/d").stdout
    ready(api, pods, 2)
    deployed(api, deployments, complete(1))
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/d", "--timeout=60s").stdout
    back = json.loads(kubectl("get", "rs", names["2"], "-o", "json").stdout)
    assert back["metadata"]["annotations"][REVISION] == "4" and back["spec"]["replicas"] == 1
    assert back["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "2"


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_a_deleted_deployment_takes_all_along(api, deployments, sets, pods, policy):
    make(api, deployments, 2)
    running(api, pods, 2)
    assert api.delete(f"{deployments}/d", {"propagationPolicy": policy}).status == 200
    api.gone(deployments, "d")
    objects_when(api, sets, "app=d", lambda found: not found)
    objects_when(api, pods, "app=d", lambda found: not found)
