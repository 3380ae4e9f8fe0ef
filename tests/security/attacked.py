"""A real daemon and those who attack it, for the tests of this folder."""

import http.client
import json
import os
import pathlib
import select
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import holds

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))

RBAC = "/apis/rbac.authorization.k8s.io/v1"
PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"


class Daemon:
    """One `muster up` with a state directory of its own."""

    def __init__(self, directory, state=None):
        self.directory = directory
        self.state = state or directory / "state"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory)}

    def muster(self, *args, check=True):
        done = subprocess.run([BINARY, *map(str, args)], env=self.environment, cwd=self.directory, text=True,
                              capture_output=True, timeout=60, check=False)
        if check:
            assert done.returncode == 0, done
        return done

    def up(self, *args, check=True):
        listen = () if "--listen" in args else ("--listen", "127.0.0.1:0")
        return self.muster("up", "--state", self.state, *listen, "--detach", *args, check=check)

    def down(self, *args, check=True):
        """Fails if it held its event loop for too long."""
        hold = holds.of(self.state)
        done = self.muster("down", "--state", self.state, *args, check=check)
        holds.note(hold)
        return done

    def kill(self):
        """SIGKILL, and waits for the end: until then the dying process holds the state directory."""
        process = os.pidfd_open(self.lock()["pid"])
        signal.pidfd_send_signal(process, signal.SIGKILL)
        assert select.select([process], [], [], 30)[0]
        os.close(process)

    def lock(self):
        return json.loads((self.state / "lock").read_text())

    def admin(self):
        return (self.state / "admin.token").read_text().strip()

    def ask(self, method, path, body=None, token=None, content_type="application/json"):
        """The status and the answer. token: the admin's if None, none if it is empty."""
        request = urllib.request.Request(self.lock()["address"] + path, method=method,
                                         data=None if body is None else json.dumps(body, separators=(",", ":")).encode())
        self.authorize(request, token)
        request.add_header("Content-Type", content_type)
        trusted = ssl.create_default_context(cafile=self.state / "ca.crt")
        try:
            with urllib.request.urlopen(request, context=trusted, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def authorize(self, request, token):
        if token != "":
            request.add_header("Authorization", "Bearer " + (self.admin() if token is None else token))

    def read(self, path, accept, token=None):
        """The text of the answer, whatever its status."""
        request = urllib.request.Request(self.lock()["address"] + path)
        self.authorize(request, token)
        request.add_header("Accept", accept)
        trusted = ssl.create_default_context(cafile=self.state / "ca.crt")
        try:
            with urllib.request.urlopen(request, context=trusted, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.read().decode()

    def connection(self):
        address = urllib.parse.urlparse(self.lock()["address"])
        trusted = ssl.create_default_context(cafile=self.state / "ca.crt")
        return http.client.HTTPSConnection(address.hostname, address.port, context=trusted, timeout=60)

    def create_all(self, path, bodies):
        """Over one connection."""
        connection = self.connection()
        fields = {"Authorization": "Bearer " + self.admin(), "Content-Type": "application/json"}
        for body in bodies:
            connection.request("POST", path, json.dumps(body), fields)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 201, text
        connection.close()

    def must(self, method, path, body=None, **more):
        status, answer = self.ask(method, path, body, **more)
        assert status < 300, answer
        return answer

    def account(self, name, *rules, role=None):
        """The token of a new service account with these rights in the whole cluster."""
        self.must("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": name}})
        subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
        self.must("POST", f"{RBAC}/clusterroles", {"metadata": {"name": f"of-{name}"}, "rules": list(rules)})
        for bound in filter(None, (f"of-{name}", role)):
            self.must("POST", f"{RBAC}/clusterrolebindings", {
                "metadata": {"name": f"{bound}-to-{name}"}, "subjects": [subject],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": bound}})
        made = self.must("POST", f"/api/v1/namespaces/default/serviceaccounts/{name}/token", {"spec": {}})
        return made["status"]["token"]

    def wait_for(self, path, condition, limit=40):
        """The object once the condition holds of it."""
        deadline = time.monotonic() + limit
        while True:
            found = self.must("GET", path)
            if condition(found):
                return found
            assert time.monotonic() < deadline, json.dumps(found.get("status"))[:4000]
            time.sleep(0.02)

    def wait_until_gone(self, path, limit=40):
        deadline = time.monotonic() + limit
        while self.ask("GET", path)[0] != 404:
            assert time.monotonic() < deadline, path
            time.sleep(0.02)


def rule(verbs, resources, group=""):
    return {"verbs": verbs, "apiGroups": [group], "resources": resources}


def pod(name, script, *, container=None, **spec):
    return {"metadata": {"name": name}, "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, **spec,
        "containers": [{"name": "main", "image": "local", "command": ["sh", "-c", script], **(container or {})}]}}
