"""Repositories of manifests as they are: what their jobs need beside them, and what one machine does without."""

import json
import os
import pathlib
import textwrap

import pytest

from conftest import needs_root
from test_up import Up

# What a team's repository has for its cluster: nothing in it knows of this machine.
FILES = {
    "deploy/00-team.yaml": """
        apiVersion: v1
        kind: Namespace
        metadata: {name: ml}
        ---
        apiVersion: v1
        kind: ServiceAccount
        metadata: {name: trainer, namespace: ml}
        imagePullSecrets: [{name: registry}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: trainer, namespace: ml}
        rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: trainer, namespace: ml}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: trainer}
        subjects: [{kind: ServiceAccount, name: trainer, namespace: ml}]
        ---
        apiVersion: networking.k8s.io/v1
        kind: NetworkPolicy
        metadata: {name: closed, namespace: ml}
        spec: {podSelector: {}, policyTypes: [Ingress]}
        ---
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata: {name: training}
        value: 1000
    """,
    "deploy/10-storage.yaml": """
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: datasets, namespace: ml}
        spec: {storageClassName: nfs-client, accessModes: [ReadWriteMany], resources: {requests: {storage: 500Gi}}}
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: checkpoints, namespace: ml}
        spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 50Gi}}}
    """,
    "deploy/20-train.yaml": """
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: train, namespace: ml}
        spec:
          runPolicy: {cleanPodPolicy: Running}
          pytorchReplicaSpecs:
            Master: &replica
              replicas: 1
              restartPolicy: OnFailure
              template:
                metadata: {annotations: {sidecar.istio.io/inject: "false"}}
                spec:
                  serviceAccountName: trainer
                  priorityClassName: training
                  imagePullSecrets: [{name: registry}]
                  nodeSelector: {node.example.com/gpu: a100}
                  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
                  securityContext: {fsGroup: 100}
                  initContainers:
                  - name: fetch
                    image: registry.example.com/team/fetch:3
                    command: [sh, -c, "mkdir -p /datasets/digits && echo 1 2 3 > /datasets/digits/part-$HOSTNAME"]
                    volumeMounts: [{name: datasets, mountPath: /datasets}]
                  - name: logs
                    image: fluent/fluent-bit:3.0
                    restartPolicy: Always
                    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.1; done"]
                    volumeMounts: [{name: scratch, mountPath: /scratch}]
                  containers:
                  - name: pytorch
                    image: registry.example.com/team/train:2024.6
                    command: [sh, /workspace/train.sh]
                    envFrom: [{secretRef: {name: hub-token}}, {configMapRef: {name: settings}}]
                    resources: {limits: {nvidia.com/gpu: 8, cpu: "64", memory: 512Gi}}
                    volumeMounts:
                    - {name: datasets, mountPath: /datasets, subPath: digits, readOnly: true}
                    - {name: checkpoints, mountPath: /checkpoints}
                    - {name: shm, mountPath: /dev/shm}
                  volumes:
                  - {name: datasets, persistentVolumeClaim: {claimName: datasets}}
                  - {name: checkpoints, persistentVolumeClaim: {claimName: checkpoints}}
                  - {name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce],
                      resources: {requests: {storage: 1Gi}}}}}}
                  - {name: shm, emptyDir: {medium: Memory, sizeLimit: 16Mi}}
            Worker:
              <<: *replica
    """,
    "deploy/30-evaluate.yaml": """
        apiVersion: v1
        kind: Pod
        metadata: {name: evaluate, namespace: ml}
        spec:
          restartPolicy: OnFailure
          containers:
          - name: evaluate
            image: registry.example.com/team/evaluate@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
            args: [--checkpoint, /checkpoints/model]
            volumeMounts: [{name: checkpoints, mountPath: /checkpoints, readOnly: true}]
          volumes: [{name: checkpoints, persistentVolumeClaim: {claimName: checkpoints, readOnly: true}}]
    """,
    "deploy/40-dashboard.yml": """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: tensorboard, namespace: ml}
        spec:
          selector: {matchLabels: {app: tensorboard}}
          template:
            metadata: {labels: {app: tensorboard}}
            spec: {containers: [{name: tensorboard, image: "tensorflow/tensorflow:2.16.1"}]}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: tensorboard, namespace: ml}
        spec: {selector: {app: tensorboard}, ports: [{port: 6006}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: ServiceMonitor
        metadata: {name: tensorboard, namespace: ml}
        spec: {endpoints: [{port: web}]}
    """,
    "deploy/kustomization.yaml": """
        apiVersion: kustomize.config.k8s.io/v1beta1
        kind: Kustomization
        resources: [00-team.yaml, 10-storage.yaml, 20-train.yaml, 30-evaluate.yaml, 40-dashboard.yml]
    """,
    "deploy/values.yaml": "image: {tag: 2024.6}\n",
    "deploy/old/broken.yaml": "kind: [\n",
    "src/train.sh": """
        test "$TOKEN" = secret && test "$EPOCHS" = 2 || exit 3
        set -- /datasets/part-*
        test $# -ge 1 || exit 4
        ! touch /datasets/x 2>/dev/null || exit 5
        echo "rank $RANK trained"
        touch "/checkpoints/rank-$RANK"
        until test "$RANK" != 0 || test -e /checkpoints/rank-1; do sleep 0.05; done
        test "$RANK" != 0 || echo weights > /checkpoints/model.new
        test "$RANK" != 0 || mv /checkpoints/model.new /checkpoints/model
    """,
    "src/evaluate.sh": """
        test "$1" = --checkpoint || exit 2
        until test -e "$2"; do sleep 0.05; done
        echo "evaluated $(cat "$2")"
    """,
    "muster-entrypoints.yaml": "registry.example.com/team/evaluate: sh /workspace/evaluate.sh\n",
    "settings/EPOCHS": "2",
    ".env": "# of the hub\nTOKEN=secret\n",
}
FLAGS = ("--mount", "/workspace=src", "--ignore-resources", "nvidia.com/gpu")
SOURCES = ("--secret", "hub-token=.env", "--config", "settings=settings")


