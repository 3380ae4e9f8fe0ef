"""What a manifest gives a pod: environment, files, namespaces, several documents."""

import json
import os

import pytest

from conftest import pytorchjob


def test_the_environment_is_what_the_cluster_would_give(muster):
    script = 'echo "env $MASTER_ADDR $MASTER_PORT $WORLD_SIZE $RANK $PYTHONUNBUFFERED $PET_NNODES $PET_NODE_RANK $PET_NPROC_PER_NODE"'
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("env", script, 2, script)))
    assert finished.status == 0, finished
    for rank in range(3):
        assert f"env env-master-0 23456 3 {rank} 1 3 {rank} auto" in finished.text, finished


FILES = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: team-a}
data: {rate.txt: "0.1", layers: "3"}
---
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: team-a}
stringData: {token: hunter2}
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: files, namespace: team-a}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          volumes:
          - {name: settings, configMap: {name: settings}}
          - {name: token, secret: {secretName: token, defaultMode: 256}}
          - {name: scratch, emptyDir: {}}
          - {name: memory, emptyDir: {medium: Memory, sizeLimit: 16Mi}}
          containers:
          - name: pytorch
            image: local
            command: [sh, -c]
            args:
            - |
              echo "rate $(cat /etc/muster-settings/rate.txt)"
              echo "token length $(cat /run/muster-token/token | wc -c)"
              echo "layers $LAYERS node $NODE name $NAME cpu $CPU"
              echo "expanded $EXPANDED $(echo '$(LAYERS)')"
              touch /scratch/a /memory/b && echo "scratch ok"
              stat -f -c %T /memory
            env:
            - {name: LAYERS, valueFrom: {configMapKeyRef: {name: settings, key: layers}}}
            - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
            - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: CPU, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}}
            - {name: EXPANDED, value: "a-$(LAYERS)-$$(LAYERS)"}
            resources: {requests: {cpu: 100m}}
            volumeMounts:
            - {name: settings, mountPath: /etc/muster-settings}
            - {name: token, mountPath: /run/muster-token}
            - {name: scratch, mountPath: /scratch}
            - {name: memory, mountPath: /memory}
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts as root: not root here")
def test_volumes_downward_api_and_a_namespace_of_its_own(muster):
    finished = muster.run("run", muster.write("files.yaml", FILES))
    assert finished.status == 0, finished
    for line in ("rate 0.1", "token length 7", "layers 3 node localhost name files-master-0 cpu 100",
                 "expanded a-3-$(LAYERS)", "scratch ok", "tmpfs"):
        assert line in finished.text, (line, finished)
    assert not os.path.exists("/etc/muster-settings")
    assert not os.path.exists("/scratch")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts as root: not root here")
def test_a_path_of_the_image_can_live_elsewhere(muster, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "set.txt").write_text("forty-two")
    path = muster.write("job.yaml", pytorchjob("mounted", "cat /no/such/place/set.txt; echo"))
    finished = muster.run("run", path, "--mount", f"/no/such/place={data}")
    assert finished.status == 0, finished
    assert "forty-two" in finished.text
    assert not os.path.exists("/no")


def test_several_files_standard_input_and_several_jobs(muster):
    one = muster.write("one.yaml", pytorchjob("one", "echo I am one"))
    two = pytorchjob("two", "echo I am two") + "---\n" + pytorchjob("three", "echo I am three")
    finished = muster.run("run", one, "-f", "-", stdin=two)
    assert finished.status == 0, finished
    for name in ("one", "two", "three"):
        assert f"I am {name}" in finished.text


def test_one_failed_job_of_two_decides_the_exit_status(muster):
    text = pytorchjob("good", "exit 0") + "---\n" + pytorchjob("bad", "exit 7")
    assert muster.run("run", muster.write("jobs.yaml", text)).status == 7


def test_dry_run_prints_pods_and_services_and_starts_nothing(muster, shared):
    path = muster.write("job.yaml", pytorchjob("dry", "touch \"$MARKS/started\"", 2, "true"))
    finished = muster.run("run", path, "--dry-run", "--output", "json", "--env", f"MARKS={shared}")
    assert finished.status == 0, finished
    items = json.loads(finished.out)["items"]
    assert sorted((o["kind"], o["metadata"]["name"]) for o in items) == [
        ("Pod", "dry-master-0"), ("Pod", "dry-worker-0"), ("Pod", "dry-worker-1"),
        ("Service", "dry-master-0"), ("Service", "dry-worker-0"), ("Service", "dry-worker-1")]
    assert not (shared / "started").exists()


def test_adjustments_from_the_command_line(muster):
    path = muster.write("job.yaml", pytorchjob("adjusted", "echo size $WORLD_SIZE colour $COLOUR", 1, "true"))
    finished = muster.run("run", path, "--replicas", "Worker=4", "--env", "COLOUR=green", "--namespace", "lab",
                          "--set", "spec.nprocPerNode=2", "--output", "json")
    assert finished.status == 0, finished
    assert "size 10 colour green" in finished.text
    assert '"namespace": "lab"' in finished.out or '"namespace":"lab"' in finished.out


def test_logs_are_kept_where_asked(muster, tmp_path):
    logs = tmp_path / "logs"
    path = muster.write("job.yaml", pytorchjob("kept", "echo first; echo second >&2"))
    finished = muster.run("run", path, "--logs", logs)
    assert finished.status == 0, finished
    kept = "".join(p.read_text() for p in logs.rglob("*") if p.is_file())
    assert "first" in kept and "second" in kept


def test_devices_that_are_not_here_are_refused_by_name_and_can_be_dropped(muster):
    text = pytorchjob("gpu", "echo trained").replace(
        "            image: local\n",
        "            image: local\n            resources: {limits: {example.com/accelerator: 1}}\n")
    path = muster.write("job.yaml", text)
    refused = muster.run("run", path, limit=30)
    assert refused.status == 2, refused
    assert "example.com/accelerator" in refused.text and "--ignore-resources" in refused.text
    finished = muster.run("run", path, "--ignore-resources", "example.com/accelerator")
    assert finished.status == 0, finished


def test_requests_beyond_the_machine_are_scaled_or_refused(muster):
    text = pytorchjob("big", "echo fits", 1, "true").replace(
        "            image: local\n",
        "            image: local\n            resources: {requests: {cpu: 5000}}\n")
    path = muster.write("job.yaml", text)
    strict = muster.run("run", path, "--fit", "strict", limit=30)
    assert strict.status == 2, strict
    assert "10000" in strict.text.replace(",", "")
    finished = muster.run("run", path)
    assert finished.status == 0, finished
    assert "scaled" in finished.text
