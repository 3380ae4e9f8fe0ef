"""Admission webhooks of a `muster up`: a real HTTPS server, asked by the API, through kubectl."""

import base64
import http.server
import json
import ssl
import subprocess
import threading

import pytest

from test_up import Up, needs_kubectl

pytestmark = needs_kubectl


@pytest.fixture
def up(tmp_path):
    made = Up(tmp_path)
    made.start()
    yield made
    made.down("--kill")


class Hook:
    """A webhook on loopback that decides by what the ConfigMap says."""

    def __init__(self, directory):
        self.certificate, key = directory / "hook.crt", directory / "hook.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "1", "-subj", "/CN=hook", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        self.asked, self.reviews = [], []
        self.ended = threading.Event()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = json.dumps(hook.answer(self.path.partition("?")[0], review)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path, review):
        request = review["request"]
        self.asked.append((path, request["operation"], request["userInfo"]["username"]))
        self.reviews.append(request)
        response = {"uid": request["uid"], "allowed": True}
        if path == "/never":
            self.ended.wait(60)
        if path == "/warn":
            response["warnings"] = ["this will be old soon"]
        if path == "/mutate":
            patch = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
        elif request["object"] and request["object"].get("data", {}).get("bad"):
            response |= {"allowed": False, "status": {"code": 403, "message": "bad is not allowed"}}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

    def configuration(self, kind, path, **more):
        bundle = base64.b64encode(self.certificate.read_bytes()).decode()
        port = self.server.server_address[1]
        return json.dumps({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": kind.lower()},
            "webhooks": [{"name": f"{kind.lower()}.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                          "clientConfig": {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle},
                          "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
                                     "resources": ["configmaps"]}], **more}]})

    def stop(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def hook(tmp_path):
    made = Hook(tmp_path)
    yield made
    made.stop()


def test_webhooks_change_and_refuse(up, hook):
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Mutating", "/mutate"))
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Validating", "/validate"))
    up.kubectl("create", "configmap", "good", "--from-literal=a=1")
    assert up.kubectl("get", "configmap", "good", "-o", "jsonpath={.metadata.labels.seen}").stdout == "yes"
    assert hook.asked[:2] == [("/mutate", "CREATE", "muster-admin"), ("/validate", "CREATE", "muster-admin")]
    refused = up.kubectl("create", "configmap", "bad", "--from-literal=bad=1", check=False)
    assert refused.returncode == 1
    assert 'admission webhook "validating.example.com" denied the request: bad is not allowed' in refused.stderr
    assert "NotFound" in up.kubectl("get", "configmap", "bad", check=False).stderr
    assert up.kubectl("get", "mutatingwebhookconfigurations", "--no-headers").stdout.split()[:2] == ["mutating", "1"]


def test_a_webhook_that_does_not_answer_has_its_time_and_its_policy(up, hook):
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Validating", "/never", timeoutSeconds=1))
    failed = up.kubectl("create", "configmap", "a", check=False)
    assert failed.returncode == 1 and 'failed calling webhook "validating.example.com"' in failed.stderr, failed
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Validating", "/never", timeoutSeconds=1,
                                                            failurePolicy="Ignore"))
    up.kubectl("create", "configmap", "a")
    assert len(hook.asked) == 2


def test_webhooks_choose_by_namespace_and_object_and_warn(up, hook):
    up.kubectl("create", "namespace", "watched")
    up.kubectl("label", "namespace", "watched", "team=a")
    up.kubectl("apply", "-f", "-", stdin=hook.configuration(
        "Validating", "/warn", namespaceSelector={"matchLabels": {"team": "a"}},
        objectSelector={"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]}))
    assert up.kubectl("create", "configmap", "a").stderr == ""
    assert "Warning: this will be old soon" in up.kubectl("-n", "watched", "create", "configmap", "a").stderr
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "labels": {"skip": ""}}}
    assert up.kubectl("-n", "watched", "create", "-f", "-", stdin=json.dumps(made)).stderr == ""
    # The label is taken away: one of both states is selected.
    up.kubectl("-n", "watched", "label", "configmap", "b", "skip-")
    assert [(each["operation"], each["name"], each["namespace"]) for each in hook.reviews] == [
        ("CREATE", "a", "watched"), ("UPDATE", "b", "watched")]
    update = hook.reviews[1]
    assert update["oldObject"]["metadata"]["labels"] == {"skip": ""} and not update["object"]["metadata"].get("labels")


def test_a_dry_run_asks_webhooks_without_side_effects_alone(up, hook):
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Mutating", "/mutate"))
    shown = up.kubectl("create", "configmap", "a", "--dry-run=server", "-o", "jsonpath={.metadata.labels.seen}")
    assert shown.stdout == "yes" and hook.reviews[0]["dryRun"] is True
    assert "NotFound" in up.kubectl("get", "configmap", "a", check=False).stderr
    for effects in ("Some", "Unknown"):
        refused = up.kubectl("apply", "-f", "-", check=False,
                             stdin=hook.configuration("Validating", "/validate", sideEffects=effects))
        assert "sideEffects" in refused.stderr and effects in refused.stderr


def test_a_condition_that_does_not_compile_is_refused_by_name(up, hook):
    conditions = [{"name": "not-ours", "expression": "request.userInfo.none != 'x'"}]
    refused = up.kubectl("apply", "-f", "-", check=False,
                         stdin=hook.configuration("Validating", "/validate", matchConditions=conditions))
    assert refused.returncode == 1 and "webhooks[0].matchConditions[0].expression" in refused.stderr
    assert "undefined field 'none'" in refused.stderr


def test_a_webhook_of_one_api_of_events_sees_those_of_the_other(up, hook):
    rules = [{"operations": ["CREATE"], "apiGroups": ["events.k8s.io"], "apiVersions": ["v1"], "resources": ["events"]}]
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Validating", "/validate", rules=rules))
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "reason": "R", "message": "text", "type": "Normal",
             "involvedObject": {"kind": "ConfigMap", "name": "a", "namespace": "default"}}
    up.kubectl("create", "-f", "-", stdin=json.dumps(event))
    seen = [each for each in hook.reviews if each["name"] == "e"]
    assert len(seen) == 1 and seen[0]["kind"]["group"] == "events.k8s.io" and seen[0]["requestKind"]["group"] == ""
    assert seen[0]["object"]["note"] == "text" and seen[0]["object"]["regarding"]["name"] == "a"


