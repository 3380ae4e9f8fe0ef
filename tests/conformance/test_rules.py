"""Rules in CEL that a definition carries: what is refused when it is made, and when an object is written."""

import uuid

import pytest

from test_deletion import DEFINITIONS, define

SPEC = {
    "type": "object",
    "properties": {
        "min": {"type": "integer"}, "max": {"type": "integer"},
        "name": {"type": "string", "maxLength": 20},
        "size": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "can't shrink"}]},
        "port": {"x-kubernetes-int-or-string": True},
        "when": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "maxItems": 10, "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 10}},
        "ports": {"type": "array", "maxItems": 10, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                  "items": {"type": "object", "required": ["name"],
                            "properties": {"name": {"type": "string", "maxLength": 10}, "number": {"type": "integer"}},
                            "x-kubernetes-validations": [{"rule": "self.number == oldSelf.number", "message": "is fixed"}]}},
    },
    "x-kubernetes-validations": [
        {"rule": "!has(self.min) || !has(self.max) || self.min <= self.max", "message": "min must be <= max", "fieldPath": ".min"},
        {"rule": "!has(self.name) || self.name.matches('^[a-z]+$')", "messageExpression": "'not a name: ' + self.name",
         "reason": "FieldValueForbidden"},
        {"rule": "!has(self.port) || (type(self.port) == int ? self.port > 0 : self.port.endsWith('%'))"},
        {"rule": "!has(self.when) || self.when.getFullYear() >= 2026"},
        {"rule": "!has(self.tags) || self.tags.all(t, t.size() > 1)"},
    ],
}


def definition(group, spec):
    return {"metadata": {"name": "things." + group}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": {"type": "object", "properties": {
                "left": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= 0", "message": "none is left"}]}}}},
                "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('t')"}]}}}]}}


@pytest.fixture(scope="module")
def group(api):
    name = f"g{uuid.uuid4().hex[:8]}.example.org"
    define(api, definition(name, SPEC))
    yield name
    api.delete(f"{DEFINITIONS}/things.{name}")


@pytest.fixture
def things(group, namespace):
    return f"/apis/{group}/v1/namespaces/{namespace}/things"


def thing(things, spec, name="t"):
    return {"apiVersion": "/".join(things.split("/")[2:4]), "kind": "Thing", "metadata": {"name": name}, "spec": spec}


def causes(answer):
    assert answer.status == 422, answer
    return [(cause["reason"], cause["field"], cause["message"]) for cause in answer.json["details"]["causes"]]


@pytest.mark.parametrize("spec, cause", [
    ({"min": 2, "max": 1}, ("FieldValueInvalid", "spec.min", 'Invalid value: "object": min must be <= max')),
    ({"name": "A1"}, ("FieldValueForbidden", "spec", "Forbidden: not a name: A1")),
    ({"port": "80"}, ("FieldValueInvalid", "spec", 'Invalid value: "object": failed rule: !has(self.port) || '
                      "(type(self.port) == int ? self.port > 0 : self.port.endsWith('%'))")),
    ({"when": "2025-01-01T00:00:00Z"}, ("FieldValueInvalid", "spec", 'Invalid value: "object": failed rule: !has(self.when) || '
                                        "self.when.getFullYear() >= 2026")),
    ({"tags": ["ab", "c"]}, ("FieldValueInvalid", "spec", 'Invalid value: "object": failed rule: !has(self.tags) || '
                             "self.tags.all(t, t.size() > 1)")),
])
def test_an_object_that_breaks_a_rule(api, things, spec, cause):
    assert causes(api.post(things, thing(things, spec))) == [cause]


def test_an_object_that_keeps_all(api, things):
    spec = {"min": 1, "max": 1, "name": "a", "port": "80%", "when": "2026-01-01T00:00:00Z", "tags": ["ab"]}
    assert api.post(things, thing(things, spec)).status == 201


