"""`muster run --context` on a real kube-apiserver: the lines of one machine, and what only a cluster can say."""

import json
import os
import re
import signal
import subprocess
import threading

import pytest

from conftest import BINARY, DEFINITIONS, PATIENCE, job


class Run:
    """A `muster run`; its lines are awaited one by one."""

    def __init__(self, directory, namespace, manifest, *flags):
        self.process = subprocess.Popen([BINARY, "run", "--namespace", namespace, *flags, "-"], stdin=subprocess.PIPE, cwd=directory,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.process.stdin.write(json.dumps(manifest))
        self.process.stdin.close()
        self.lines, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.note(line.rstrip("\n"))
        self.note(None)

    def note(self, line):
        with self.changed:
            self.lines.append(line)
            self.changed.notify_all()

    def said(self, pattern, patience=PATIENCE):
        """The first line that matches, once there is one."""
        def find():
            return next((line for line in self.lines if line is not None and re.search(pattern, line)), None)
        with self.changed:
            assert self.changed.wait_for(lambda: find() or None in self.lines, patience) and find(), self.lines
            return find()

    def ended(self, status):
        with self.changed:
            assert self.changed.wait_for(lambda: None in self.lines, PATIENCE), self.lines
        assert self.process.wait() == status, self.lines
        return [line for line in self.lines if line is not None]


@pytest.fixture
def run(server, namespace, tmp_path):
    """On the cluster, or here."""
    started = []

    def begin(manifest, *flags, on=("--kubeconfig", str(server.kubeconfig)), within=namespace):
        started.append(Run(tmp_path, within, manifest, *on, *flags))
        return started[-1]

    yield begin
    for each in started:
        each.process.kill()
        each.process.wait()


def timeless(lines):
    """Without times and counts of a moment. Logs need nodes; where a pod runs is not said before it does."""
    told = [re.sub(r"\b\d+(\.\d+)? (s|min|h)\b", "TIME", line) for line in lines
            if " active, " not in line and line.startswith("muster: ") and "the log of pod" not in line and "scheduled" not in line]
    return sorted(told)


def small(script="exit 0"):
    manifest = job("PyTorchJob", replicas={"Master": 1, "Worker": 1})
    for spec in manifest["spec"]["pytorchReplicaSpecs"].values():
        spec["template"]["spec"]["containers"][0]["command"] = ["sh", "-c", script]
    return manifest


def lines_of_one_machine(run, code, gate):
    """Its pods, which see the directory that it runs in, end when the gate has a writer."""
    os.mkfifo(gate)
    here = run(small(f": < {gate.name}; exit {code}"), on=())
    for line in ("job demo Running", "pod demo-master-0 started", "pod demo-worker-0 started"):
        here.said(line)
    writer = os.open(gate, os.O_RDWR)  # does not wait for readers
    try:
        return here.ended(code)
    finally:
        os.close(writer)


@pytest.mark.parametrize("code", [0, 3])
def test_the_lines_are_those_of_one_machine(operator, stage, run, tmp_path, code):
    wanted = timeless(lines_of_one_machine(run, code, tmp_path / "gate"))
    there = run(small())
    pods = sorted(stage.pods(2))
    stage.run(*pods)
    for line in ("job demo Running", *(f"pod {pod} started" for pod in pods)):
        there.said(line)
    stage.end(code, *pods)
    lines = timeless(there.ended(code))
    if code:  # which of the two fails first, and what becomes of the other, is chance on both sides
        wanted, lines = ([line for line in each if re.search(r"job demo|PyTorchJob", line)] for each in (wanted, lines))
    wanted, lines = ([re.sub("(?i)master|worker", "POD", line) for line in each] for each in (wanted, lines))
    assert lines == wanted and wanted


def test_a_log_that_can_not_be_read_is_told_once(operator, stage, run, server):
    """The pods' node does not answer."""
    node = f"node-{stage.namespace}"
    server.must("POST", "/api/v1/nodes", {"metadata": {"name": node}})
    server.merge(f"/api/v1/nodes/{node}/status", {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                                                             "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}}}})
    there = run(small())
    pods = sorted(stage.pods(2))
    for pod in pods:
        server.must("POST", f"{stage.pods_path}/{pod}/binding", {"metadata": {"name": pod}, "target": {"kind": "Node", "name": node}})
    stage.run(*pods)
    for pod in pods:
        there.said(f"the log of pod {pod} can't be read")
    stage.end(0, *pods)
    lines = there.ended(0)
    for pod in pods:
        assert len([line for line in lines if f"the log of pod {pod} can't be read" in line]) == 1


def test_trouble_of_pods_is_shown(operator, stage, run, server):
    there = run(small())
    pod = stage.pods(2)["demo-worker-0"]
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"train:1\""}}
    stage.status("demo-worker-0", {"phase": "Pending", "containerStatuses": [stage.container("demo-worker-0", waiting)]})
    there.said('pod demo-worker-0 waits: ImagePullBackOff: Back-off pulling image "train:1"')
    server.must("POST", f"/api/v1/namespaces/{stage.namespace}/events", {
        "metadata": {"name": "demo-worker-0.1"}, "type": "Warning", "reason": "FailedScheduling", "message": "0/3 nodes are available",
        "involvedObject": {"kind": "Pod", "namespace": stage.namespace, "name": "demo-worker-0", "uid": pod["metadata"]["uid"]}})
    there.said("pod demo-worker-0: FailedScheduling: 0/3 nodes are available")


def test_without_an_operator_it_says_where_to_look_and_ctrl_c_deletes(server, namespace, run):
    there = run(small())
    there.said("nothing has acted on it for 10 s, so no operator seems to run pytorchjobs here")
    there.process.send_signal(signal.SIGINT)
    there.ended(130)
    assert server.must("GET", f"/apis/kubeflow.org/v1/namespaces/{namespace}/pytorchjobs")["items"] == []


def test_a_second_ctrl_c_leaves_and_says_what_stays(operator, stage, run, server):
    there = run(small())
    pods = sorted(stage.pods(2))
    for pod in pods:  # a node that is away never lets go of its pods
        server.merge(f"{stage.pods_path}/{pod}", {"metadata": {"finalizers": ["example.com/held"]}})
    stage.run(*pods)
    there.said("job demo Running")
    there.process.send_signal(signal.SIGINT)
    there.said("is being deleted")
    there.process.send_signal(signal.SIGINT)
    lines = there.ended(130)
    assert "muster: pods that are not gone yet: demo-master-0, demo-worker-0" in lines
    for pod in pods:
        server.merge(f"{stage.pods_path}/{pod}", {"metadata": {"finalizers": None}})


def test_a_job_of_that_name_is_not_taken_over(stage, run):
    stage.post(job("PyTorchJob"))
    lines = run(small()).ended(2)
    assert "already exists" in lines[0] and lines[-1] == "muster run: 1 error; nothing was started"


def test_a_kind_that_is_not_defined_and_a_namespace_that_is_not_there(server, namespace, run):
    name = "paddlejobs.kubeflow.org"
    definition = server.must("GET", f"{DEFINITIONS}/{name}")
    server.must("DELETE", f"{DEFINITIONS}/{name}")
    server.until(f"{DEFINITIONS}/{name}", lambda there: there is None)
    # A server serves what it has just removed for a moment longer.
    server.until_served("/apis/kubeflow.org/v1/paddlejobs", status=404)
    try:
        lines = run(job("PaddleJob")).ended(2)
        assert "the server has no paddlejobs.kubeflow.org: 'muster manifests | kubectl apply -f -' installs" in lines[0]
    finally:
        server.define([{key: definition[key] for key in ("apiVersion", "kind", "spec")} | {"metadata": {"name": name}}])
    elsewhere = small()
    elsewhere["metadata"]["namespace"] = "nowhere"
    there = run(elsewhere, within="nowhere")
    assert 'there is no namespace "nowhere"' in there.ended(2)[0]
