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
        self.asked = []
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = json.dumps(hook.answer(self.path, review)).encode()
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
        response = {"uid": request["uid"], "allowed": True}
        if path == "/mutate":
            patch = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
        elif request["object"] and request["object"].get("data", {}).get("bad"):
            response |= {"allowed": False, "status": {"code": 403, "message": "bad is not allowed"}}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

    def configuration(self, kind, path):
        bundle = base64.b64encode(self.certificate.read_bytes()).decode()
        port = self.server.server_address[1]
        return json.dumps({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": kind.lower()},
            "webhooks": [{"name": f"{kind.lower()}.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                          "clientConfig": {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle},
                          "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
                                     "resources": ["configmaps"]}]}]})

    def stop(self):
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


def test_a_webhook_that_is_gone_stops_writes_until_it_is_taken_away(up, hook):
    up.kubectl("apply", "-f", "-", stdin=hook.configuration("Validating", "/validate"))
    hook.stop()
    failed = up.kubectl("create", "configmap", "a", check=False)
    assert 'failed calling webhook "validating.example.com"' in failed.stderr
    up.kubectl("delete", "validatingwebhookconfiguration", "validating")
    up.kubectl("create", "configmap", "a")
