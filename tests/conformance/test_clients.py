"""Clients as they are published, led through what their users do first: kubectl of two versions, Go controllers, the
Python client, the SDK of Kubeflow. Skipped where a client is not built: ./dev test conformance builds them."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import find  # noqa: E402


def client(name):
    found = find(name)
    if not found:
        pytest.skip(f"{name} is not built: ./dev cluster build {name}")
    return found


def finish(command, kubeconfig, home, stdin=None, check=True):
    done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(home), "KUBECONFIG": str(kubeconfig)})
    assert done.returncode == 0 or not check, done
    return done


@pytest.fixture(params=["kubectl", "kubectl-next"])
def kubectl(request, kubeconfig, namespace, tmp_path):
    program = client(request.param)

    def run(*words, stdin=None, check=True):
        if isinstance(stdin, dict):
            stdin = json.dumps(stdin)
        return finish([program, "-n", namespace, *words], kubeconfig, tmp_path, stdin, check)

    return run


def config(name="a", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def test_kubectl_creates_what_it_sends_as_protobuf(kubectl):
    assert "configmap/a created" in kubectl("create", "configmap", "a", "--from-literal=k=1").stdout
    assert kubectl("get", "configmap", "a", "-o", "jsonpath={.data.k}").stdout == "1"
    assert "secret/s created" in kubectl("create", "secret", "generic", "s", "--from-literal=k=v").stdout
    assert kubectl("get", "secret", "s", "-o", "jsonpath={.data.k}").stdout == "dg=="
    assert 'configmaps "a" already exists' in kubectl("create", "configmap", "a", check=False).stderr


def test_kubectl_applies(kubectl):
    assert kubectl("apply", "-f", "-", stdin=config(k="1", l="1")).stdout == "configmap/a created\n"
    assert kubectl("apply", "-f", "-", stdin=config(k="1", l="1")).stdout == "configmap/a unchanged\n"
    assert "configured" in kubectl("apply", "-f", "-", stdin=config(k="2")).stdout
    assert json.loads(kubectl("get", "configmap", "a", "-o", "json").stdout)["data"] == {"k": "2"}
    differs = kubectl("diff", "-f", "-", stdin=config(k="3"), check=False)
    assert differs.returncode == 1 and "+  k: \"3\"" in differs.stdout, differs


def test_kubectl_applies_on_the_servers_side(kubectl):
    applied = ("apply", "--server-side", "-f", "-")
    assert "serverside-applied" in kubectl(*applied, stdin=config(k="1")).stdout
    refused = kubectl(*applied, "--field-manager=other", stdin=config(k="2"), check=False)
    assert refused.returncode == 1 and "conflict with \"kubectl\"" in refused.stderr, refused
    kubectl(*applied, "--field-manager=other", "--force-conflicts", stdin=config(k="2"))
    assert kubectl("get", "configmap", "a", "-o", "jsonpath={.data.k}").stdout == "2"


def test_kubectl_finds_mistakes_by_the_servers_schema(kubectl):
    refused = kubectl("create", "-f", "-", stdin={**config(), "dta": {}}, check=False)
    assert refused.returncode == 1 and 'unknown field "dta"' in refused.stderr, refused
    assert "KIND:       Pod" in kubectl("explain", "pod.spec.containers").stdout


def test_kubectl_changes_and_shows(kubectl):
    kubectl("create", "configmap", "a", "--from-literal=k=1")
    kubectl("label", "configmap", "a", "x=1")
    kubectl("annotate", "configmap", "a", "note=here")
    kubectl("patch", "configmap", "a", "-p", '{"data":{"k":"2"}}')
    kubectl("replace", "-f", "-", stdin={**config(k="3"), "metadata": {"name": "a", "labels": {"x": "1"}}})
    listed = kubectl("get", "configmaps", "-l", "x=1", "--show-labels").stdout.splitlines()
    assert listed[0].split() == ["NAME", "DATA", "AGE", "LABELS"]
    assert listed[1].split()[:2] + listed[1].split()[3:] == ["a", "1", "x=1"]
    assert "k:\n----\n3" in kubectl("describe", "configmap", "a").stdout
    assert kubectl("get", "configmaps", "-l", "x=2").stderr.startswith("No resources found")


def test_kubectl_waits_for_an_end(kubectl):
    kubectl("create", "configmap", "a")
    assert kubectl("delete", "configmap", "a").stdout.startswith('configmap "a" deleted')
    assert "NotFound" in kubectl("get", "configmap", "a", check=False).stderr
    kubectl("wait", "--for=delete", "configmap/a", "--timeout=30s")


def test_kubectl_asks_what_it_may(kubectl, api):
    if api.get("/apis/authorization.k8s.io/v1").status != 200:
        pytest.skip("there are no access reviews here")
    assert kubectl("auth", "can-i", "create", "pods").stdout == "yes\n"


def test_kubectl_knows_what_there_is(kubectl):
    assert "configmaps" in kubectl("api-resources", "--verbs=watch", "-o", "name").stdout.split()
    assert "Server Version: v1." in kubectl("version").stdout


def test_controllers_written_in_go(kubeconfig, namespace, tmp_path):
    done = finish([client("controllers"), "-namespace", namespace], kubeconfig, tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.splitlines() == [f"{name}: ok" for name in (
        "typed informer", "dynamic informer", "metadata informer", "manager")]


@pytest.fixture
def python(kubeconfig, namespace, tmp_path):
    interpreter = client("python-clients")
    return lambda script: finish([interpreter, ROOT / "tests" / "conformance" / "python" / script, namespace],
                                 kubeconfig, tmp_path)


def test_the_python_client(python):
    assert python("kubernetes_client.py").stdout.splitlines()[-1] == "ok"


def test_the_sdk_of_kubeflow(python, api):
    if api.get("/apis/kubeflow.org/v1").status != 200:
        pytest.skip("there are no training jobs here")
    assert python("kubeflow_sdk.py").stdout.splitlines()[-1] == "ok"


def test_kubectl_shows_the_events_of_both_apis(kubectl, namespace):
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": namespace}
    old = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "old"}, "involvedObject": about, "reason": "Older",
           "message": "from v1", "type": "Normal", "lastTimestamp": "2026-01-01T00:00:00Z"}
    new = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "new"}, "regarding": about,
           "reason": "Newer", "note": "from events.k8s.io", "type": "Normal", "action": "Act",
           "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "c.io/x", "reportingInstance": "i"}
    for event in (old, new):
        kubectl("create", "-f", "-", stdin=event)
    for words in (("events", "--for", "configmap/a"), ("get", "events"), ("get", "events.events.k8s.io")):
        shown = kubectl(*words).stdout
        for text in ("Older", "from v1", "Newer", "from events.k8s.io", "onfig"):
            assert text in shown, (words, shown)


def test_kubectl_explains_by_the_older_schema(kubectl):
    explained = kubectl("explain", "--output=plaintext-openapiv2", "pod.spec.containers").stdout
    assert "KIND:     Pod" in explained and "RESOURCE: containers <[]Object>" in explained
    assert "imagePullPolicy\t<string>" in explained and "resources\t<Object>" in explained


def test_kubectl_makes_a_disruption_budget(kubectl):
    kubectl("create", "poddisruptionbudget", "x", "--selector=app=a", "--min-available=50%")
    head, row = kubectl("get", "pdb").stdout.splitlines()
    assert head.split() == ["NAME", "MIN", "AVAILABLE", "MAX", "UNAVAILABLE", "ALLOWED", "DISRUPTIONS", "AGE"]
    assert row.split()[:4] == ["x", "50%", "N/A", "0"]
    assert "50%" in kubectl("describe", "pdb", "x").stdout
