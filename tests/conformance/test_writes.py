"""Verbs, optimistic concurrency, patches, dry-run, field validation."""

import json
import threading

import pytest
import yaml


def config(name, **data):
    return {"metadata": {"name": name}, "data": data}


def test_an_object_from_its_creation_to_its_end(api, maps):
    made = api.post(maps, config("a", k="1"))
    assert made.status == 201
    metadata = made.json["metadata"]
    assert made.json["kind"] == "ConfigMap" and made.json["apiVersion"] == "v1"
    assert metadata["uid"] and metadata["creationTimestamp"].endswith("Z") and metadata["resourceVersion"].isdigit()
    assert api.get(maps + "/a").json == made.json
    assert api.post(maps, config("a")).json["message"] == 'configmaps "a" already exists'
    gone = api.delete(maps + "/a")
    assert gone.status == 200 and gone.json["kind"] == "Status" and gone.json["details"]["uid"] == metadata["uid"]
    missing = api.get(maps + "/a")
    assert missing.status == 404 and missing.json["message"] == 'configmaps "a" not found'
    again = api.post(maps, config("a"))
    assert again.json["metadata"]["uid"] != metadata["uid"]


def test_names_are_generated_and_checked(api, maps):
    made = api.post(maps, {"metadata": {"generateName": "x-"}}).json["metadata"]
    assert made["name"].startswith("x-") and len(made["name"]) == 7 and made["generateName"] == "x-"
    for body in ({"metadata": {}}, config("Upper"), config("a_b"), config("-a")):
        refused = api.post(maps, body)
        assert refused.status == 422 and refused.json["reason"] == "Invalid", refused
    assert api.post(maps, {"metadata": {"name": "a", "namespace": "other"}}).status == 400
    assert api.post("/api/v1/namespaces/none-such/configmaps", config("a")).status == 404


def test_an_update_of_what_changed_meanwhile_is_a_conflict(api, maps):
    old = api.post(maps, config("a", k="1")).json
    new = api.put(maps + "/a", {**old, "data": {"k": "2"}})
    assert new.status == 200 and int(new.json["metadata"]["resourceVersion"]) > int(old["metadata"]["resourceVersion"])
    stale = api.put(maps + "/a", {**old, "data": {"k": "3"}})
    assert stale.status == 409 and stale.json["reason"] == "Conflict"
    assert "the object has been modified; please apply your changes to the latest version and try again" in stale.json["message"]
    assert api.put(maps + "/b", {**old, "metadata": {"name": "b"}}).status == 404


