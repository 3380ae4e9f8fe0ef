"""Pods outlive the daemon: running pods continue, what ended meanwhile is told, logs have no gap."""

import json
import os
import select
import subprocess

import pytest

from conftest import BINARY
from test_up import Up, is_running, needs_kubectl

pytestmark = needs_kubectl


@pytest.fixture(params=["namespaces", "none"])
def up(request, tmp_path):
    if request.param == "none":
        request.getfixturevalue("machine_network")
    made = Up(tmp_path)
    made.sandbox = request.param
    yield made
    made.down("--kill")


def start(up):
    return up.start("--sandbox", up.sandbox)


def pod(name, script, policy="Never", container=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": policy, "terminationGracePeriodSeconds": 30, **spec, "containers": [
                {"name": "main", "image": "local", "command": ["sh", "-c", script], **(container or {})}]}}


def create(up, *objects):
    for made in objects:
        up.kubectl("create", "-f", "-", stdin=json.dumps(made))


def get(up, name):
    return json.loads(up.kubectl("get", "pod", name, "-o", "json").stdout)


def main_status(up, name):
    return get(up, name)["status"]["containerStatuses"][0]


def wait(up, name, what):
    up.kubectl("wait", f"--for={what}", f"pod/{name}", "--timeout=40s")


def wait_phase(up, name, phase):
    wait(up, name, "jsonpath={.status.phase}=" + phase)


class Lifeline:
    """A FIFO that a script holds open (`exec 9>FIFO`): its end is seen without any API."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait_for_end(self):
        text = b""
        while True:
            assert select.select([self.reader], [], [], 40)[0], text
            piece = os.read(self.reader, 4096)
            if not piece:
                return text.decode()
            text += piece


COUNT = "i=0; while [ ! -e {go} ]; do i=$((i+1)); echo line $i; sleep 0.01; done; echo last $i"


@pytest.mark.parametrize("how", ["killed", "told to keep its pods"])
def test_what_runs_goes_on_and_its_log_has_no_gap(up, how):
    start(up)
    create(up, pod("counts", COUNT.format(go=up.directory / "go")))
    wait(up, "counts", "condition=Ready")
    before = get(up, "counts")
    if how == "killed":
        up.kill()
    else:
        assert "its pods keep running" in up.down("--keep-pods").stdout
    start(up)
    after = get(up, "counts")
    (up.directory / "go").touch()
    wait_phase(up, "counts", "Succeeded")
    old, new = before["status"]["containerStatuses"][0], after["status"]["containerStatuses"][0]
    assert new["containerID"] == old["containerID"] and new["restartCount"] == 0
    assert new["state"]["running"] == old["state"]["running"]
    assert after["status"]["podIP"] == before["status"]["podIP"]
    assert main_status(up, "counts")["state"]["terminated"]["exitCode"] == 0
    lines = up.kubectl("logs", "counts").stdout.splitlines()
    count = len(lines) - 1
    assert lines == [f"line {i}" for i in range(1, count + 1)] + [f"last {count}"]


def test_a_pod_from_before_finds_the_pods_that_are_made_later(up):
    if up.sandbox == "none":
        pytest.skip("pods on the machine's own network have no names of their own")
    start(up)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "met"}, "spec": {"clusterIP": "None", "selector": {"app": "met"}}}
    create(up, pod("before", "exec sleep 600"), service)
    wait(up, "before", "condition=Ready")
    up.kill()
    start(up)
    later = pod("later", "exec sleep 600")
    later["metadata"]["labels"] = {"app": "met"}
    create(up, later)
    wait(up, "later", "condition=Ready")
    found = up.kubectl("exec", "before", "--", "sh", "-c", "until getent hosts met; do sleep 0.05; done").stdout
    assert found.split()[0] == get(up, "later")["status"]["podIP"], found


def test_what_ended_meanwhile_is_told_and_the_policy_decides(up):
    start(up)
    lifelines = {}
    for name, policy in (("once", "Never"), ("again", "OnFailure")):
        lifelines[name] = Lifeline(up.directory / f"{name}.fifo")
        create(up, pod(name, f"""
            if [ -e /data/ran ]; then echo second; cat /data/ran; exit 0; fi
            exec 9>{lifelines[name].path}; echo $$ > /data/ran; echo first
            until [ -e {up.directory}/go ]; do sleep 0.01; done; exit 3""", policy,
                       {"volumeMounts": [{"name": "data", "mountPath": "/data"}]},
                       volumes=[{"name": "data", "emptyDir": {}}])
               if up.sandbox == "namespaces" else pod(name, f"""
            if [ -e {up.directory}/{name}.ran ]; then echo second; exit 0; fi
            exec 9>{lifelines[name].path}; touch {up.directory}/{name}.ran; echo first
            until [ -e {up.directory}/go ]; do sleep 0.01; done; exit 3""", policy))
        wait(up, name, "condition=Ready")
    up.kill()
    (up.directory / "go").touch()
    for lifeline in lifelines.values():
        lifeline.wait_for_end()
    start(up)
    wait_phase(up, "once", "Failed")
    assert main_status(up, "once")["state"]["terminated"]["exitCode"] == 3
    assert up.kubectl("logs", "once").stdout == "first\n"
    wait_phase(up, "again", "Succeeded")
    again = main_status(up, "again")
    assert again["restartCount"] == 1 and again["lastState"]["terminated"]["exitCode"] == 3
    assert up.kubectl("logs", "again").stdout.startswith("second\n")
    assert up.kubectl("logs", "again", "--previous").stdout == "first\n"


def test_a_deletion_that_was_under_way_is_carried_on(up):
    start(up)
    lifeline = Lifeline(up.directory / "fifo")
    create(up, pod("slow", f"""exec 9>{lifeline.path}
        trap 'echo told >&9; until [ -e {up.directory}/go ]; do sleep 0.01; done; exit 0' TERM
        while :; do sleep 0.01; done"""))
    wait(up, "slow", "condition=Ready")
    up.kubectl("delete", "pod", "slow", "--wait=false")
    assert select.select([lifeline.reader], [], [], 40)[0]
    up.kill()
    start(up)
    assert get(up, "slow")["metadata"]["deletionTimestamp"]
    (up.directory / "go").touch()
    wait(up, "slow", "delete")
    assert lifeline.wait_for_end().startswith("told\n")


def test_what_a_pod_had_it_has_and_the_next_one_finds_it(up):
    """Commands, files, probes, and the network, with pods of before and after."""
    if up.sandbox == "none":
        pytest.skip("pods have no network of their own here")
    start(up)
    create(up, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"key": "value"}},
           pod("server", "echo kept > /data/file; exec python3 -m http.server 8000 --directory /data", container={
               "readinessProbe": {"tcpSocket": {"port": 8000}, "periodSeconds": 1},
               "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "config", "mountPath": "/config"}]},
               volumes=[{"name": "data", "emptyDir": {"medium": "Memory"}},
                        {"name": "config", "configMap": {"name": "c"}}]))
    wait(up, "server", "condition=Ready")
    up.kill()
    start(up)
    wait(up, "server", "condition=Ready")
    assert up.kubectl("exec", "server", "--", "cat", "/data/file", "/config/key").stdout == "kept\nvalue"
    fetch = "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://server:8000/file\").read().decode())'"
    create(up, pod("client", fetch))
    wait_phase(up, "client", "Succeeded")
    assert up.kubectl("logs", "client").stdout.strip() == "kept"


def test_down_ends_the_pods_of_a_daemon_that_was_killed(up):
    start(up)
    lifeline = Lifeline(up.directory / "fifo")
    create(up, pod("left", f"exec 9>{lifeline.path}; echo up >&9; while :; do sleep 0.01; done"))
    wait(up, "left", "condition=Ready")
    up.kill()
    assert "1 pod ended" in up.down().stdout
    assert lifeline.wait_for_end() == "up\n"
    assert "ended" not in up.down().stdout


def test_down_ends_the_pods_of_a_daemon_that_runs(up):
    start(up)
    lifeline = Lifeline(up.directory / "fifo")
    create(up, pod("left", f"exec 9>{lifeline.path}; while :; do sleep 0.01; done"))
    wait(up, "left", "condition=Ready")
    pid = up.pid()
    up.down()
    assert not is_running(pid)
    lifeline.wait_for_end()
    assert list((up.state / "node" / "pods").iterdir()) == []


def test_who_waits_for_the_daemons_output_does_not_wait_for_its_pods(up):
    process = subprocess.Popen([BINARY, "up", "--state", str(up.state), "--listen", "127.0.0.1:0",
                                "--sandbox", up.sandbox], env=up.environment, cwd=up.directory,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while "muster is up" not in process.stdout.readline():
        pass
    create(up, pod("stays", "while :; do sleep 0.01; done"))
    wait(up, "stays", "condition=Ready")
    process.terminate()
    assert process.wait(40) == 0
    assert select.select([process.stdout], [], [], 40)[0]
    process.stdout.read()
    assert "1 pod ended" in up.down().stdout


@pytest.mark.usefixtures("machine_network")
def test_a_pod_whose_object_says_that_it_has_ended_is_ended(up):
    """As nobody would look after it: here its status was written by somebody else."""
    start(up)
    lifeline = Lifeline(up.directory / "fifo")
    create(up, pod("left", f"exec 9>{lifeline.path}; while :; do sleep 0.01; done"))
    wait(up, "left", "condition=Ready")
    up.kill()
    # A daemon that has pods of the other kind can't reach this one.
    other = "none" if up.sandbox == "namespaces" else "namespaces"
    up.start("--sandbox", other)
    wait_phase(up, "left", "Failed")
    lifeline.wait_for_end()
    assert main_status(up, "left")["state"]["terminated"]["reason"] == "ContainerStatusUnknown"


def test_a_job_trains_on_while_the_daemon_is_killed(tmp_path):
    up = Up(tmp_path)
    script = tmp_path / "train.py"
    script.write_text("""
