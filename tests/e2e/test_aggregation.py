"""Servers behind APIServices on `muster up`, with a published one: k8s.io/sample-apiserver in a pod of its own, with its etcd."""

import json
import select
import subprocess
import sys

import pytest

from conftest import ROOT
from test_up import KUBECTL, Up, needs_kubectl

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import find  # noqa: E402

pytestmark = needs_kubectl

SAMPLE, ETCD = find("sample-apiserver"), find("etcd")
needs_sample = pytest.mark.skipif(not (SAMPLE and ETCD), reason="sample-apiserver or etcd is not built")
NAME = "v1alpha1.wardle.example.com"
FLUNDER = {"apiVersion": "wardle.example.com/v1alpha1", "kind": "Flunder", "metadata": {"name": "one"}, "spec": {}}


def access(kind, name, rules=None, namespace=None, role=None, role_kind="ClusterRole"):
    made = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
    if namespace:
        made["metadata"]["namespace"] = namespace
    if rules:
        return {**made, "rules": rules}
    return {**made, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": "apiserver", "namespace": "wardle"}]}


def manifests():
    """As its own artifacts have them; the pod's programs are those of this machine."""
    etcd = [str(ETCD), "--data-dir=/tmp/etcd", "--initial-cluster=default=http://127.0.0.1:2380"]
    for words in ("listen-client-urls advertise-client-urls 2379", "listen-peer-urls initial-advertise-peer-urls 2380"):
        *flags, port = words.split()
        etcd += [f"--{flag}=http://127.0.0.1:{port}" for flag in flags]
    watched = ["get", "list", "watch"]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "wardle"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "apiserver", "namespace": "wardle"}},
        access("ClusterRoleBinding", "wardle:system:auth-delegator", role="system:auth-delegator"),
        access("RoleBinding", "wardle-auth-reader", namespace="kube-system", role="extension-apiserver-authentication-reader",
               role_kind="Role"),
        access("ClusterRole", "wardle", [
            {"apiGroups": [""], "resources": ["namespaces"], "verbs": watched},
            {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": watched},
            {"apiGroups": ["flowcontrol.apiserver.k8s.io"], "resources": ["*"], "verbs": watched}]),
        access("ClusterRoleBinding", "wardle", role="wardle"),
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "api", "namespace": "wardle"},
         "spec": {"selector": {"apiserver": "true"}, "ports": [{"port": 443, "targetPort": 8443}]}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "server", "namespace": "wardle", "labels": {"apiserver": "true"}},
         "spec": {"serviceAccountName": "apiserver", "terminationGracePeriodSeconds": 0, "containers": [
             {"name": "server", "image": "none", "readinessProbe": {"tcpSocket": {"port": 8443}, "periodSeconds": 1},
              "command": [str(SAMPLE), "--secure-port=8443", "--etcd-servers=http://127.0.0.1:2379", "--cert-dir=/tmp/certs"]},
             {"name": "etcd", "image": "none", "command": etcd}]}},
        {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": NAME},
         "spec": {"group": "wardle.example.com", "version": "v1alpha1", "groupPriorityMinimum": 1000, "versionPriority": 15,
                  "insecureSkipTLSVerify": True, "service": {"name": "api", "namespace": "wardle"}}}]


@pytest.fixture
def up(tmp_path):
    made = Up(tmp_path)
    yield made
    made.down("--kill")


def install(up):
    up.start()
    up.kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, manifests())))
    up.kubectl("wait", "--for=condition=Available", f"apiservice/{NAME}", "--timeout=50s")


@needs_sample
def test_kubectl_uses_what_a_published_server_serves(up):
    install(up)
    assert f"{NAME}" in up.kubectl("get", "apiservices").stdout
    assert "flunders" in up.kubectl("api-resources", "--api-group=wardle.example.com").stdout
    assert "FlunderSpec" in up.kubectl("explain", "flunders").stdout
    watch = subprocess.Popen([KUBECTL, "get", "flunders", "--watch-only", "--no-headers"],
                             env={**up.environment, "KUBECONFIG": str(up.kubeconfig)}, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        # What happens before the watch begins is not seen by it: the object is changed until a change is.
        up.kubectl("create", "-f", "-", stdin=json.dumps(FLUNDER))
        number = 0
        while not select.select([watch.stdout], [], [], 0)[0]:
            assert watch.poll() is None
            number += 1
            up.kubectl("label", "flunder", "one", f"number={number}", "--overwrite")
        assert watch.stdout.readline().startswith("one")
    finally:
        watch.kill()
        watch.wait()
    assert up.kubectl("get", "flunders", "-A", "-o", "name").stdout.count("flunder.wardle") >= 1
    # Its admission refuses what it does not like, and asks us for nothing of it.
    up.kubectl("apply", "-f", "-", stdin=json.dumps({**FLUNDER, "spec": {"reference": "x"}}))
    assert up.kubectl("get", "flunder", "one", "-o", "jsonpath={.spec.reference}").stdout == "x"
    up.kubectl("delete", "flunders", "--all")
    assert up.kubectl("get", "flunders", "-o", "name").stdout == ""
    # Its own authorization asks ours, as the account of its pod.
    refused = up.kubectl("get", "flunders", "--as=ada", check=False).stderr
    assert 'flunders.wardle.example.com is forbidden: User "ada" cannot list resource "flunders"' in refused
    up.kubectl("create", "clusterrole", "fisher", "--verb=list", "--resource=flunders.wardle.example.com")
    up.kubectl("create", "clusterrolebinding", "fisher", "--clusterrole=fisher", "--user=ada")
    assert up.kubectl("get", "flunders", "--as=ada").returncode == 0
    up.kubectl("delete", "pod", "server", "-n", "wardle")
    up.kubectl("wait", "--for=condition=Available=false", f"apiservice/{NAME}", "--timeout=50s")
    assert "currently unable to handle the request" in up.kubectl("get", "--raw", "/apis/wardle.example.com/v1alpha1", check=False).stderr
    assert up.kubectl("get", "pods").returncode == 0


@needs_sample
def test_a_restart_finds_it_again(up):
    install(up)
    up.kubectl("create", "-f", "-", stdin=json.dumps(FLUNDER))
    before = (up.state / "front-proxy-ca.crt").read_text()
    up.down("--keep-pods")
    up.start()
    up.kubectl("wait", "--for=condition=Available", f"apiservice/{NAME}", "--timeout=50s")
    assert up.kubectl("get", "flunder", "one", "-o", "name").stdout == "flunder.wardle.example.com/one\n"
    assert (up.state / "front-proxy-ca.crt").read_text() == before
