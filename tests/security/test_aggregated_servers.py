"""A server behind an APIService that means harm: documents and answers without an end, too deep, too large; and none at all.

The fixture fails if the event loop was held for long."""

import http.client
import json
import pathlib
import ssl
import sys
import threading

import pytest

from daemon import MIB

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))

from extension_server import GROUP, VERSION, ExtensionServer  # noqa: E402

SERVICES = "/api/v1/namespaces/default/services"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DISCOVERY, FLUNDERS = f"/apis/{GROUP}/{VERSION}", f"/apis/{GROUP}/{VERSION}/flunders"
AGGREGATED = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def row(number, **more):
    return {"name": f"r{number}", "kind": "K", "verbs": ["get"], **more}


def resources(rows):
    return json.dumps({"kind": "APIResourceList", "resources": rows}).encode()


DOCUMENTS = {
    "many resources": resources([row(i) for i in range(10_000)]),
    "as many as may be": resources([row(i, shortNames=["x" * 100] * 2) for i in range(1000)]),
    "many words": resources([row(0, verbs=["v"] * 100_000, shortNames=["s" * 200] * 2000)]),
    "many subresources": resources([row(0), *({"name": f"r0/{i}", "verbs": ["get"] * 32} for i in range(999))]),
    "deep": b"[" * 900_000,
    "deep and closed": b'{"kind":"APIResourceList","resources":' + b"[" * 400_000 + b"]" * 400_000 + b"}",
    "no JSON": b"\xff" * 900_000,
}


def endless(handler):
    """A body that has no end, as long as it is read."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    piece = b"[" * 65536
    try:
        while True:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    except OSError:
        return True


def endless_head(handler):
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            handler.wfile.write(b"X-Header: " + b"x" * 1000 + b"\r\n")
    except OSError:
        return True


@pytest.fixture
def serve(up):
    up.start()
    config = up.send("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")
    up.send("POST", SERVICES, {"metadata": {"name": "wardle"}, "spec": {"type": "ExternalName", "externalName": "localhost"}})
    started = []

    def start(answer):
        server = ExtensionServer(config["data"]["requestheader-client-ca-file"], "wardle", "default", answer)
        started.append(server)
        up.send("POST", API_SERVICES, {"metadata": {"name": f"{VERSION}.{GROUP}"}, "spec": {
            "group": GROUP, "version": VERSION, "groupPriorityMinimum": 1000, "versionPriority": 15, "caBundle": server.bundle(),
            "service": {"namespace": "default", "name": "wardle", "port": server.port}}})
        return server

    yield start
    for each in started:
        each.stop()


def condition(up):
    found = up.send("GET", f"{API_SERVICES}/{VERSION}.{GROUP}")
    return [each["reason"] for each in found.get("status", {}).get("conditions", [])]


def until(said):
    for _ in range(20_000):
        if said():
            return
    raise AssertionError("it did not come to that")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_it_says_of_its_kinds(up, serve, document):
    server = serve(lambda handler: handler.send(200, DOCUMENTS[document]) or True)
    until(lambda: condition(up) == ["Passed"] and len(server.requests) >= 2)
    for accept in (AGGREGATED, "Accept: application/json"):
        status, text = up.ask("GET", "/apis", up.admin(), accept)
        assert status == 200 and GROUP.encode() in text
    assert up.ask("GET", "/openapi/v3", up.admin())[0] == 200
    assert up.ask("GET", DISCOVERY, up.admin())[0] == 200


@pytest.mark.parametrize("answer", [endless, endless_head])
def test_an_answer_without_end(up, serve, answer):
    server = serve(lambda handler: "flunders" not in handler.path and handler.path != DISCOVERY and answer(handler))
    until(lambda: condition(up) == ["Passed"])
    server.answer = answer
    before = up.memory()
    url, context = up.endpoint(), ssl.create_default_context(cafile=up.state / "ca.crt")
    connections = [http.client.HTTPSConnection(*url, context=context, timeout=30) for _ in range(20)]
    name, value = up.admin().split(": ", 1)
    for each in connections:
        each.request("GET", FLUNDERS, headers={name: value})
    got = connections[0].getresponse()
    if answer is endless:
        assert len(got.read(16 * MIB)) == 16 * MIB
    else:
        assert got.status == 503
    assert up.send("GET", "/api/v1/namespaces/default")["kind"] == "Namespace"
    assert up.memory() < before + 64 * MIB
    for each in connections:
        each.close()


def test_no_answer_at_all(up, serve):
    stop = threading.Event()
    serve(lambda handler: "flunders" in handler.path and (stop.wait(60) or True))
    until(lambda: condition(up) == ["Passed"])
    url, context = up.endpoint(), ssl.create_default_context(cafile=up.state / "ca.crt")
    name, value = up.admin().split(": ", 1)
    connections = [http.client.HTTPSConnection(*url, context=context, timeout=60) for _ in range(120)]
    for each in connections:
        each.request("GET", FLUNDERS, headers={name: value})
    assert connections[-1].getresponse().status == 429
    assert up.send("GET", "/api/v1/namespaces/default")["kind"] == "Namespace"
    stop.set()
    for each in connections:
        each.close()
