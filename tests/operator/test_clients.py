"""What users have in their hands, as it is published: kubectl of two versions and the SDK of Kubeflow. There is no kubelet, so logs are not read."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from conftest import PATIENCE, BuildFailed, Missing, job, told_of
from programs import build

HERE = pathlib.Path(__file__).resolve().parent


def program(name):
    try:
        return build(name)
    except Missing as why:
        pytest.skip(str(why))
    except BuildFailed as why:
        pytest.fail(str(why))


# ---- kubectl ----

class Kubectl:
    def __init__(self, binary, server, namespace, home):
        self.command = [binary, "--kubeconfig", server.kubeconfig, "-n", namespace]
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home)}

    def begin(self, *words):
        return subprocess.Popen(list(map(str, [*self.command, *words])), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment)

    def __call__(self, *words, given=None):
        done = subprocess.run(list(map(str, [*self.command, *words])), input=given and json.dumps(given), capture_output=True, text=True,
                              env=self.environment, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done
        return done.stdout


@pytest.fixture(params=["kubectl", "kubectl-next"])
def kubectl(request, server, namespace, tmp_path):
    return Kubectl(program(request.param), server, namespace, tmp_path)


def row(table):
    """{column: cell} of the only row of a table."""
    head, only = table.splitlines()
    return dict(zip(head.split(), only.split(), strict=True))


def test_kubectl_from_apply_to_delete(operator, stage, kubectl):
    manifest = job("PyTorchJob", replicas={"Master": 1, "Worker": 1})
    assert kubectl("apply", "-f", "-", given=manifest) == "pytorchjob.kubeflow.org/demo created\n"
    stage.condition(f"{stage.jobs_path('pytorchjobs')}/demo", "Created")
    assert kubectl("apply", "-f", "-", given=manifest) == "pytorchjob.kubeflow.org/demo unchanged\n"
    running = kubectl.begin("wait", "--for=condition=Running", f"--timeout={PATIENCE}s", "pytorchjob/demo")
    succeeded = kubectl.begin("wait", "--for=condition=Succeeded", f"--timeout={PATIENCE}s", "pytorchjob/demo")
    stage.run(*stage.pods(2))
    assert running.communicate()[0] == "pytorchjob.kubeflow.org/demo condition met\n"
    shown = row(kubectl("get", "pytorchjobs"))
    assert (shown["NAME"], shown["STATE"]) == ("demo", "Running") and re.fullmatch(r"\d+[smh]+", shown["AGE"])
    stage.end(0, "demo-master-0", "demo-worker-0")
    assert succeeded.communicate()[0] == "pytorchjob.kubeflow.org/demo condition met\n"
    assert row(kubectl("get", "pytorchjob/demo"))["STATE"] == "Succeeded"
    assert 'pytorchjob.kubeflow.org "demo" deleted' in kubectl("delete", "pytorchjob", "demo")
    stage.pods(0)


def test_kubectl_describes_a_job_with_its_events(operator, stage, kubectl):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}))
    stage.run(*stage.pods(2))
    stage.condition(path, "Running")
    stage.end(1, "demo-worker-0")
    stage.condition(path, "Failed")
    stage.told(path, "PyTorchJobFailed")
    described = kubectl("describe", "pytorchjob", "demo")
    assert re.search(r"Conditions:\n(.*\n)*?\s+Reason:\s+PyTorchJobFailed\n\s+Status:\s+True\n\s+Type:\s+Failed\n", described), described
    told = described.partition("\nEvents:\n")[2]
    for event in (r"Normal\s+SuccessfulCreatePod\s.*Created pod: demo-worker-0", r"Normal\s+PyTorchJobFailed\s.*1 Worker replica"):
        assert re.search(event, told), described


def test_kubectl_scales_an_elastic_job(operator, stage, kubectl):
    stage.post(job("PyTorchJob", replicas={"Worker": 2}, elasticPolicy={"minReplicas": 1, "maxReplicas": 4}, policy="OnFailure"))
    before = {name: pod["metadata"]["uid"] for name, pod in stage.pods(2).items()}
    assert kubectl("scale", "--current-replicas=2", "--replicas=3", "pytorchjob/demo") == "pytorchjob.kubeflow.org/demo scaled\n"
    after = {name: pod["metadata"]["uid"] for name, pod in stage.pods(3).items()}
    assert after.items() > before.items()
    stage.run(*after)
    stage.server.until(f"{stage.jobs_path('pytorchjobs')}/demo", lambda now: told_of(now).get("Worker", {}).get("active") == 3)
    scale = json.loads(kubectl("get", "--subresource=scale", "pytorchjob/demo", "-o", "json"))
    assert scale["status"]["replicas"] == 3
    selected = kubectl("get", "pods", "-l", scale["status"]["selector"], "-o", "name").split()
    assert selected == ["pod/demo-worker-0", "pod/demo-worker-1", "pod/demo-worker-2"]


def test_kubectl_edits_a_job(operator, stage, kubectl):
    manifest = job("PyTorchJob", replicas={"Master": 1, "Worker": 1})
    kubectl("apply", "-f", "-", given=manifest)
    stage.pods(2)
    kubectl("patch", "pytorchjob", "demo", "--type=merge", "-p", '{"spec": {"runPolicy": {"suspend": true}}}')
    stage.pods(0)
    kubectl("wait", "--for=condition=Suspended", f"--timeout={PATIENCE}s", "pytorchjob/demo")
    manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 2
    manifest["spec"]["runPolicy"] = {"suspend": False}
    assert kubectl("apply", "-f", "-", given=manifest) == "pytorchjob.kubeflow.org/demo configured\n"
    assert sorted(stage.pods(3)) == ["demo-master-0", "demo-worker-0", "demo-worker-1"]


# ---- the SDK of Kubeflow ----

class Sdk:
    """A process of python/sdk.py, whose functions it calls."""

    def __init__(self, interpreter, server, namespace, log):
        self.log = log
        with open(log, "w") as errors:
            self.process = subprocess.Popen([interpreter, HERE / "python" / "sdk.py", namespace], stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "KUBECONFIG": str(server.kubeconfig)})

    def begin(self, function, *positional, **named):
        self.process.stdin.write(json.dumps({"function": function, "positional": positional, "named": named}) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, self.log.read_text()[-3000:]
        return json.loads(line)

    def __call__(self, function, *positional, **named):
        self.begin(function, *positional, **named)
        return self.answer()


@pytest.fixture
def sdk(server, namespace, tmp_path):
    made = Sdk(program("python-clients"), server, namespace, tmp_path / "sdk.log")
    yield made
    made.process.kill()
    made.process.wait()


ALL = ["demo-master-0", "demo-worker-0"]


def test_the_sdk_from_creation_to_deletion(operator, stage, sdk):
    sdk("create", "demo")
    sdk.begin("wait", "demo", "Running")
    stage.run(*stage.pods(2))
    assert sdk.answer() == ["Created", "Running"]
    assert sdk("state", "demo") == {"created": True, "running": True, "restarting": False, "succeeded": False, "failed": False}
    assert sdk("names") == ["demo"] and sdk("pod_names", "demo") == ALL
    assert sdk("pod_names", "demo", is_master=True) == ALL[:1]
    assert sdk("pod_names", "demo", replica_type="worker", replica_index=0) == ALL[1:]
    sdk.begin("wait", "demo", "Succeeded")
    stage.end(0, *ALL)
    assert sdk.answer() == ["Created", "Succeeded"]
    sdk("delete", "demo")
    stage.pods(0)
    assert sdk("names") == []


def test_the_sdk_sees_a_job_fail(operator, stage, sdk):
    sdk("create", "demo")
    stage.run(*stage.pods(2))
    stage.condition(f"{stage.jobs_path('pytorchjobs')}/demo", "Running")
    stage.end(3, "demo-worker-0")
    assert "Failed" in sdk("wait", "demo", "Failed")
    assert sdk("state", "demo") == {"created": True, "running": False, "restarting": False, "succeeded": False, "failed": True}


def test_the_sdk_suspends_and_resumes_a_job(operator, stage, sdk):
    sdk("create", "demo")
    stage.pods(2)
    sdk("suspend", "demo", True)
    stage.pods(0)
    stage.condition(f"{stage.jobs_path('pytorchjobs')}/demo", "Suspended")
    sdk("suspend", "demo", False)
    stage.run(*stage.pods(2))
    assert "Running" in sdk("wait", "demo", "Running")


def test_the_sdk_finds_the_events_of_a_job(operator, stage, sdk):
    sdk("create", "demo")
    stage.pods(2)
    stage.told(f"{stage.jobs_path('pytorchjobs')}/demo", "SuccessfulCreateService")
    told = sdk("events", "demo")["pytorchjob/demo"]
    assert [each for each in told if each.endswith("Created pod: demo-worker-0")], told


@pytest.mark.parametrize("kind, more, pods", [
    ("PyTorchJob", {"num_workers": 3}, ["demo-master-0", "demo-worker-0", "demo-worker-1"]),
    ("TFJob", {"num_workers": 1, "num_ps_replicas": 1, "num_chief_replicas": 1}, ["demo-chief-0", "demo-ps-0", "demo-worker-0"])],
    ids=["PyTorchJob", "TFJob"])
def test_the_sdk_makes_a_job_of_a_function(operator, stage, sdk, kind, more, pods):
    sdk("create_from_function", "demo", kind, **more)
    assert sorted(stage.pods(3)) == pods
    script = stage.server.must("GET", f"{stage.pods_path}/{pods[0]}")["spec"]["containers"][0]["args"][0]
    assert "def train(parameters)" in script and "'rate': '0.1'" in script
    stage.run(*pods)
    path = f"{stage.jobs_path(kind.lower() + 's')}/demo"
    stage.condition(path, "Running")
    stage.end(0, *pods)
    stage.condition(path, "Succeeded")