import os, sys, torch, torch.distributed as dist
dist.init_process_group("gloo")
go = sys.argv[1]
step = 0
while True:
    ready = torch.tensor([float(os.path.exists(go))])
    dist.all_reduce(ready)
    step += 1
    print("step", step, flush=True)
    if ready.item() == dist.get_world_size():
        break
dist.destroy_process_group()
""")
    try:
        up.start()
        worker = {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [
            {"name": "pytorch", "image": "local", "command": ["python3", str(script), str(tmp_path / "go")]}]}}}
        create(up, {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "trains"},
                    "spec": {"pytorchReplicaSpecs": {"Master": worker, "Worker": worker}}})
        follow = subprocess.Popen([BINARY, "logs", "trains", "-f", "--kubeconfig", str(up.kubeconfig)],
                                  env=up.environment, stdout=subprocess.PIPE, text=True)
        while "step 20" not in follow.stdout.readline():
            pass
        follow.kill()
        follow.communicate()
        for _ in range(3):
            up.kill()
            up.start()
        (tmp_path / "go").touch()
        up.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/trains", "--timeout=50s")
        for name in ("trains-master-0", "trains-worker-0"):
            assert main_status(up, name)["restartCount"] == 0
            steps = [line for line in up.kubectl("logs", name).stdout.splitlines() if line.startswith("step")]
            assert steps == [f"step {i}" for i in range(1, len(steps) + 1)]
    finally:
        up.down("--kill")
