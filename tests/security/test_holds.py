"""No request that is let in holds the event loop for long: the largest bodies and answers in every form.

The fixture fails if one did (holds.py)."""

import json
import urllib.parse

import pytest

from attacked import MERGE, Daemon

MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEEPS = "/apis/a.io/v1/namespaces/default/deeps"
YAML, STRATEGIC = "application/yaml", "application/strategic-merge-patch+json"
OPERATIONS, APPLY = "application/json-patch+json", "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
ACCEPTS = ["application/json", YAML, TABLE, METADATA]


@pytest.fixture
def daemon(tmp_path):
    made = Daemon(tmp_path)
    made.up()
    yield made
    made.down("--kill", check=False)


def keys(count, value="v"):
    return {f"k{i}": value for i in range(count)}


WIDE = {
    "many keys": {"metadata": {"name": "w"}, "data": keys(60_000)},
    "one long text": {"metadata": {"name": "w"}, "data": {"k": "x" * 1_000_000}},
    "unknown fields": {"metadata": {"name": "w"}, **keys(180_000, 0)},
    "a list where none may be": {"metadata": {"name": "w"}, "data": [0] * 1_400_000},
    "objects where none may be": {"metadata": {"name": "w"}, "data": [{}] * 900_000},
    "labels": {"metadata": {"name": "w", "labels": keys(140_000)}},
    "finalizers": {"metadata": {"name": "w", "finalizers": [f"a.b/{i}" for i in range(140_000)]}},
    "owners": {"metadata": {"name": "w", "ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": f"{i}"} for i in range(30_000)]}},
    "managed fields": {"metadata": {"name": "w", "managedFields": [
        {"manager": f"m{i}", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
         "fieldsV1": {"f:data": {f"f:k{i}": {}}}} for i in range(15_000)]}},
}


@pytest.mark.parametrize("shape", WIDE)
def test_the_largest_bodies(daemon, shape):
    for kind in ("application/json", YAML):
        status, answer = daemon.ask("POST", MAPS, WIDE[shape], content_type=kind)
        assert status in (201, 400, 409, 413, 422), (kind, answer)
    daemon.ask("PUT", MAPS + "/w", WIDE[shape])


PATCHES = {
    "moves": (OPERATIONS, [{"op": "move", "from": f"/data/k{i}", "path": f"/data/x{i}"} for i in range(10_000)]),
    "tests": (OPERATIONS, [{"op": "test", "path": "/data/k1", "value": "v"}] * 10_000),
    "copies": (OPERATIONS, [{"op": "copy", "from": "/data", "path": f"/x{i}"} for i in range(3)]),
    "removals": (MERGE, {"data": keys(60_000, None)}),
    "new keys": (MERGE, {"data": {f"n{i}": "" for i in range(100_000)}}),
    "a small change of a large object": (MERGE, {"metadata": {"annotations": {"a": "b"}}}),
    "changes": (STRATEGIC, {"data": keys(60_000, "w")}),
    "an apply": (APPLY, {"apiVersion": "v1", "kind": "ConfigMap", "data": keys(60_000)}),
}


@pytest.mark.parametrize("name", PATCHES)
def test_the_largest_patches(daemon, name):
    daemon.must("POST", MAPS, WIDE["many keys"])
    kind, patch = PATCHES[name]
    query = "?fieldManager=m&force=true" if kind == APPLY else ""
    status, answer = daemon.ask("PATCH", f"{MAPS}/w{query}", patch, content_type=kind)
    assert status in (200, 413, 422), answer


def test_an_apply_among_many_managers(daemon):
    for manager in range(10):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "w"}, "data": keys(5000)}
        status, answer = daemon.ask("PATCH", f"{MAPS}/w?fieldManager=m{manager}&force=true", body, content_type=APPLY)
        assert status in (200, 201), answer


def test_long_lists_in_every_form_and_the_deletion_of_all(daemon):
    daemon.create_all(MAPS, ({"metadata": {"name": f"m{number}", "labels": {"a": "b"}}, "data": {"k": "x" * 400}}
                             for number in range(2000)))
    selector = ",".join(f"!k{i}" for i in range(100))
    for accept in ACCEPTS:
        assert daemon.read(MAPS, accept).count("m1999") > 0, accept
        assert daemon.read(f"{MAPS}?labelSelector={selector}", accept).count("m1999") > 0, accept
    assert len(daemon.must("DELETE", MAPS)["items"]) >= 2000


