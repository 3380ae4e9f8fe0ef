"""The account of a job's master on a real kube-apiserver: what it may do, what it may not, a master that keeps its record
with it, and the plan in which it tells its wishes."""

import base64
import select
import signal
import socket
import subprocess

import pytest
import yaml

from conftest import BINARY, PATIENCE
from test_clients import Kubectl, program

NAME = "elasticjob-demo-dlrover-master"
PLANS = "scaleplans.elastic.iml.github.io"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
JOB = {"apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ElasticJob", "metadata": {"name": "demo"}, "spec": {"replicaSpecs": {
    "worker": {"replicas": 1, "template": {"spec": {"containers": [{"name": "main", "image": "train:1", "command": ["dlrover-run", "x.py"]}]}}}}}}


@pytest.fixture
def job(operator, server, stage):
    """Its path, once its pods are there."""
    path = f"/apis/elastic.iml.github.io/v1alpha1/namespaces/{stage.namespace}/elasticjobs"
    server.must("POST", path, JOB)
    stage.pods(2)
    return f"{path}/demo"


@pytest.fixture
def record(stage, job):
    return f"/api/v1/namespaces/{stage.namespace}/configmaps/{NAME}"


@pytest.fixture
def kubeconfig(server, stage, job, tmp_path):
    """Of the master's account, with a token as a kubelet requests it."""
    path = f"/api/v1/namespaces/{stage.namespace}/serviceaccounts/{NAME}/token"
    token = server.must("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}})
    config = yaml.safe_load(server.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token["status"]["token"]}
    made = tmp_path / "master.kubeconfig"
    made.write_text(yaml.safe_dump(config))
    return made


@pytest.fixture
def plan(server, stage, job):
    """The path of the master's plan, which is there."""
    path = f"/apis/elastic.iml.github.io/v1alpha1/namespaces/{stage.namespace}/scaleplans/demo-plan"
    server.until(path, bool)
    return path


def test_it_may_read_and_write_its_record_and_its_plan_and_nothing_else(server, stage, job, tmp_path):
    kubectl = Kubectl(program("kubectl"), server, stage.namespace, tmp_path)
    account = f"--as=system:serviceaccount:{stage.namespace}:{NAME}"

    def may(*words):
        asked = kubectl.begin("auth", "can-i", account, *words)
        said = asked.communicate(timeout=PATIENCE)[0].strip()
        assert said in ("yes", "no") and asked.returncode == (said == "no"), (words, said)
        return said == "yes"

    assert [verb for verb in ("get", "update") if may(verb, f"configmaps/{NAME}")] == ["get", "update"]
    assert [verb for verb in ("get", "update") if may(verb, f"{PLANS}/demo-plan")] == ["get", "update"]
    refused = [
        *[(verb, f"{PLANS}/demo-plan") for verb in ("patch", "delete", "list", "watch", "deletecollection")],
        *[(verb, f"{PLANS}/another") for verb in ("get", "update")],
        ("update", f"{PLANS}/demo-plan", "--subresource=status"),
        *[(verb, f"configmaps/{NAME}") for verb in ("patch", "delete", "list", "watch", "deletecollection")],
        *[(verb, "configmaps/another") for verb in ("get", "watch", "update")],
        *[(verb, "configmaps") for verb in ("get", "list", "watch", "create", "update")],
        *[(verb, kind) for kind in ("secrets", "pods", "pods/exec", "services", "events", "jobs.batch", "elasticjobs.elastic.iml.github.io",
                                    "scaleplans.elastic.iml.github.io", "serviceaccounts", "roles.rbac.authorization.k8s.io",
                                    "rolebindings.rbac.authorization.k8s.io") for verb in ("get", "list", "create", "update", "delete")],
        ("create", f"serviceaccounts/{NAME}", "--subresource=token"),
        ("get", "secrets/demo-muster-token"),
        *[(verb, f"configmaps/{NAME}", "-n", "default") for verb in ("get", "update")],
        ("get", "nodes"), ("get", "namespaces"), ("impersonate", "users"), ("escalate", "roles.rbac.authorization.k8s.io"),
    ]
    assert [words for words in refused if may(*words)] == []

    def rights(who):
        return {" ".join(line.split()) for line in kubectl("auth", "can-i", "--list", who).splitlines()}

    # All that it has beyond what every account has.
    more = rights(account) - rights(f"--as=system:serviceaccount:{stage.namespace}:default")
    assert more == {f"configmaps [] [{NAME}] [get update]", "elasticjobs.elastic.iml.github.io [] [demo] [list watch]",
                    f"{PLANS} [] [demo-plan] [get update]"}


def test_only_the_pod_of_the_master_runs_as_it(server, stage, job):
    pods = server.until_listed(stage.pods_path, lambda there: len(there) == 2)
    master = pods[f"{NAME}-0"]["spec"]
    assert master["serviceAccountName"] == NAME and master["automountServiceAccountToken"] is True
    assert pods["demo-edljob-worker-0"]["spec"].get("serviceAccountName", "default") == "default"
    account = server.must("GET", f"/api/v1/namespaces/{stage.namespace}/serviceaccounts/{NAME}")
    assert account["automountServiceAccountToken"] is False
    for kind in (f"{RBAC}/{stage.namespace}/roles", f"{RBAC}/{stage.namespace}/rolebindings", f"/api/v1/namespaces/{stage.namespace}/configmaps",
                 f"/api/v1/namespaces/{stage.namespace}/serviceaccounts"):
        [owner] = server.must("GET", f"{kind}/{NAME}")["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("ElasticJob", "demo", True), kind
    told = server.must("GET", f"/api/v1/namespaces/{stage.namespace}/events")["items"]
    assert not [each["message"] for each in told if each["reason"].startswith("Failed")], "all was made at the first try"


def test_an_account_of_the_users_gets_the_role(operator, server, stage):
    template = {"template": {"spec": {"serviceAccountName": "mine", "containers": [{"name": "main"}]}}}
    spec = {"replicaSpecs": {**JOB["spec"]["replicaSpecs"], "dlrover-master": template}}
    server.must("POST", f"/api/v1/namespaces/{stage.namespace}/serviceaccounts", {"metadata": {"name": "mine"}})
    server.must("POST", f"/apis/elastic.iml.github.io/v1alpha1/namespaces/{stage.namespace}/elasticjobs", {**JOB, "spec": spec})
    assert stage.pods(2)[f"{NAME}-0"]["spec"]["serviceAccountName"] == "mine"
    [subject] = server.must("GET", f"{RBAC}/{stage.namespace}/rolebindings/{NAME}")["subjects"]
    assert (subject["kind"], subject["name"], subject["namespace"]) == ("ServiceAccount", "mine", stage.namespace)
    assert server.call("GET", f"/api/v1/namespaces/{stage.namespace}/serviceaccounts/{NAME}")[0] == 404


TORCH = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "torch", "annotations": {"muster.dev/elastic": "true"}},
         "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "restartPolicy": "Never", "template": {"spec": {"containers": [
        {"name": "pytorch", "image": "train:1", "command": ["torchrun", "x.py"]}]}}}}}}
