"""Values in custom resources that several readers take differently: numbers, embedded objects, deep ones, scales."""

import json

import pytest

from test_deletion import define

INTEGERS = {"plain": {"type": "integer"}, "short": {"type": "integer", "format": "int32"},
            "long": {"type": "integer", "format": "int64"}, "port": {"x-kubernetes-int-or-string": True}, "real": {"type": "number"},
            "single": {"type": "number", "format": "float"}, "double": {"type": "number", "format": "double"}}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}


def definition(name, spec, **version):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{name}s.values.example.com"}, "spec": {
                "group": "values.example.com", "scope": "Namespaced", "names": {"plural": name + "s", "kind": name.capitalize()},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {
                        "spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}, **version}]}}


class Kind:
    """One kind of the group, whose objects are given as JSON text."""

    def __init__(self, api, namespace, name):
        self.api, self.name = api, name
        self.path = f"/apis/values.example.com/v1/namespaces/{namespace}/{name}s"

    def make(self, spec, name="a"):
        head = {"apiVersion": "values.example.com/v1", "kind": self.name.capitalize(), "metadata": {"name": name}}
        return self.api.post(self.path, json.dumps(head)[:-1] + f', "spec": {spec}}}')


@pytest.fixture(scope="module")
def kinds(api):
    """Defined once: tests name their objects apart."""
    made = [definition("whole", {"type": "object", "properties": {**INTEGERS, "inner": EMBEDDED}}),
            definition("scaled", {"type": "object", "properties": {"replicas": {"type": "integer"}}}, subresources={
                "status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}})]
    for each in made:
        define(api, each)
    yield made
    for each in made:
        api.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{each['metadata']['name']}")


@pytest.fixture
def whole(api, namespace, kinds):
    return Kind(api, namespace, "whole")


@pytest.fixture
def scaled(api, namespace, kinds):
    return Kind(api, namespace, "scaled")


def causes(answer):
    assert answer.status == 422, answer
    return sorted(f"{cause['field']}: {cause['message']}" for cause in answer.json["details"]["causes"])


@pytest.mark.parametrize("field", ["plain", "short", "port", "real"])
@pytest.mark.parametrize("text,number", [("2.0", 2), ("-0.0", 0), ("1e3", 1000), ("2.00", 2)])
def test_whole_numbers_are_integers(whole, field, text, number):
    made = whole.make(f'{{"{field}": {text}}}')
    assert made.status == 201 and made.json["spec"][field] == number, made


@pytest.mark.parametrize("field,wanted", [("plain", "integer"), ("short", "integer"), ("port", "integer,string")])
def test_other_numbers_are_none(whole, field, wanted):
    assert causes(whole.make(f'{{"{field}": 2.5}}')) == [
        f'spec.{field}: Invalid value: "number": spec.{field} in body must be of type {wanted}: "number"']


@pytest.mark.parametrize("field", ["plain", "short", "long", "port", "real", "single", "double"])
@pytest.mark.parametrize("number", [2 ** 31, -2 ** 31 - 1, 2 ** 63 - 1, -2 ** 63])
def test_formats_of_numbers_limit_nothing(whole, field, number):
    made = whole.make(f'{{"{field}": {number}}}')
    assert made.status == 201 and made.json["spec"][field] == number, made


@pytest.mark.parametrize("field", ["real", "single", "double"])
def test_real_numbers_may_be_large(whole, field):
    made = whole.make(f'{{"{field}": 1e39}}')
    assert made.status == 201 and made.json["spec"][field] == 1e39, made


@pytest.mark.parametrize("field,wanted", [("plain", "integer"), ("short", "integer"), ("long", "integer"), ("port", "integer,string")])
@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e19", "9007199254740992.0"])
def test_integers_end(whole, field, wanted, text):
    assert causes(whole.make(f'{{"{field}": {text}}}')) == [
        f'spec.{field}: Invalid value: "number": spec.{field} in body must be of type {wanted}: "number"']


@pytest.mark.parametrize("inner,wrong", [
    ({}, ["apiVersion: Required value: must not be empty", "kind: Required value: must not be empty"]),
    ({"kind": "Pod"}, ["apiVersion: Required value: must not be empty"]),
    ({"apiVersion": "v1"}, ["kind: Required value: must not be empty"]),
    ({"apiVersion": "", "kind": ""}, ['apiVersion: Invalid value: "": must not be empty', 'kind: Invalid value: "": must not be empty']),
    ({"apiVersion": "a/b/c", "kind": "Pod"}, ['apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c']),
    ({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Any Name"}}, []),
    ({"apiVersion": "v1", "kind": "Pod", "other": {"is": "kept"}}, [])])
def test_an_embedded_object_says_what_it_is(whole, inner, wrong):
    made = whole.make(json.dumps({"inner": inner}))
    if wrong:
        assert causes(made) == sorted("spec.inner." + each for each in wrong)
    else:
        assert made.status == 201 and made.json["spec"]["inner"] == inner


def test_an_embedded_kind_and_namespace_have_a_form(whole):
    for inner, field in (({"kind": "Pod/x"}, "kind"), ({"metadata": {"namespace": "x_"}}, "metadata.namespace"),
                         ({"metadata": {"name": "a/b"}}, "metadata.name")):
        refused = whole.make(json.dumps({"inner": {"apiVersion": "v1", "kind": "Pod", **inner}}))
        assert [cause.split(":")[0] for cause in causes(refused)] == ["spec.inner." + field]


@pytest.mark.parametrize("number,why", [
    ("2147483648", "should be less than or equal to 2147483647"), ("9223372036854775807", "should be less than or equal to 2147483647"),
    ("-1", "should be a non-negative integer")])
def test_the_replicas_of_a_custom_resource(api, scaled, number, why):
    wrong = f"Invalid value: {number}: {why}"
    assert causes(scaled.make(f'{{"replicas": {number}}}')) == [".spec.replicas: " + wrong]
    assert scaled.make('{"replicas": 1}').status == 201
    assert causes(api.patch(scaled.path + "/a", f'{{"spec": {{"replicas": {number}}}}}')) == [".spec.replicas: " + wrong]
    assert causes(api.patch(scaled.path + "/a/status", f'{{"status": {{"replicas": {number}}}}}')) == [".status.replicas: " + wrong]
    assert api.patch(scaled.path + "/a/scale", f'{{"spec": {{"replicas": {number}}}}}').status == 422
    assert api.get(scaled.path + "/a/scale").json["spec"]["replicas"] == 1


@pytest.mark.parametrize("depth", [13, 30, 60])
def test_a_deep_definition(api, namespace, depth):
    spec, value = {"type": "object", "properties": {"leaf": {"type": "string"}}}, {"leaf": "x"}
    for _ in range(depth):
        spec, value = {"type": "object", "properties": {"d": spec}}, {"d": value}
    made = definition(f"deep{depth}", spec)
    define(api, made)
    try:
        assert api.get("/openapi/v2").status == 200
        assert api.get("/openapi/v3/apis/values.example.com/v1").status == 200
        body = {"apiVersion": "values.example.com/v1", "kind": f"Deep{depth}", "metadata": {"name": "a"}, "spec": value}
        path = f"/apis/values.example.com/v1/namespaces/{namespace}/deep{depth}s"
        applied = {**body, "metadata": {"name": "a", "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": json.dumps(body)}}}
        assert api.post(path + "?fieldManager=kubectl-client-side-apply", applied).status == 201
        # What kubectl has applied on its own side is its own: no conflict.
        leaf = json.loads(json.dumps(body).replace('"leaf": "x"', '"leaf": "y"'))
        changed = api.patch(path + "/a?fieldManager=kubectl", leaf, "apply")
        assert changed.status == 200 and '"leaf":"y"' in changed.text.replace(" ", "")
    finally:
        api.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{made['metadata']['name']}")