@pytest.fixture
def repository(shared):
    for name, text in FILES.items():
        path = shared / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"))
    return shared


@pytest.fixture
def here(muster, repository):
    """A person in the repository."""
    muster.cwd = repository
    return muster


@needs_root
def test_a_repository_runs_as_it_is(here, repository):
    (repository / "out").mkdir()
    ended = here.run("run", "deploy", *FLAGS, *SOURCES, "--volume", "checkpoints=out")
    assert ended.status == 0, ended
    for line in ("rank 0 trained", "rank 1 trained", "evaluated weights"):
        assert line in ended.out, ended
    assert (repository / "out" / "model").read_text() == "weights\n"
    for note in ("note: kind: the Deployment is passed over", "note: kind: the ServiceMonitor is passed over",
                 "note: kind: the Kustomization is passed over", "note: kind: no traffic is blocked by it",
                 "values.yaml:1:1: note: this file is passed over",
                 'the claim "datasets" (500Gi, which nothing enforces, ReadWriteMany) is a directory of this run',
                 f'the claim "checkpoints" (50Gi, which nothing enforces, ReadWriteOnce) is {repository}/out',
                 "containers without a command get those of muster-entrypoints.yaml"):
        assert note in ended.text, (note, ended)


@needs_root
def test_what_it_lacks_is_told_with_the_flags_that_give_it(here, repository):
    refused = here.run("run", "deploy")
    assert refused.status == 2, refused
    for advice in ("with --secret hub-token=FILE|DIR|KEY=VALUE", "with --config settings=FILE|DIR|KEY=VALUE",
                   "--mount /workspace=DIR", "--ignore-resources nvidia.com/gpu"):
        assert advice in refused.err, (advice, refused)
    (repository / "muster-entrypoints.yaml").unlink()
    refused = here.run("run", "deploy", *FLAGS, *SOURCES)
    assert refused.status == 2 and refused.err.count("error:") == 1, refused
    assert "or pass --entrypoint registry.example.com/team/evaluate=COMMAND" in refused.err, refused
    # With all of it, everything below is read, too.
    refused = here.run("run", "-R", "deploy", *FLAGS, *SOURCES, "--entrypoint",
                       "registry.example.com/team/evaluate=sh /workspace/evaluate.sh")
    assert refused.status == 2 and "deploy/old/broken.yaml:" in refused.err, refused
    assert refused.err.count("error:") == 1, refused
    refused = here.run("run", "src", *FLAGS)
    assert refused.status == 2 and "src: error: there is no *.yaml, *.yml or *.json in this directory" in refused.err


