"""Schemas of definitions: logical junctors and limits of numbers, and what an update leaves wrong as it was."""

import copy
import json
import uuid

import pytest

from test_deletion import DEFINITIONS, define
from test_rules import causes

ITEMS = {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}, "v": {"type": "integer"}}}
PARTS = {
    "choice": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
               "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "any": {"type": "string", "anyOf": [{"pattern": "^a"}, {"minLength": 5}]},
    "all": {"type": "integer", "allOf": [{"minimum": 2}, {"maximum": 5}], "not": {"enum": [3]}},
    "third": {"type": "integer", "multipleOf": 3},
    "part": {"type": "number", "minimum": 0.5, "maximum": 2, "exclusiveMaximum": True},
    "one": {"type": "integer", "enum": [1, 2]},
    "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    "nested": {"type": "object", "properties": {"kind": {"type": "string"}, "size": {"type": "integer"},
                                                "list": {"type": "array", "items": {"type": "string"}}},
               "anyOf": [{"properties": {"kind": {"enum": ["small"]}, "size": {"maximum": 10}}},
                         {"properties": {"kind": {"enum": ["large"]}, "list": {"items": {"maxLength": 3}}}}]},
}
#  Loose at first, strict later: what was stored meanwhile is wrong.
LOOSE = {
    "text": {"type": "string"}, "number": {"type": "integer"},
    "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"], "items": ITEMS},
    "plain": {"type": "array", "items": ITEMS},
    "set": {"type": "array", "items": {"type": "string"}},
}


def definition(group, properties, more=None):
    return {"metadata": {"name": "things." + group}, "spec": {
        "group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": properties, **(more or {})}}}}}]}}


def new_group():
    return f"g{uuid.uuid4().hex[:8]}.example.org"


def thing(group, spec, name="t"):
    return {"apiVersion": group + "/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module")
def group(api):
    name = new_group()
    define(api, definition(name, PARTS))
    yield name
    api.delete(f"{DEFINITIONS}/things.{name}")


@pytest.mark.parametrize("spec", [
    {"choice": {"a": "x"}}, {"choice": {"b": 1}}, {"any": "abc"}, {"any": "xyzxyz"}, {"all": 4}, {"third": 9}, {"part": 0.5},
    {"one": 2}, {"port": "a"}, {"port": 1}, {"nested": {"kind": "small", "size": 10}}, {"nested": {"kind": "large", "list": ["a"]}},
])
def test_what_fits(api, group, namespace, spec):
    assert api.post(f"/apis/{group}/v1/namespaces/{namespace}/things", thing(group, spec)).status == 201


INVALID = "FieldValueInvalid"


@pytest.mark.parametrize("spec, wanted", [
    ({"choice": {"a": "x", "b": 1}},
     [(INVALID, "<nil>", 'Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found 2 valid alternatives')]),
    ({"choice": {}},
     [(INVALID, "<nil>", 'Invalid value: "": "spec.choice" must validate one and only one schema (oneOf). Found none valid'),
      ("FieldValueRequired", "spec.choice.a", "Required value")]),
    ({"any": "xyz"},
     [(INVALID, "<nil>", 'Invalid value: "": "spec.any" must validate at least one schema (anyOf)'),
      (INVALID, "spec.any", 'Invalid value: "xyz": spec.any in body should match \'^a\'')]),
    ({"all": 6},
     [(INVALID, "<nil>", 'Invalid value: "": "spec.all" must validate all the schemas (allOf)'),
      (INVALID, "spec.all", "Invalid value: 6: spec.all in body should be less than or equal to 5")]),
    ({"all": 3}, [(INVALID, "<nil>", 'Invalid value: "": "spec.all" must not validate the schema (not)')]),
    ({"third": 10}, [(INVALID, "spec.third", "Invalid value: 10: spec.third in body should be a multiple of 3")]),
    ({"part": 0.25}, [(INVALID, "spec.part", "Invalid value: 0.25: spec.part in body should be greater than or equal to 0.5")]),
    ({"part": 2}, [(INVALID, "spec.part", "Invalid value: 2: spec.part in body should be less than 2")]),
    ({"one": 3}, [("FieldValueNotSupported", "spec.one", 'Unsupported value: 3: supported values: "1", "2"')]),
    ({"nested": {"kind": "small", "size": 11}},
     [(INVALID, "<nil>", 'Invalid value: "": "spec.nested" must validate at least one schema (anyOf)'),
      (INVALID, "spec.nested.size", "Invalid value: 11: spec.nested.size in body should be less than or equal to 10")]),
    ({"nested": {"kind": "large", "list": ["abcd"]}},
     [(INVALID, "<nil>", 'Invalid value: "": "spec.nested" must validate at least one schema (anyOf)'),
      ("FieldValueTooLong", "spec.nested.list[0]", "Too long: may not be more than 3 bytes")]),
])
def test_what_does_not(api, group, namespace, spec, wanted):
    assert sorted(causes(api.post(f"/apis/{group}/v1/namespaces/{namespace}/things", thing(group, spec)))) == sorted(wanted)


