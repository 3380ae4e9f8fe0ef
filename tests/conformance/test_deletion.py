"""The garbage collector's orders, namespaces, and definitions that go with their objects."""

import uuid

import pytest


def owner_reference(owner, block=True):
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
            "controller": False, "blockOwnerDeletion": block}


@pytest.fixture
def family(api, maps):
    owner = api.post(maps, {"metadata": {"name": "owner"}}).json
    child = api.post(maps, {"metadata": {"name": "child", "ownerReferences": [owner_reference(owner)]}}).json
    return owner, child


def order(api, maps, policy, family):
    """What a watcher sees of a deletion of the owner until both are settled."""
    version = api.get(maps).json["metadata"]["resourceVersion"]
    watch = api.watch(f"{maps}?watch=1&resourceVersion={version}")
    answer = api.delete(maps + "/owner", {"propagationPolicy": policy} if policy else None)
    assert answer.status == 200, answer
    ended = {"Orphan": lambda e: e["type"] == "DELETED" and e["object"]["metadata"]["name"] == "owner",
             "Foreground": lambda e: e["type"] == "DELETED" and e["object"]["metadata"]["name"] == "owner"}.get(
                 policy, lambda e: e["type"] == "DELETED" and e["object"]["metadata"]["name"] == "child")
    seen = [(event["type"], event["object"]["metadata"]["name"]) for event in watch.until(ended)]
    watch.close()
    return seen


def test_background_the_owner_goes_first(api, maps, family):
    assert order(api, maps, "Background", family) == [("DELETED", "owner"), ("DELETED", "child")]


def test_background_is_the_default(api, maps, family):
    assert order(api, maps, None, family) == [("DELETED", "owner"), ("DELETED", "child")]


def test_foreground_the_owner_goes_last(api, maps, family):
    seen = order(api, maps, "Foreground", family)
    assert seen[0] == ("MODIFIED", "owner") and seen[-1] == ("DELETED", "owner")
    assert ("DELETED", "child") in seen


def test_orphans_stay_without_the_reference(api, maps, family):
    order(api, maps, "Orphan", family)
    child = api.get(maps + "/child").json
    assert "ownerReferences" not in child["metadata"]


def test_a_child_of_two_goes_with_the_last(api, maps):
    owners = [api.post(maps, {"metadata": {"name": name}}).json for name in ("one", "two")]
    child = api.post(maps, {"metadata": {"name": "child", "ownerReferences": [owner_reference(o) for o in owners]}}).json
    watch = api.watch(f"{maps}?watch=1&fieldSelector=metadata.name%3Dchild&resourceVersion={child['metadata']['resourceVersion']}")
    api.delete(maps + "/one")
    event = watch.next()
    assert event["type"] == "MODIFIED"
    assert [reference["name"] for reference in event["object"]["metadata"]["ownerReferences"]] == ["two"]
    api.delete(maps + "/two")
    watch.until(lambda e: e["type"] == "DELETED")
    watch.close()


def test_a_child_of_nobody_goes_at_once(api, maps):
    api.post(maps, {"metadata": {"name": "child", "ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": str(uuid.uuid4())}]}})
    api.gone(maps, "child")


def test_a_namespace_goes_with_what_is_in_it(api):
    name = "going-" + uuid.uuid4().hex[:8]
    path = f"/api/v1/namespaces/{name}"
    api.post("/api/v1/namespaces", {"metadata": {"name": name}})
    api.post(path + "/configmaps", {"metadata": {"name": "held", "finalizers": ["example.org/hold"]}})
    terminating = api.delete(path)
    assert terminating.status == 200 and terminating.json["status"]["phase"] == "Terminating"
    refused = api.post(path + "/configmaps", {"metadata": {"name": "late"}})
    assert refused.status == 403 and refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    api.patch(path + "/configmaps/held", {"metadata": {"finalizers": None}})
    api.gone("/api/v1/namespaces", name)
    for kept in ("default", "kube-system", "kube-public"):
        assert api.delete("/api/v1/namespaces/" + kept).status == 403


def test_a_definition_goes_with_its_objects(api, namespace):
    group = f"g{uuid.uuid4().hex[:8]}.example.org"
    definition = {"metadata": {"name": "things." + group}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {
                    "size": {"type": "integer", "minimum": 1, "default": 3}}},
                "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}}}}]}}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    made = api.post(definitions, definition)
    assert made.status == 201, made
    version = made.json["metadata"]["resourceVersion"]
    if not any(c["type"] == "Established" and c["status"] == "True" for c in made.json["status"].get("conditions") or []):
        watch = api.watch(f"{definitions}?watch=1&fieldSelector=metadata.name%3Dthings.{group}&resourceVersion={version}")
        watch.until(lambda e: any(c["type"] == "Established" and c["status"] == "True"
                                  for c in e["object"]["status"].get("conditions") or []))
        watch.close()
    things = f"/apis/{group}/v1/namespaces/{namespace}/things"
    body = {"apiVersion": group + "/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"junk": 1}}
    answer = api.post(things, body)
    assert answer.status == 201, answer
    assert answer.json["spec"] == {"size": 3}, "unknown fields are pruned and defaults set"
    assert answer.json["metadata"]["generation"] == 1
    assert api.patch(things + "/a", {"spec": {"size": 0}}).status == 422
    assert api.patch(things + "/a", {"spec": {"size": 5}}).json["metadata"]["generation"] == 2
    status = api.patch(things + "/a/status", {"spec": {"size": 9}, "status": {"phase": "Ready"}}).json
    assert status["spec"]["size"] == 5 and status["status"] == {"phase": "Ready"} and status["metadata"]["generation"] == 2
    assert api.call("PATCH", things + "/a", {}, Content_Type="application/strategic-merge-patch+json").status == 415
    assert api.delete(f"{definitions}/things.{group}").status == 200
    api.gone(definitions, "things." + group)
    # A real server stops serving them a moment after their definition is gone; asking goes on until then.
    assert 404 in (api.get(things).status for _ in range(10_000))
