"""How clients come to know what a server has: discovery, columns of Tables, fields for selectors, the scale of a kind."""

import json
import uuid

import pytest

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
BETA = AGGREGATED.replace("v=v2", "v=v2beta1")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

SPEC = {"type": "object", "properties": {
    "color": {"type": "string"}, "size": {"type": "integer"}, "ready": {"type": "boolean"},
    "replicas": {"type": "integer"}, "selector": {"type": "string"},
    "since": {"type": "string", "format": "date-time"}, "share": {"type": "number"},
    "parts": {"type": "array", "items": {"type": "object", "properties": {
        "name": {"type": "string"}, "amount": {"type": "integer"}}}}}}
STATUS = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
COLUMNS = [
    {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1},
    {"name": "Ready", "type": "boolean", "jsonPath": ".spec.ready"},
    {"name": "Share", "type": "number", "jsonPath": ".spec.share", "format": "float"},
    {"name": "Names", "type": "string", "jsonPath": ".spec.parts[*].name"},
    {"name": "First", "type": "string", "jsonPath": ".spec.parts[0].name"},
    {"name": "Large", "type": "string", "jsonPath": ".spec.parts[?(@.amount>5)].name"},
    {"name": "Condition", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
    {"name": "Label", "type": "string", "jsonPath": ".metadata.labels.example\\.org/part"},
    {"name": "Whole", "type": "string", "jsonPath": ".spec.parts"},
    {"name": "Since", "type": "date", "jsonPath": ".spec.since"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "description": "since when"},
]


@pytest.fixture
def kind(api):
    """A definition of a kind of its own; makes one when called, and returns the path of its group version."""
    made = []

    def define(served=("v1",), **version):
        plural = "p" + uuid.uuid4().hex[:10]
        versions = [{"name": name, "served": True, "storage": name == "v1",
                     "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}},
                     **version} for name in served]
        answer = api.post(DEFINITIONS, {
            "metadata": {"name": f"{plural}.example.org"},
            "spec": {"group": "example.org", "scope": "Namespaced", "versions": versions,
                     "names": {"plural": plural, "singular": plural, "kind": plural.title(),
                               "listKind": plural.title() + "List"}}})
        assert answer.status == 201, answer
        made.append(plural)
        watch = api.watch(f"{DEFINITIONS}?watch=1&fieldSelector=metadata.name%3D{plural}.example.org")
        watch.until(lambda event: any(one["type"] == "Established" and one["status"] == "True"
                                      for one in event["object"].get("status", {}).get("conditions") or ()))
        watch.close()
        return plural

    yield define
    for plural in made:
        api.delete(f"{DEFINITIONS}/{plural}.example.org")


def collection(namespace, plural, version="v1"):
    return f"/apis/example.org/{version}/namespaces/{namespace}/{plural}"


def make(api, path, name, spec, **more):
    plural = path.split("/")[-1]
    version = path.split("/")[3]
    answer = api.post(path, {"apiVersion": f"example.org/{version}", "kind": plural.title(),
                             "metadata": {"name": name, **more}, "spec": spec})
    assert answer.status == 201, answer
    return answer.json


# ---- discovery ----

@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_aggregated_discovery_is_sent_once(api, path):
    first = api.get(path, Accept=f"{AGGREGATED},{BETA},application/json")
    assert first.headers["Content-Type"] == AGGREGATED and first.headers["Vary"] == "Accept"
    assert first.headers["Cache-Control"] == "public"
    assert (first.json["kind"], first.json["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    # A definition of another test may still be on its way out.
    for _ in range(100):
        tag = api.get(path, Accept=AGGREGATED).headers["ETag"]
        again = api.get(path, Accept=AGGREGATED, If_None_Match=tag)
        if again.status == 304:
            break
    assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
    assert api.get(path, Accept=AGGREGATED, If_None_Match='"other"').status == 200
    plain = api.get(path, Accept="application/json", If_None_Match=tag)
    assert plain.status == 200 and "ETag" not in plain.headers


def test_a_new_kind_changes_the_tag(api, kind):
    before = api.get("/apis", Accept=AGGREGATED).headers["ETag"]
    plural = kind(subresources={"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                                                        "statusReplicasPath": ".status.replicas"}})
    while True:
        answer = api.get("/apis", Accept=AGGREGATED)
        groups = {group["metadata"]["name"]: group for group in answer.json["items"]}
        if any(one["resource"] == plural for version in groups.get("example.org", {"versions": []})["versions"]
               for one in version["resources"]):
            break
    assert answer.headers["ETag"] != before
    version, = groups["example.org"]["versions"]
    assert version["version"] == "v1" and version["freshness"] == "Current"
    found, = [one for one in version["resources"] if one["resource"] == plural]
    scale, status = sorted(found.pop("subresources"), key=lambda one: one["subresource"])
    assert scale == {"subresource": "scale", "verbs": ["get", "patch", "update"],
                     "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}
    assert status == {"subresource": "status", "verbs": ["get", "patch", "update"],
                      "responseKind": {"group": "example.org", "version": "v1", "kind": plural.title()}}
    assert sorted(found.pop("verbs")) == ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    assert found == {"resource": plural, "scope": "Namespaced", "singularResource": plural,
                     "responseKind": {"group": "example.org", "version": "v1", "kind": plural.title()}}


@pytest.mark.parametrize("accept", [BETA, AGGREGATED.replace("v=v2", "v=v9")])
def test_a_form_of_discovery_that_is_not_known(api, accept):
    refused = api.get("/apis", Accept=accept)
    assert refused.status == 406 and refused.json["reason"] == "NotAcceptable"
    assert refused.json["message"].startswith("only the following media types are accepted: application/json")
    assert api.get("/apis", Accept=accept + ",application/json").json["kind"] == "APIGroupList"


# ---- Tables ----

def test_columns_of_a_definition(api, kind, namespace):
    path = collection(namespace, kind(additionalPrinterColumns=COLUMNS))
    made = make(api, path, "a", {"color": "red", "size": 3, "ready": True, "share": 0.5, "since": "2020-01-01T00:00:00Z",
                                 "parts": [{"name": "x", "amount": 9}, {"name": "y", "amount": 1}, {"name": "z", "amount": 7}]},
                labels={"example.org/part": "front"})
    make(api, path, "b", {})
    assert api.patch(f"{path}/a", {"status": {"conditions": [{"type": "Bad", "status": "False"},
                                                             {"type": "Ready", "status": "True"}]}}).status == 200
    table = api.get(path, Accept=TABLE).json
    described = [(column["name"], column["type"], column["format"], column["priority"])
                 for column in table["columnDefinitions"]]
    assert described == [("Name", "string", "name", 0)] + [
        (column["name"], column["type"], column.get("format", ""), column.get("priority", 0)) for column in COLUMNS]
    assert table["columnDefinitions"][-1]["description"] == "since when"
    assert table["columnDefinitions"][1]["description"].endswith(
        "Custom resource definition column (in JSONPath format): .spec.color")
    first, second = [row["cells"] for row in table["rows"]]
    assert first[:9] == ["a", "red", 3, True, 0.5, "x", "x", "x", "True"], first
    assert first[9] == "front"
    assert json.loads(first[10]) == made["spec"]["parts"]
    assert first[11].endswith("y") or first[11].endswith("d")
    assert second[:11] == ["b"] + [None] * 10, second


# ---- selectable fields ----

def test_fields_that_a_definition_lets_selectors_name(api, kind, namespace):
    path = collection(namespace, kind(selectableFields=[{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"},
                                                        {"jsonPath": ".spec.ready"}]))
    make(api, path, "a", {"color": "red", "size": 1, "ready": True})
    make(api, path, "b", {"color": "blue", "size": 2})
    make(api, path, "c", {"color": "red"})

    def names(selector):
        return [item["metadata"]["name"] for item in api.get(f"{path}?fieldSelector={selector}").json["items"]]
    assert names("spec.color%3Dred") == ["a", "c"]
    assert names("spec.color!%3Dred") == ["b"]
    assert names("spec.color%3Dred,spec.size%3D1") == ["a"]
    assert names("spec.ready%3Dtrue") == ["a"]
    assert names("spec.size%3D") == ["c"] and names("spec.ready%3D") == ["b", "c"]
    assert names("metadata.name%3Db,spec.color%3Dblue") == ["b"]
    unknown = api.get(f"{path}?fieldSelector=spec.share%3D1")
    assert unknown.status == 400 and "field label not supported: spec.share" in unknown.json["message"]

    version = api.get(path).json["metadata"]["resourceVersion"]
    watch = api.watch(f"{path}?watch=1&resourceVersion={version}&fieldSelector=spec.color%3Dred")
    assert api.patch(f"{path}/b", {"spec": {"color": "red"}}).status == 200
    assert api.patch(f"{path}/a", {"spec": {"color": "green"}}).status == 200
    assert api.patch(f"{path}/c", {"spec": {"size": 9}}).status == 200
    seen = [watch.next() for _ in range(3)]
    watch.close()
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in seen] == [
        ("ADDED", "b"), ("DELETED", "a"), ("MODIFIED", "c")]

    assert api.delete(f"{path}?fieldSelector=spec.color%3Dred").status == 200
    assert [item["metadata"]["name"] for item in api.get(path).json["items"]] == ["a"]


def test_each_version_has_its_own_selectable_fields(api, kind, namespace):
    plural = kind(served=("v1", "v2"), selectableFields=[{"jsonPath": ".spec.color"}])
    make(api, collection(namespace, plural), "a", {"color": "red"})
    for version in ("v1", "v2"):
        found = api.get(collection(namespace, plural, version) + "?fieldSelector=spec.color%3Dred").json
        assert [item["apiVersion"] for item in found["items"]] == [f"example.org/{version}"]


@pytest.mark.parametrize(("fields", "text"), [
    ([{"jsonPath": ".spec.parts"}], "must point to a field of type string, boolean or integer"),
    ([{"jsonPath": ".spec.nothing"}], "invalid path"),
    ([{"jsonPath": ".metadata.name"}], "is an invalid path: does not refer to a valid field"),
    ([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.color"}], "Duplicate value"),
    ([{"jsonPath": ".spec.parts[0].name"}], "is an invalid path: array notation is not allowed"),
])
def test_fields_that_can_not_be_selected_by(api, fields, text):
    plural = "p" + uuid.uuid4().hex[:10]
    answer = api.post(DEFINITIONS, {
        "metadata": {"name": f"{plural}.example.org"},
        "spec": {"group": "example.org", "scope": "Namespaced",
                 "versions": [{"name": "v1", "served": True, "storage": True, "selectableFields": fields,
                               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}}}],
                 "names": {"plural": plural, "singular": plural, "kind": plural.title(), "listKind": plural.title() + "List"}}})
    assert answer.status == 422, answer
    assert text in answer.json["message"]


# ---- scale ----

def test_the_scale_of_a_kind(api, kind, namespace):
    path = collection(namespace, kind(subresources={"status": {}, "scale": {
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector"}}))
    made = make(api, path, "a", {"replicas": 2, "color": "red"})
    assert api.patch(f"{path}/a/status", {"status": {"replicas": 1, "selector": "app=a"}}).status == 200
    scale = api.get(f"{path}/a/scale").json
    assert (scale["apiVersion"], scale["kind"]) == ("autoscaling/v1", "Scale")
    assert scale["spec"] == {"replicas": 2} and scale["status"] == {"replicas": 1, "selector": "app=a"}
    assert scale["metadata"]["uid"] == made["metadata"]["uid"]
    scale["spec"]["replicas"] = 5
    written = api.put(f"{path}/a/scale", scale)
    assert written.status == 200 and written.json["spec"] == {"replicas": 5}
    now = api.get(f"{path}/a").json
    assert now["spec"] == {"replicas": 5, "color": "red"} and now["metadata"]["generation"] == 2
    assert api.put(f"{path}/a/scale", scale).status == 409
    patched = api.patch(f"{path}/a/scale", {"spec": {"replicas": 0}})
    assert patched.status == 200 and patched.json["spec"].get("replicas", 0) == 0
    assert api.patch(f"{path}/a/scale", {"spec": {"replicas": -1}}).status == 422


# ---- servers that extend this one ----

def test_what_an_extension_server_reads(api):
    system = "/namespaces/kube-system"
    config = api.get(f"/api/v1{system}/configmaps/extension-apiserver-authentication").json
    assert config["data"]["client-ca-file"].startswith("-----BEGIN CERTIFICATE-----")
    role = api.get(f"/apis/rbac.authorization.k8s.io/v1{system}/roles/extension-apiserver-authentication-reader").json
    rule, = role["rules"]
    assert {key: sorted(value) for key, value in rule.items()} == {
        "verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["configmaps"],
        "resourceNames": ["extension-apiserver-authentication"]}
    assert role["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults"}
