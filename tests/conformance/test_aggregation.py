"""APIServices, and the servers behind them."""

import json
import threading
import uuid

import pytest

from extension_server import GROUP, VERSION, ExtensionServer

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = f"{VERSION}.{GROUP}"
FLUNDERS = f"/apis/{GROUP}/{VERSION}/namespaces/default/flunders"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def condition_of(found):
    return next((each for each in found.get("status", {}).get("conditions", []) if each["type"] == "Available"), {})


def wait_for(api, name, reason):
    """The APIService once its condition has this reason."""
    only = f"fieldSelector=metadata.name%3D{name}"
    listed = api.get(f"{API_SERVICES}?{only}").json
    for each in listed["items"]:
        if condition_of(each).get("reason") == reason:
            return each
    watch = api.watch(f"{API_SERVICES}?watch=1&{only}&resourceVersion={listed['metadata']['resourceVersion']}")
    seen = watch.until(lambda event: condition_of(event["object"]).get("reason") == reason)
    watch.close()
    return seen[-1]["object"]


def first_of(ask, wanted):
    """The first answer that is as wanted: kube-apiserver acts on some changes a moment after it has told of them."""
    for _ in range(1000):
        answer = ask()
        if wanted(answer):
            return answer
    raise AssertionError(answer)


def api_service(service, namespace="default", port=443, **spec):
    return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": NAME},
            "spec": {"group": GROUP, "version": VERSION, "groupPriorityMinimum": 1000, "versionPriority": 15,
                     "service": {"name": service, "namespace": namespace, "port": port}, **spec}}


@pytest.fixture(scope="session")
def front_proxy(api):
    data = api.get("/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").json["data"]
    return data["requestheader-client-ca-file"]


@pytest.fixture
def service(api):
    """A service that stands for this machine."""
    name = "wardle-" + uuid.uuid4().hex[:8]
    made = api.post("/api/v1/namespaces/default/services", {
        "metadata": {"name": name}, "spec": {"type": "ExternalName", "externalName": "localhost"}})
    assert made.status == 201, made
    yield name
    api.delete(f"/api/v1/namespaces/default/services/{name}")


@pytest.fixture
def served(api, front_proxy, service):
    """Starts a server, and returns it when requests are passed on to it."""
    started = []

    def start(answer=None, available="Passed", **spec):
        server = ExtensionServer(front_proxy, service, "default", answer)
        started.append(server)
        spec = spec or {"caBundle": server.bundle()}
        made = api.post(API_SERVICES, api_service(service, port=server.port, **spec))
        assert made.status == 201, made
        if available:
            wait_for(api, NAME, available)
        if available == "Passed":
            first_of(lambda: api.get(f"/apis/{GROUP}/{VERSION}"), lambda answer: answer.text != "service unavailable\n")
        return server

    yield start
    api.delete(f"{API_SERVICES}/{NAME}")
    api.gone(API_SERVICES, NAME)
    for each in started:
        each.stop()


# ---- the kind ----

@pytest.mark.parametrize("spec,field,message", [
    ({"group": "other.org"}, "metadata.name", 'must be `spec.version+"."+spec.group`: "v1alpha1.other.org"'),
    ({"groupPriorityMinimum": 0}, "spec.groupPriorityMinimum", "Invalid value: 0: must be positive and less than 20000"),
    ({"groupPriorityMinimum": 20001}, "spec.groupPriorityMinimum", "Invalid value: 20001: must be positive and less than 20000"),
    ({"versionPriority": 1001}, "spec.versionPriority", "Invalid value: 1001: must be positive and less than 1000"),
    ({"service": {"name": "", "namespace": "d"}}, "spec.service.name", "Required value"),
    ({"service": {"name": "s", "namespace": ""}}, "spec.service.namespace", "Required value"),
    ({"service": {"name": "s", "namespace": "d", "port": 70000}}, "spec.service.port",
     "Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive"),
    ({"caBundle": "YWI=", "insecureSkipTLSVerify": True}, "spec.insecureSkipTLSVerify",
     "Invalid value: true: may not be true if caBundle is present"),
    ({"service": None, "caBundle": "YWI="}, "spec.caBundle",
     'Invalid value: "2 bytes": local APIServices may not have a caBundle'),
    ({"service": None, "insecureSkipTLSVerify": True}, "spec.insecureSkipTLSVerify",
     "Invalid value: true: local APIServices may not have insecureSkipTLSVerify"),
])
def test_what_is_wrong_with_one(api, spec, field, message):
    body = api_service("s")
    body["spec"].update(spec)
    refused = api.post(API_SERVICES, body)
    assert refused.status == 422, refused
    causes = refused.json["details"]["causes"]
    assert [each["field"] for each in causes] == [field], causes
    assert message in causes[0]["message"]