TORCH_MASTER = "torch-elasticmaster"


def test_that_of_a_pytorchjob_may_write_its_record_and_nothing_else(start, server, stage, tmp_path):
    start(f"--namespace={stage.namespace}", "--in-pods-image=muster:1").works()
    path = stage.jobs_path("pytorchjobs")
    server.must("POST", path, TORCH)
    pods = stage.pods(3)
    assert pods[f"{TORCH_MASTER}-0"]["spec"]["serviceAccountName"] == TORCH_MASTER
    assert pods["torch-worker-0"]["spec"].get("serviceAccountName", "default") == "default"
    kubectl = Kubectl(program("kubectl"), server, stage.namespace, tmp_path)

    def rights(who):
        return {" ".join(line.split()) for line in kubectl("auth", "can-i", "--list", who).splitlines()}

    accounts = f"--as=system:serviceaccount:{stage.namespace}"
    assert rights(f"{accounts}:{TORCH_MASTER}") - rights(f"{accounts}:default") == {f"configmaps [] [{TORCH_MASTER}] [get update]"}
    stage.run(*pods)
    status = server.until(f"{path}/torch", lambda now: "Running" in str((now or {}).get("status", {}).get("conditions")))["status"]
    assert list(status["replicaStatuses"]) == ["Worker"]
    told = server.must("GET", f"/api/v1/namespaces/{stage.namespace}/events")["items"]
    assert not [each["message"] for each in told if each["reason"].startswith("Failed")], "all was made at the first try"


