"""Pods as clients of `muster up`: as their service account, by the way that every client in a cluster takes."""

import json
import os
import shutil
import tempfile

import pytest

from conftest import BINARY
from test_access import claims, up, with_token  # noqa: F401 (a fixture)
from test_up import needs_kubectl

pytestmark = needs_kubectl

DIRECTORY = "/var/run/secrets/kubernetes.io/serviceaccount"


def run_pod(up, name, script, wait="Succeeded", container=None, **spec):  # noqa: F811
    up.kubectl("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [
            {"name": "main", "image": "local", "command": ["sh", "-c", script], **(container or {})}], **spec}}))
    up.kubectl("wait", f"--for=jsonpath={{.status.phase}}={wait}", f"pod/{name}", "--timeout=30s")
    return up.kubectl("logs", name).stdout


def as_reader(up):  # noqa: F811
    up.kubectl("create", "serviceaccount", "robot")
    up.kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods")
    up.kubectl("create", "rolebinding", "readers", "--role=reader", "--serviceaccount=default:robot")


# No configuration is left but what the pod itself has.
KUBECTL = "unset KUBECONFIG; HOME=/tmp/nonexistent kubectl"
CURL = (f"curl -sS --cacert {DIRECTORY}/ca.crt -H \"Authorization: Bearer $(cat {DIRECTORY}/token)\" "
        "-o answer -w '%{http_code}\\n'")


def test_a_pod_asks_the_api_as_its_account(up):  # noqa: F811
    as_reader(up)
    said = run_pod(up, "p", f"{KUBECTL} get pods -o name; {KUBECTL} get secrets 2>&1; {KUBECTL} auth whoami -o "
                            "jsonpath='{.status.userInfo.username}'", serviceAccountName="robot")
    assert "pod/p\n" in said
    assert ('secrets is forbidden: User "system:serviceaccount:default:robot" cannot list resource "secrets" in API '
            'group "" in the namespace "default"') in said
    assert said.rstrip().endswith("system:serviceaccount:default:robot")


def test_our_own_verbs_find_the_account_of_their_pod(up):  # noqa: F811
    as_reader(up)
    # Where it was built may be below /tmp, of which each pod has its own.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        ours = f"unset KUBECONFIG; HOME=/tmp/nonexistent {shutil.copy(BINARY, directory)}"
        said = run_pod(up, "p", f"{ours} get pods -o name; {ours} get secrets 2>&1; true", serviceAccountName="robot")
    assert said.splitlines()[0] == "pod/p"
    assert 'User "system:serviceaccount:default:robot" cannot list resource "secrets"' in said


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_way_is_verified_and_has_the_usual_names(up):  # noqa: F811
    as_reader(up)
    assert up.kubectl("get", "service", "kubernetes", "--no-headers").stdout.split()[2:5] == [
        "10.96.0.1", "<none>", "443/TCP"]
    pods = "api/v1/namespaces/default/pods"
    said = run_pod(up, "p", f"cd /tmp; for host in $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT "
                            f"kubernetes.default.svc kubernetes; do {CURL} https://$host/{pods}; "
                            "grep -c PodList answer; done; "
                            f"{CURL} https://kubernetes/api/v1/namespaces/default/secrets; "
                            f"curl -sS https://kubernetes/{pods} 2>&1 | head -n 1; cat {DIRECTORY}/namespace",
                   serviceAccountName="robot")
    lines = said.splitlines()
    assert lines[:7] == ["200", "1", "200", "1", "200", "1", "403"], said
    assert "certificate" in lines[7] and lines[-1].endswith("default"), said


def test_a_token_ends_with_its_pod(up):  # noqa: F811
    run_pod(up, "p", "sleep 1000", wait="Running")
    token = up.kubectl("exec", "p", "--", "cat", f"{DIRECTORY}/token").stdout
    own = claims(token)["kubernetes.io"]
    assert own["pod"]["name"] == "p" and own["serviceaccount"]["name"] == "default"
    assert claims(token)["exp"] - claims(token)["iat"] == 3607
    assert "cannot list" in with_token(up, token, "get", "pods").stderr
    up.kubectl("delete", "pod", "p")
    assert "Unauthorized" in with_token(up, token, "get", "pods").stderr


def test_who_wants_none_has_none_and_an_unknown_account_is_refused(up):  # noqa: F811
    assert run_pod(up, "none", f"ls {DIRECTORY} 2>&1 || true", automountServiceAccountToken=False).startswith("ls: ")
    refused = up.kubectl("run", "p", "--image=local", "--overrides",
                         json.dumps({"spec": {"serviceAccountName": "nobody"}}), check=False)
    assert 'serviceaccount "nobody" not found' in refused.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs pods as several users")
def test_another_pods_user_can_not_read_it(up):  # noqa: F811
    run_pod(up, "mine", "sleep 1000", wait="Running", securityContext={"runAsUser": 12345})
    mine = up.kubectl("exec", "mine", "--", "stat", "-L", "-c", "%u %a", f"{DIRECTORY}/token").stdout
    assert mine == "12345 600\n"
    assert up.kubectl("exec", "mine", "--", "cat", f"{DIRECTORY}/token").stdout.count(".") == 2
    [path] = up.state.glob("**/volumes/kube-api-access-*/token")
    # Even a pod to which somebody shows the directory.
    said = run_pod(up, "theirs", "cat /mnt/token 2>&1 || true", securityContext={"runAsUser": 23456},
                   container={"volumeMounts": [{"name": "theirs", "mountPath": "/mnt"}]},
                   volumes=[{"name": "theirs", "hostPath": {"path": str(path.parent)}}])
    assert "Permission denied" in said


@pytest.mark.usefixtures("machine_network")
def test_pods_that_share_the_machines_network_find_it_on_loopback(up):  # noqa: F811
    up.down()
    up.start("--sandbox", "none")
    said = run_pod(up, "p", "echo $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT")
    assert f"https://{said.strip()}" == up.address()
