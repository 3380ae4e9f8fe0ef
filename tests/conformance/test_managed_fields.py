"""Who owns what after generated writes of every kind: the entries, their times and their order are those of a real server.

After each write the times of all entries are set back, so an entry whose time is new was written since."""

import base64
import copy
import json
import random

import pytest

from recordings import compare
from test_deletion import DEFINITIONS, define
from test_ownership import DEFINITION, Documents
from webhook_server import WebhookServer, certificates_in_a_folder

SEEDS = 12
STEPS = 12
OURS = ("one", "two", "three", "four", "before-first-apply", "ancient-changes")
OLD = "2020-01-01T00:00:00Z"


def gadgets():
    """The definition of test_ownership with subresources."""
    made = json.loads(json.dumps(DEFINITION).replace("widget", "gadget").replace("Widget", "Gadget"))
    version = made["spec"]["versions"][0]
    version["subresources"] = {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}
    fields = version["schema"]["openAPIV3Schema"]["properties"]
    fields["spec"]["properties"]["replicas"] = {"type": "integer"}
    fields["status"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {
        "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"], "items": {
            "type": "object", "required": ["type"], "properties": {name: {"type": "string"} for name in (
                "type", "status", "reason", "message", "lastTransitionTime")}}}}}
    return made


class Bodies(Documents):
    """What is sent, the same for each seed."""

    def gadget(self):
        made = self.widget()
        made["kind"] = "Gadget"
        if self.maybe(.5):
            made.setdefault("spec", {})["replicas"] = self.rng.randint(0, 2)
        return made

    def status(self):
        conditions = [{"type": name, "status": "True", "lastTransitionTime": OLD, "reason": self.text().upper(), "message": self.text(),
                       **({"lastUpdateTime": OLD} if self.make.__name__ == "deployment" else {})}
                      for name in self.some(["x.y/T", "x.y/U"])]
        return {"conditions": conditions}

    def changed(self, value):
        """Another value of its type."""
        if isinstance(value, bool):
            return not value
        return value + 1 if isinstance(value, int) else self.text()


def leaves(value, path=()):
    """Of an object, the paths of what is neither list nor object, in order."""
    if isinstance(value, (dict, list)):
        for key, below in sorted(value.items()) if isinstance(value, dict) else enumerate(value):
            yield from leaves(below, (*path, str(key)))
    else:
        yield path, value


def pointer(path):
    return "/" + "/".join(key.replace("~", "~0").replace("/", "~1") for key in path)


def merged(value, change):
    """As a merge patch does it."""
    if not isinstance(change, dict):
        return change
    made = dict(value) if isinstance(value, dict) else {}
    for key, below in change.items():
        made[key] = merged(made.get(key), below)
        if below is None:
            del made[key]
    return made


WRONG_ENTRIES = [
    {"manager": "wrong"},
    {"manager": "wrong", "operation": "Odd", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}},
    {"manager": "wrong", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}},
    {"manager": "wrong", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {}}},
    {"manager": "wrong", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV2", "fieldsV1": {"f:data": {}}},
    {"manager": "wrong", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"x": {}}},
    {"manager": "wrong", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"k:[]": {}}},
]


