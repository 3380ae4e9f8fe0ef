"""`muster up` for controllers and test suites of others: without a node, without the operator, or without it for one kind."""

import json

import pytest

from test_up import Up, needs_kubectl

pytestmark = needs_kubectl

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
       "spec": {"containers": [{"name": "main", "image": "none", "command": ["true"]}]}}
JOB = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "job"},
       "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "restartPolicy": "Never", "template": {
           "spec": {"containers": [{"name": "pytorch", "image": "none", "command": ["true"]}]}}}}}}


@pytest.fixture
def up(tmp_path):
    made = Up(tmp_path)
    yield made
    made.down("--kill")


def phase(up, name):
    return up.kubectl("get", "pod", name, "-o", "jsonpath={.status.phase}").stdout


def test_an_api_alone_has_no_node_and_no_job_kinds(up):
    up.start("--api-only")
    assert "No resources found" in up.kubectl("get", "nodes,customresourcedefinitions").stderr
    up.kubectl("create", "-f", "-", stdin=json.dumps(POD))
    # A namespace that is made after it and goes shows that the server's own controllers have worked since.
    up.kubectl("create", "namespace", "later")
    up.kubectl("delete", "namespace", "later", "--timeout=30s")
    assert phase(up, "p") == "Pending"
    assert up.kubectl("get", "pod", "p", "-o", "jsonpath={.spec.nodeName}").stdout == ""
    assert up.kubectl("logs", "p").stdout == ""


def test_the_status_of_a_pod_is_what_a_client_makes_it(up):
    up.start("--api-only")
    up.kubectl("create", "-f", "-", stdin=json.dumps(POD))
    for wanted in ("Running", "Succeeded"):
        up.kubectl("patch", "pod", "p", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"phase": wanted}}))
        assert phase(up, "p") == wanted
    deleted = up.send("DELETE", "/api/v1/namespaces/default/pods/p")
    assert deleted["kind"] == "Pod"
    assert "NotFound" in up.kubectl("get", "pod", "p", check=False).stderr


def test_an_api_alone_collects_nothing_and_wants_no_account(up):
    """As etcd and kube-apiserver do: suites make pods of owners that are not there."""
    up.start("--api-only")
    owned = {**POD, "metadata": {"name": "p", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1-2"}]},
             "spec": {**POD["spec"], "serviceAccountName": "gone"}}
    up.kubectl("create", "-f", "-", stdin=json.dumps(owned))
    up.kubectl("create", "namespace", "later")
    up.kubectl("delete", "namespace", "later", "--timeout=30s")
    assert up.kubectl("get", "pod", "p", "-o", "jsonpath={.spec.volumes}").stdout == ""


def test_a_state_serves_in_each_way_in_turn(up):
    up.start()
    up.kubectl("create", "configmap", "kept")
    up.down()
    for flag in ("--api-only", "--without-operator"):
        up.start(flag)
        assert up.kubectl("get", "configmap", "kept", "-o", "name").stdout == "configmap/kept\n"
        up.down()
    up.start()
    up.kubectl("create", "-f", "-", stdin=json.dumps(JOB))
    up.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/job", "--timeout=60s")


def test_pods_run_without_the_operator(up):
    up.start("--without-operator")
    assert "No resources found" in up.kubectl("get", "customresourcedefinitions").stderr
    up.kubectl("create", "-f", "-", stdin=json.dumps({**POD, "spec": {**POD["spec"], "restartPolicy": "Never"}}))
    up.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/p", "--timeout=60s")


def test_one_kind_is_left_to_another_operator(up):
    up.start()
    definition = "customresourcedefinition/pytorchjobs.kubeflow.org"
    up.kubectl("annotate", definition, "muster.dev/operator=off")
    up.kubectl("patch", definition, "--type=merge", "-p", json.dumps({"spec": {"names": {"shortNames": ["theirs"]}}}))
    up.down()
    up.start()
    assert up.kubectl("get", definition, "-o", "jsonpath={.spec.names.shortNames}").stdout == '["theirs"]'
    up.kubectl("create", "-f", "-", stdin=json.dumps(JOB))
    other = json.loads(json.dumps(JOB).replace("pytorch", "xgboost").replace("PyTorch", "XGBoost")
                       .replace("xgboostReplicaSpecs", "xgbReplicaSpecs").replace('"job"', '"other"'))
    up.kubectl("create", "-f", "-", stdin=json.dumps(other))
    # The other kind's job, which came later, has run: the operator would have seen ours as well.
    up.kubectl("wait", "--for=condition=Succeeded", "xgboostjob/other", "--timeout=60s")
    assert up.kubectl("get", "pytorchjob", "job", "-o", "jsonpath={.status}").stdout == ""
    assert up.kubectl("get", "pods", "-l", "training.kubeflow.org/job-name=job", "-o", "name").stdout == ""
    up.kubectl("annotate", definition, "muster.dev/operator-")
    up.down()
    up.start()
    up.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/job", "--timeout=60s")


def test_both_at_once_are_refused(up):
    refused = up.muster("up", "--api-only", "--without-operator", check=False)
    assert refused.returncode == 2 and "--api-only" in refused.stderr and "--without-operator" in refused.stderr
