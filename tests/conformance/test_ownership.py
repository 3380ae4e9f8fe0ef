"""Two managers apply generated configurations in turn: the object and its owners are those of a real server."""

import json
import random

import pytest

from recordings import compare
from test_deletion import DEFINITIONS, define

SEEDS = 10
STEPS = 6
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.owned.example.com"},
    "spec": {"group": "owned.example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"}, "versions": [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer"},
                "plain": {"type": "object", "additionalProperties": {"type": "string"}},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
                "list": {"type": "array", "items": {"type": "string"}},
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
                    "type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string"}, "value": {"type": "string"}}}},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}}}]}}


class Documents:
    """Configurations of one kind, the same for each seed."""

    def __init__(self, kind, seed):
        self.rng = random.Random(f"{kind} {seed}")
        self.make = getattr(self, kind)

    def maybe(self, share):
        return self.rng.random() < share

    def text(self):
        return self.rng.choice("pq")

    def texts(self, keys="ab"):
        return {key: self.text() for key in self.rng.sample(keys, self.rng.randint(0, len(keys)))}

    def some(self, items):
        return self.rng.sample(items, self.rng.randint(0, len(items)))

    def fields(self, **makers):
        """Each with its share: (share, maker)."""
        return {name: make() for name, (share, make) in makers.items() if self.maybe(share)}

    def metadata(self):
        meta = {"name": "o", **self.fields(labels=(.6, self.texts), annotations=(.6, self.texts),
                                           finalizers=(.4, lambda: self.some(["x.y/a", "x.y/b"])))}
        if self.maybe(.1):
            meta[self.rng.choice(["labels", "annotations", "finalizers"])] = None
        return meta

    def widget(self):
        spec = self.fields(
            size=(.4, lambda: self.rng.randint(0, 1)), plain=(.5, self.texts), whole=(.4, self.texts),
            list=(.4, lambda: [self.text() for _ in range(self.rng.randint(0, 2))]), set=(.4, lambda: self.some("pqr")),
            map=(.5, lambda: [{"name": name, **self.fields(value=(.6, self.text))} for name in self.some("xyz")]),
            any=(.5, lambda: self.rng.choice([{}, {"a": 1}, {"a": {"b": self.text()}}, {"l": [1, 2]}, {"a": {}}])))
        return {"apiVersion": "owned.example.com/v1", "kind": "Widget", "metadata": self.metadata(),
                **({"spec": spec} if self.maybe(.8) else {})}

    def configmap(self):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": self.metadata(),
                **self.fields(data=(.8, lambda: None if self.maybe(.1) else self.texts()))}

    def service(self):
        ports = [{"name": f"p{port}", "port": port, "protocol": "TCP",
                  **self.fields(targetPort=(.5, lambda: self.rng.choice([1, "web"])))}
                 for port in self.rng.sample([80, 81, 82], self.rng.randint(1, 3))]
        return {"apiVersion": "v1", "kind": "Service", "metadata": self.metadata(),
                "spec": {"clusterIP": "None", "ports": ports, "selector": {"c": "c", **self.texts()}}}

    def deployment(self):
        containers = [{"name": name, "image": self.text(), **self.fields(
            env=(.5, lambda: [{"name": each, **self.fields(value=(.7, self.text))} for each in self.some("EF")]),
            args=(.5, lambda: [self.text()]),
            ports=(.4, lambda: [{"containerPort": port, "protocol": "TCP"} for port in self.some([1, 2])]))}
            for name in self.rng.sample("cd", self.rng.randint(1, 2))]
        pod = {"containers": containers, **self.fields(
            nodeSelector=(.4, self.texts), tolerations=(.3, lambda: [{"key": self.text(), "operator": "Exists"}]),
            volumes=(.3, lambda: [{"name": name, "emptyDir": {}} for name in self.some("vw")]))}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(), "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "paused": True,
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod},
            **self.fields(replicas=(.4, lambda: self.rng.randint(0, 2)))}}


def applied(spec):
    """Of a spec, what the configurations say, without the defaults."""
    if "template" in spec:
        pod = spec["template"]["spec"]
        containers = [{key: each[key] for key in ("name", "image", "env", "args", "ports") if key in each} for each in pod["containers"]]
        return {"containers": containers, **{key: pod[key] for key in ("nodeSelector", "tolerations", "volumes") if key in pod}}
    return {key: spec[key] for key in ("ports", "selector")} if "clusterIP" in spec else spec


def shown(answer):
    """What of an answer does not differ from run to run."""
    if answer.status not in (200, 201):
        return [answer.status, sorted(str(cause.get("field")) for cause in answer.json.get("details", {}).get("causes", []))]
    meta, spec = answer.json["metadata"], answer.json.get("spec", answer.json.get("data"))
    owners = {f"{entry['manager']} {entry['operation']}": entry["fieldsV1"] for entry in meta.get("managedFields", [])
              if entry["manager"] in ("one", "two")}
    kept = {key: meta[key] for key in ("labels", "annotations", "finalizers") if key in meta}
    # A controller of the real server counts revisions there.
    kept.get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
    return [answer.status, {key: value for key, value in kept.items() if value}, spec and applied(spec), owners]


@pytest.fixture(scope="module")
def widgets(api):
    define(api, DEFINITION)
    yield
    api.delete(f"{DEFINITIONS}/{DEFINITION['metadata']['name']}")


@pytest.mark.parametrize("kind,path", [
    ("widget", "/apis/owned.example.com/v1/namespaces/%s/widgets"), ("configmap", "/api/v1/namespaces/%s/configmaps"),
    ("service", "/api/v1/namespaces/%s/services"), ("deployment", "/apis/apps/v1/namespaces/%s/deployments")])
def test_two_managers_in_turn(api, widgets, namespace, kind, path):
    answers = {}
    for seed in range(SEEDS):
        documents = Documents(kind, seed)
        name = path % namespace + "/o"
        for step in range(STEPS):
            manager, force = documents.rng.choice(["one", "two"]), documents.rng.choice(["true", "false"])
            body = documents.make()
            answer = api.patch(f"{name}?fieldManager={manager}&force={force}", json.dumps(body), "apply")
            answers[f"{seed}.{step}"] = shown(answer)
        api.patch(name, {"metadata": {"finalizers": None}})
        api.delete(name)
        api.gone(path % namespace, "o")
    compare(f"ownership_{kind}", answers)