class Master:
    """A process of `muster master` with the rights of its account and no others."""

    def __init__(self, kubeconfig, namespace):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [BINARY, "master", "--job", "demo", "--record-object", NAME, "--namespace", namespace, "--kubeconfig", kubeconfig, "--port", str(port)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0)

    def said(self, text):
        """The first line with it. A line comes, or the process ends, within the time that requests have."""
        lines = []
        while select.select([self.process.stderr], [], [], PATIENCE)[0] and (line := self.process.stderr.readline().decode()):
            if text in line:
                return line
            lines.append(line)
        raise AssertionError(lines)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@pytest.fixture
def master(kubeconfig, stage):
    started = []

    def begin():
        started.append(Master(kubeconfig, stage.namespace))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


def test_a_master_keeps_its_record_there_and_no_operator_writes_over_it(server, operator, stage, start, record, master):
    first = master()
    first.said("a master is in charge")
    assert first.end() == 128 + signal.SIGTERM
    written = server.must("GET", record)
    assert written["data"]["epoch"] and base64.b64decode(written["binaryData"]["record"])
    # One that lost its label is written by the operator, and another operator looks at all that is there.
    server.merge(record, {"metadata": {"labels": {"training.kubeflow.org/job-name": None}}})
    labelled = server.until(record, lambda now: "training.kubeflow.org/job-name" in now["metadata"].get("labels", {}))
    assert (labelled["data"], labelled["binaryData"]) == (written["data"], written["binaryData"])
    assert operator.stop() == 0
    start(f"--namespace={stage.namespace}").works()
    master().said("a master is in charge")
    assert int(server.must("GET", record)["data"]["epoch"]) > int(written["data"]["epoch"])


def test_a_record_that_someone_damaged_is_told_and_replaced(server, record, master):
    first = master()
    first.said("a master is in charge")
    first.end()
    server.merge(record, {"binaryData": {"record": base64.b64encode(b"no record").decode()}})
    second = master()
    assert "was damaged" in second.said("record")
    second.said("a master is in charge")
    assert base64.b64decode(server.must("GET", record)["binaryData"]["record"]) != b"no record"


def test_a_record_that_someone_deleted_is_there_again(server, record, master):
    before = server.must("GET", record)["metadata"]["uid"]
    server.must("DELETE", record)
    made = server.until(record, lambda now: now and now["metadata"]["uid"] != before)
    assert "data" not in made and "binaryData" not in made
    master().said("a master is in charge")


def test_what_it_writes_into_its_plan_is_executed_once(server, stage, job, plan, tmp_path):
    made = server.must("GET", plan)
    assert made["spec"] == {"ownerJob": "demo"} and not made.get("status")
    [owner] = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("ElasticJob", "demo", True)
    as_master = Kubectl(program("kubectl"), server, stage.namespace, tmp_path)
    as_master.command.append(f"--as=system:serviceaccount:{stage.namespace}:{NAME}")
    wish = {"ownerJob": "demo", "excludedNodes": [{"node": "n1", "until": "2100-01-01T00:00:00Z"}, {"node": "n2"}]}
    as_master("replace", "-f", "-", given={**made, "spec": wish})
    done = server.until(plan, lambda now: now.get("status", {}).get("phase") == "Succeeded")
    assert done["status"]["observedGeneration"] == done["metadata"]["generation"] == 2
    kept = server.must("GET", job)["status"]["plan"]
    assert (kept["uid"], kept["generation"]) == (made["metadata"]["uid"], 2)
    assert kept["excludedNodes"] == wish["excludedNodes"]
    # A pod that is made from then on; those before stay.
    server.merge(job, {"spec": {"replicaSpecs": {"worker": {"replicas": 2}}}})
    pods = stage.pods(3)
    terms = pods["demo-edljob-worker-1"]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["n1", "n2"]}]}]
    assert "affinity" not in pods["demo-edljob-worker-0"]["spec"]
    # An edit of anything else is no wish.
    server.merge(plan, {"metadata": {"annotations": {"seen": "yes"}}})
    server.must("POST", plan.rsplit("/", 1)[0], {**made, "metadata": {"name": "mine", "labels": {"scale-type": "manual"}},
                                                 "spec": {"ownerJob": "demo", "replicaResourceSpecs": {"worker": {"replicas": 3}}}})
    stage.pods(4)
    assert server.must("GET", plan)["status"] == done["status"]
