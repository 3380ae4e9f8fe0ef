"""The process itself: flags, configuration, health, metrics, logs."""

import json
import os
import subprocess

from conftest import BINARY, job


def test_health_metrics_and_logs(operator, stage):
    assert operator.get("/healthz") == (200, "ok\n")
    assert operator.get("/readyz") == (200, "ok\n")
    assert operator.get("/nothing")[0] == 404
    path = stage.post(job("PyTorchJob", replicas={"Master": 1}))
    stage.pods(1)
    stage.run("demo-master-0")
    stage.condition(path, "Running")
    operator.counts('muster_job_create_to_running_seconds_count{framework="pytorch"}', 1)
    counts = operator.metrics()
    assert counts['muster_api_requests_total{code="201",resource="pods",verb="create"}'] == 1
    assert counts['muster_reconcile_seconds_count{framework="pytorch"}'] >= 2
    assert counts["muster_is_leader"] == 1
    assert counts["process_resident_memory_bytes"] > 0
    for line in operator.log.read_text().splitlines():
        assert {"ts", "level", "msg"} <= set(json.loads(line))


def test_large_jobs_are_read_beside_the_loop(operator, stage):
    def threads():
        return len(os.listdir(f"/proc/{operator.process.pid}/task"))

    stage.post(job("PyTorchJob", name="small", replicas={"Master": 1}))
    stage.pods(1)
    before = threads()
    large = job("PyTorchJob", name="large", replicas={"Master": 1})
    large["metadata"].setdefault("annotations", {})["example.com/note"] = "x" * 100_000
    stage.post(large)
    stage.pods(2)
    assert threads() == before + 1, "it has none to read them"


def test_kinds_that_are_not_enabled_are_left_alone(start, stage):
    start(f"--namespace={stage.namespace}", "--enable-scheme=tfjob").works()
    stage.post(job("PyTorchJob", name="other", replicas={"Master": 1}))
    stage.post(job("TFJob", name="ours", replicas={"Worker": 1}))
    assert list(stage.pods(1)) == ["ours-worker-0"]


def test_a_configuration_file_below_the_command_line(start, stage, tmp_path):
    config = tmp_path / "muster.yaml"
    config.write_text(f"namespace: somewhere-else\nenable-scheme: [PyTorchJob]\nlog-level: debug\nkube-api-qps: 200\nkube-api-burst: 100\n"
                      f"cluster-domain: example.org\n# {stage.namespace}\n")
    start(f"--config={config}", f"--namespace={stage.namespace}").works()
    stage.post(job("PyTorchJob", replicas={"Master": 1}))
    stage.pods(1)
    config.write_text("leader-elekt: true\n")
    refused = subprocess.run([BINARY, "operator", f"--config={config}"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "did you mean leader-elect?" in refused.stderr


def test_upstreams_flags_that_have_no_effect_say_so(start, stage):
    operator = start(f"--namespace={stage.namespace}", "-pytorch-init-container-image=alpine:3.10", "--zap-devel").works()
    assert "has no effect" in operator.said("a flag has no effect", flag="--pytorch-init-container-image")["flag"]


def test_the_namespace_of_the_environment(start, stage):
    start(environment={"KUBEFLOW_NAMESPACE": stage.namespace}).works()
    stage.post(job("PyTorchJob", replicas={"Master": 1}))
    stage.pods(1)


def test_a_clean_stop_ends_with_zero(operator):
    assert operator.stop() == 0


def test_what_can_not_be_opened_is_told_before_anything_starts(server, tmp_path):
    missing = subprocess.run([BINARY, "operator", "--kubeconfig", tmp_path / "none"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1 and str(tmp_path / "none") in missing.stderr
    # Other operators, of tests beside this one, may have the usual port of the probes.
    taken = subprocess.run([BINARY, "operator", "--kubeconfig", server.kubeconfig, "--health-probe-bind-address=0",
                            f"--metrics-bind-address=127.0.0.1:{server.ports['kube-apiserver']}"], capture_output=True, text=True, check=False)
    assert taken.returncode == 1 and "--metrics-bind-address" in taken.stderr
