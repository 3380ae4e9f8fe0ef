"""Disruption budgets: their status follows the pods, and evictions ask them."""

import pytest


@pytest.fixture
def pods(namespace):
    return f"/api/v1/namespaces/{namespace}/pods"


@pytest.fixture
def budgets(namespace):
    return f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"


def make_pod(api, pods, name, ready=True):
    # Bound to a machine that nobody looks after, so that its status is ours.
    pod = {"metadata": {"name": name, "labels": {"app": "a"}},
           "spec": {"nodeName": "nobody", "containers": [{"name": "c", "image": "i"}]}}
    assert api.post(pods, pod).status == 201
    set_ready(api, pods, name, ready)


def set_ready(api, pods, name, ready):
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    assert api.patch(f"{pods}/{name}/status", {"status": {"phase": "Running", "conditions": [condition]}}).status == 200


def make_budget(api, budgets, name="x", **spec):
    made = api.post(budgets, {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": "a"}}, **spec}})
    assert made.status == 201
    assert {made.json["status"][key] for key in ("disruptionsAllowed", "currentHealthy", "desiredHealthy",
                                                 "expectedPods")} == {0}
    return made.json


def status_when(api, budgets, wanted, name="x"):
    """The status of the budget once `wanted(status)`."""
    only = f"{budgets}?fieldSelector=metadata.name%3D{name}"
    listed = api.get(only).json
    if not wanted(listed["items"][0]["status"]):
        watch = api.watch(f"{only}&watch=1&resourceVersion={listed['metadata']['resourceVersion']}")
        seen = watch.until(lambda event: wanted(event["object"]["status"]))
        watch.close()
        return seen[-1]["object"]["status"]
    return listed["items"][0]["status"]


def evict(api, pods, name, query="", **options):
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return api.post(f"{pods}/{name}/eviction{query}", {**body, "deleteOptions": options} if options else body)


def test_a_budget_counts_its_pods(api, pods, budgets):
    for name in ("a", "b"):
        make_pod(api, pods, name)
    made = make_budget(api, budgets, minAvailable=1)
    assert made["metadata"]["generation"] == 1
    status = status_when(api, budgets, lambda status: status["disruptionsAllowed"] == 1)
    condition, = status.pop("conditions")
    assert status == {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1,
                      "expectedPods": 2}
    assert condition.pop("lastTransitionTime")
    assert condition == {"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods", "message": "",
                         "observedGeneration": 1}
    set_ready(api, pods, "b", False)
    status = status_when(api, budgets, lambda status: status["disruptionsAllowed"] == 0)
    assert status["conditions"][0]["reason"] == "InsufficientPods" and status["currentHealthy"] == 1


def test_an_eviction_asks_the_budget(api, pods, budgets):
    for name in ("a", "b", "c"):
        make_pod(api, pods, name)
    make_budget(api, budgets, minAvailable=2)
    status_when(api, budgets, lambda status: status["disruptionsAllowed"] == 1)
    assert evict(api, pods, "a", "?dryRun=All").status == 201
    assert evict(api, pods, "a", gracePeriodSeconds=30).status == 201
    status_when(api, budgets, lambda status: status["disruptionsAllowed"] == 0 and status["currentHealthy"] == 2)
    refused = evict(api, pods, "b")
    assert refused.status == 429, refused
    assert refused.json["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert refused.json["reason"] == "TooManyRequests"
    cause, = refused.json["details"]["causes"]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == "The disruption budget x needs 2 healthy pods and has 2 currently"
    assert "deletionTimestamp" not in api.get(pods + "/b").json["metadata"]


def test_two_budgets_are_an_error(api, pods, budgets):
    make_pod(api, pods, "a")
    for name in ("x", "y"):
        make_budget(api, budgets, name, minAvailable=0)
    refused = evict(api, pods, "a")
    assert refused.status == 500
    assert refused.json["message"] == ("This pod has more than one PodDisruptionBudget, which the eviction subresource "
                                       "does not support.")


def test_pods_that_are_not_ready_go_as_the_policy_says(api, pods, budgets):
    make_pod(api, pods, "a", ready=False)
    make_budget(api, budgets, minAvailable=1)
    status_when(api, budgets, lambda status: status["expectedPods"] == 1)
    assert evict(api, pods, "a").status == 429
    generation = api.patch(budgets + "/x", {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}).json
    status_when(api, budgets,
                lambda status: status["observedGeneration"] == generation["metadata"]["generation"])
    assert evict(api, pods, "a").status == 201


@pytest.mark.parametrize("spec, field", [
    ({"minAvailable": 1, "maxUnavailable": 1}, "spec"), ({"minAvailable": -1}, "spec.minAvailable"),
    ({"maxUnavailable": "101%"}, "spec.maxUnavailable"), ({"maxUnavailable": "x"}, "spec.maxUnavailable"),
    ({"unhealthyPodEvictionPolicy": "Never"}, "spec.unhealthyPodEvictionPolicy")])
def test_wrong_budgets_are_refused(api, budgets, spec, field):
    refused = api.post(budgets, {"metadata": {"name": "x"}, "spec": spec})
    assert refused.status == 422 and refused.json["details"]["causes"][0]["field"] == field, refused
