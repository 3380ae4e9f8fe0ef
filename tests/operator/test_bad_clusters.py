"""Clusters in which something is missing or in the way: each is told on the job, nothing else suffers, and it goes on without a restart."""

import copy
import datetime
import itertools
import subprocess

import pytest
import yaml

from conftest import BINARY, DEFINITIONS, PATIENCE, job


@pytest.fixture
def account(server, tmp_path):
    """Makes kubeconfigs of users with these rules and no others."""
    made = []

    def begin(name, rules):
        server.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": name}, "rules": rules})
        server.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}]})
        made.append(name)
        config = yaml.safe_load(server.kubeconfig.read_text())
        config["users"][0]["user"].update({"as": name})
        path = tmp_path / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path

    yield begin
    for name in made:
        server.call("DELETE", f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}")
        server.call("DELETE", f"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}")


def test_a_missing_definition_is_named_and_served_once_it_is_there(server, start, stage, definitions):
    name = "jaxjobs.kubeflow.org"
    server.must("DELETE", f"{DEFINITIONS}/{name}")
    server.until(f"{DEFINITIONS}/{name}", lambda now: now is None)
    try:
        operator = start(f"--namespace={stage.namespace}").works()
        told = operator.said("a kind of jobs is not served", resource=name)
        assert "muster manifests --crds-only | kubectl apply -f -" in told["why"]
        assert name in operator.get("/readyz")[1] and operator.get("/readyz")[0] == 200
        other = stage.post(job("PyTorchJob", replicas={"Master": 1}))
        stage.condition(other, "Created")
    finally:
        server.define([each for each in definitions if each["metadata"]["name"] == name])
    path = stage.post(job("JAXJob", name="late", replicas={"Worker": 1}))
    stage.condition(path, "Created")
    assert name not in operator.get("/readyz")[1]


def test_a_definition_without_the_version_is_told(server, start, stage, definitions):
    name = "paddlejobs.kubeflow.org"
    [whole] = [each for each in definitions if each["metadata"]["name"] == name]
    other = copy.deepcopy(whole)
    other["spec"]["versions"][0]["name"] = "v9"
    server.must("DELETE", f"{DEFINITIONS}/{name}")
    server.until(f"{DEFINITIONS}/{name}", lambda now: now is None)
    try:
        server.define([other])
        operator = start(f"--namespace={stage.namespace}").works()
        assert "version v1" in operator.said("a kind of jobs is not served", resource=name)["why"]
    finally:
        server.must("DELETE", f"{DEFINITIONS}/{name}")
        server.until(f"{DEFINITIONS}/{name}", lambda now: now is None)
        server.define([whole])


def test_a_name_that_somebody_else_has(server, operator, stage):
    server.must("POST", stage.pods_path, {"metadata": {"name": "demo-master-0"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    path = stage.post(job("PyTorchJob", replicas={"Master": 1}))
    told = stage.told(path, "FailedCreatePod")
    assert "demo-master-0 already exists" in told["message"] and "delete it or rename the job" in told["message"]
    server.must("DELETE", f"{stage.pods_path}/demo-master-0", {"gracePeriodSeconds": 0})
    server.until(f"{stage.pods_path}/demo-master-0", lambda pod: pod and pod["metadata"].get("ownerReferences"))


def test_a_quota_is_told_and_waited_for(server, operator, stage):
    quotas = f"/api/v1/namespaces/{stage.namespace}/resourcequotas"
    server.must("POST", quotas, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}})
    # What the quota controller would write.
    server.merge(f"{quotas}/few/status", {"status": {"hard": {"pods": "1"}, "used": {"pods": "0"}}})
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}))
    told = stage.told(path, "FailedCreatePod")
    assert "exceeded quota: few" in told["message"]
    stage.pods(1)
    server.must("DELETE", f"{quotas}/few")
    stage.pods(2)


