"""Muster in the place of envtest's etcd and kube-apiserver, as envtest starts them. tests/foreign does it with envtest itself."""

import http.client
import json
import signal
import socket
import ssl
import subprocess
import sys
import time

import pytest

from conftest import BINARY, LIMIT_S, ROOT

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from cluster import free_ports  # noqa: E402
from credentials import Credentials  # noqa: E402


@pytest.fixture(scope="module")
def credentials(tmp_path_factory):
    return Credentials(tmp_path_factory.mktemp("credentials"))


@pytest.fixture
def assets(tmp_path):
    folder = tmp_path / "assets"
    said = subprocess.run([BINARY, "envtest", folder], check=True, timeout=LIMIT_S, stdout=subprocess.PIPE, text=True).stdout
    assert said == f"export KUBEBUILDER_ASSETS={folder}\n"
    return folder


class Servers:
    """Both programs. Their standard error is in files."""

    def __init__(self, assets, credentials, place):
        self.assets, self.credentials, self.place = assets, credentials, place
        self.ports = free_ports(("etcd", "kube-apiserver"))
        self.etcd_url = f"http://127.0.0.1:{self.ports['etcd']}"
        self.processes = {}

    def etcd(self, **flags):
        return self.start("etcd", data_dir=self.place / "data", listen_client_urls=self.etcd_url, unsafe_no_fsync="true", **flags)

    def kube_apiserver(self, **flags):
        secret = self.credentials
        flags = {"etcd_servers": self.etcd_url, "cert_dir": self.place / "certs", "client_ca_file": secret["ca.crt"],
                 "token_auth_file": secret["tokens.csv"], "bind_address": "127.0.0.1", "secure_port": self.ports["kube-apiserver"],
                 "authorization_mode": "RBAC", "disable_admission_plugins": "ServiceAccount", "service_cluster_ip_range": "10.0.0.0/24",
                 "service_account_issuer": f"https://127.0.0.1:{self.ports['kube-apiserver']}/", "allow_privileged": "true",
                 "service_account_key_file": secret["sa.pub"], "service_account_signing_key_file": secret["sa.key"], **flags}
        return self.start("kube-apiserver", **flags)

    def start(self, name, **flags):
        with open(self.place / f"{name}.err", "wb") as err:
            process = subprocess.Popen(
                [self.assets / name, *(f"--{flag.replace('_', '-')}={value}" for flag, value in flags.items() if value is not None)],
                stdin=subprocess.DEVNULL, stdout=err, stderr=err, cwd=self.place)
        self.processes.setdefault(name, []).append(process)
        return process

    def said(self, name):
        return (self.place / f"{name}.err").read_text()

    def call(self, method, path, body=None, token=None):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.ports["kube-apiserver"], context=context, timeout=30)
        connection.request(method, path, json.dumps(body) if body else None,
                           {"Authorization": f"Bearer {token or self.credentials.token}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def wait_until_served(self, process):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and process.poll() is None:
            try:
                if self.call("GET", "/readyz") == (200, "ok"):
                    return
            except OSError:
                time.sleep(0.02)  # as envtest does
        raise AssertionError(self.said("kube-apiserver"))

    def end(self, process, status=0):
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == status


@pytest.fixture
def servers(assets, credentials, tmp_path):
    made = Servers(assets, credentials, tmp_path)
    yield made
    for process in sum(made.processes.values(), []):
        process.kill()
        process.wait()


def status_of(process):
    return process.wait(LIMIT_S)


def test_both_serve_and_leave_their_data_where_it_was_asked_for(servers, tmp_path):
    etcd, server = servers.etcd(), servers.kube_apiserver()
    servers.wait_until_served(server)
    connection = http.client.HTTPConnection("127.0.0.1", servers.ports["etcd"], timeout=30)
    connection.request("GET", "/health")
    assert json.loads(connection.getresponse().read())["health"] == "true"
    assert servers.call("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "kept"}})[0] == 201
    account = "/api/v1/namespaces/default/serviceaccounts"
    assert servers.call("POST", account, {"metadata": {"name": "robot"}})[0] == 201
    token = json.loads(servers.call("POST", f"{account}/robot/token", {"spec": {}})[1])["status"]["token"]
    review = servers.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {"metadata": {}}, token)[1]
    assert json.loads(review)["status"]["userInfo"]["username"] == "system:serviceaccount:default:robot"
    servers.end(server)
    again = servers.kube_apiserver()
    servers.wait_until_served(again)
    assert servers.call("GET", "/api/v1/namespaces/default/configmaps/kept")[0] == 200
    servers.end(again)
    servers.end(etcd)
    assert {path.name for path in tmp_path.iterdir()} == {"assets", "certs", "data", "etcd.err", "kube-apiserver.err"}
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"muster-kube-apiserver"}
    assert {path.name for path in (tmp_path / "certs").iterdir()} == {"apiserver.crt", "apiserver.key"}


def test_a_server_waits_for_its_etcd(servers):
    server = servers.kube_apiserver()
    servers.etcd()
    servers.wait_until_served(server)
    servers.end(server)


def test_a_second_server_on_an_etcd_is_refused(servers):
    servers.etcd()
    servers.wait_until_served(servers.kube_apiserver())
    port, = free_ports(("other",)).values()
    assert status_of(servers.kube_apiserver(secure_port=port)) == 1
    assert "another kube-apiserver may have this etcd" in servers.said("kube-apiserver")


def test_another_program_is_no_etcd(servers):
    with socket.create_server(("127.0.0.1", servers.ports["etcd"])) as other:
        server = servers.kube_apiserver()
        peer, _ = other.accept()
        with peer:
            peer.recv(4096)
            peer.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            assert status_of(server) == 1
    assert "that is another program, which answers 404" in servers.said("kube-apiserver")


@pytest.mark.parametrize("flags, wrong", [
    ({"no_such_flag": 1}, "Error: unknown flag: --no-such-flag"),
    ({"etcd_servers": None}, "--etcd-servers must be specified"),
    ({"client_ca_file": "/nowhere"}, "--client-ca-file /nowhere"),
    ({"authorization_mode": "Webhook"}, "authorization-mode Webhook is not served here")])
def test_what_is_wrong_ends_a_server_before_it_begins(servers, flags, wrong):
    assert status_of(servers.kube_apiserver(**flags)) == 1
    assert wrong in servers.said("kube-apiserver")


def test_what_is_wrong_ends_etcd(servers):
    assert status_of(servers.start("etcd", listen_client_urls="https://127.0.0.1:1")) == 1
    assert "wants http://ADDRESS:PORT" in servers.said("etcd")


def test_what_has_no_effect_is_said(servers):
    servers.etcd()
    server = servers.kube_apiserver(feature_gates="A=true", authorization_mode=None)
    # Where everything is allowed, there are no anonymous users.
    servers.wait_until_served(server)
    assert "--feature-gates=A=true has no effect" in servers.said("kube-apiserver")
    assert servers.call("GET", "/healthz", token="wrong")[0] == 401
