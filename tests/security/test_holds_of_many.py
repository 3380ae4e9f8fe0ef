"""No request holds the event loop for long, however many objects and clients it is about.

The fixture fails if one did (holds.py)."""

import concurrent.futures
import itertools
import json
import urllib.parse

from attacked import MERGE, rule
from test_holds_of_kinds import GATED, METADATA, PODS, REFUSED, ROLES, SPACE, STRANGER, TABLE, YAML, daemon, tenant  # noqa: F401 (fixtures)

MAPS = f"{SPACE}/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FORMS = ["application/json", TABLE, METADATA, YAML]


def create_many(daemon, path, bodies, connections=8):  # noqa: F811
    bodies = list(bodies)
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        list(pool.map(lambda start: daemon.create_all(path, bodies[start::connections]), range(connections)))


def pages(daemon, path, accept, token):  # noqa: F811
    """What kubectl asks for, page after page."""
    after, found = "", 0
    while True:
        answer = json.loads(daemon.read(f"{path}?limit=500{after}", accept, token=token))
        found += len(answer.get("rows") or answer.get("items") or [])
        token_of_next = answer["metadata"].get("continue")
        if not token_of_next:
            return found
        after = "&continue=" + urllib.parse.quote(token_of_next)


def test_ten_thousand_objects(daemon, tenant):  # noqa: F811
    create_many(daemon, MAPS, ({"metadata": {"name": f"m{number}", "labels": {"tenth": str(number % 10), "a": "b"}},
                                "data": {"k": "x" * 200}} for number in range(10_000)))
    for accept in (TABLE, "application/json"):
        assert pages(daemon, MAPS, accept, tenant) >= 10_000
    for accept in FORMS:
        assert "m9999" in daemon.read(MAPS, accept, token=tenant), accept
    terms = ",".join(itertools.chain((f"k{i}!=v" for i in range(50)), (f"a in (b,c{i})" for i in range(49)), ["tenth=3"]))
    fields = ",".join(["metadata.namespace=team"] * 100)
    for selector in (f"labelSelector={urllib.parse.quote(terms)}", f"fieldSelector={urllib.parse.quote(fields)}"):
        assert "m9993" in daemon.read(f"{MAPS}?{selector}", TABLE, token=tenant), selector
        assert "m9993" not in daemon.read(f"{MAPS}?{selector}", TABLE, token=STRANGER), selector
    watch = f"{MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
    for accept in FORMS[:3]:
        assert "m9999" in daemon.read(watch, accept, token=tenant), accept
    assert daemon.ask("DELETE", f"{MAPS}?labelSelector=tenth%3D1", token=STRANGER)[0] in REFUSED
    status, answer = daemon.ask("DELETE", f"{MAPS}?labelSelector=tenth%3D1", token=tenant)
    assert status == 200 and len(answer["items"]) == 1000


def test_the_end_of_a_thousand_pods_and_of_their_namespace(daemon, tenant):  # noqa: F811
    spec = {"containers": [{"name": "main", "image": "i", "command": ["true"]}], **GATED}
    create_many(daemon, PODS, ({"metadata": {"name": f"p{number}", "labels": {"a": "b"}}, "spec": spec} for number in range(1000)))
    for accept in FORMS:
        assert "p999" in daemon.read(PODS, accept, token=tenant), accept
    status, answer = daemon.ask("DELETE", PODS + "?gracePeriodSeconds=0", token=tenant)
    assert status == 200 and len(answer["items"]) == 1000
    create_many(daemon, PODS, ({"metadata": {"name": f"p{number}"}, "spec": spec} for number in range(500)))
    create_many(daemon, f"{SPACE}/secrets", ({"metadata": {"name": f"s{number}"}} for number in range(500)))
    daemon.must("DELETE", SPACE)
    daemon.wait_until_gone(SPACE)


def test_many_clients_see_one_change(daemon, tenant):  # noqa: F811
    daemon.must("POST", MAPS, {"metadata": {"name": "seen", "labels": {"a": "b"}}, "data": {f"k{i}": "v" * 10 for i in range(3000)}})
    forms = [("application/json", ""), (TABLE, ""), (METADATA, ""), ("application/json", "&labelSelector=" + ",".join(
        f"!k{i}" for i in range(100)))]
    watchers = []
    for number in range(300):
        accept, selector = forms[number % len(forms)]
        connection = daemon.connection()
        connection.request("GET", f"{MAPS}?watch=true&resourceVersion=0&timeoutSeconds=30{selector}", headers={
            "Authorization": f"Bearer {tenant}", "Accept": accept})
        answer = connection.getresponse()
        assert answer.status == 200
        watchers.append((connection, answer))
    for value in ("1", "2"):
        daemon.must("PATCH", f"{MAPS}/seen", {"metadata": {"annotations": {"round": f"round-{value}"}}}, content_type=MERGE)
    for connection, answer in watchers:
        line, seen = b"", ""
        while "MODIFIED" not in seen:
            line = answer.readline()
            assert line, "the watch ended"
            seen += line.decode()
        connection.close()