def test_a_write_that_changes_nothing_is_no_change(api, maps):
    made = api.post(maps, config("a", k="1")).json
    watch = api.watch(f"{maps}?watch=1&resourceVersion={made['metadata']['resourceVersion']}")
    assert api.put(maps + "/a", made).json["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    for kind in ("merge", "strategic"):
        same = api.patch(maps + "/a", {"data": {"k": "1"}}, kind)
        assert same.json["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    api.patch(maps + "/a", {"data": {"k": "2"}})
    assert watch.next()["object"]["data"] == {"k": "2"}
    watch.close()


def test_writers_that_retry_lose_no_update(api, maps):
    api.post(maps, config("counter", n="0"))
    clients, increments = 6, 15

    def increment():
        connection = api.connect()
        for _ in range(increments):
            while True:
                now = api.call("GET", maps + "/counter", connection=connection).json
                now["data"]["n"] = str(int(now["data"]["n"]) + 1)
                answer = api.call("PUT", maps + "/counter", now, connection=connection)
                assert answer.status in (200, 409), answer
                if answer.status == 200:
                    break

    threads = [threading.Thread(target=increment) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert api.get(maps + "/counter").json["data"]["n"] == str(clients * increments)


def test_patches_of_every_kind(api, maps):
    api.post(maps, config("a", k="1", l="2"))
    assert api.patch(maps + "/a", {"data": {"k": None, "m": "3"}}).json["data"] == {"l": "2", "m": "3"}
    assert api.patch(maps + "/a", [{"op": "replace", "path": "/data/l", "value": "4"}], "json").json["data"]["l"] == "4"
    assert api.patch(maps + "/a", [{"op": "test", "path": "/data/l", "value": "5"}], "json").status == 422
    assert api.call("PATCH", maps + "/a", {}, Content_Type="application/json").status == 415
    assert api.patch(maps + "/a", {"metadata": {"name": "b"}}).status == 400
    assert api.patch(maps + "/none", {"data": {}}).status == 404


@pytest.mark.parametrize("operation, data", [
    ({"op": "replace", "path": "/data/b", "value": "2"}, {"k": "1", "b": "2"}),
    ({"op": "test", "path": "/data/b", "value": None}, {"k": "1"}),
    ({"op": "test", "path": "/data/b", "value": "2"}, None),
    ({"op": "remove", "path": "/data/b"}, None),
    ({"op": "move", "from": "/data/b", "path": "/data/k"}, None),
    ({"op": "replace", "path": "/none/b", "value": "2"}, None),
    ({"op": "replace", "path": "/metadata/finalizers/0", "value": "a/b"}, {"k": "1"}),
    ({"op": "replace", "path": "/metadata/finalizers/1", "value": "a/b"}, None),
])
def test_json_patches_of_absent_members(api, maps, operation, data):
    made = api.post(maps, {**config("a", k="1"), "metadata": {"name": "a", "finalizers": ["x/y"]}})
    assert made.status == 201, made
    answer = api.patch(maps + "/a", [operation], "json")
    api.patch(maps + "/a", {"metadata": {"finalizers": None}})
    if data is None:
        assert answer.status == 422 and answer.json["reason"] == "Invalid", answer
    else:
        assert answer.status == 200 and answer.json["data"] == data, answer


def test_dry_run_changes_nothing(api, maps):
    assert api.post(maps + "?dryRun=All", config("a")).status == 201
    assert api.get(maps + "/a").status == 404
    api.post(maps, config("a", k="1"))
    assert api.call("PATCH", maps + "/a?dryRun=All", {"data": {"k": "2"}},
                    Content_Type="application/merge-patch+json").json["data"]["k"] == "2"
    assert api.call("DELETE", maps + "/a?dryRun=All").status == 200
    assert api.get(maps + "/a").json["data"]["k"] == "1"
    refused = api.post(maps + "?dryRun=Some", config("b"))
    assert refused.status == 422 and refused.json["details"]["kind"] == "CreateOptions"


@pytest.mark.parametrize("mode,status", [("Strict", 400), ("Warn", 201), ("Ignore", 201), ("", 201)])
def test_field_validation(api, maps, mode, status):
    text = '{"metadata":{"name":"a"},"data":{"k":"1","k":"2"},"bogus":1}'
    answer = api.post(f"{maps}?fieldValidation={mode}", text)
    assert answer.status == status
    warnings = answer.headers.get_all("Warning") or []
    if mode == "Strict":
        assert 'unknown field "bogus"' in answer.json["message"] and 'duplicate field "data.k"' in answer.json["message"]
    elif mode == "Ignore":
        assert not warnings
    else:
        text = " ".join(warnings)
        assert 'unknown field \\"bogus\\"' in text and 'duplicate field \\"data.k\\"' in text


def test_finalizers_hold_an_object(api, maps):
    api.post(maps, {"metadata": {"name": "a", "finalizers": ["example.org/hold"]}})
    held = api.delete(maps + "/a").json
    assert held["metadata"]["deletionTimestamp"] and held["metadata"]["deletionGracePeriodSeconds"] == 0
    more = api.patch(maps + "/a", {"metadata": {"finalizers": ["example.org/hold", "example.org/more"]}})
    assert more.status == 422 and "no new finalizers can be added" in more.json["message"]
    assert api.patch(maps + "/a", {"metadata": {"finalizers": None}}).status == 200
    assert api.get(maps + "/a").status == 404


def test_preconditions_and_collections(api, maps):
    made = api.post(maps, {"metadata": {"name": "a", "labels": {"x": "1"}}}).json["metadata"]
    for wrong in ({"uid": "other"}, {"resourceVersion": "1"}):
        assert api.delete(maps + "/a", {"preconditions": wrong}).status == 409
    assert api.delete(maps + "/a", {"preconditions": {"uid": made["uid"]}}).status == 200
    for name, label in (("b", "1"), ("c", "1"), ("d", "2")):
        api.post(maps, {"metadata": {"name": name, "labels": {"x": label}}})
    assert api.delete(maps + "?labelSelector=x%3D1").status == 200
    left = {item["metadata"]["name"] for item in api.get(maps).json["items"]} - {"kube-root-ca.crt"}
    assert left == {"d"}


def test_yaml_is_read_and_written(api, maps):
    text = "metadata:\n  name: a\ndata:\n  k: \"1\"  # a text\n"
    made = api.post(maps, text, Content_Type="application/yaml")
    assert made.status == 201 and made.json["data"] == {"k": "1"}
    shown = api.get(maps + "/a", Accept="application/yaml")
    assert shown.headers["Content-Type"].startswith("application/yaml")
    assert yaml.safe_load(shown.text) == made.json
    listed = yaml.safe_load(api.get(maps, Accept="application/yaml").text)
    assert listed["kind"] == "ConfigMapList" and made.json["metadata"]["uid"] in str(listed)
    replaced = api.call("PUT", maps + "/a", shown.text.replace("\"1\"", "\"2\"").replace("'1'", "'2'"),
                        Content_Type="application/yaml")
    assert replaced.status == 200 and replaced.json["data"] == {"k": "2"}, replaced
    applied = api.call("PATCH", maps + "/b?fieldManager=m", "apiVersion: v1\nkind: ConfigMap\ndata: {l: \"3\"}\n"
                       "metadata:\n  name: b\n", Content_Type="application/apply-patch+yaml")
    assert applied.status == 201 and applied.json["data"] == {"l": "3"}, applied
    refused = api.get(maps + "/none", Accept="application/yaml")
    assert refused.status == 404 and yaml.safe_load(refused.text)["reason"] == "NotFound"
    assert api.get(maps + "?watch=1&timeoutSeconds=1", Accept="application/yaml").status == 406
    assert api.post(maps, "a: [", Content_Type="application/yaml").status == 400


def test_a_number_in_a_query_is_one(api, maps):
    for query, text in (("timeoutSeconds=x", "x"), ("watch=1&timeoutSeconds=1.5", "1.5"), ("limit=x", "x"), ("limit=", "")):
        refused = api.get(f"{maps}?{query}")
        assert (refused.status, refused.json["reason"]) == (400, "BadRequest"), query
        assert refused.json["message"] == f'strconv.ParseInt: parsing "{text}": invalid syntax'
    assert "value out of range" in api.get(f"{maps}?timeoutSeconds={10**30}").json["message"]
    assert api.delete(maps + "/a?gracePeriodSeconds=x").status == 400


def test_too_large_is_a_status(api, maps):
    for method, path in (("POST", maps), ("PUT", maps + "/a"), ("PATCH", maps + "/a"), ("DELETE", maps + "/a")):
        connection = api.connect()
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        refused = api.call(method, path, json.dumps({"x": "y" * (3 << 20)}), connection, Content_Type=content)
        connection.close()
        assert (refused.status, refused.headers["Content-Type"]) == (413, "application/json"), method
        assert (refused.json["kind"], refused.json["reason"]) == ("Status", "RequestEntityTooLarge")
        assert refused.json["message"] == "Request entity too large: limit is 3145728"


def test_a_patch_may_leave_out_the_namespace(api, maps):
    api.post(maps, {"metadata": {"name": "a"}})
    for kind in ("merge", "strategic"):
        for nothing in (None, ""):
            answer = api.patch(maps + "/a", {"metadata": {"namespace": nothing}}, kind)
            assert answer.status == 200 and answer.json["metadata"]["namespace"] in maps
            refused = api.patch(maps + "/a", {"metadata": {"name": nothing}}, kind)
            assert refused.status == 400 and "was undeterminable: name must be provided" in refused.json["message"]
    moved = api.patch(maps + "/a", {"metadata": {"namespace": "other"}})
    assert moved.status == 400
    assert moved.json["message"] == "the namespace of the provided object does not match the namespace sent on the request"


def test_a_scale_has_32_bits(api, namespace):
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    api.post(path, {"metadata": {"name": "d"}, "spec": {
        "paused": True, "replicas": 1, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})
    for replicas in ("2147483648", "9223372036854775807", "2.0", "2.5", "1e3", '"3"'):
        patched = api.patch(path + "/d/scale", '{"spec":{"replicas":%s}}' % replicas)
        assert (patched.status, patched.json["reason"]) == (422, "Invalid"), replicas
        assert patched.json["details"]["causes"][0]["field"] == "patch"
        put = api.put(path + "/d/scale", '{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d","namespace":"%s"},'
                      '"spec":{"replicas":%s}}' % (namespace, replicas))
        assert (put.status, put.json["reason"]) == (400, "BadRequest"), replicas
        assert put.json["message"].startswith('Scale in version "v1" cannot be handled as a Scale: ')
    assert api.get(path + "/d").json["spec"]["replicas"] == 1