def test_a_version_that_is_served_has_one(api):
    found = api.get(f"{API_SERVICES}/v1.apps").json
    assert found["spec"] == {"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15}
    assert found["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
    condition = condition_of(found)
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "True", "Local", "Local APIServices are always available")
    core = api.get(f"{API_SERVICES}/v1.").json
    assert core["spec"] == {"version": "v1", "groupPriorityMinimum": 18000, "versionPriority": 1}
    assert api.get(f"{API_SERVICES}/v1.apiregistration.k8s.io").status == 404


def test_the_priorities_are_the_same(api):
    wanted = {"v1.": (18000, 1), "v1.apps": (17800, 15), "v1.events.k8s.io": (17750, 15), "v1.authentication.k8s.io": (17700, 15),
              "v1.authorization.k8s.io": (17600, 15), "v2.autoscaling": (17500, 30), "v1.autoscaling": (17500, 15),
              "v1.batch": (17400, 15), "v1.networking.k8s.io": (17200, 15), "v1.policy": (17100, 15),
              "v1.rbac.authorization.k8s.io": (17000, 15), "v1.storage.k8s.io": (16800, 15),
              "v1.apiextensions.k8s.io": (16700, 15), "v1.admissionregistration.k8s.io": (16700, 15),
              "v1.scheduling.k8s.io": (16600, 15), "v1.coordination.k8s.io": (16500, 15), "v1.node.k8s.io": (16300, 15),
              "v1.discovery.k8s.io": (16200, 15)}
    found = {each["metadata"]["name"]: (each["spec"]["groupPriorityMinimum"], each["spec"]["versionPriority"])
             for each in api.get(API_SERVICES).json["items"]}
    assert {name: found.get(name) for name in wanted} == wanted


def test_groups_come_in_the_order_of_their_priority(api):
    order = ["apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling",
             "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io",
             "admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io",
             "node.k8s.io", "discovery.k8s.io"]
    groups = [each["name"] for each in api.get("/apis").json["groups"]]
    assert [each for each in groups if each in order] == order
    items = api.get("/apis", Accept=AGGREGATED).json["items"]
    assert [each["metadata"]["name"] for each in items if each["metadata"]["name"] in order] == order


def test_a_definition_has_one_as_long_as_it_is_there(api):
    group = "a" + uuid.uuid4().hex[:8] + ".example.org"
    name = f"things.{group}"
    assert api.post(DEFINITIONS, {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, "versions": [
            {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}).status == 201
    api.there(API_SERVICES, f"v1beta1.{group}")
    found = wait_for(api, f"v1beta1.{group}", "Local")
    assert found["spec"] == {"group": group, "version": "v1beta1", "groupPriorityMinimum": 1000, "versionPriority": 100}
    assert found["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
    api.delete(f"{DEFINITIONS}/{name}")
    api.gone(API_SERVICES, f"v1beta1.{group}")


def test_a_table_says_who_serves_it(api, service):
    made = api.post(API_SERVICES, api_service("nobody-" + service))
    assert made.status == 201, made
    assert made.json["status"] == {}
    try:
        wait_for(api, NAME, "ServiceNotFound")
        table = api.get(f"{API_SERVICES}/{NAME}", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").json
        assert [each["name"] for each in table["columnDefinitions"]] == ["Name", "Service", "Available", "Age"]
        assert table["rows"][0]["cells"][:3] == [NAME, f"default/nobody-{service}", "False (ServiceNotFound)"]
    finally:
        api.delete(f"{API_SERVICES}/{NAME}")


def test_a_local_one_is_available_at_once(api):
    made = api.post(API_SERVICES, {"metadata": {"name": NAME}, "spec": {
        "group": GROUP, "version": VERSION, "groupPriorityMinimum": 1000, "versionPriority": 15}})
    try:
        assert made.status == 201, made
        assert condition_of(made.json)["reason"] == "Local"
        assert api.get(f"/apis/{GROUP}/{VERSION}").status == 404
    finally:
        api.delete(f"{API_SERVICES}/{NAME}")


# ---- what is missing ----

def test_why_one_is_not_available(api, namespace):
    services = f"/api/v1/namespaces/{namespace}/services"
    made = api.post(API_SERVICES, api_service("wardle", namespace))
    assert made.status == 201, made
    try:
        found = condition_of(wait_for(api, NAME, "ServiceNotFound"))
        assert found["message"] == f'service/wardle in "{namespace}" is not present'
        assert api.post(services, {"metadata": {"name": "wardle"}, "spec": {"ports": [{"name": "web", "port": 80}]}}).status == 201
        found = condition_of(wait_for(api, NAME, "ServicePortError"))
        assert found["message"] == f'service/wardle in "{namespace}" is not listening on port 443'
        api.delete(f"{services}/wardle")
        wait_for(api, NAME, "ServiceNotFound")
        assert api.post(services, {"metadata": {"name": "wardle"}, "spec": {"ports": [{"name": "web", "port": 443}]}}).status == 201
        found = condition_of(wait_for(api, NAME, "EndpointsNotFound"))
        assert found["message"] == f'cannot find endpoints for service/wardle in "{namespace}"'
        assert found["status"] == "False"
        assert api.post(f"/api/v1/namespaces/{namespace}/endpoints", {"metadata": {"name": "wardle"}, "subsets": [
            {"addresses": [{"ip": "192.0.2.1"}], "ports": [{"name": "other", "port": 1}]}]}).status == 201
        found = condition_of(wait_for(api, NAME, "MissingEndpoints"))
        assert found["message"] == f'endpoints for service/wardle in "{namespace}" have no addresses with port name "web"'
    finally:
        api.delete(f"{API_SERVICES}/{NAME}")


def test_one_that_does_not_answer(api, served):
    server = served(lambda handler: handler.send(418, {}) or True, available="FailedDiscoveryCheck")
    message = condition_of(api.get(f"{API_SERVICES}/{NAME}").json)["message"]
    url = f"https://localhost:{server.port}/apis/{GROUP}/{VERSION}"
    assert message == f"failing or missing response from {url}: bad status from {url}: 418"
    refused = api.get(FLUNDERS)
    assert (refused.status, refused.text) == (503, "service unavailable\n")
    assert refused.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert GROUP in [each["name"] for each in api.get("/apis").json["groups"]]
    server.answer = None
    wait_for(api, NAME, "Passed")
    first_of(lambda: api.get(FLUNDERS), lambda answer: answer.status == 200)


def test_one_whose_certificate_is_not_trusted(api, front_proxy, service, served):
    """It is found out by the first request: the check looks at no certificate."""
    other = ExtensionServer(front_proxy, service, "default")
    try:
        served(caBundle=other.bundle("other"))
    finally:
        other.stop()
    refused = api.get(FLUNDERS)
    assert refused.status == 503
    assert refused.text.startswith("error trying to reach service: "), refused


def test_one_that_may_be_anyone(api, served):
    served(insecureSkipTLSVerify=True)
    assert api.get(FLUNDERS).status == 200


# ---- requests ----

def test_it_learns_who_the_user_is(api, served):
    served()
    answer = api.post(f"{FLUNDERS}?dryRun=All", '{"a": 1}', X_Remote_User="root", X_Remote_Group="system:masters",
                      X_Remote_Extra_Scopes="all", X_Other="kept")
    assert answer.status == 200, answer
    seen = answer.json
    headers = [(name, value) for name, value in seen["headers"]]
    users = [value for name, value in headers if name == "x-remote-user"]
    assert len(users) == 1 and users[0] != "root"
    assert "system:masters" in [value for name, value in headers if name == "x-remote-group"]
    assert not [name for name, _ in headers if name in ("authorization", "x-remote-extra-scopes")]
    assert ("x-other", "kept") in headers
    assert (seen["method"], seen["target"], json.loads(seen["body"])) == ("POST", f"{FLUNDERS}?dryRun=All", {"a": 1})
    assert seen["subject"] == "front-proxy-client"


def test_an_impersonated_user_is_the_user(api, namespace, served):
    served()
    rights = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": namespace},
              "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ada"}]}
    assert api.get(FLUNDERS, Impersonate_User="ada").status == 403
    roles = "/apis/rbac.authorization.k8s.io/v1"
    assert api.post(f"{roles}/clusterroles", {"metadata": {"name": namespace}, "rules": [
        {"apiGroups": [GROUP], "resources": ["flunders"], "verbs": ["list"]}]}).status == 201
    assert api.post(f"{roles}/clusterrolebindings", {"metadata": {"name": namespace}, **rights}).status == 201
    try:
        answer = first_of(lambda: api.get(FLUNDERS, Impersonate_User="ada"), lambda answer: answer.status == 200)
        identity = [(name, value) for name, value in answer.json["headers"] if name.startswith("x-remote-")]
        assert sorted(identity) == [("x-remote-group", "system:authenticated"), ("x-remote-user", "ada")]
        assert not [name for name, _ in answer.json["headers"] if name.startswith("impersonate-")]
        refused = api.get(f"{FLUNDERS}/x", Impersonate_User="ada")
        assert refused.status == 403
        assert refused.json["message"] == (
            f'flunders.{GROUP} "x" is forbidden: User "ada" cannot get resource "flunders" in API group "{GROUP}" '
            'in the namespace "default"')
    finally:
        api.delete(f"{roles}/clusterrolebindings/{namespace}")
        api.delete(f"{roles}/clusterroles/{namespace}")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_each_method_is_passed_on(api, served, method):
    served()
    answer = api.call(method, f"{FLUNDERS}/x?a=b", "{}" if method != "GET" else None,
                      Content_Type="application/merge-patch+json")
    assert answer.status == 200, answer
    assert (answer.json["method"], answer.json["target"]) == (method, f"{FLUNDERS}/x?a=b")


def test_a_watch_comes_piece_by_piece(api, served):
    def answer(handler):
        if "watch" not in handler.path:
            return False
        handler.send_pieces(b'{"type":"ADDED","object":{}}\n', b'{"type":"DELETED","object":{}}\n')
        return True

    server = served(answer)
    watch = api.watch(f"{FLUNDERS}?watch=true")
    assert watch.next()["type"] == "ADDED"
    server.release.set()
    assert watch.next()["type"] == "DELETED"
    server.release.set()
    assert watch.next() is None
    watch.close()


def test_its_own_refusals_are_passed_on(api, served):
    served(lambda handler: "flunders" in handler.path and (
        handler.send(409, {"kind": "Status", "reason": "Conflict", "code": 409}, Warning='299 - "w"') or True))
    answer = api.get(FLUNDERS)
    assert (answer.status, answer.json["reason"], answer.headers["Warning"]) == (409, "Conflict", '299 - "w"')


def test_a_redirect_is_refused(api, served):
    served(lambda handler: "flunders" in handler.path and (
        handler.send(302, b"", Location="https://example.org/") or True))
    answer = api.get(FLUNDERS)
    assert (answer.status, answer.text) == (
        502, "the backend attempted to redirect this request, which is not permitted")
    assert "Location" not in answer.headers


def test_one_that_hangs_holds_up_no_other(api, served):
    stop = threading.Event()
    served(lambda handler: "flunders" in handler.path and (stop.wait(30) or True))
    connections = [api.connect() for _ in range(20)]
    try:
        for each in connections:
            each.request("GET", FLUNDERS, None, api.headers)
        assert api.get("/api/v1/namespaces/default").status == 200
        assert api.get(f"/apis/{GROUP}/{VERSION}").status == 200
    finally:
        stop.set()
        for each in connections:
            each.close()


# ---- discovery ----

def test_clients_find_it(api, served):
    served()
    group = {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}
    assert {"name": GROUP, "versions": [group], "preferredVersion": group} in api.get("/apis").json["groups"]
    assert api.get(f"/apis/{GROUP}").json["preferredVersion"] == group
    assert api.get(f"/apis/{GROUP}/{VERSION}").json["resources"][0]["name"] == "flunders"

    def aggregated():
        items = api.get("/apis", Accept=AGGREGATED).json["items"]
        return next((each["versions"][0] for each in items if each["metadata"]["name"] == GROUP), {})

    version = first_of(aggregated, lambda version: version.get("resources"))  # it is asked in the background
    assert (version["version"], version["freshness"]) == (VERSION, "Current")
    resource = version["resources"][0]
    assert (resource["resource"], resource["responseKind"]["kind"], resource["scope"], resource["shortNames"]) == (
        "flunders", "Flunder", "Namespaced", ["fl"])


def test_what_it_is_told_with_is_restored(api):
    """extension-apiserver-authentication, which the servers behind APIServices read."""
    maps = "/api/v1/namespaces/kube-system/configmaps"
    name = "extension-apiserver-authentication"
    before = api.get(f"{maps}/{name}").json["data"]
    assert before["requestheader-allowed-names"] == '["front-proxy-client"]'
    assert before["requestheader-username-headers"] == '["X-Remote-User"]'
    assert before["requestheader-group-headers"] == '["X-Remote-Group"]'
    assert before["requestheader-extra-headers-prefix"] == '["X-Remote-Extra-"]'
    api.delete(f"{maps}/{name}")
    api.there(maps, name)
    assert api.get(f"{maps}/{name}").json["data"] == before
    role = api.get("/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/extension-apiserver-authentication-reader")
    assert role.json["rules"][0]["resourceNames"] == [name]