def test_tables_of_many_columns(daemon, tenant):  # noqa: F811
    columns = [{"name": f"c{i}", "type": "string", "jsonPath": f".spec.c{i % 50}"} for i in range(200)]
    daemon.must("POST", DEFINITIONS, {"metadata": {"name": "wides.a.io"}, "spec": {
        "group": "a.io", "scope": "Namespaced", "names": {"plural": "wides", "kind": "Wide"}, "versions": [{
            "name": "v1", "served": True, "storage": True, "additionalPrinterColumns": columns,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    path = "/apis/a.io/v1/namespaces/team/wides"
    create_many(daemon, path, ({"apiVersion": "a.io/v1", "kind": "Wide", "metadata": {"name": f"w{number}"},
                                "spec": {f"c{i}": f"v{i}" for i in range(50)}} for number in range(300)))
    assert pages(daemon, path, TABLE, tenant) == 300
    assert "w299" in daemon.read(path, TABLE, token=tenant)
    assert "w299" in daemon.read(f"{path}?watch=true&resourceVersion=0&timeoutSeconds=1", TABLE, token=tenant)
    assert "w299" not in daemon.read(path, TABLE, token=STRANGER)


def labelled(name, count, **more):
    return {"metadata": {"name": name, "labels": {"app": "a", **{f"k{i}": "v" * 60 for i in range(count)}}}, **more}


def test_what_a_service_a_budget_and_a_policy_select(daemon, tenant):  # noqa: F811
    """Others look for what they select among all that a tenant has."""
    spec = {"containers": [{"name": "main", "image": "i"}], **GATED}
    create_many(daemon, PODS, (labelled(f"p{number}", 1500, spec=spec) for number in range(300)))
    create_many(daemon, MAPS, (labelled(f"m{number}", 1500) for number in range(300)))
    daemon.must("POST", f"{SPACE}/services", {"metadata": {"name": "s"}, "spec": {"selector": {"app": "a"}, "ports": [{"port": 443}]}})
    daemon.must("POST", "/apis/policy/v1/namespaces/team/poddisruptionbudgets", {
        "metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}})
    place = {"namespace": "team", "name": "s"}
    rules = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"]}
    daemon.must("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {"metadata": {"name": "w"}, "webhooks": [{
        "name": "w.a.io", "clientConfig": {"service": place}, "rules": [rules], "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore"}]})
    daemon.must("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {"metadata": {"name": "v1.e.a.io"}, "spec": {
        "group": "e.a.io", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15, "insecureSkipTLSVerify": True,
        "service": place}})
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    daemon.must("POST", f"{policies}ies", {"metadata": {"name": "p"}, "spec": {
        "failurePolicy": "Fail", "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rules]}, "validations": [{"expression": "params.metadata.name != object.metadata.name"}]}})
    daemon.must("POST", f"{policies}ybindings", {"metadata": {"name": "p"}, "spec": {
        "policyName": "p", "validationActions": ["Deny"], "paramRef": {
            "namespace": "team", "selector": {"matchLabels": {"app": "a"}}, "parameterNotFoundAction": "Deny"}}})
    for name, expected in (("x", 201), ("m299", 422)):
        status, answer = daemon.ask("POST", f"{SPACE}/secrets", {"metadata": {"name": name}}, token=tenant)
        assert status == expected, answer
    assert "unavailable" in daemon.read("/apis/e.a.io/v1/x", "application/json")


def test_bindings_of_many_to_much(daemon, tenant):  # noqa: F811
    """Each request looks at all bindings that may concern it."""
    of_rbac = {"apiGroup": "rbac.authorization.k8s.io"}

    def binding(name, role, subjects):
        return {"metadata": {"name": name}, "roleRef": {**of_rbac, "kind": "Role", "name": role},
                "subjects": [{**of_rbac, **subject} if subject["kind"] == "User" else subject for subject in subjects]}

    me = {"kind": "ServiceAccount", "name": "tenant", "namespace": "default"}
    crowd = [{"kind": "User", "name": f"u{number}"} for number in range(15_000)]
    for number in range(40):
        daemon.must("POST", f"{ROLES}/rolebindings", binding(f"crowd{number}", "all", crowd), token=tenant)
    reads = [rule(["get"], [f"k{number}"], "a.io") for number in range(10_000)]
    for number in range(40):
        daemon.must("POST", f"{ROLES}/roles", {"metadata": {"name": f"r{number}"}, "rules": reads[number * 200:][:4000]})
        daemon.must("POST", f"{ROLES}/rolebindings", binding(f"r{number}", f"r{number}", [me]))
    nobody = {"kind": "User", "name": "nobody"}
    create_many(daemon, f"{ROLES}/rolebindings", (binding(f"z{number}", f"none{number}", [me, nobody]) for number in range(5000)))
    for user, token in (("tenant", tenant), ("stranger", daemon.account("stranger"))):
        status, answer = daemon.ask("GET", MAPS, token=token)
        assert status == (200 if user == "tenant" else 403), answer
    daemon.must("DELETE", f"{ROLES}/rolebindings/all")
    status, answer = daemon.ask("GET", MAPS, token=tenant)
    assert status == 403 and "bytes together" in answer["message"] and len(answer["message"]) < 20_000, answer
    reviews = "/apis/authorization.k8s.io/v1/namespaces/team/localsubjectaccessreviews"
    attributes = {"namespace": "team", "verb": "get", "resource": "pods"}
    for count, expected in ((9_999, 201), (150_000, 422)):
        names = [f"g{number}" for number in range(count)]
        for more in ({"groups": names}, {"extra": dict.fromkeys(names, [])}):
            status, answer = daemon.ask("POST", reviews, {"spec": {"user": "nobody", "resourceAttributes": attributes, **more}})
            assert status == expected, answer
