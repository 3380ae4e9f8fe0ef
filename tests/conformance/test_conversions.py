"""Definitions with several versions: those that a webhook converts, and those of the same structure."""

import copy
import uuid

import pytest

from webhook_server import WebhookServer, certificates_in_a_folder

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "conversion.example.com"


def schema(word):
    return {"openAPIV3Schema": {"type": "object", "properties": {
        "spec": {"type": "object", "properties": {word: {"type": "string"}, "count": {"type": "integer"}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}


def definition(plural, conversion, stored="v2", words=("old", "new"), selectable=False):
    versions = [{"name": version, "served": True, "storage": version == stored, "schema": schema(word), "subresources": {"status": {}}}
                for version, word in zip(("v1", "v2"), words, strict=True)]
    if selectable:
        for version, word in zip(versions, words, strict=True):
            version["selectableFields"] = [{"jsonPath": f".spec.{word}"}]
    return {"metadata": {"name": f"{plural}.{GROUP}"}, "spec": {
        "group": GROUP, "scope": "Namespaced", "names": {"plural": plural, "kind": plural.capitalize()},
        "versions": versions, "conversion": conversion}}


class Converter:
    """Renames spec.old of v1 to spec.new of v2 and back; `change` may spoil what it says."""

    def __init__(self, certificates):
        self.change = None
        self.server = WebhookServer(certificates, self.answer)
        self.conversion = {"strategy": "Webhook", "webhook": {
            "clientConfig": {"url": self.server.url("//convert/"), "caBundle": certificates.bundle("root")},
            "conversionReviewVersions": ["v9", "v1"]}}

    def answer(self, request):
        review = request.json
        desired = review["request"]["desiredAPIVersion"]
        converted = []
        for each in copy.deepcopy(review["request"]["objects"]):
            spec = each.get("spec", {})
            word, other = ("old", "new") if desired.endswith("v2") else ("new", "old")
            if word in spec:
                spec[other] = spec.pop(word)
            each["apiVersion"] = desired
            converted.append(each)
        response = {"uid": review["request"]["uid"], "result": {"status": "Success"}, "convertedObjects": converted}
        if self.change is not None:
            response = self.change(response)
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}

    def reviews(self):
        return [each.json["request"] for each in self.server.requests]


@pytest.fixture(scope="session")
def certificates():
    return certificates_in_a_folder()


@pytest.fixture
def converter(certificates):
    made = Converter(certificates)
    yield made
    made.server.stop()


class Kind:
    def __init__(self, api, namespace, plural):
        self.api, self.namespace, self.plural, self.kind = api, namespace, plural, plural.capitalize()

    def path(self, version, name=""):
        return f"/apis/{GROUP}/{version}/namespaces/{self.namespace}/{self.plural}" + (f"/{name}" if name else "")

    def make(self, version, name, **fields):
        word = "old" if version == "v1" else "new"
        return self.api.post(self.path(version), {"apiVersion": f"{GROUP}/{version}", "kind": self.kind,
                                                  "metadata": {"name": name}, "spec": {word: "x"}, **fields})


@pytest.fixture
def serve(api, namespace):
    made = []

    def start(conversion, **options):
        plural = "c" + uuid.uuid4().hex[:8]
        answer = api.post(DEFINITIONS, definition(plural, conversion, **options))
        assert answer.status == 201, answer
        made.append(f"{DEFINITIONS}/{plural}.{GROUP}")
        kind = Kind(api, namespace, plural)
        for version in ("v1", "v2"):
            while api.get(kind.path(version)).status != 200:
                pass
        return kind

    yield start
    for path in made:
        api.delete(path)


def spec_of(answer, status=200):
    assert answer.status == status, answer
    return answer.json["spec"]


def test_reads_and_writes_of_each_version(api, serve, converter):
    kind = serve(converter.conversion)
    assert spec_of(kind.make("v1", "a"), 201) == {"old": "x"}
    asked = converter.server.requests[0]
    assert (asked.path, asked.query, asked.headers["User-Agent"]) == ("/convert", "timeout=30s", "kube-apiserver-admission")
    review = asked.json
    assert (review["apiVersion"], review["kind"]) == ("apiextensions.k8s.io/v1", "ConversionReview")
    assert review["request"]["desiredAPIVersion"] == f"{GROUP}/v2"
    [sent] = review["request"]["objects"]
    assert (sent["apiVersion"], sent["spec"], sent["metadata"]["name"]) == (f"{GROUP}/v1", {"old": "x"}, "a")
    assert sent["metadata"]["uid"] and sent["metadata"]["namespace"] == kind.namespace
    assert spec_of(api.get(kind.path("v2", "a"))) == {"new": "x"}
    assert spec_of(api.get(kind.path("v1", "a"))) == {"old": "x"}
    assert api.get(kind.path("v1", "a")).json["apiVersion"] == f"{GROUP}/v1"
    assert spec_of(api.patch(kind.path("v1", "a"), {"spec": {"old": "y", "count": 2}})) == {"old": "y", "count": 2}
    assert spec_of(api.get(kind.path("v2", "a"))) == {"new": "y", "count": 2}
    whole = api.get(kind.path("v1", "a")).json
    whole["spec"]["old"] = "z"
    answer = api.put(kind.path("v1", "a"), whole)
    assert spec_of(answer) == {"old": "z", "count": 2} and answer.json["metadata"]["generation"] == 3
    # Nothing changes: the generation and the revision stay.
    again = api.put(kind.path("v1", "a"), answer.json)
    assert again.json["metadata"]["resourceVersion"] == answer.json["metadata"]["resourceVersion"]


def test_a_status_and_an_apply_of_a_version_that_is_not_stored(api, serve, converter):
    kind = serve(converter.conversion)
    kind.make("v2", "a")
    answer = api.patch(kind.path("v1", "a") + "/status", {"status": {"phase": "Done"}})
    assert answer.json["status"] == {"phase": "Done"} and spec_of(answer) == {"old": "x"}
    applied = {"apiVersion": f"{GROUP}/v1", "kind": kind.kind, "metadata": {"name": "a"}, "spec": {"old": "applied"}}
    answer = api.patch(kind.path("v1", "a") + "?fieldManager=m&force=true", applied, "apply")
    assert spec_of(answer) == {"old": "applied"}
    assert spec_of(api.get(kind.path("v2", "a"))) == {"new": "applied"}
    applied["metadata"]["name"] = "b"
    assert spec_of(api.patch(kind.path("v1", "b") + "?fieldManager=m", applied, "apply"), 201) == {"old": "applied"}
    applied["spec"] = {"count": 3}
    assert spec_of(api.patch(kind.path("v1", "b") + "?fieldManager=m", applied, "apply")) == {"count": 3}
    assert spec_of(api.get(kind.path("v2", "b"))) == {"count": 3}


def owners(answer):
    """Of each manager the version and what it owns in the spec."""
    assert answer.status in (200, 201), answer
    return {entry["manager"]: (entry["apiVersion"].removeprefix(GROUP + "/"), sorted(entry["fieldsV1"].get("f:spec", {})))
            for entry in answer.json["metadata"].get("managedFields", [])}


class Appliers:
    """Who apply one object in different versions."""

    def __init__(self, kind):
        self.kind = kind

    def apply(self, version, manager, force=False, **spec):
        body = {"apiVersion": f"{GROUP}/{version}", "kind": self.kind.kind, "metadata": {"name": "a"}, "spec": spec}
        return self.kind.api.patch(f"{self.kind.path(version, 'a')}?fieldManager={manager}&force={str(force).lower()}", body, "apply")

    def write(self, version, manager, **spec):
        return self.kind.api.patch(f"{self.kind.path(version, 'a')}?fieldManager={manager}", {"spec": spec})


@pytest.fixture
def appliers(serve, converter):
    return Appliers(serve(converter.conversion))


def test_a_conflict_with_an_owner_of_another_version(appliers):
    assert owners(appliers.apply("v1", "one", old="x")) == {"one": ("v1", ["f:old"])}
    refused = appliers.apply("v2", "two", new="y")
    assert refused.status == 409, refused
    assert refused.json["message"] == 'Apply failed with 1 conflict: conflict with "one": .spec.old'
    assert [cause["field"] for cause in refused.json["details"]["causes"]] == [".spec.old"]
    assert owners(appliers.apply("v2", "two", new="x")) == {"one": ("v1", ["f:old"]), "two": ("v2", ["f:new"])}
    assert owners(appliers.apply("v2", "two", force=True, new="y")) == {"two": ("v2", ["f:new"])}
    written = appliers.write("v1", "three", old="z")
    assert owners(written) == {"three": ("v1", ["f:old"])} and spec_of(written) == {"old": "z"}
    refused = appliers.apply("v2", "two", new="y")
    assert refused.json["message"] == f'Apply failed with 1 conflict: conflict with "three" using {GROUP}/v1: .spec.old'


def test_owners_of_another_version_keep_what_a_write_leaves(appliers):
    appliers.apply("v1", "one", old="x", count=1)
    assert owners(appliers.write("v2", "two", count=2)) == {"one": ("v1", ["f:old"]), "two": ("v2", ["f:count"])}
    assert owners(appliers.write("v2", "two", new=None)) == {"two": ("v2", ["f:count"])}


def test_an_applier_goes_to_another_version(appliers):
    appliers.apply("v1", "one", old="x", count=1)
    answer = appliers.apply("v2", "one", new="x")
    assert spec_of(answer) == {"new": "x"} and owners(answer) == {"one": ("v2", ["f:new"])}
    appliers.apply("v1", "two", old="x", count=2)
    answer = appliers.apply("v1", "one", count=2)
    assert spec_of(answer) == {"old": "x", "count": 2} and owners(answer) == {"one": ("v1", ["f:count"]), "two": ("v1", ["f:count", "f:old"])}
    answer = appliers.apply("v2", "two", count=2)
    assert spec_of(answer) == {"count": 2} and owners(answer) == {"one": ("v1", ["f:count"]), "two": ("v2", ["f:count"])}


def test_what_an_applier_gives_up_stays_with_an_owner_of_another_version(appliers):
    appliers.apply("v1", "one", old="x", count=1)
    appliers.apply("v2", "two", new="x")
    answer = appliers.apply("v1", "one", count=1)
    assert spec_of(answer) == {"old": "x", "count": 1} and owners(answer) == {"one": ("v1", ["f:count"]), "two": ("v2", ["f:new"])}


def test_owners_of_another_version_without_the_webhook(api, appliers, converter):
    appliers.apply("v1", "one", old="x", count=1)
    converter.change = lambda response: None
    refused = appliers.apply("v2", "two", new="x")
    assert refused.status == 500, refused
    written = appliers.write("v2", "two", new="y")
    assert spec_of(written) == {"new": "y", "count": 1} and owners(written) == {}


def test_fields_are_selected_in_the_version_of_the_request(api, serve, converter):
    kind = serve(converter.conversion, selectable=True)
    for name, value in (("a", "x"), ("b", "y"), ("c", "x")):
        kind.api.post(kind.path("v2"), {"apiVersion": f"{GROUP}/v2", "kind": kind.kind, "metadata": {"name": name}, "spec": {"new": value}})
    for version, word in (("v1", "old"), ("v2", "new")):
        listed = api.get(f"{kind.path(version)}?fieldSelector=spec.{word}%3Dx")
        assert listed.status == 200, listed
        assert [(each["metadata"]["name"], each["spec"]) for each in listed.json["items"]] == [("a", {word: "x"}), ("c", {word: "x"})]
        assert [each["metadata"]["name"] for each in api.get(f"{kind.path(version)}?fieldSelector=spec.{word}!%3Dx").json["items"]] == ["b"]
    unknown = api.get(f"{kind.path('v1')}?fieldSelector=spec.new%3Dx")
    assert (unknown.status, unknown.json["message"]) == (400, "field label not supported: spec.new")
    watch = api.watch(f"{kind.path('v1')}?watch=1&fieldSelector=spec.old%3Dx&resourceVersion={listed.json['metadata']['resourceVersion']}")
    api.patch(kind.path("v2", "b"), {"spec": {"new": "x"}})
    api.patch(kind.path("v2", "c"), {"spec": {"count": 1}})
    left = api.patch(kind.path("v2", "a"), {"spec": {"new": "z"}})
    api.patch(kind.path("v2", "a"), {"spec": {"count": 2}})
    api.delete(kind.path("v2", "c"))
    seen = [watch.next() for _ in range(4)]
    assert [(event["type"], event["object"]["metadata"]["name"], event["object"]["spec"]) for event in seen] == [
        ("ADDED", "b", {"old": "x"}), ("MODIFIED", "c", {"old": "x", "count": 1}), ("DELETED", "a", {"old": "x"}),
        ("DELETED", "c", {"old": "x", "count": 1})]
    assert seen[2]["object"]["metadata"]["resourceVersion"] == left.json["metadata"]["resourceVersion"]
    watch.close()


def test_labels_that_the_webhook_gives_are_selected(api, serve, converter):
    kind = serve(converter.conversion)
    kind.make("v2", "a")
    converter.change = objects(lambda each: each["metadata"].update(labels={"from": "webhook"}))
    assert [each["metadata"]["name"] for each in api.get(f"{kind.path('v1')}?labelSelector=from%3Dwebhook").json["items"]] == ["a"]
    assert api.get(f"{kind.path('v2')}?labelSelector=from%3Dwebhook").json["items"] == []


def test_watchers_share_what_the_webhook_answers(api, serve, converter):
    kind = serve(converter.conversion)
    start = api.get(kind.path("v2")).json["metadata"]["resourceVersion"]
    watches = [api.watch(f"{kind.path('v1')}?watch=1&resourceVersion={start}") for _ in range(20)]
    before = len(converter.server.requests)
    kind.make("v2", "a")
    api.patch(kind.path("v2", "a"), {"spec": {"new": "y"}})
    for watch in watches:
        assert [(event["type"], event["object"]["spec"]) for event in (watch.next(), watch.next())] == [
            ("ADDED", {"old": "x"}), ("MODIFIED", {"old": "y"})]
        watch.close()
    # A real server keeps the objects of each version by themselves, and converts each change once.
    assert len(converter.server.requests) - before < 2 * len(watches) / 4


def test_lists_and_collections(api, serve, converter):
    kind = serve(converter.conversion)
    for name in ("a", "b", "c"):
        kind.make("v2", name)
    listed = api.get(kind.path("v1")).json
    assert [(each["apiVersion"], each["metadata"]["name"], each["spec"]) for each in listed["items"]] == [
        (f"{GROUP}/v1", name, {"old": "x"}) for name in ("a", "b", "c")]
    assert [each["spec"] for each in api.get(kind.path("v2")).json["items"]] == [{"new": "x"}] * 3
    page = api.get(kind.path("v1") + "?limit=2").json
    assert [each["spec"] for each in page["items"]] == [{"old": "x"}] * 2
    rest = api.get(kind.path("v1") + "?limit=2&continue=" + page["metadata"]["continue"]).json
    assert [each["metadata"]["name"] for each in rest["items"]] == ["c"]
    gone = api.delete(kind.path("v1"))
    assert gone.status == 200 and api.get(kind.path("v2")).json["items"] == []


def test_a_watch_of_a_version_that_is_not_stored(api, serve, converter):
    kind = serve(converter.conversion)
    kind.make("v2", "a")
    watch = api.watch(kind.path("v1") + "?watch=1")
    event = watch.next()
    assert (event["type"], event["object"]["apiVersion"], event["object"]["spec"]) == ("ADDED", f"{GROUP}/v1", {"old": "x"})
    api.patch(kind.path("v2", "a"), {"spec": {"new": "y"}})
    event = watch.next()
    assert (event["type"], event["object"]["spec"]) == ("MODIFIED", {"old": "y"})
    api.delete(kind.path("v2", "a"))
    event = watch.next()
    assert (event["type"], event["object"]["apiVersion"], event["object"]["spec"]) == ("DELETED", f"{GROUP}/v1", {"old": "y"})
    watch.close()


def objects(change):
    def spoil(response):
        for each in response["convertedObjects"]:
            change(each)
        return response
    return spoil


@pytest.mark.parametrize("change, problem", [
    (lambda response: {**response, "result": {"status": "Failure", "message": "I can not"}}, "failed: I can not"),
    (lambda response: {**response, "result": {"status": "Failure"}}, "failed: response.result.status was 'Failure', not 'Success'"),
    (lambda response: {**response, "result": {}}, "failed: response.result.status was '', not 'Success'"),
    (lambda response: {**response, "uid": "x"}, 'failed: expected response.uid="'),
    (lambda response: None, "failed: no response provided"),
    (lambda response: {**response, "convertedObjects": []}, "returned 0 objects, expected 1"),
    (objects(lambda each: each.update(kind="Other")), "returned invalid object at index 0: invalid kind (expected KIND, received Other)"),
    (objects(lambda each: each.update(apiVersion="a/v9")),
     f"returned invalid object at index 0: invalid groupVersion (expected {GROUP}/OTHER, received a/v9)"),
    (objects(lambda each: each["metadata"].update(name="other")), "returned invalid object: must have the same name: a != other"),
    (objects(lambda each: each["metadata"].update(namespace="other")), "returned invalid object: must have the same namespace: "),
    (objects(lambda each: each["metadata"].update(uid="other")), "returned invalid object: must have the same UID: "),
    (objects(lambda each: each.pop("metadata")), "returned invalid object: must have the same name: a != "),
    (objects(lambda each: each["metadata"].update(labels={"a b": "c"})),
     'returned invalid metadata: metadata.labels: Invalid value: "a b": name part must consist of '),
])
def test_what_a_webhook_may_not_answer(api, serve, converter, change, problem):
    kind = serve(converter.conversion)
    kind.make("v2", "a")
    converter.change = change
    # A real server sometimes converts its own v1 back first.
    expected = tuple(f"conversion webhook for {GROUP}/{one}, Kind={kind.kind} " + problem.replace("KIND", kind.kind).replace("OTHER", other)
                     for one, other in (("v2", "v1"), ("v1", "v2")))
    for answer in (api.get(kind.path("v1", "a")), api.patch(kind.path("v1", "a"), {"spec": {"count": 1}}),
                   api.get(kind.path("v1")), api.delete(kind.path("v1", "a"))):
        assert answer.status == 500 and answer.json["message"].startswith(expected), answer
    assert kind.make("v1", "b").status == 500
    assert spec_of(api.get(kind.path("v2", "a"))) == {"new": "x"}
    assert api.get(kind.path("v2", "b")).status == 404


def test_metadata_is_kept_but_for_labels_and_annotations(api, serve, converter):
    kind = serve(converter.conversion)
    made = kind.make("v2", "a", metadata={"name": "a", "labels": {"k": "v"}}).json["metadata"]

    def change(each):
        each["metadata"].update(labels={"from": "webhook"}, annotations={"b": "c"}, resourceVersion="1", generation=9,
                                finalizers=["a.example.com/x"])
    converter.change = objects(change)
    seen = api.get(kind.path("v1", "a")).json["metadata"]
    assert seen["labels"] == {"from": "webhook"} and seen["annotations"] == {"b": "c"}
    assert (seen["resourceVersion"], seen["generation"]) == (made["resourceVersion"], made["generation"])
    assert "finalizers" not in seen
    converter.change = objects(lambda each: each["metadata"].pop("labels", None))
    assert "labels" not in api.get(kind.path("v1", "a")).json["metadata"]


def causes(answer):
    assert answer.status == 422, answer
    return [(cause["field"].removeprefix("spec.conversion."), cause["message"]) for cause in answer.json["details"]["causes"]]


CLIENT, VERSIONS = "webhookClientConfig", "conversionReviewVersions"
ONE_OF = "Required value: exactly one of url or service is required"


def webhook(client=None, versions=("v1",)):
    return {"strategy": "Webhook", "webhook": {"conversionReviewVersions": list(versions),
                                               **({} if client is None else {"clientConfig": client})}}


@pytest.mark.parametrize("conversion, problems", [
    ({"strategy": "Webhook"}, [(CLIENT, "Required value: required when strategy is set to Webhook"), (VERSIONS, "Required value")]),
    (webhook(), [(CLIENT, "Required value: required when strategy is set to Webhook")]),
    (webhook({}), [(CLIENT, ONE_OF)]),
    (webhook({"url": "https://h", "service": {"name": "a", "namespace": "b"}}), [(CLIENT, ONE_OF)]),
    (webhook({"url": "http://h"}), [(CLIENT + ".url", "Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: "
                                     "https://host[/path]")]),
    (webhook({"service": {"name": "", "namespace": ""}}), [(CLIENT + ".service.name", "Required value: service name is required"),
                                                          (CLIENT + ".service.namespace", "Required value: service namespace is required")]),
    (webhook({"url": "https://h"}, ["v1", "v1"]), [(VERSIONS + "[1]", 'Invalid value: "v1": duplicate version')]),
    ({"strategy": "Odd"}, [("strategy", 'Unsupported value: "Odd": supported values: "None", "Webhook"')]),
    ({**webhook({"url": "https://h"}), "strategy": "None"},
     [(CLIENT, "Forbidden: should not be set when strategy is not set to Webhook"),
      (VERSIONS, "Forbidden: should not be set when strategy is not set to Webhook")]),
])
def test_conversions_that_are_refused(api, conversion, problems):
    answer = api.post(DEFINITIONS + "?dryRun=All", definition("refused", conversion))
    assert causes(answer) == problems


def test_a_service_has_a_port(api):
    answer = api.post(DEFINITIONS + "?dryRun=All", definition("ports", webhook({"service": {"name": "a", "namespace": "b"}})))
    assert answer.json["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] == 443


def test_objects_that_were_stored_in_an_earlier_version(api, serve):
    kind = serve({"strategy": "None"}, stored="v1", words=("old", "old"))
    made = kind.make("v1", "a")
    assert made.status == 201, made
    crd = f"{DEFINITIONS}/{kind.plural}.{GROUP}"
    whole = api.get(crd).json
    for version in whole["spec"]["versions"]:
        version["storage"] = version["name"] == "v2"
    answer = api.put(crd, whole)
    assert answer.status == 200, answer
    assert answer.json["status"]["storedVersions"] == ["v1", "v2"] or api.get(crd).json["status"]["storedVersions"] == ["v1", "v2"]
    for version in ("v1", "v2"):
        assert api.get(kind.path(version, "a")).json["apiVersion"] == f"{GROUP}/{version}"
        assert [each["apiVersion"] for each in api.get(kind.path(version)).json["items"]] == [f"{GROUP}/{version}"]
        answer = api.patch(kind.path(version, "a"), {"spec": {"old": version}})
        assert spec_of(answer) == {"old": version} and answer.json["apiVersion"] == f"{GROUP}/{version}"
    watch = api.watch(kind.path("v2") + "?watch=1")
    assert watch.next()["object"]["apiVersion"] == f"{GROUP}/v2"
    watch.close()