class Writer:
    """Writes to one object, and what is to be compared of the answers."""

    def __init__(self, api, bodies, kind, collection):
        self.api, self.bodies, self.rng, self.kind = api, bodies, bodies.rng, kind
        self.collection, self.path = collection, collection + "/o"
        self.owners, self.clock = {}, 0

    def send(self, method, path, body, content="application/json", **query):
        query["fieldManager"] = query.get("fieldManager", self.rng.choice(OURS[:3]))
        if self.rng.random() < .1:
            query["dryRun"] = "All"
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return self.api.call(method, f"{path}?{text}", body, Content_Type=content)

    def current(self):
        answer = self.api.get(self.path)
        return answer.json if answer.status == 200 else None

    def body(self):
        made = self.bodies.make()
        if self.kind == "deployment":
            made["metadata"].pop("annotations", None)  # a controller counts revisions there
        return made

    def whole(self):
        """The object for a PUT."""
        return self.current() or self.body()

    def write(self, name):
        """Once more where a controller wrote since the object was read."""
        chance = self.rng.getstate()
        while True:
            answer = getattr(self, name)()
            if answer.status != 409 or "the object has been modified" not in answer.json["message"]:
                return answer
            self.rng.setstate(chance)

    def change(self):
        """A merge patch of some fields, some of which it removes."""
        made = self.body()
        for key in ("apiVersion", "kind"):
            del made[key]
        del made["metadata"]["name"]
        for part in [part for part in made.values() if isinstance(part, dict)]:
            for key in sorted(part):
                if self.bodies.maybe(.25):
                    del part[key]
                elif self.bodies.maybe(.2):
                    part[key] = None
        return made

    def create(self):
        made = self.body()
        if self.bodies.maybe(.2):
            made["metadata"]["managedFields"] = [self.rng.choice(WRONG_ENTRIES)]
        return self.send("POST", self.collection, made)

    def apply(self):
        return self.send("PATCH", self.path, self.body(), "application/apply-patch+yaml", force=self.rng.choice(["true", "false"]))

    def update(self):
        change = self.change()
        made = merged(self.whole(), change)
        if self.bodies.maybe(.2):
            made["metadata"].pop("managedFields", None)
        return self.send("PUT", self.path, made)

    def update_with_entries(self):
        made = merged(self.whole(), self.change()) if self.bodies.maybe(.5) else self.whole()
        entries = made["metadata"].get("managedFields", [])
        choice = self.rng.randint(1, 7)
        if choice == 1:
            entries = [{}]
        elif choice == 2:
            entries = [*entries, self.rng.choice(WRONG_ENTRIES)]
        elif choice == 3:
            entries = entries[:-1] if self.kind != "deployment" else entries
        elif choice == 4 and entries and self.kind != "deployment":
            entries[0]["manager"] = "four"
        elif choice == 5:
            entries = [*entries, {**WRONG_ENTRIES[1], "operation": "Update", "manager": "four", "fieldsV1": {}}]
        elif choice == 6:
            entries = [*entries, {**WRONG_ENTRIES[1], "operation": "Apply", "manager": "four"}]
        else:
            for entry in [entry for entry in entries if entry["manager"] in OURS][:1]:
                entry.pop("time", None)
        made["metadata"]["managedFields"] = entries
        return self.send("PUT", self.path, made)

    def update_nothing(self):
        return self.send("PUT", self.path, self.whole())

    def merge(self):
        return self.send("PATCH", self.path, self.change(), "application/merge-patch+json")

    def merge_entries(self):
        return self.send("PATCH", self.path, {"metadata": {"managedFields": self.rng.choice([None, [{}], [WRONG_ENTRIES[1]]])}},
                         "application/merge-patch+json")

    def strategic(self):
        if self.kind == "gadget":
            return self.merge()
        return self.send("PATCH", self.path, self.change(), "application/strategic-merge-patch+json")

    def json_patch(self):
        now = self.current() or {}
        parts = {"metadata": {key: now.get("metadata", {}).get(key, {}) for key in ("labels", "finalizers")},
                 **{key: now[key] for key in ("spec", "data") if key in now}}
        choices = [(path, value) for path, value in leaves(parts)
                   if path[-1] != "clock" and value is not None and not {"clusterIPs", "ipFamilies", "ipFamilyPolicy"} & set(path)]
        patch = [{"op": "add", "path": "/metadata/labels", "value": self.bodies.texts()}] if self.bodies.maybe(.3) else []
        if patch:
            choices = [(path, value) for path, value in choices if path[1] != "labels"]
        if choices and self.bodies.maybe(.8):
            path, value = self.rng.choice(choices)
            if self.bodies.maybe(.4):
                patch.append({"op": "remove", "path": pointer(path)})
            else:
                patch.append({"op": "replace", "path": pointer(path), "value": self.bodies.changed(value)})
        return self.send("PATCH", self.path, patch, "application/json-patch+json")

    def metadata(self):
        return self.send("PATCH", self.path, {"metadata": {key: value for key, value in self.body()["metadata"].items() if key != "name"}},
                         "application/merge-patch+json")

    def status(self):
        if self.kind == "configmap":
            return self.merge()
        status = self.bodies.status()
        identity = {key: self.body()[key] for key in ("apiVersion", "kind")}
        how = self.rng.choice(["put", "merge", "apply", "force"])
        path = self.path + "/status"
        if how == "put":
            made = self.whole()
            made["status"] = {**made.get("status", {}), **status}
            made["metadata"].setdefault("labels", {})["s"] = self.bodies.text()
            return self.send("PUT", path, made)
        if how == "merge":
            return self.send("PATCH", path, {"metadata": {"labels": {"s": self.bodies.text()}}, "status": status}, "application/merge-patch+json")
        return self.send("PATCH", path, {**identity, "metadata": {"name": "o"}, "status": status}, "application/apply-patch+yaml",
                         force=str(how == "force").lower())

    def scale(self):
        if self.kind not in ("gadget", "deployment"):
            return self.merge()
        # Always another number: where none changes, a real server writes two entries of one name. It can't apply a Scale of a custom resource.
        path, replicas = self.path + "/scale", self.rng.randint(1, 3) + 3 * ((self.current() or {}).get("spec", {}).get("replicas", 1) < 4)
        how = self.rng.choice(["put", "merge", "json", *(["apply", "force"] if self.kind == "deployment" else [])])
        scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "o"}, "spec": {"replicas": replicas}}
        if how == "put":
            scale["metadata"]["namespace"] = self.path.split("/namespaces/")[1].split("/")[0]
            return self.send("PUT", path, scale)
        if how == "merge":
            return self.send("PATCH", path, {"spec": {"replicas": replicas}}, "application/merge-patch+json")
        if how == "json":
            return self.send("PATCH", path, [{"op": "replace", "path": "/spec/replicas", "value": replicas}], "application/json-patch+json")
        return self.send("PATCH", path, scale, "application/apply-patch+yaml", force=str(how == "force").lower())

    def shown(self, step, answer):
        """What of an answer does not differ from run to run: of the entries those that the step has changed, and the order of all."""
        seen = [step, answer.status]
        if answer.status == 409:
            return [*seen, answer.json["message"] if "conflict" in answer.json["message"] else ""]
        now = self.current()
        if now is None:
            return seen
        order, owners = [], {}
        for entry in now["metadata"].get("managedFields", []):
            if entry["manager"] in OURS:
                name = " ".join([entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource", "")]).strip()
                time = entry.get("time")
                order.append(name + {OLD: "", None: " (no time)"}.get(time, " (new)"))
                owners[name] = entry["fieldsV1"]
                if self.kind == "deployment":  # a controller may have made the list
                    owners[name].get("f:status", {}).get("f:conditions", {}).pop(".", None)
        changed = {name: fields for name, fields in owners.items() if self.owners.get(name) != fields}
        self.owners = owners
        return [*seen, order, changed]

    def set_back(self):
        """The times of all entries, by a write that changes something else too: times alone are no change."""
        self.clock += 1
        while True:
            now = self.whole()
            entries = now["metadata"].get("managedFields")
            if "uid" not in now["metadata"] or not entries:
                return
            for entry in entries:
                entry["time"] = OLD
            now["metadata"].setdefault("labels", {})["clock"] = str(self.clock)
            answer = self.api.put(self.path + "?fieldManager=clock", now)
            if answer.status != 409:
                assert answer.status == 200, answer
                assert all(entry["time"] == OLD for entry in answer.json["metadata"]["managedFields"] if entry["manager"] in OURS), answer
                return


STEPS_OF = ["apply", "apply", "apply", "update", "update", "update_with_entries", "update_nothing", "merge", "merge", "merge_entries",
            "strategic", "json_patch", "metadata", "status", "status", "scale", "scale"]


@pytest.fixture(scope="module")
def definition(api):
    made = gadgets()
    define(api, made)
    yield
    api.delete(f"{DEFINITIONS}/{made['metadata']['name']}")


@pytest.mark.parametrize("kind,path", [
    ("gadget", "/apis/owned.example.com/v1/namespaces/%s/gadgets"), ("configmap", "/api/v1/namespaces/%s/configmaps"),
    ("service", "/api/v1/namespaces/%s/services"), ("deployment", "/apis/apps/v1/namespaces/%s/deployments")])
def test_writes_of_every_kind(api, definition, namespace, kind, path):
    answers = {}
    for seed in range(SEEDS):
        writer = Writer(api, Bodies(kind, f"managed {seed}"), kind, path % namespace)
        for step in range(STEPS):
            name = "create" if step == 0 and seed % 3 else writer.rng.choice(STEPS_OF)
            answers[f"{seed}.{step}"] = writer.shown(name, writer.write(name))
            writer.set_back()
        api.patch(writer.path, {"metadata": {"finalizers": None}})
        api.delete(writer.path, {"gracePeriodSeconds": 0})
        api.gone(writer.collection, "o")
    compare(f"managed_fields_{kind}", answers)


def test_more_than_ten_managers(api, maps):
    """The oldest are merged, those of each version and subresource alike."""
    bodies = random.Random(7)
    api.post(maps + "?fieldManager=m00", {"metadata": {"name": "a"}, "data": {"m00": "0"}})
    answers = {}
    for step in range(1, 30):
        manager = f"m{bodies.randint(1, 20):02}"
        answer = api.patch(f"{maps}/a?fieldManager={manager}", {"data": {f"d{bodies.randint(0, 9)}": str(step), manager: "x"}})
        entries = answer.json["metadata"]["managedFields"]
        answers[str(step)] = {entry["manager"]: entry["fieldsV1"] for entry in entries}
        now = copy.deepcopy(answer.json)
        for entry in now["metadata"]["managedFields"]:
            entry["time"] = f"2020-01-01T00:{step:02}:00Z" if entry["manager"] == manager else entry["time"]
        now["data"]["clock"] = str(step)
        assert api.put(f"{maps}/a?fieldManager=clock", now).status == 200
    compare("managed_fields_many", answers)


def test_what_a_mutating_webhook_sets_is_owned_by_no_one(api, namespace, maps):
    """It sees the entries of the write, and may change them. A server that finds its cached object old asks it once more."""
    asked = []

    def answer(request):
        review = request.json["request"]
        asked.append(sorted(entry["manager"] for entry in review["object"]["metadata"].get("managedFields", [])))
        patch = [{"op": "add", "path": "/data/hook", "value": str(len(asked))}]
        if review["object"]["data"].get("spoil"):
            patch.append({"op": "replace", "path": "/metadata/managedFields", "value": [{"manager": "hook", "operation": "Odd"}]})
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {
            "uid": review["uid"], "allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}}

    def owners(answer):
        assert answer.status in (200, 201), answer
        return {entry["manager"]: sorted(entry["fieldsV1"].get("f:data", {})) for entry in answer.json["metadata"]["managedFields"]}

    certificates = certificates_in_a_folder()
    server = WebhookServer(certificates, answer)
    configuration = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    hook = f"hook-{namespace}"
    try:
        assert api.post(configuration, {"metadata": {"name": hook}, "webhooks": [{
            "name": "hook.example.com", "clientConfig": {"url": server.url("/"), "caBundle": certificates.bundle("root")},
            "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]}]}).status == 201
        probe = {"metadata": {"name": "probe"}, "data": {"x": "0"}}
        while "hook" not in api.post(maps + "?dryRun=All", probe).json["data"]:
            pass
        asked.clear()
        made = api.post(maps + "?fieldManager=one", {"metadata": {"name": "a"}, "data": {"x": "1"}})
        assert made.json["data"] == {"x": "1", "hook": "1"} and owners(made) == {"one": [".", "f:x"]}
        assert asked[-1] == ["one"]
        patched = api.patch(maps + "/a?fieldManager=two", {"data": {"y": "1"}})
        assert owners(patched) == {"one": [".", "f:x"], "two": ["f:y"]}
        assert asked[-1] == ["one", "two"]
        put = api.put(maps + "/a?fieldManager=three", {**patched.json, "data": {**patched.json["data"], "x": "2"}})
        assert owners(put) == {"one": [], "two": ["f:y"], "three": ["f:x"]}
        assert asked[-1] == ["one", "three", "two"]
        applied = api.patch(maps + "/a?fieldManager=four&force=true", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"z": "1"}}, "apply")
        assert owners(applied) == {"one": [], "two": ["f:y"], "three": ["f:x"], "four": ["f:z"]}
        assert asked[-1] == ["four", "one", "three", "two"]
        spoiled = api.patch(maps + "/a?fieldManager=two", {"data": {"spoil": "1"}})
        assert owners(spoiled) == {"one": [], "two": ["f:spoil", "f:y"], "three": ["f:x"], "four": ["f:z"]}
        assert ".metadata.managedFields was in an invalid state after admission" in spoiled.headers["Warning"]
    finally:
        api.delete(f"{configuration}/{hook}")
        server.stop()
