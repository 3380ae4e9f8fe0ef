"""Pods as an operator on a cluster makes them for jobs with agents, run here: the init container brings the agent, and the command of
the image reaches it."""

import json

import pytest

from conftest import IN_PODS

SCRIPT = """#!/bin/sh
# As images have it: nothing in the manifest says what it starts.
cd "$(dirname "$0")"
echo "the script got $*"
RUN=torchrun
exec $RUN --nproc-per-node=2 train.py "$@"
"""
TRAIN = """
import os, sys, muster
here = muster.world()
seen = "MUSTER_PROGRESS" in os.environ
os.write(1, f"rank {here.rank} of {here.size} on node {here.group_rank}: {sys.executable} {sys.argv[1:]} {seen}\\n".encode())
muster.barrier()
sys.exit(5 if here.rank == 3 and here.restart_count == 0 else 0)
"""


def pods_of(muster, job, **annotations):
    manifest = muster.directory / "job.json"
    job["metadata"]["annotations"] = annotations
    manifest.write_text(json.dumps(job))
    done = muster.run("explain", manifest, "--in-pods-image", "local", "-o", "json")
    assert done.status == 0, done
    made = []
    for replica in json.loads(done.out)["replicas"]:
        # Without the job's account it could keep no record: the agents meet at one of theirs.
        if replica["type"] == "ElasticMaster":
            continue
        for container in replica["pod"]["spec"]["containers"]:
            container["env"] = [each for each in container["env"] if not each["name"].startswith("MUSTER_MASTER_")]
        for thing in (replica["pod"], replica["service"]):
            thing["metadata"].pop("ownerReferences")  # the job is not there
            made.append(thing)
    file = muster.directory / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))
    return file, [thing for thing in made if thing["kind"] == "Pod"]


def job(command, replicas=1, **container):
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "ring"},
            "spec": {"elasticPolicy": {"minReplicas": replicas, "maxReplicas": replicas, "maxRestarts": 2},
                     "pytorchReplicaSpecs": {"Worker": {"replicas": replicas, "restartPolicy": "Never", "template": {"spec": {
                         "containers": [{"name": "pytorch", "image": "local", "command": command, **container}]}}}}}}


@pytest.fixture
def image(shared):
    if not IN_PODS.exists():
        pytest.skip(f"{IN_PODS} is not built")
    for name, text in (("entry.sh", SCRIPT), ("train.py", TRAIN)):
        (shared / name).write_text(text)
        (shared / name).chmod(0o755)
    shared.chmod(0o755)
    return shared


def run(muster, file):
    return muster.run("run", file, "--mount", f"/usr/local/bin={IN_PODS.parent}")


def test_a_script_of_the_image_reaches_the_agent(muster, image):
    """Two pods, two workers in each; the last one fails once, and all are started again by their agents."""
    file, pods = pods_of(muster, job(["sh", "-c", f"exec {image}/entry.sh $0 $1"], 2, args=["a", "$$(b)"]), **{"muster.dev/elastic": "true"})
    assert pods[0]["spec"]["initContainers"][0]["command"][1:] == ["copy", "/opt/muster"]
    done = run(muster, file)
    assert done.status == 0, done
    for rank in range(4):
        assert done.out.count(f"rank {rank} of 4 on node {rank // 2}: ") == 2, done
    assert done.out.count("['a', '$(b)'] True") == 8 and "the script got a $(b)" in done.out, done


def test_a_python_is_a_worker(muster, image):
    file, _ = pods_of(muster, job(["python3", f"{image}/train.py", "$$local_rank"]), **{"muster.dev/elastic": "true"})
    done = run(muster, file)
    assert done.status == 0 and "rank 0 of 1 on node 0: " in done.out and "['$local_rank'] True" in done.out, done


def test_an_entry_point_that_is_not_in_the_manifest_is_told(muster, image):
    bare = job([])
    del bare["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["command"]
    _, pods = pods_of(muster, bare, **{"muster.dev/elastic": "true"})
    assert "initContainers" not in pods[0]["spec"]
    said = muster.run("validate", "--anywhere", muster.directory / "job.json")
    assert said.status == 0 and "containers[0].command: without a command the entry point of the image runs" in said.text, said


def test_the_launcher_of_the_image_is_kept(muster, image):
    file, pods = pods_of(muster, job([f"{image}/entry.sh"]), **{"muster.dev/elastic": "true", "muster.dev/agent": "image"})
    assert "initContainers" not in pods[0]["spec"] and pods[0]["spec"]["containers"][0]["command"] == [f"{image}/entry.sh"]
    said = muster.run("validate", muster.directory / "job.json")
    assert said.status == 0 and "the launcher of the image runs: " in said.text, said