def test_a_watch_that_missed_many_changes_of_a_large_object(daemon):
    made = daemon.must("POST", MAPS, {"metadata": {"name": "w", "labels": keys(60_000)}, "data": keys(20_000)})
    for change in range(30):
        daemon.must("PATCH", f"{MAPS}/w", {"metadata": {"labels": {"k0": str(change)}}}, content_type=MERGE)
    since = f"{MAPS}?watch=true&timeoutSeconds=1&resourceVersion={made['metadata']['resourceVersion']}"
    assert daemon.read(since, ACCEPTS[0]).count('"MODIFIED"') == 30
    for selector in ("k0=29", "k0!=5,none", "k0 in (1,2),k1=v"):
        events = daemon.read(f"{since}&labelSelector={urllib.parse.quote(selector)}", ACCEPTS[0])
        assert events.count('"type"') == {"k0=29": 1, "k0!=5,none": 0}.get(selector, 3), selector


def test_large_metadata_in_every_form(daemon):
    daemon.must("POST", MAPS, {"metadata": {"name": "w", "labels": keys(100_000)}})
    for accept in ACCEPTS:
        watch = [] if accept == YAML else [MAPS + "?watch=true&timeoutSeconds=1"]
        for path in [MAPS, MAPS + "/w", *watch]:
            assert "k99999" in daemon.read(path, accept), (path, accept)


def definition(schema, **names):
    return {"metadata": {"name": "deeps.a.io"}, "spec": {
        "group": "a.io", "scope": "Namespaced", "names": {"plural": "deeps", "kind": "Deep", **names},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def objects(count, prefix):
    """A schema in which no part is like another."""
    return {"type": "object", "properties": {f"{prefix}{i}": {"type": "object", "description": f"of {i}", "properties": {
        f"q{i}": {"type": "integer", "minimum": i}}} for i in range(count)}}


def test_changes_of_large_definitions(daemon):
    path = f"{DEFINITIONS}/deeps.a.io"
    made = daemon.must("POST", DEFINITIONS, definition(objects(25_000, "p")))
    for changed in (definition(objects(25_000, "p"), shortNames=["dp"]), definition(objects(25_000, "r"))):
        changed["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
        made = daemon.must("PUT", path, changed)
    daemon.must("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, content_type=MERGE)
    daemon.must("DELETE", path)
    daemon.wait_until_gone(path)


def test_large_definitions_and_objects_of_them(daemon):
    for schema, items in [
            ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, [{}] * 800_000),
            ({"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(30_000)}}, 1),
            ({"type": "object", "properties": {"x": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}}}},
             ["abc"] * 300_000)]:
        daemon.must("POST", DEFINITIONS, definition(schema))
        status, answer = daemon.ask("POST", DEEPS, {"apiVersion": "a.io/v1", "kind": "Deep", "metadata": {"name": "d"}, "x": items})
        assert status in (201, 413, 422), json.dumps(answer)[:500]
        for accept in ACCEPTS:
            daemon.read(DEEPS, accept)
        daemon.must("DELETE", f"{DEFINITIONS}/deeps.a.io")
        daemon.wait_until_gone(f"{DEFINITIONS}/deeps.a.io")


def test_patterns_of_many_steps(daemon):
    """A state machine that is too large for its memory, and patterns that are compiled for each object."""
    texts = [f"{i:016b}".replace("0", "b").replace("1", "a") * 60 for i in range(65)]
    many = {f"p{i}": {"type": "string", "pattern": f"^a{{1,100}}{i}$"} for i in range(2000)}
    for schema, value in [
            ({"type": "array", "items": {"type": "string", "pattern": "^[ab]*a[ab]{999}([ab]{999})?$"}}, texts),
            ({"type": "array", "items": {"type": "string", "anyOf": [{"pattern": "^[ab]*a[ab]{999}c$"}, {"pattern": "d"}]}}, texts),
            ({"type": "array", "items": {"type": "string", "pattern": "^[ab]*a[ab]{20}c$"}}, texts),
            ({"type": "object", "properties": many}, dict.fromkeys(many, "a"))]:
        daemon.must("POST", DEFINITIONS, definition({"type": "object", "properties": {"x": schema}}))
        for _ in range(2):
            status, answer = daemon.ask("POST", DEEPS, {"apiVersion": "a.io/v1", "kind": "Deep", "metadata": {"name": "d"}, "x": value})
            assert status == 422, json.dumps(answer)[:500]
        daemon.must("DELETE", f"{DEFINITIONS}/deeps.a.io")
        daemon.wait_until_gone(f"{DEFINITIONS}/deeps.a.io")


def test_defaults_make_no_giant_of_a_small_body(daemon):
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "object", "properties": {
        f"d{i}": {"type": "string", "default": "x" * 100} for i in range(100)}}}}}
    daemon.must("POST", DEFINITIONS, definition(schema))
    status, answer = daemon.ask("POST", DEEPS, {"apiVersion": "a.io/v1", "kind": "Deep", "metadata": {"name": "d"}, "x": [{}] * 900_000})
    assert status == 413, answer


def test_documents_in_every_form(daemon):
    for path in ("/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/kubeflow.org/v1", "/apis", DEFINITIONS):
        for accept in ACCEPTS:
            daemon.read(path, accept)
