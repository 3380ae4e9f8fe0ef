"""How admission webhooks are called: URLs, trust, redirects, answers that are none."""

import base64
import json
import threading
import uuid

import pytest

from webhook_server import WebhookServer, certificates_in_a_folder

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
SERVICES = "/api/v1/namespaces/default/services"


@pytest.fixture(scope="session")
def certificates():
    return certificates_in_a_folder()


def allow(request, **more):
    review = request.json
    return {"apiVersion": review["apiVersion"], "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], "allowed": True, **more}}


def encoded(text):
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def serve(certificates):
    started = []

    def start(answer=allow, **options):
        started.append(WebhookServer(certificates, answer, **options))
        return started[-1]

    yield start
    for each in started:
        each.stop()


class Hooks:
    """Configurations for the ConfigMaps of one namespace, each in force when it was made."""

    def __init__(self, api, namespace, certificates):
        self.api, self.namespace, self.certificates, self.made = api, namespace, certificates, []

    def configuration(self, clients, kind="validating", **more):
        rules = [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
        return {"metadata": {"name": "w" + uuid.uuid4().hex[:10]}, "webhooks": [
            {"name": f"w{index}.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 7,
             "clientConfig": client, "rules": rules,
             "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}}, **more}
            for index, client in enumerate(clients)]}

    def add(self, *clients, kind="validating", **more):
        configuration = self.configuration(clients, kind, **more)
        path = f"{ADMISSION}/{kind}webhookconfigurations"
        answer = self.api.post(path, configuration)
        assert answer.status == 201, answer
        self.made.append(f"{path}/{configuration['metadata']['name']}")
        return answer.json

    def refused(self, client):
        answer = self.api.post(f"{ADMISSION}/validatingwebhookconfigurations", self.configuration([client]))
        assert answer.status == 422, answer
        return [(cause["field"].removeprefix("webhooks[0].clientConfig."), cause["message"])
                for cause in answer.json["details"]["causes"]]

    def client(self, url, *bundle):
        return {"url": url, **({"caBundle": self.certificates.bundle(*bundle)} if bundle else {})}

    def create(self, asked, query="", **fields):
        """A ConfigMap, once it is asked about: servers learn of a configuration a little later."""
        while True:
            before = asked()
            answer = self.api.post(f"/api/v1/namespaces/{self.namespace}/configmaps{query}",
                                   {"metadata": {"generateName": "c"}, **fields})
            if answer.status != 201 or asked() != before:
                return answer


@pytest.fixture
def hooks(api, namespace, certificates):
    made = Hooks(api, namespace, certificates)
    yield made
    for path in made.made:
        api.delete(path)


def message(answer):
    assert answer.status == 500, answer
    assert answer.json["reason"] == "InternalError"
    prefix = 'Internal error occurred: failed calling webhook "w0.example.com": '
    assert answer.json["message"].startswith(prefix), answer
    return answer.json["message"].removeprefix(prefix)


@pytest.mark.parametrize("path, asked", [
    ("", "/"), ("/", "/"), ("/v/", "/v"), ("//v", "/v"), ("/a/../v", "/v"), ("/a//b/", "/a/b"), ("/a/./b", "/a/b"),
    ("/%61/%2f/b", "/a/b"), ("/a b", "/a%20b"), ("/../..", "/"), ("/ä", "/%C3%A4"), ("/-_.~$&+,:;=@", "/-_.~$&+,:;=@"),
])
def test_the_path_and_what_is_sent_with_it(hooks, serve, path, asked):
    server = serve()
    hooks.add(hooks.client(server.url(path), "root"))
    assert hooks.create(lambda: len(server.requests)).status == 201
    request = server.requests[0]
    assert (request.method, request.path, request.query) == ("POST", asked, "timeout=7s")
    assert request.headers["Host"] == f"127.0.0.1:{server.port}"
    assert request.headers["User-Agent"] == "kube-apiserver-admission"
    assert request.headers["Accept"] == "application/json, */*"
    assert request.headers["Content-Type"] == "application/json"


FORM = "; desired format: https://host[/path]"


@pytest.mark.parametrize("url, problem", [
    ("http://h/v", f"Invalid value: \"http\": 'https' is the only allowed URL scheme{FORM}"),
    ("https://h/v?x=1", 'Invalid value: "x=1": query parameters are not permitted in the URL'),
    ("https://h/v#f", 'Invalid value: "f": fragments are not permitted in the URL'),
    ("https://user@h/", 'Invalid value: "user": user information is not permitted in the URL'),
    ("https:///v", f'Invalid value: "": host must be specified{FORM}'),
    ("https://[::1/v", f"Required value: url must be a valid URL: parse \"https://[::1/v\": missing ']' in host{FORM}"),
    ("https://h:x/v", f'Required value: url must be a valid URL: parse "https://h:x/v": invalid port ":x" after host{FORM}'),
])
def test_urls_that_are_refused(hooks, url, problem):
    assert hooks.refused({"url": url}) == [("url", problem)]


SUBDOMAIN = ("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
             "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
             "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")


@pytest.mark.parametrize("path, problems", [
    ("/", []), ("/a/", []),
    ("a", ["must start with a '/'", "segment[0] may not be empty"]),
    ("//", ["segment[0] may not be empty"]),
    ("/a//b", ["segment[1] may not be empty"]),
    ("/A", [f"segment[0]: {SUBDOMAIN}"]),
])
def test_paths_of_services(hooks, path, problems):
    client = {"service": {"name": "s", "namespace": "default", "path": path}}
    if not problems:
        hooks.add(client, failurePolicy="Ignore")
        return
    assert hooks.refused(client) == [("service.path", f'Invalid value: "{path}": {each}') for each in problems]


@pytest.mark.parametrize("chain, bundle, trusted", [
    (True, ["root"], True), (True, ["middle"], True), (True, ["leaf"], True), (True, ["other", "root"], True),
    (True, ["other"], False), (True, [], False),
    (False, ["root"], False), (False, ["middle"], True), (False, ["leaf"], True), (False, ["root", "middle"], True),
])
def test_any_certificate_of_the_bundle_is_trusted(hooks, serve, chain, bundle, trusted):
    server = serve(chain=chain)
    hooks.add(hooks.client(server.url("/v"), *bundle))
    answer = hooks.create(lambda: len(server.requests))
    if trusted:
        assert answer.status == 201, answer
        return
    assert message(answer).startswith(f'failed to call webhook: Post "{server.url("/v")}?timeout=7s": ')
    assert server.requests == []


def test_the_certificate_has_to_be_of_the_name(hooks, serve):
    server = serve()
    hooks.add(hooks.client(server.url("/v", "localhost"), "root"))
    assert hooks.create(lambda: len(server.requests)).status == 201
    assert server.requests[0].headers["Host"] == f"localhost:{server.port}"
    # Go and the resolver take it for 127.0.0.1, but it is no name of the certificate.
    hooks.add(hooks.client(server.url("/v", "[::ffff:127.0.0.1]"), "other"))
    assert hooks.create(lambda: 0 if len(server.requests) < 3 else None).status == 500


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_method_is_followed(hooks, serve, status):
    server = serve(lambda request: (status, {"Location": "/final"}, b"") if request.path == "/v" else allow(request))
    hooks.add(hooks.client(server.url("/v"), "root"))
    assert hooks.create(lambda: len(server.requests)).status == 201
    first, second = server.requests[:2]
    assert (second.method, second.path, second.query) == ("POST", "/final", "")
    assert second.body == first.body and second.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("status", [301, 302, 303])
def test_other_redirects_become_a_get(hooks, serve, status):
    server = serve(lambda request: (status, {"Location": "/final"}, b"") if request.path == "/v" else b"nonsense")
    hooks.add(hooks.client(server.url("/v"), "root"))
    assert "failed to call webhook: " in message(hooks.create(lambda: len(server.requests)))
    assert [(each.method, each.path, each.body) for each in server.requests[1:]] == [("GET", "/final", b"")]


def test_redirects_end(hooks, serve):
    server = serve(lambda request: (307, {"Location": "/loop"}, b""))
    hooks.add(hooks.client(server.url("/loop"), "root"))
    answer = hooks.create(lambda: len(server.requests))
    assert message(answer) == 'failed to call webhook: Post "/loop": stopped after 10 redirects'
    assert len(server.requests) == 10


@pytest.mark.parametrize("answer, problem", [
    ((500, {"Content-Type": "text/plain"}, b"it is broken"),
     'failed to call webhook: an error on the server ("it is broken") has prevented the request from succeeding'),
    ((500, {}, b"{}"),
     'failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding'),
    ((404, {}, b"nothing"), "failed to call webhook: the server could not find the requested resource"),
    ((200, {}, b""),
     "failed to call webhook: 0-length response with status code: 200 and content type: application/json"),
    ({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"},
     "received invalid webhook response: webhook response was absent"),
    ({}, "received invalid webhook response: webhook response was absent"),
    (b"null", "received invalid webhook response: webhook response was absent"),
])
def test_answers_that_are_none(hooks, serve, answer, problem):
    server = serve(lambda request: answer)
    hooks.add(hooks.client(server.url("/v"), "root"))
    assert message(hooks.create(lambda: len(server.requests))) == problem


@pytest.mark.parametrize("answer", [b"nonsense", b"[]", {"apiVersion": "admission.k8s.io/v1", "kind": "Other"},
                                    {"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview",
                                     "response": {"allowed": True}}])
def test_answers_that_are_not_read(hooks, serve, answer):
    server = serve(lambda request: answer)
    hooks.add(hooks.client(server.url("/v"), "root"))
    assert message(hooks.create(lambda: len(server.requests))).startswith("failed to call webhook: ")


@pytest.mark.parametrize("kind, response, problem", [
    ("validating", {"uid": "wrong"}, 'expected response.uid="'),
    ("validating", {"patch": encoded("[]")}, "validating webhook may not return response.patch"),
    ("validating", {"patchType": "JSONPatch"}, "validating webhook may not return response.patchType"),
    ("mutating", {"patch": encoded("[]")}, "webhook returned response.patch but not response.patchType"),
    ("mutating", {"patchType": "JSONPatch"}, "webhook returned response.patchType but not response.patch"),
])
def test_responses_that_are_invalid(hooks, serve, kind, response, problem):
    server = serve(lambda request: allow(request, **response))
    hooks.add(hooks.client(server.url("/v"), "root"), kind=kind)
    text = message(hooks.create(lambda: len(server.requests)))
    assert text.startswith(f"received invalid webhook response: {problem}")


@pytest.mark.parametrize("patch", ["nonsense", '[{"op":"remove","path":"/none"}]', " "])
def test_a_patch_that_cant_be_applied_is_not_ignored(hooks, serve, patch):
    server = serve(lambda request: allow(request, patchType="JSONPatch", patch=encoded(patch)))
    hooks.add(hooks.client(server.url("/v"), "root"), kind="mutating", failurePolicy="Ignore")
    assert hooks.create(lambda: len(server.requests)).status == 500


@pytest.mark.parametrize("answer", [(500, {}, b""), b"nonsense", b"", {"apiVersion": "admission.k8s.io/v1",
                                                                       "kind": "AdmissionReview"}])
def test_other_failures_are_ignored_on_request(hooks, serve, answer):
    server = serve(lambda request: answer)
    hooks.add(hooks.client(server.url("/v"), "root"), failurePolicy="Ignore")
    assert hooks.create(lambda: len(server.requests)).status == 201


def test_a_webhook_has_its_time(hooks, serve):
    done = threading.Event()
    server = serve(lambda request: done.wait(60) and allow(request))
    hooks.add(hooks.client(server.url("/v"), "root"), timeoutSeconds=1)
    text = message(hooks.create(lambda: len(server.requests)))
    assert text == f'failed to call webhook: Post "{server.url("/v")}?timeout=1s": context deadline exceeded'
    assert server.requests[0].query == "timeout=1s"
    done.set()


def test_one_that_is_called_again_if_others_changed_the_object(hooks, serve):
    def answer(request):
        data = request.json["request"]["object"].get("data", {})
        name = request.path[1:]
        patch = [] if name in data else [{"op": "add", "path": f"/data/{name}", "value": "x"}]
        return allow(request, patchType="JSONPatch", patch=encoded(json.dumps(patch)))

    server = serve(answer)
    hooks.add(hooks.client(server.url("/a"), "root"), hooks.client(server.url("/b"), "root"), kind="mutating",
              reinvocationPolicy="IfNeeded")
    made = hooks.create(lambda: len(server.requests), data={"k": "v"})
    assert made.json["data"] == {"k": "v", "a": "x", "b": "x"}
    assert [each.path for each in server.requests] == ["/a", "/b", "/a"]


@pytest.mark.parametrize("labels, paths", [({"was": "first"}, ["/first", "/last"]), ({"was": "none"}, ["/first"])])
def test_labels_count_as_earlier_webhooks_left_them(hooks, serve, labels, paths):
    def answer(request):
        patch = [{"op": "add", "path": "/metadata/labels", "value": {"was": "first"}}] if request.path == "/first" else []
        return allow(request, patchType="JSONPatch", patch=encoded(json.dumps(patch)))

    server = serve(answer)
    path = f"{ADMISSION}/mutatingwebhookconfigurations"
    configuration = hooks.configuration([hooks.client(server.url(name), "root") for name in ("/first", "/last")])
    configuration["webhooks"][1]["objectSelector"] = {"matchLabels": labels}
    assert hooks.api.post(path, configuration).status == 201
    hooks.made.append(f"{path}/{configuration['metadata']['name']}")
    made = hooks.create(lambda: len(server.requests), metadata={"generateName": "c", "labels": {"was": "none"}})
    assert made.json["metadata"]["labels"] == {"was": "first"}
    assert [each.path for each in server.requests] == paths


def mending(request):
    """The answer of a webhook that takes the key `not a key` away."""
    data = request.json["request"]["object"].get("data", {})
    patch = [{"op": "remove", "path": "/data/not a key"}] if "not a key" in data else []
    return allow(request, patchType="JSONPatch", patch=encoded(json.dumps(patch)))


def written(hooks, serve, write, data):
    """The answer to a write of the data, and what the webhook that mends it was asked about it."""
    server = serve(mending)
    hooks.add(hooks.client(server.url("/v"), "root"), kind="mutating")
    made = hooks.create(lambda: len(server.requests), data={"k": "v"}).json
    server.requests.clear()
    maps = f"/api/v1/namespaces/{hooks.namespace}/configmaps"
    path = f"{maps}/{made['metadata']['name']}"
    answer = {"create": lambda: hooks.api.post(maps, {"metadata": {"name": "other"}, "data": data}),
              "put": lambda: hooks.api.put(path, {**made, "data": data}),
              "patch": lambda: hooks.api.patch(path, {"data": data})}[write]()
    return answer, server.requests


@pytest.mark.parametrize("write", ["create", "put", "patch"])
def test_what_a_webhook_puts_right_is_not_refused(hooks, serve, write):
    answer, _ = written(hooks, serve, write, {"k": "w", "not a key": "v"})
    assert answer.status in (200, 201) and answer.json["data"] == {"k": "w"}, answer


@pytest.mark.parametrize("write", ["create", "put", "patch"])
def test_what_webhooks_leave_wrong_is_refused(hooks, serve, write):
    data = {"k": "w", "no key": "v"}
    answer, seen = written(hooks, serve, write, data)
    assert answer.status == 422 and "data[no key]" in answer.json["message"], answer
    assert len(seen) == 1 and seen[0].json["request"]["object"]["data"] == data


def test_a_dry_run_says_so(hooks, serve):
    server = serve()
    hooks.add(hooks.client(server.url("/v"), "root"))
    assert hooks.create(lambda: len(server.requests), "?dryRun=All").status == 201
    assert server.requests[0].json["request"]["dryRun"] is True


@pytest.fixture
def service(api):
    made = []

    def make(spec, name="hook"):
        answer = api.post(SERVICES, {"metadata": {"name": name}, "spec": spec})
        assert answer.status == 201, answer
        made.append(f"{SERVICES}/{name}")

    yield make
    for path in made:
        api.delete(path)


def behind(certificates, port=None, path="/v"):
    return {"service": {"name": "hook", "namespace": "default", "path": path, **({"port": port} if port else {})},
            "caBundle": certificates.bundle("root")}


def test_a_service_with_an_external_name(hooks, serve, service, certificates):
    server = serve(lambda request: (307, {"Location": "/final"}, b"") if request.path == "/v" else allow(request))
    service({"type": "ExternalName", "externalName": "localhost"})
    hooks.add(behind(certificates, server.port))
    assert hooks.create(lambda: len(server.requests)).status == 201
    assert [each.path for each in server.requests] == ["/v", "/final"]
    assert {each.headers["Host"] for each in server.requests} == {f"hook.default.svc:{server.port}"}


def test_a_service_that_is_not_there(hooks, certificates):
    hooks.add(behind(certificates))
    text = message(hooks.create(lambda: None))
    assert text == 'failed to call webhook: Post "https://hook.default.svc:443/v?timeout=7s": service "hook" not found'
