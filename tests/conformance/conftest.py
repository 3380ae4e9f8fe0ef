"""A client of plain HTTP and JSON for any kubeconfig, and a namespace for each test."""

import base64
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import tempfile
import time
import urllib.parse
import uuid

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))
PATCH = {"json": "application/json-patch+json", "merge": "application/merge-patch+json",
         "strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml"}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self):
        return json.loads(self.text)

    def __repr__(self):
        return f"{self.status} {self.text[:2000]}"


class Watch:
    """The events of one watch, as they come."""

    def __init__(self, connection, answer):
        self.connection, self.answer = connection, answer

    def next(self):
        line = self.answer.readline()
        return json.loads(line) if line else None

    def until(self, wanted):
        """Events up to the first for which `wanted(event)`."""
        seen = []
        while True:
            event = self.next()
            assert event is not None, f"the watch ended after {seen}"
            seen.append(event)
            if wanted(event):
                return seen

    def close(self):
        self.connection.close()


class Api:
    def __init__(self, kubeconfig):
        config = yaml.safe_load(pathlib.Path(kubeconfig).read_text())

        def named(kind, name):
            return next(entry[kind] for entry in config[kind + "s"] if entry["name"] == name)

        context = named("context", config["current-context"])
        cluster, user = named("cluster", context["cluster"]), named("user", context["user"])
        self.url = urllib.parse.urlsplit(cluster["server"])
        self.headers = {"Authorization": "Bearer " + user["token"]} if "token" in user else {}
        self.context = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        if "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile() as pem:
                pem.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
                pem.flush()
                self.context.load_cert_chain(pem.name)
        self.connection = self.connect()
        self.used = time.monotonic()

    def connect(self):
        return http.client.HTTPSConnection(self.url.hostname, self.url.port, context=self.context, timeout=60)

    def kept_connection(self):
        """One for all tests. kube-apiserver closes it when it was idle for 90 s."""
        now = time.monotonic()
        if now > self.used + 60:
            self.connection.close()  # the next request opens it
        self.used = now
        return self.connection

    def call(self, method, path, body=None, connection=None, **headers):
        connection = connection or self.kept_connection()
        text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        fields = {"Content-Type": "application/json", **self.headers,
                  **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, text, fields)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read().decode())

    def get(self, path, **headers):
        return self.call("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.call("POST", path, body, **headers)

    def put(self, path, body):
        return self.call("PUT", path, body)

    def patch(self, path, body, kind="merge"):
        return self.call("PATCH", path, body, Content_Type=PATCH[kind])

    def delete(self, path, body=None):
        return self.call("DELETE", path, body)

    def watch(self, path, **headers):
        connection = self.connect()
        connection.request("GET", path, None, {**self.headers, **headers})
        answer = connection.getresponse()
        assert answer.status == 200, (answer.status, answer.read())
        return Watch(connection, answer)

    def there(self, collection, name):
        """Returns when there is such an object."""
        only = f"fieldSelector=metadata.name%3D{name}"
        listed = self.get(f"{collection}?{only}").json
        if not listed["items"]:
            watch = self.watch(f"{collection}?watch=1&{only}&resourceVersion={listed['metadata']['resourceVersion']}")
            watch.until(lambda event: event["type"] == "ADDED")
            watch.close()

    def gone(self, collection, name):
        """Returns when there is no such object."""
        listed = self.get(f"{collection}?fieldSelector=metadata.name%3D{name}").json
        if listed["items"]:
            version = listed["metadata"]["resourceVersion"]
            watch = self.watch(f"{collection}?watch=1&fieldSelector=metadata.name%3D{name}&resourceVersion={version}")
            watch.until(lambda event: event["type"] == "DELETED")
            watch.close()


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory):
    if os.environ.get("KUBECONFIG"):
        yield pathlib.Path(os.environ["KUBECONFIG"])
        return
    state = tmp_path_factory.mktemp("conformance") / "state"
    subprocess.run([BINARY, "up", "--state", state, "--listen", "127.0.0.1:0", "--detach"], check=True, timeout=60,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield state / "kubeconfig"
    finally:
        subprocess.run([BINARY, "down", "--state", state, "--kill"], check=False, timeout=60, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def api(kubeconfig):
    return Api(kubeconfig)


@pytest.fixture(scope="session")
def furniture(api):
    """What controllers of this server put into each namespace, as (resource, name)."""
    wanted = (("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default"))
    return [(resource, name) for resource, name in wanted
            if api.get(f"/api/v1/namespaces/default/{resource}/{name}").status == 200]


@pytest.fixture
def namespace(api, furniture):
    name = "conformance-" + uuid.uuid4().hex[:10]
    assert api.post("/api/v1/namespaces", {"metadata": {"name": name}}).status == 201
    # Else a test that watches could see it come.
    for resource, each in furniture:
        api.there(f"/api/v1/namespaces/{name}/{resource}", each)
    yield name
    api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def maps(namespace):
    return f"/api/v1/namespaces/{namespace}/configmaps"