@pytest.mark.parametrize("part, field, message", [
    ({"type": "string", "allOf": [{"type": "string"}]}, "allOf[0].type", "Forbidden: must be empty to be structural"),
    ({"type": "string", "anyOf": [{"default": "x"}]}, "anyOf[0].default", "Forbidden: must be undefined to be structural"),
    ({"type": "string", "oneOf": [{"description": "x"}]}, "oneOf[0].description", "Forbidden: must be empty to be structural"),
    ({"type": "string", "not": {"nullable": True}}, "not.nullable", "Forbidden: must be false to be structural"),
    ({"type": "object", "allOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}, "allOf[0].x-kubernetes-validations",
     "Forbidden: must be empty to be structural"),
    ({"type": "object", "anyOf": [{"additionalProperties": {"pattern": "a"}}]}, "anyOf[0].additionalProperties",
     "Forbidden: must be undefined to be structural"),
])
def test_what_a_junctor_must_not_say(api, part, field, message):
    found = causes(api.post(DEFINITIONS, definition(new_group(), {"p": part})))
    assert any(at.endswith(field) and text.startswith(message) for _, at, text in found), found


# Each begins to count only in the syntax of RE2.
PATTERNS = {
    r"^\pL+$": ("straße", "a1"),
    r"^\p{Greek}$": ("λ", "a"),
    "^[[:alpha:]]+$": ("abc", "1"),
    r"^\d+\z": ("12", "12\n"),
    r"^\Qa.b\E$": ("a.b", "axb"),
    "(?i)^abc$": ("ABC", "abd"),
    "^.$": ("é", "\n"),
    "^(a+)+$": ("a" * 5000, "a" * 5000 + "b"),
    "^[a-z]{1,63}(-[a-z]{1,63}){0,3}$": ("some-name", "Some-name"),
    "^(|a)+$": ("aa", "b"),
}


def test_patterns(api, namespace):
    name = new_group()
    define(api, definition(name, {f"p{i}": {"type": "string", "pattern": pattern} for i, pattern in enumerate(PATTERNS)}))
    path = f"/apis/{name}/v1/namespaces/{namespace}/things"
    right = api.post(path, thing(name, {f"p{i}": good for i, (good, _) in enumerate(PATTERNS.values())}))
    assert right.status == 201, right.json
    wrong = causes(api.post(path, thing(name, {f"p{i}": bad for i, (_, bad) in enumerate(PATTERNS.values())}, "wrong")))
    assert sorted((at, text[text.rindex("should match"):]) for _, at, text in wrong) == sorted(
        (f"spec.p{i}", f"should match '{pattern}'") for i, pattern in enumerate(PATTERNS))
    api.delete(f"{DEFINITIONS}/things.{name}")


@pytest.mark.parametrize("pattern, problem", [
    ("(", "missing closing ): `(`"), ("a)", "unexpected ): `a)`"), ("[a", "missing closing ]: `[a`"),
    ("[z-a]", "invalid character class range: `z-a`"), (r"\8", r"invalid escape sequence: `\8`"),
    (r"(a)\1", r"invalid escape sequence: `\1`"), ("a\\", "trailing backslash at end of expression: ``"),
    ("*", "missing argument to repetition operator: `*`"), ("a**", "invalid nested repetition operator: `**`"),
    ("a{1001}", "invalid repeat count: `{1001}`"), ("a(?=b)", "invalid or unsupported Perl syntax: `(?=`"),
    ("(?P<a", "invalid named capture: `(?P<a`"),
    (r"\pX", r"invalid character class range: `\pX`"), ("(a{100}){100}", "invalid repeat count: `{100}`"),
])
def test_patterns_that_are_none(api, pattern, problem):
    found = causes(api.post(DEFINITIONS, definition(new_group(), {"p": {"type": "string", "pattern": pattern}})))
    assert [text for _, at, text in found if at.endswith(("[p].pattern", ".p.pattern"))] == [
        f"Invalid value: {json.dumps(pattern)}: must be a valid regular expression, but isn't: error parsing regexp: {problem}"], found


def test_what_only_a_junctor_speaks_of(api):
    more = {"anyOf": [{"properties": {"x": {"pattern": "a"}}}]}
    name = new_group()
    body = definition(name, {}, more)
    assert api.post(DEFINITIONS, body).status == 201
    api.delete(f"{DEFINITIONS}/things.{name}")
    body = definition(new_group(), {})
    body["spec"]["versions"][0]["schema"]["openAPIV3Schema"].update(more)
    found = causes(api.post(DEFINITIONS, body))
    assert any(text.startswith("Required value: because it is defined in") for _, _, text in found), found


def test_junctors_are_shown_as_they_were_written(api, group):
    shown = api.get(f"{DEFINITIONS}/things.{group}").json["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert shown["properties"]["spec"]["properties"]["choice"] == PARTS["choice"]


@pytest.fixture
def strict(api, namespace):
    """A definition that has become strict, with an object from before."""
    name = new_group()
    define(api, definition(name, LOOSE))
    things = f"/apis/{name}/v1/namespaces/{namespace}/things"
    made = api.post(things, thing(name, {"text": "long text", "number": 1, "keyed": [{"n": "a", "v": 9}],
                                         "plain": [{"n": "a", "v": 9}], "set": ["a", "a"]}))
    assert made.status == 201, made
    properties = copy.deepcopy(LOOSE)
    properties["text"]["maxLength"] = 3
    properties["number"]["maximum"] = 5
    properties["set"]["x-kubernetes-list-type"] = "set"
    for part in ("keyed", "plain"):
        properties[part]["items"]["properties"]["v"]["maximum"] = 5
    path = f"{DEFINITIONS}/things.{name}"
    current = api.get(path).json
    current["spec"] = {**current["spec"], "versions": definition(name, properties)["spec"]["versions"]}
    assert api.put(path, current).status == 200
    # It is served as soon as a new object is held to it.
    while api.post(things, thing(name, {"text": "long text"}, "probe")).status == 201:
        api.delete(f"{things}/probe")
    yield things + "/t"
    api.delete(path)


def test_what_is_unchanged_may_be_wrong(api, strict):
    assert api.patch(strict, {"spec": {"number": 2}}).status == 200
    assert api.patch(strict, {"metadata": {"labels": {"a": "b"}}}).status == 200


def test_what_has_changed_may_not(api, strict):
    assert causes(api.patch(strict, {"spec": {"text": "other text"}})) == [
        ("FieldValueTooLong", "spec.text", "Too long: may not be more than 3 bytes")]
    assert api.patch(strict, {"spec": {"text": "abc"}}).status == 200


def test_elements_with_keys_are_compared_with_themselves(api, strict):
    assert api.patch(strict, {"spec": {"keyed": [{"n": "b", "v": 1}, {"n": "a", "v": 9}]}}).status == 200
    assert causes(api.patch(strict, {"spec": {"keyed": [{"n": "a", "v": 8}]}})) == [
        ("FieldValueInvalid", "spec.keyed[0].v", "Invalid value: 8: spec.keyed[0].v in body should be less than or equal to 5")]


def test_other_lists_are_compared_as_a_whole(api, strict):
    assert causes(api.patch(strict, {"spec": {"plain": [{"n": "a", "v": 9}, {"n": "b", "v": 1}]}})) == [
        ("FieldValueInvalid", "spec.plain[0].v", "Invalid value: 9: spec.plain[0].v in body should be less than or equal to 5")]


def test_repeated_elements_may_stay(api, strict):
    assert api.patch(strict, {"spec": {"set": ["a", "b", "a"]}}).status == 200
    assert api.patch(strict, {"spec": {"set": ["a", "b"]}}).status == 200
    assert [reason for reason, _, _ in causes(api.patch(strict, {"spec": {"set": ["a", "b", "b"]}}))] == ["FieldValueDuplicate"]