SERVED = """
import http.server, json, ssl
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        bad = (review["request"]["object"] or {}).get("data", {}).get("bad")
        text = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": {
            "uid": review["request"]["uid"], "allowed": not bad,
            "status": {"message": self.headers["Host"] + " says no"}}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
server = http.server.HTTPServer(("", 9443), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/hook/tls.crt", "/hook/tls.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def serve_in_a_pod(up, directory, name):
    """A webhook in a pod behind the Service "hook", whose certificate is for `name`; its configuration."""
    certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "1", "-subj", "/CN=hook", "-addext", f"subjectAltName=DNS:{name}", "-keyout", key,
                    "-out", certificate], check=True, capture_output=True)
    up.kubectl("create", "secret", "tls", "hook", f"--cert={certificate}", f"--key={key}")
    probe = {"tcpSocket": {"port": 9443}, "periodSeconds": 1}
    up.kubectl("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hook", "labels": {"app": "hook"}},
        "spec": {"terminationGracePeriodSeconds": 0, "volumes": [{"name": "hook", "secret": {"secretName": "hook"}}],
                 "containers": [{"name": "main", "image": "local", "command": ["python3", "-c", SERVED],
                                 "ports": [{"name": "hook", "containerPort": 9443}], "readinessProbe": probe,
                                 "volumeMounts": [{"name": "hook", "mountPath": "/hook"}]}]}}))
    up.kubectl("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"},
        "spec": {"selector": {"app": "hook"}, "ports": [{"port": 443, "targetPort": "hook"}]}}))
    up.kubectl("wait", "--for=condition=Ready", "pod/hook", "--timeout=30s")
    return json.dumps({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hook"},
        "webhooks": [{"name": "hook.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                      "clientConfig": {"service": {"namespace": "default", "name": "hook", "path": "/check"},
                                       "caBundle": base64.b64encode(certificate.read_bytes()).decode()},
                      "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                                 "resources": ["configmaps"]}]}]})


def test_a_webhook_in_a_pod_is_reached_by_its_service(up, tmp_path):
    up.kubectl("apply", "-f", "-", stdin=serve_in_a_pod(up, tmp_path, "hook.default.svc"))
    up.kubectl("create", "configmap", "good", "--from-literal=a=1")
    refused = up.kubectl("create", "configmap", "bad", "--from-literal=bad=1", check=False)
    assert 'admission webhook "hook.example.com" denied the request: hook.default.svc:443 says no' in refused.stderr
    up.kubectl("delete", "pod", "hook")
    failed = up.kubectl("create", "configmap", "later", check=False)
    assert 'no endpoints available for service "hook"' in failed.stderr


def test_a_pod_that_is_not_the_service_it_claims_to_be_is_not_asked(up, tmp_path):
    up.kubectl("apply", "-f", "-", stdin=serve_in_a_pod(up, tmp_path, "other.default.svc"))
    failed = up.kubectl("create", "configmap", "good", check=False)
    assert 'failed calling webhook "hook.example.com"' in failed.stderr and failed.returncode == 1


def test_a_webhook_that_is_gone_stops_writes_until_it_is_taken_away(up, hook):
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Validating", "/validate"))
    hook.stop()
    failed = up.kubectl("create", "configmap", "a", check=False)
    assert 'failed calling webhook "validating.example.com"' in failed.stderr
    up.kubectl("delete", "validatingwebhookconfiguration", "validating")
    up.kubectl("create", "configmap", "a")