def test_the_name_of_an_object(api, things):
    answer = api.post(things, thing(things, {}, "other"))
    assert causes(answer) == [("FieldValueInvalid", "<nil>", 'Invalid value: "object": failed rule: '
                               "self.metadata.name.startsWith('t')")]


def test_rules_wait_for_the_structure(api, things):
    messages = [message for _, _, message in causes(api.post(things, thing(things, {"min": "x", "max": 1})))]
    assert any("some validation rules were not checked because the object was invalid" in each for each in messages)


def test_transitions(api, things):
    assert api.post(things, thing(things, {"size": 2, "ports": [{"name": "a", "number": 1}]})).status == 201
    assert causes(api.patch(things + "/t", {"spec": {"size": 1}})) == [
        ("FieldValueInvalid", "spec.size", 'Invalid value: "integer": can\'t shrink')]
    assert api.patch(things + "/t", {"spec": {"size": 3}}).status == 200
    assert api.patch(things + "/t", {"spec": {"ports": [{"name": "b", "number": 2}, {"name": "a", "number": 1}]}}).status == 200
    assert causes(api.patch(things + "/t", {"spec": {"ports": [{"name": "a", "number": 5}]}})) == [
        ("FieldValueInvalid", "spec.ports[0]", 'Invalid value: "object": is fixed')]


def test_a_status_has_rules(api, things):
    assert api.post(things, thing(things, {})).status == 201
    assert causes(api.patch(things + "/t/status", {"status": {"left": -1}})) == [
        ("FieldValueInvalid", "status.left", 'Invalid value: "integer": none is left')]
    assert api.patch(things + "/t/status", {"status": {"left": 1}}).status == 200


@pytest.mark.parametrize("rule, part", [
    ("self.none > 1", "undefined field 'none'"),
    ("self.name + 1 == 2", "found no matching overload for '_+_' applied to '(string, int)'"),
    ("self.name", "cel expression must evaluate to a bool"),
    ("self.name ==", "Syntax error"),
    ("duration('x') > duration('1s')", "invalid duration argument"),
    ("self.name.matches('(')", "invalid matches argument"),
    ("other == 1", "undeclared reference to 'other'"),
    ("['a', 'b'].all(x, ['a'].all(y, self.all.all(z, self.all.all(w, z == w))))", "estimated rule cost exceeds budget by factor of"),
])
def test_a_rule_that_is_refused(api, rule, part):
    name = f"g{uuid.uuid4().hex[:8]}.example.org"
    spec = {"type": "object", "properties": {"name": {"type": "string"}, "all": {"type": "array", "items": {"type": "string"}}},
            "x-kubernetes-validations": [{"rule": rule}]}
    answer = api.post(DEFINITIONS, definition(name, spec))
    assert any(part in message for _, _, message in causes(answer)), answer


# Where it is selected, a reserved word of CEL is a field like any other, and may be written escaped as well.
@pytest.mark.parametrize("rule", ["!has(self.namespace) || self.namespace == 'a'", "!has(self.__namespace__) || self.__namespace__ == 'a'"])
def test_a_field_with_the_name_of_a_reserved_word(api, namespace, rule):
    group = f"g{uuid.uuid4().hex[:8]}.example.org"
    spec = {"type": "object", "properties": {"namespace": {"type": "string"}, "while": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": rule}, {"rule": "!has(self.while) || self.__while__ > 0"}]}
    define(api, definition(group, spec))
    path = f"/apis/{group}/v1/namespaces/{namespace}/things"
    assert causes(api.post(path, thing(path, {"namespace": "b"}))) == [
        ("FieldValueInvalid", "spec", f'Invalid value: "object": failed rule: {rule}')]
    assert causes(api.post(path, thing(path, {"namespace": "a", "while": 0}))) == [
        ("FieldValueInvalid", "spec", 'Invalid value: "object": failed rule: !has(self.while) || self.__while__ > 0')]
    assert api.post(path, thing(path, {"namespace": "a", "while": 1})).status == 201
    api.delete(f"{DEFINITIONS}/things.{group}")