def test_admission_that_denies(server, operator, stage):
    """The namespace demands what the job's pods do not have."""
    server.merge(f"/api/v1/namespaces/{stage.namespace}", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    path = stage.post(job("PyTorchJob", replicas={"Master": 1}))
    assert "violates PodSecurity" in stage.told(path, "FailedCreatePod")["message"]
    server.merge(f"/api/v1/namespaces/{stage.namespace}", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": None}}})
    stage.pods(1)


def test_failures_back_off(server, operator, stage):
    """What can't be made is not tried without a pause. The pauses double from 5 ms; two tries more than they allow may have other causes."""
    server.must("POST", stage.pods_path, {"metadata": {"name": "demo-master-0"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    stage.post(job("PyTorchJob", replicas={"Master": 1}))

    def tries():
        told = (line["ts"] for line in operator.lines if line["msg"] == "a job's reconciliation could not finish" and line["request"] == "create pod")
        return list(itertools.islice(told, 11))
    with operator.changed:
        assert operator.changed.wait_for(lambda: len(tries()) == 11, PATIENCE), operator.lines
    first, *_, last = map(datetime.datetime.fromisoformat, tries())
    assert last - first >= sum(0.005 * 2 ** each for each in range(8)) * datetime.timedelta(seconds=1)


def test_a_namespace_that_goes(server, operator, stage):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1}, runPolicy={"suspend": True}))
    stage.condition(path, "Suspended")
    server.must("DELETE", f"/api/v1/namespaces/{stage.namespace}")
    server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    operator.said("a job's reconciliation could not finish", error="being terminated")


def test_a_right_that_is_missing_is_named_and_other_kinds_go_on(server, start, stage, account):
    rules = [
        {"apiGroups": [""], "resources": ["pods", "services", "configmaps", "secrets", "serviceaccounts"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        {"apiGroups": ["kubeflow.org"], "verbs": ["*"],
         "resources": [f"{kind}{sub}" for kind in ("pytorchjobs", "jaxjobs", "mpijobs", "mxjobs", "paddlejobs", "xgboostjobs")
                       for sub in ("", "/status", "/finalizers")]}]
    kubeconfig = account("without-tfjobs", rules)
    operator = start(f"--namespace={stage.namespace}", kubeconfig=kubeconfig).works()
    told = operator.said("a kind of jobs is not served", resource="tfjobs.kubeflow.org")["why"]
    assert 'cannot watch resource "tfjobs" in API group "kubeflow.org"' in told and stage.namespace in told
    stage.post(job("PyTorchJob", replicas={"Master": 1}))
    stage.pods(1)
    server.must("PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/without-tfjobs", [
        {"op": "add", "path": "/rules/-", "value": {"apiGroups": ["kubeflow.org"], "resources": ["tfjobs", "tfjobs/status"], "verbs": ["*"]}}],
        "application/json-patch+json")
    stage.post(job("TFJob", name="late", replicas={"Worker": 1}))
    stage.pods(2)


def test_agents_get_a_token_without_any_right_of_mpijobs_and_another_operator_keeps_it(server, start, stage, account):
    printed = subprocess.run([BINARY, "manifests", "--agent-tokens", "--without-admission-policy"], capture_output=True, text=True, check=True)
    rules = [rule for each in yaml.safe_load_all(printed.stdout) if each["kind"] == "ClusterRole"
             and each["metadata"]["name"].startswith("muster-operator") for rule in each["rules"]]
    assert not any("pods/exec" in rule["resources"] for rule in rules)
    flags = [f"--namespace={stage.namespace}", "--enable-scheme=PyTorchJob", "--agent-tokens"]
    kubeconfig = account("with-tokens", rules)
    operator = start(*flags, kubeconfig=kubeconfig).works()
    elastic = job("PyTorchJob", replicas={"Master": 1, "Worker": 1}, policy="OnFailure")
    for replica in elastic["spec"]["pytorchReplicaSpecs"].values():
        replica["template"]["spec"]["containers"][0]["command"] = ["muster-run", "train.py"]
    stage.post(elastic)
    pods = stage.pods(2)
    secret = f"/api/v1/namespaces/{stage.namespace}/secrets/demo-muster-token"
    made = server.must("GET", secret)
    assert made["immutable"] and made["data"].keys() == {"token"} and made["metadata"]["ownerReferences"][0]["name"] == "demo"
    for pod in pods.values():
        given = [each for each in pod["spec"]["containers"][0]["env"] if each["name"] == "MUSTER_TOKEN"]
        assert [each["valueFrom"]["secretKeyRef"] for each in given] == [{"name": "demo-muster-token", "key": "token", "optional": True}]
    assert operator.stop() == 0
    start(*flags, kubeconfig=kubeconfig).works()
    server.must("DELETE", f"{stage.pods_path}/demo-worker-0")
    server.until(f"{stage.pods_path}/demo-worker-0", lambda pod: pod and pod["metadata"]["uid"] != pods["demo-worker-0"]["metadata"]["uid"])
    assert server.must("GET", secret) == made


def test_a_server_that_is_away_harms_nothing(server, operator, stage):
    """Stopped in the middle, as a machine that hangs: connections stay open and nobody answers."""
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}))
    uids = {name: pod["metadata"]["uid"] for name, pod in stage.pods(2).items()}
    stage.run(*uids)
    stage.condition(path, "Running")
    process = server.processes["kube-apiserver"]
    process.kill()
    process.wait()
    assert operator.get("/healthz") == (200, "ok\n")
    operator.said("watch failed")
    server.start("kube-apiserver")
    server.wait_for("kube-apiserver")
    stage.end(0, *uids)
    done = stage.condition(path, "Succeeded")
    assert {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in server.must("GET", stage.pods_path)["items"]} == uids
    assert done["status"]["replicaStatuses"]["Worker"].get("restarts") is None
    assert operator.process.poll() is None
