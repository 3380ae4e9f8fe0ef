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


def test_foreground_waits_for_none_that_does_not_block(api, maps):
    owner = api.post(maps, {"metadata": {"name": "owner"}}).json
    api.post(maps, {"metadata": {"name": "child", "finalizers": ["example.org/hold"],
                                 "ownerReferences": [owner_reference(owner, block=False)]}})
    version = api.get(maps).json["metadata"]["resourceVersion"]
    watch = api.watch(f"{maps}?watch=1&resourceVersion={version}")
    api.delete(maps + "/owner", {"propagationPolicy": "Foreground"})
    api.gone(maps, "owner")
    # Kubernetes' collector comes to it before or after the owner is gone.
    watch.until(lambda e: e["object"]["metadata"]["name"] == "child" and "deletionTimestamp" in e["object"]["metadata"])
    watch.close()
    api.patch(maps + "/child", {"metadata": {"finalizers": None}})
    api.gone(maps, "child")


def test_foreground_goes_down_through_the_generations(api, maps, family):
    api.post(maps, {"metadata": {"name": "grandchild", "finalizers": ["example.org/hold"],
                                 "ownerReferences": [owner_reference(family[1])]}})
    version = api.get(maps).json["metadata"]["resourceVersion"]
    watch = api.watch(f"{maps}?watch=1&resourceVersion={version}")
    api.delete(maps + "/owner", {"propagationPolicy": "Foreground"})
    watch.until(lambda e: e["object"]["metadata"]["name"] == "grandchild" and "deletionTimestamp" in e["object"]["metadata"])
    for name in ("owner", "child"):
        assert api.get(f"{maps}/{name}").json["metadata"]["finalizers"] == ["foregroundDeletion"]
    api.patch(maps + "/grandchild", {"metadata": {"finalizers": None}})
    seen = watch.until(lambda e: e["type"] == "DELETED" and e["object"]["metadata"]["name"] == "owner")
    watch.close()
    gone = [event["object"]["metadata"]["name"] for event in seen if event["type"] == "DELETED"]
    assert gone == ["grandchild", "child", "owner"]


def test_owners_outside_of_the_namespace(api, maps):
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    name = "owner-" + uuid.uuid4().hex[:8]
    role = api.post(roles, {"metadata": {"name": name}, "rules": []}).json
    reference = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": name, "uid": role["metadata"]["uid"]}
    api.post(maps, {"metadata": {"name": "child", "ownerReferences": [reference]}})
    # An object of a namespace owns nothing outside of it: what says so stays.
    owner = api.post(maps, {"metadata": {"name": "owner"}}).json
    other = "owned-" + name
    api.post(roles, {"metadata": {"name": other, "ownerReferences": [owner_reference(owner)]}, "rules": []})
    api.delete(maps + "/owner")
    api.delete(f"{roles}/{name}")
    api.gone(maps, "child")
    assert api.get(f"{roles}/{other}").status == 200
    assert api.delete(f"{roles}/{other}").status == 200
    # And one of another namespace is none at all.
    elsewhere = api.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": name}}).json
    api.post(maps, {"metadata": {"name": "stray", "ownerReferences": [owner_reference(elsewhere)]}})
    api.gone(maps, "stray")
    assert api.delete("/api/v1/namespaces/default/configmaps/" + name).status == 200


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


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def established(definition):
    return any(c["type"] == "Established" and c["status"] == "True" for c in definition["status"].get("conditions") or [])


def define(api, definition):
    """Returns when it is served."""
    made = api.post(DEFINITIONS, definition)
    assert made.status == 201, made
    if not established(made.json):
        metadata = made.json["metadata"]
        watch = api.watch(f"{DEFINITIONS}?watch=1&fieldSelector=metadata.name%3D{metadata['name']}"
                          f"&resourceVersion={metadata['resourceVersion']}")
        watch.until(lambda e: established(e["object"]))
        watch.close()


def test_a_definition_waits_for_an_object_that_is_held(api, namespace):
    group = f"g{uuid.uuid4().hex[:8]}.example.org"
    define(api, {"metadata": {"name": "things." + group}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}})
    things = f"/apis/{group}/v1/namespaces/{namespace}/things"
    thing = {"apiVersion": group + "/v1", "kind": "Thing", "metadata": {"name": "held", "finalizers": ["example.org/hold"]}}
    assert api.post(things, thing).status == 201
    watch = api.watch(f"{things}?watch=1&resourceVersion={api.get(things).json['metadata']['resourceVersion']}")
    assert api.delete(f"{DEFINITIONS}/things.{group}").status == 200
    watch.until(lambda e: "deletionTimestamp" in e["object"]["metadata"])
    watch.close()
    assert api.get(f"{DEFINITIONS}/things.{group}").json["metadata"]["deletionTimestamp"]
    late = api.post(things, {**thing, "metadata": {"name": "late"}})
    assert late.status in (403, 405), late
    assert api.patch(things + "/held", {"metadata": {"finalizers": None}}).status == 200
    api.gone(DEFINITIONS, "things." + group)


def test_a_definition_goes_with_its_objects(api, namespace):
    group = f"g{uuid.uuid4().hex[:8]}.example.org"
    definition = {"metadata": {"name": "things." + group}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {
                    "size": {"type": "integer", "minimum": 1, "default": 3}}},
                "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}}}}]}}
    define(api, definition)
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
    assert api.delete(f"{DEFINITIONS}/things.{group}").status == 200
    api.gone(DEFINITIONS, "things." + group)
    # A real server stops serving them a moment after their definition is gone; asking goes on until then.
    assert 404 in (api.get(things).status for _ in range(10_000))


@pytest.mark.parametrize("how", ["merge", "json", "put"])
def test_the_write_that_removes_the_last_finalizer_shows_it_gone(api, maps, how):
    api.post(maps, {"metadata": {"name": "a", "finalizers": ["x.y/z"]}})
    ending = api.delete(maps + "/a").json
    version = ending["metadata"]["resourceVersion"]
    watch = api.watch(f"{maps}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion={version}")
    if how == "merge":
        answer = api.patch(maps + "/a", {"metadata": {"finalizers": None}})
    elif how == "json":
        answer = api.patch(maps + "/a", [{"op": "remove", "path": "/metadata/finalizers"}], "json")
    else:
        answer = api.put(maps + "/a", {**ending, "metadata": {**ending["metadata"], "finalizers": []}})
    assert answer.status == 200
    assert "finalizers" not in answer.json["metadata"] and answer.json["metadata"]["deletionTimestamp"]
    assert answer.json["metadata"]["resourceVersion"] == version
    event = watch.next()
    watch.close()
    assert (event["type"], event["object"]["metadata"]["finalizers"]) == ("DELETED", ["x.y/z"])
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)
    assert api.get(maps + "/a").status == 404
