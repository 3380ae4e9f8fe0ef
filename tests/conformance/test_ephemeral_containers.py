"""Ephemeral containers, which kubectl debug adds to a pod."""

import pytest


@pytest.fixture
def pod(api, namespace):
    """One that no node takes, so no one else writes it."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    made = api.post(pods, {"metadata": {"name": "p"}, "spec": {
        "initContainers": [{"name": "before", "image": "busybox", "command": ["true"]}],
        "containers": [{"name": "main", "image": "busybox", "command": ["sleep", "1000"]}],
        "volumes": [{"name": "v", "emptyDir": {}}], "schedulingGates": [{"name": "example.com/never"}]}})
    assert made.status == 201, made
    yield f"{pods}/p"
    api.delete(f"{pods}/p", {"gracePeriodSeconds": 0})


def add(api, pod, kind="strategic", **container):
    return api.patch(pod + "/ephemeralcontainers", {"spec": {"ephemeralContainers": [container]}}, kind)


DEBUG = {"name": "debug", "image": "busybox", "command": ["sh"]}


def test_one_is_added_with_its_defaults(api, pod):
    before = api.get(pod).json
    added = add(api, pod, **DEBUG, targetContainerName="main", stdin=True, tty=True)
    assert added.status == 200, added
    assert added.json["kind"] == "Pod"
    assert added.json["spec"]["ephemeralContainers"] == [{
        **DEBUG, "targetContainerName": "main", "stdin": True, "tty": True, "resources": {}, "imagePullPolicy": "Always",
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}]
    assert added.json["metadata"].get("generation", 0) == before["metadata"].get("generation", 0) + ("generation" in before["metadata"])
    assert api.get(pod + "/ephemeralcontainers").json["spec"] == added.json["spec"]
    assert [c["name"] for c in add(api, pod, name="other", image="busybox:1").json["spec"]["ephemeralContainers"]] == ["other", "debug"]


def test_nothing_else_of_the_pod_is_changed(api, pod):
    sent = api.get(pod).json
    sent["metadata"]["labels"] = {"a": "b"}
    sent["spec"]["activeDeadlineSeconds"] = 5
    sent["spec"]["containers"][0]["image"] = "other"
    sent["spec"]["ephemeralContainers"] = [DEBUG]
    written = api.put(pod + "/ephemeralcontainers", sent)
    assert written.status == 200, written
    assert written.json["spec"]["ephemeralContainers"][0]["name"] == "debug"
    assert "labels" not in written.json["metadata"] and "activeDeadlineSeconds" not in written.json["spec"]
    assert written.json["spec"]["containers"][0]["image"] == "busybox"
    sent["metadata"]["resourceVersion"] = "1"
    assert api.put(pod + "/ephemeralcontainers", sent).status == 409


def test_an_unchanged_list_is_no_write(api, pod):
    before = add(api, pod, **DEBUG).json["metadata"]["resourceVersion"]
    assert add(api, pod, **DEBUG).json["metadata"]["resourceVersion"] == before


def test_what_was_added_stays(api, pod):
    add(api, pod, **DEBUG)
    changed = add(api, pod, name="debug", image="other")
    assert changed.status == 422
    assert 'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be changed\n' in changed.json["message"]
    removed = api.patch(pod + "/ephemeralcontainers", {"spec": {"ephemeralContainers": None}}, "merge")
    assert removed.status == 422
    assert removed.json["details"]["causes"] == [{
        "reason": "FieldValueForbidden", "field": "spec.ephemeralContainers",
        "message": 'Forbidden: existing ephemeral containers "debug" may not be removed\n'}]
    assert api.patch(pod, {"spec": {"ephemeralContainers": None}}).status == 422


def test_a_static_pod_has_none(api, namespace):
    pods = f"/api/v1/namespaces/{namespace}/pods"
    made = api.post(pods, {"metadata": {"name": "mirror", "annotations": {"kubernetes.io/config.mirror": "x"}},
                           "spec": {"nodeName": "none", "containers": [{"name": "main", "image": "busybox"}]}})
    assert made.status == 201, made
    refused = add(api, f"{pods}/mirror", **DEBUG)
    assert refused.status == 422, refused
    assert refused.json["message"] == 'Pod "mirror" is invalid: []: Forbidden: static pods do not support ephemeral containers'
    api.delete(f"{pods}/mirror", {"gracePeriodSeconds": 0})


HANDLER = {"exec": {"command": ["true"]}}


@pytest.mark.parametrize("container,wrong", [
    ({"ports": [{"containerPort": 80}]}, [("ports", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"resources": {"limits": {"cpu": "1"}}}, [("resources", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"livenessProbe": HANDLER}, [("livenessProbe", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"readinessProbe": HANDLER}, [("readinessProbe", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"startupProbe": HANDLER}, [("startupProbe", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"lifecycle": {"preStop": HANDLER}}, [("lifecycle", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"restartPolicy": "Always"}, [("restartPolicy", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "a"}]},
     [("volumeMounts[0].subPath", "Forbidden: cannot be set for an Ephemeral Container")]),
    ({"volumeMounts": [{"name": "w", "mountPath": "/v"}]}, [("volumeMounts[0].name", 'Not found: "w"')]),
    ({"targetContainerName": "none"}, [("targetContainerName", 'Not found: "none"')]),
    ({"name": "main"}, [("name", 'Duplicate value: "main"')]),
    ({"name": "before"}, [("name", 'Duplicate value: "before"')]),
    ({"name": ""}, [("name", "Required value")]),
    ({"image": ""}, [("image", "Required value")]),
    ({"imagePullPolicy": "x"}, [("imagePullPolicy", 'Unsupported value: "x": supported values: "Always", "IfNotPresent", "Never"')]),
])
def test_what_one_may_not_have(api, pod, container, wrong):
    refused = api.patch(pod + "/ephemeralcontainers", {"spec": {"ephemeralContainers": [{**DEBUG, **container}]}}, "merge")
    assert refused.status == 422, refused
    assert [(cause["field"], cause["message"]) for cause in refused.json["details"]["causes"]] == [
        ("spec.ephemeralContainers[0]." + field, message) for field, message in wrong]


def test_a_pod_is_not_made_nor_changed_with_one(api, pod):
    refused = api.post(pod.rsplit("/", 1)[0], {"metadata": {"name": "q"}, "spec": {
        "containers": [{"name": "main", "image": "busybox"}], "ephemeralContainers": [DEBUG]}})
    assert refused.status == 422 and "cannot be set on create" in refused.json["message"]
    refused = api.patch(pod, {"spec": {"ephemeralContainers": [DEBUG]}})
    assert refused.status == 422 and "pod updates may not change fields other than" in refused.json["message"]


def test_it_is_a_resource_of_its_own(api, namespace):
    listed = api.get("/api/v1").json["resources"]
    mine = next(each for each in listed if each["name"] == "pods/ephemeralcontainers")
    assert mine == {"name": "pods/ephemeralcontainers", "singularName": "", "namespaced": True, "kind": "Pod",
                    "verbs": ["get", "patch", "update"]}
    assert api.get(f"/api/v1/namespaces/{namespace}/pods/none/ephemeralcontainers").status == 404
    assert api.post(f"/api/v1/namespaces/{namespace}/pods/p/ephemeralcontainers", {}).status == 405
    assert api.delete(f"/api/v1/namespaces/{namespace}/pods/p/ephemeralcontainers").status == 405


def test_the_owner_of_one_is_recorded(api, pod):
    applied = api.call("PATCH", pod + "/ephemeralcontainers?fieldManager=me", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"ephemeralContainers": [DEBUG]}},
        Content_Type="application/apply-patch+yaml")
    assert applied.status == 200, applied
    entry = next(each for each in applied.json["metadata"]["managedFields"] if each["manager"] == "me")
    assert (entry["operation"], entry["subresource"]) == ("Apply", "ephemeralcontainers")
    assert entry["fieldsV1"] == {"f:spec": {"f:ephemeralContainers": {'k:{"name":"debug"}': {
        ".": {}, "f:command": {}, "f:image": {}, "f:name": {}}}}}


def test_a_role_has_to_name_it(api, namespace):
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    for role in ("view", "edit", "admin"):
        rules = api.get(f"{roles}/{role}").json["rules"]
        assert not any("pods/ephemeralcontainers" in rule.get("resources", []) for rule in rules), role
