"""ValidatingAdmissionPolicies with their bindings, and the match conditions of webhooks."""

import itertools
import uuid

import pytest

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICIES = ADMISSION + "/validatingadmissionpolicies"
BINDINGS = ADMISSION + "/validatingadmissionpolicybindings"
VALIDATING = ADMISSION + "/validatingwebhookconfigurations"
MUTATING = ADMISSION + "/mutatingwebhookconfigurations"


def rule(resources=("configmaps",), operations=("CREATE", "UPDATE"), **more):
    return {"apiGroups": [""], "apiVersions": ["v1"], "operations": list(operations), "resources": list(resources), **more}


def policy(name, validations=(), resources=("configmaps",), operations=("CREATE", "UPDATE"), **spec):
    return {"metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": [rule(resources, operations)]},
        "validations": list(validations), **spec}}


def binding(name, namespace, policy_name, actions=("Deny",), **spec):
    return {"metadata": {"name": name}, "spec": {
        "policyName": policy_name, "validationActions": list(actions),
        "matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}, **spec}}


def causes(answer):
    assert answer.status == 422, answer
    return [(cause["reason"], cause["field"], cause["message"]) for cause in answer.json["details"]["causes"]]


@pytest.fixture
def policies(api, namespace):
    """Makes a policy with its binding, and returns when it is in force."""
    made = []

    def make(validations=(), actions=("Deny",), bound=None, until="in force", **spec):
        name = "p" + uuid.uuid4().hex[:10]
        # A first validation that tells when the policy is in force.
        probe = {"expression": "!has(object.data) || !has(object.data.probe)", "message": "in force"}
        answer = api.post(POLICIES, policy(name, [*validations, probe], **spec))
        assert answer.status == 201, answer
        made.append(f"{POLICIES}/{name}")
        answer = api.post(BINDINGS, binding(name, namespace, name, actions, **(bound or {})))
        assert answer.status == 201, answer
        made.append(f"{BINDINGS}/{name}")
        for turn in itertools.count():
            answer = config_map(api, namespace, f"probe-{turn}", {"probe": "1"})
            if until in answer.text or until in str(answer.headers.get_all("Warning")):
                return name
        return None

    yield make
    for path in reversed(made):
        api.delete(path)


def config_map(api, namespace, name, data=None, **metadata):
    return api.post(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": name, **metadata}, "data": data or {"k": "v"}})


def denial(name, message):
    return f"ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: {message}"


def test_a_policy_denies(api, namespace, policies):
    name = policies([{"expression": "!has(object.data.a) || object.data.a == 'x'"}])
    answer = config_map(api, namespace, "m", {"a": "y"})
    assert answer.status == 422
    message = denial(name, "failed expression: !has(object.data.a) || object.data.a == 'x'")
    status = answer.json
    assert (status["reason"], status["code"], status["message"]) == ("Invalid", 422, f'configmaps "m" is forbidden: {message}')
    assert status["details"] == {"name": "m", "kind": "configmaps", "causes": [{"message": message}]}
    assert config_map(api, namespace, "m", {"a": "x"}).status == 201


@pytest.mark.parametrize("validation, status, reason, message", [
    ({"message": "no good"}, 422, "Invalid", "no good"),
    ({"messageExpression": "'not ' + object.metadata.name"}, 422, "Invalid", "not m"),
    ({"messageExpression": "object.none", "message": "instead"}, None, None, None),
    ({"messageExpression": "string(object.data.none)", "message": "instead"}, 422, "Invalid", "instead"),
    ({"message": "m", "reason": "Forbidden"}, 403, "Forbidden", "m"),
    ({"message": "m", "reason": "RequestEntityTooLarge"}, 413, "RequestEntityTooLarge", "m"),
])
def test_messages_and_reasons(api, namespace, policies, validation, status, reason, message):
    validation = {"expression": "!has(object.data.a)", **validation}
    if status is None:
        answer = api.post(POLICIES, policy("wrong-" + uuid.uuid4().hex[:6], [validation]))
        assert [field for _, field, _ in causes(answer)] == ["spec.validations[0].messageExpression"]
        return
    name = policies([validation])
    answer = config_map(api, namespace, "m", {"a": "1"})
    assert (answer.status, answer.json["reason"]) == (status, reason)
    assert answer.json["message"] == f'configmaps "m" is forbidden: {denial(name, message)}'


def test_an_expression_that_fails(api, namespace, policies):
    name = policies([{"expression": "!has(object.data.a) || object.data.none == 'x'"}])
    answer = config_map(api, namespace, "m", {"a": "1"})
    assert answer.json["message"] == 'configmaps "m" is forbidden: ' + denial(
        name, "expression '!has(object.data.a) || object.data.none == 'x'' resulted in error: no such key: none")
    policies([{"expression": "object.metadata.name != 'n' || object.data.none == 'x'"}], failurePolicy="Ignore")
    assert config_map(api, namespace, "n").status == 201


def test_what_expressions_see(api, namespace, policies):
    expressions = [
        "request.operation == 'CREATE' ? oldObject == null : oldObject.metadata.name == object.metadata.name",
        f"request.namespace == '{namespace}' && request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'",
        "request.requestResource.group == '' && request.requestKind.version == 'v1' && request.dryRun == false",
        "request.name == object.metadata.name && request.userInfo.username != ''",
        f"namespaceObject.metadata.name == '{namespace}' && namespaceObject.status.phase == 'Active'",
        "has(object.metadata.labels) ? object.metadata.labels['a'] == 'b' : true",
        "variables.twice == variables.once + variables.once",
    ]
    policies([{"expression": each} for each in expressions],
             variables=[{"name": "once", "expression": "size(object.metadata.name)"},
                        {"name": "twice", "expression": "variables.once * 2"}])
    answer = config_map(api, namespace, "m", labels={"a": "b"})
    assert answer.status == 201, answer
    answer = api.patch(f"/api/v1/namespaces/{namespace}/configmaps/m", {"data": {"b": "c"}})
    assert answer.status == 200, answer


def test_a_variable_that_fails(api, namespace, policies):
    name = policies([{"expression": "object.metadata.name != 'm' || variables.x == 'x'"}],
                    variables=[{"name": "x", "expression": "object.data.none"}])
    assert config_map(api, namespace, "m").json["message"].endswith(denial(
        name, "expression 'object.metadata.name != 'm' || variables.x == 'x'' resulted in error: composited variable "
              "\"x\" fails to evaluate: no such key: none"))


@pytest.mark.parametrize("variable, expressions, wanted", [
    ("[0]", ["variables.l.all(a, a > 0)"], "failed expression: variables.l.all(a, a > 0)"),
    (str(list(range(200))), ["variables.l.all(a, variables.l.all(b, variables.l.all(c, a + b + c < 1000)))"],
     "expression 'variables.l.all(a, variables.l.all(b, variables.l.all(c, a + b + c < 1000)))' resulted in error: operation "
     "cancelled: actual cost limit exceeded"),
    (str(list(range(200))), ["variables.l.all(a, variables.l.all(b, a + b < 1000))"] * 60,
     "validation failed due to running out of cost budget, no further validation rules will be run"),
    (" && ".join(f"authorizer.group('').resource('pods').check('{verb}').allowed()" for verb in ("get", "list", "watch")),
     ["variables.l"], 'expression \'variables.l\' resulted in error: composited variable "l" fails to evaluate: operation cancelled: '
     "actual cost limit exceeded"),
])
def test_costs(api, namespace, policies, variable, expressions, wanted):
    name = policies([{"expression": each} for each in expressions], until="denied request",
                    variables=[{"name": "l", "expression": variable}])
    assert config_map(api, namespace, "m").json["message"].endswith(denial(name, wanted))


def test_rights(api, namespace, policies):
    expressions = ["authorizer.group('').resource('configmaps').namespace('default').check('get').allowed()",
                   "authorizer.requestResource.check('create').allowed()",
                   "authorizer.path('/healthz').check('get').allowed()",
                   "!authorizer.serviceAccount('default', 'default').group('').resource('secrets').check('get').allowed()"]
    policies([{"expression": each} for each in expressions])
    answer = config_map(api, namespace, "m")
    assert answer.status == 201, answer


def test_conditions(api, namespace, policies):
    policies([{"expression": "false", "message": "always"}], until="always",
             matchConditions=[{"name": "named", "expression": "object.metadata.name in ['m', 'probe-0'] || "
                                                              "object.metadata.name.startsWith('probe')"}])
    assert config_map(api, namespace, "other").status == 201
    assert config_map(api, namespace, "m").status == 422


def test_a_deletion(api, namespace, policies):
    name = policies([{"expression": "request.operation != 'DELETE' || object == null && oldObject.metadata.name != 'kept'",
                      "message": "stays"}], operations=("CREATE", "DELETE"))
    assert config_map(api, namespace, "kept").status == 201
    assert config_map(api, namespace, "free").status == 201
    assert api.delete(f"/api/v1/namespaces/{namespace}/configmaps/free").status == 200
    assert api.delete(f"/api/v1/namespaces/{namespace}/configmaps/kept").json["message"].endswith(denial(name, "stays"))


def test_warnings(api, namespace, policies):
    name = policies([{"expression": "object.metadata.name != 'm'", "message": "better not"}], actions=("Warn", "Audit"))
    answer = config_map(api, namespace, "m")
    assert answer.status == 201
    assert answer.headers.get_all("Warning") == [
        f"299 - \"Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}': better not\""]


# kube-apiserver does not follow the objects of a kind again once no policy has had it as parameters: each test has its own.

def make(api, namespace, resource, name, **labels):
    assert api.post(f"/api/v1/namespaces/{namespace}/{resource}", {"metadata": {"name": name, "labels": labels}}).status == 201


def test_parameters(api, namespace, policies):
    make(api, namespace, "secrets", "few", most="2")
    make(api, namespace, "secrets", "many", most="5")
    expression = "!has(object.data.size) || int(object.data.size) <= int(params.metadata.labels.most)"
    name = policies([{"expression": expression, "messageExpression": "'at most ' + params.metadata.labels.most"}],
                    paramKind={"apiVersion": "v1", "kind": "Secret"},
                    bound={"paramRef": {"name": "few", "parameterNotFoundAction": "Deny"}})
    assert config_map(api, namespace, "a", {"size": "2"}).status == 201
    assert config_map(api, namespace, "b", {"size": "3"}).json["message"].endswith(denial(name, "at most 2"))


def test_parameters_by_their_labels(api, namespace, policies):
    make(api, namespace, "serviceaccounts", "one", most="2", use="it")
    make(api, namespace, "serviceaccounts", "other", most="1")
    expression = "!has(object.data.size) || int(object.data.size) <= int(params.metadata.labels.most)"
    name = policies([{"expression": expression, "message": "too much"}], paramKind={"apiVersion": "v1", "kind": "ServiceAccount"},
                    bound={"paramRef": {"selector": {"matchLabels": {"use": "it"}}, "parameterNotFoundAction": "Allow"}})
    assert config_map(api, namespace, "a", {"size": "2"}).status == 201
    assert config_map(api, namespace, "b", {"size": "3"}).json["message"].endswith(denial(name, "too much"))


def test_a_parameter_that_is_missing(api, namespace, policies):
    name = policies([{"expression": "true"}], paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
                    bound={"paramRef": {"name": "none", "parameterNotFoundAction": "Deny"}}, until="no params found")
    assert config_map(api, namespace, "m").json["message"].endswith(denial(
        name, "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"))


def test_excluded_resources_and_names(api, namespace, policies):
    policies([{"expression": "object.metadata.name != 'm'"}],
             matchConstraints={"resourceRules": [rule(("configmaps", "secrets"))], "excludeResourceRules": [rule(("secrets",))]})
    assert api.post(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": "m"}}).status == 201
    assert config_map(api, namespace, "m").status == 422


def test_defaults(api):
    name = "p" + uuid.uuid4().hex[:10]
    made = api.post(POLICIES, policy(name, [{"expression": "true"}]))
    assert made.status == 201, made
    spec = made.json["spec"]
    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConstraints"] == {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                                        "resourceRules": [rule(scope="*")]}
    assert made.json["metadata"]["generation"] == 1
    assert status_of(api, name, 1) == {"observedGeneration": 1, "typeChecking": {}}
    api.delete(f"{POLICIES}/{name}")


def status_of(api, name, generation):
    """What a policy's status says as soon as that generation was looked at."""
    def seen(answer):
        return answer.get("status", {}).get("observedGeneration") == generation

    watch = api.watch(f"{POLICIES}?watch=1&fieldSelector=metadata.name%3D{name}")
    found = api.get(f"{POLICIES}/{name}").json
    if not seen(found):
        found = watch.until(lambda event: seen(event["object"]))[-1]["object"]
    watch.close()
    return found["status"]


def test_types_are_checked(api):
    name = "p" + uuid.uuid4().hex[:10]
    constraints = {"resourceRules": [{**rule(("deployments", "statefulsets")), "apiGroups": ["apps"]},
                                     {**rule(("*",)), "apiGroups": ["batch"]}]}
    made = api.post(POLICIES, policy(name, [
        {"expression": "object.spec.replicas > 1"},
        {"expression": "object.spec.strategy.type == 'Recreate'", "messageExpression": "string(object.spec.none)"},
        {"expression": "object.spec.replicas == 'a'"},
        {"expression": "variables.n == 'a' && variables.spec.none"},
        {"expression": "object.metadata.namespace == 'a' && object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z')"},
        {"expression": "object.spec.template.spec.containers.all(c, c.resources.limits['cpu'] == '1')"},
        {"expression": "authorizer.requestResource.check('get').allowed()"},
        {"expression": "object.spec.template.spec.containers.all(c, c.ports.all(p, p.containerPort == 1 && p.name == 2))"},
    ], matchConstraints=constraints, variables=[{"name": "n", "expression": "object.spec.replicas"},
                                                {"name": "spec", "expression": "object.spec"}]))
    assert made.status == 201, made
    warnings = status_of(api, name, 1)["typeChecking"]["expressionWarnings"]

    def wrong(kind, column, message, source):
        return f"apps/v1, Kind={kind}: ERROR: <input>:1:{column}: {message}\n | {source}\n | {'.' * (column - 1)}^\n"

    def both(*what):
        return wrong("Deployment", *what) + "\n" + wrong("StatefulSet", *what)

    limits = "object.spec.template.spec.containers.all(c, c.resources.limits['cpu'] == '1')"
    names = "object.spec.template.spec.containers.all(c, c.ports.all(p, p.containerPort == 1 && p.name == 2))"
    own = "authorizer.requestResource.check('get').allowed()"
    assert [(each["fieldRef"], each["warning"]) for each in warnings] == [
        ("spec.validations[1].expression",
         wrong("StatefulSet", 12, "undefined field 'strategy'", "object.spec.strategy.type == 'Recreate'")),
        ("spec.validations[1].messageExpression", both(19, "undefined field 'none'", "string(object.spec.none)")),
        ("spec.validations[2].expression",
         both(22, "found no matching overload for '_==_' applied to '(int, string)'", "object.spec.replicas == 'a'")),
        ("spec.validations[3].expression", both(
            13, "found no matching overload for '_==_' applied to '(int, string)'", "variables.n == 'a' && variables.spec.none")),
        ("spec.validations[5].expression", both(limits.index(".limits") + 1, "undefined field 'limits'", limits)),
        ("spec.validations[6].expression", both(
            own.index(".requestResource") + 1, "unexpected failed resolution of 'kubernetes.authorization.Authorizer'", own)),
        ("spec.validations[7].expression", both(
            names.index("== 2") + 1, "found no matching overload for '_==_' applied to '(string, int)'", names)),
    ]
    answer = api.patch(f"{POLICIES}/{name}", {"spec": {"validations": [{"expression": "object.spec.replicas > 1"}]}})
    assert answer.status == 200, answer
    assert status_of(api, name, 2) == {"observedGeneration": 2}
    api.delete(f"{POLICIES}/{name}")


WRONG = [
    ({"validations": []}, [("FieldValueRequired", "spec.validations", "Required value: validations or auditAnnotations must "
                            "contain at least one item"),
                           ("FieldValueRequired", "spec.auditAnnotations", "Required value: validations or auditAnnotations must "
                            "contain at least one item")]),
    ({"validations": [{"expression": " "}]}, [("FieldValueRequired", "spec.validations[0].expression",
                                               "Required value: expression is not specified")]),
    ({"validations": [{"expression": "1"}]}, [("FieldValueInvalid", "spec.validations[0].expression",
                                               'Invalid value: "1": must evaluate to bool but got int')]),
    ({"validations": [{"expression": "params.x == 1"}]}, [
        ("FieldValueInvalid", "spec.validations[0].expression",
         'Invalid value: "params.x == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to \'params\' (in container '
         "'')\n | params.x == 1\n | ^")]),
    ({"validations": [{"expression": "request.none == ''"}]}, [
        ("FieldValueInvalid", "spec.validations[0].expression",
         'Invalid value: "request.none == \'\'": compilation failed: ERROR: <input>:1:8: undefined field \'none\'\n'
         " | request.none == ''\n | .......^")]),
    ({"validations": [{"expression": "true", "message": " "}]}, [
        ("FieldValueInvalid", "spec.validations[0].message", 'Invalid value: " ": message must be non-empty if specified')]),
    ({"validations": [{"expression": "true", "reason": "Other"}]}, [
        ("FieldValueNotSupported", "spec.validations[0].reason",
         'Unsupported value: "Other": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"')]),
    ({"validations": [{"expression": "true", "messageExpression": "1"}]}, [
        ("FieldValueInvalid", "spec.validations[0].messageExpression", 'Invalid value: "1": must evaluate to string but got int')]),
    ({"variables": [{"name": "a-b", "expression": "1"}]}, [
        ("FieldValueInvalid", "spec.variables[0].name", 'Invalid value: "a-b": name is not a valid CEL identifier')]),
    ({"matchConditions": [{"name": "c", "expression": "1"}]}, [
        ("FieldValueInvalid", "spec.matchConditions[0].expression", 'Invalid value: "1": must evaluate to bool but got int')]),
    ({"matchConditions": [{"name": "c", "expression": "true"}, {"name": "c", "expression": "true"}]}, [
        ("FieldValueDuplicate", "spec.matchConditions[1].name", 'Duplicate value: "c"')]),
    ({"auditAnnotations": [{"key": "a", "valueExpression": "1"}]}, [
        ("FieldValueInvalid", "spec.auditAnnotations[0].valueExpression",
         'Invalid value: "1": must evaluate to one of [string null_type] but got int')]),
    ({"paramKind": {"apiVersion": "a/b/c", "kind": "K"}}, [
        ("FieldValueInvalid", "spec.paramKind.apiVersion", 'Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c')]),
    ({"failurePolicy": "Other"}, [("FieldValueNotSupported", "spec.failurePolicy",
                                   'Unsupported value: "Other": supported values: "Fail", "Ignore"')]),
    ({"matchConstraints": {"resourceRules": []}}, [("FieldValueRequired", "spec.matchConstraints.resourceRules", "Required value")]),
]


@pytest.mark.parametrize("spec, wanted", WRONG)
def test_a_policy_that_is_refused(api, spec, wanted):
    body = policy("wrong-" + uuid.uuid4().hex[:6], [{"expression": "true"}])
    body["spec"].update(spec)
    assert causes(api.post(POLICIES, body)) == wanted


@pytest.mark.parametrize("spec, wanted", [
    ({"policyName": ""}, [("FieldValueRequired", "spec.policyName", "Required value")]),
    ({"validationActions": []}, [("FieldValueRequired", "spec.validationActions",
                                  "Required value: at least one validation action is required")]),
    ({"validationActions": ["Other"]}, [("FieldValueNotSupported", "spec.validationActions[0]",
                                         'Unsupported value: "Other": supported values: "Audit", "Deny", "Warn"')]),
    ({"paramRef": {"name": "a"}}, [("FieldValueRequired", "spec.paramRef.parameterNotFoundAction", "Required value")]),
    ({"paramRef": {"parameterNotFoundAction": "Deny"}}, [("FieldValueRequired", "spec.paramRef",
                                                          "Required value: one of name or selector must be specified")]),
])
def test_a_binding_that_is_refused(api, spec, wanted):
    body = binding("wrong-" + uuid.uuid4().hex[:6], "default", "p")
    body["spec"].update(spec)
    assert causes(api.post(BINDINGS, body)) == wanted


# ---- match conditions of webhooks ----

def configuration(kind, namespace, conditions, failure="Fail"):
    name = "w" + uuid.uuid4().hex[:10]
    return name, {"metadata": {"name": name}, "webhooks": [{
        "name": name + ".example.org", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": failure,
        # Nothing listens there.
        "clientConfig": {"url": "https://127.0.0.1:1/"}, "rules": [rule()], "matchConditions": conditions,
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}]}


@pytest.fixture(params=[VALIDATING, MUTATING])
def webhook(api, namespace, request):
    """Makes a webhook that can't be reached, and returns when it is asked."""
    made = []

    def make(conditions, failure="Fail", probe=500):
        name, body = configuration(request.param, namespace, conditions, failure)
        answer = api.post(request.param, body)
        assert answer.status == 201, answer
        made.append(f"{request.param}/{name}")
        for turn in itertools.count():
            if config_map(api, namespace, f"probe-{turn}").status == probe:
                return name
        return None

    yield make
    for path in made:
        api.delete(path)


def test_a_webhook_with_conditions(api, namespace, webhook):
    webhook([{"name": "not-me", "expression": "!object.metadata.name.startsWith('free')"},
             {"name": "created", "expression": "request.operation == 'CREATE'"},
             {"name": "allowed", "expression": "authorizer.requestResource.check('create').allowed()"}])
    assert config_map(api, namespace, "free").status == 201
    assert "failed calling webhook" in config_map(api, namespace, "m").json["message"]


def test_a_condition_of_a_webhook_that_fails(api, namespace, webhook):
    webhook([{"name": "broken", "expression": "!object.metadata.name.startsWith('probe') && object.data.none == 'x' || "
                                              "object.metadata.name.startsWith('probe')"}])
    answer = config_map(api, namespace, "m")
    assert (answer.status, answer.json["reason"]) == (403, "Forbidden")
    assert answer.json["message"] == (
        'configmaps "m" is forbidden: expression \'!object.metadata.name.startsWith(\'probe\') && object.data.none == \'x\' || '
        "object.metadata.name.startsWith('probe')' resulted in error: no such key: none")


def test_conditions_of_a_webhook_that_are_refused(api, namespace):
    for path in (VALIDATING, MUTATING):
        for conditions, wanted in (
                ([{"name": "c", "expression": "object.x"}],
                 [("FieldValueInvalid", "webhooks[0].matchConditions[0].expression",
                   'Invalid value: "object.x": must evaluate to bool but got dyn')]),
                ([{"name": "", "expression": "true"}], [("FieldValueRequired", "webhooks[0].matchConditions[0].name", "Required value")]),
                ([{"name": "c", "expression": ""}], [("FieldValueRequired", "webhooks[0].matchConditions[0].expression", "Required value")]),
                ([{"name": f"c{i}", "expression": "true"} for i in range(65)],
                 [("FieldValueTooMany", "webhooks[0].matchConditions", "Too many: 65: must have at most 64 items")])):
            assert causes(api.post(path, configuration(path, namespace, conditions)[1])) == wanted