@needs_root
def test_a_server_runs_it_as_it_is(repository, tmp_path):
    up = Up(tmp_path)
    up.cwd = repository
    try:
        said = up.start(*FLAGS, "--fit", "scale", "--env", "TOKEN=secret", "--env", "EPOCHS=2").stdout
        assert f"pods run in {repository}, with PATH={os.environ['PATH']}" in said, said
        up.environment["KUBECONFIG"] = str(up.kubeconfig)
        texts = {name: (repository / name).read_text() for name in FILES if name.startswith("deploy/") and name[7].isdigit()}
        for name, text in texts.items():
            # The operator's secrets are a cluster's, as there.
            (repository / name).write_text(text.replace("name: hub-token}", "name: hub-token, optional: true}")
                                           .replace("name: settings}", "name: settings, optional: true}"))
        for name in texts:
            if "40-" not in name:
                up.muster("apply", "-f", str(repository / name))
        up.muster("wait", "pytorchjob/train", "--for=condition=Succeeded", "-n", "ml", "--timeout", "60s")
        up.muster("wait", "pod/evaluate", "--for=jsonpath={.status.phase}=Succeeded", "-n", "ml", "--timeout", "60s")
        claims = {item["metadata"]["name"]: item for item in
                  json.loads(up.muster("get", "pvc", "-n", "ml", "-o", "json").stdout)["items"]}
        assert {claim["status"]["phase"] for claim in claims.values()} == {"Bound"}
        assert claims["checkpoints"]["spec"]["storageClassName"] == "directory"
        assert claims["datasets"]["status"]["capacity"]["storage"] == "500Gi"
        kept = up.state / "volumes" / "ml"
        assert (kept / "checkpoints" / "model").read_text() == "weights\n"
        assert sorted(os.listdir(kept / "datasets" / "digits")) == ["part-train-master-0", "part-train-worker-0"]
        # The objects are as they were written.
        job = json.loads(up.muster("get", "pod/train-master-0", "-n", "ml", "-o", "json").stdout)
        limits = job["spec"]["containers"][0]["resources"]["limits"]
        assert limits == {"nvidia.com/gpu": "8", "cpu": "64", "memory": "512Gi"}
        # Pods that have ended use their claims, too.
        up.muster("delete", "pod/evaluate", "pytorchjob/train", "-n", "ml")
        up.muster("delete", "pvc/checkpoints", "-n", "ml")
        assert (kept / "checkpoints" / "model").exists()
    finally:
        up.down("--kill")


def test_checked_for_a_pipeline(here):
    found = here.run("validate", "deploy", "--anywhere", "-o", "json")
    assert found.status == 0 and found.err == "", found
    report = json.loads(found.out)
    assert report["valid"] and report["errors"] == 0
    assert {"kind": "PyTorchJob", "pods": 2}.items() <= [one for one in report["objects"]
                                                         if one["kind"] == "PyTorchJob"][0].items()
    assert {p["severity"] for p in report["problems"]} == {"note"}

    found = here.run("validate", "deploy", "-R", "--anywhere", "-o", "sarif")
    assert found.status == 2 and found.err == "", found
    sarif = json.loads(found.out)
    assert sarif["version"] == "2.1.0" and sarif["$schema"].endswith("sarif-2.1.0.json")
    run, = sarif["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert {result["level"] for result in run["results"]} == {"note", "error"}
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"] and result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert pathlib.PurePath(place["artifactLocation"]["uri"]).parts[0] == "deploy"
        assert place["region"]["startLine"] >= 1 and place["region"]["startColumn"] >= 1


def test_a_stream_may_be_larger_than_one_object(here, repository):
    entry = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {x: \"" + 900_000 * "x" + "\"}\n---\n"
    stream = repository / "stream.yaml"
    stream.write_text("".join(entry % i for i in range(3)))
    checked = here.run("validate", "--anywhere", "stream.yaml")
    assert checked.status == 0 and checked.out.count("is valid") == 3, checked
    stream.write_text(entry % 0 + "x" * 2_000_000 + "\n---\n" + entry % 1)
    refused = here.run("validate", "--anywhere", "stream.yaml")
    assert refused.status == 2 and "this object has 2000005 bytes, the limit is 1572864" in refused.err, refused
    stream.write_text("x" * (33 << 20))
    refused = here.run("validate", "--anywhere", "stream.yaml")
    assert "the limit is 33554432; split it" in refused.err, refused


def test_files_that_are_checked_together_need_not_be_of_one_run(here, repository):
    for name in ("a", "b"):
        (repository / f"{name}.yaml").write_text(textwrap.dedent(FILES["deploy/20-train.yaml"]))
    checked = here.run("validate", "--anywhere", "a.yaml", "b.yaml")
    assert checked.status == 0, checked
