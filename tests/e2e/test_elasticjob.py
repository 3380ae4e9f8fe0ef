"""DLRover's ElasticJob on one machine. The masters here are programs of the manifests' own, which do nothing: what meets at a master
is for other tests."""

import json
import os
import pathlib
import re
import signal
import time

import pytest

from test_up import needs_kubectl
from test_verbs import server  # noqa: F401 (a fixture)

JOB = """
apiVersion: elastic.iml.github.io/v1alpha1
kind: ElasticJob
metadata:
  name: NAME
  annotations: {muster.dev/master: image}
spec:
  distributionStrategy: STRATEGY
  envs:
    GREETING: {value: good morning}
  replicaSpecs:
    dlrover-master:
      template:
        spec:
          containers:
          - {name: main, image: x, command: [sleep, "600"]}
TYPES
"""
TYPE = """
    NAME:
      replicas: REPLICAS
      restartCount: 1
      template:
        spec:
          containers:
          - name: main
            image: x
            command: [sh, -c, 'SCRIPT']
"""


def elasticjob(name, scripts, strategy="AllreduceStrategy"):
    types = "".join(TYPE.replace("NAME", of).replace("REPLICAS", str(replicas)).replace("SCRIPT", script)
                    for of, (replicas, script) in scripts.items())
    return JOB.replace("NAME", name, 1).replace("STRATEGY", strategy).replace("TYPES", types)


def test_workers_get_upstreams_variables_and_the_master_ends_with_them(muster):
    script = 'echo "$GREETING $NODE_TYPE $NODE_RANK/$NODE_NUM at $DLROVER_MASTER_ADDR"'
    finished = muster.run("run", muster.write("job.yaml", elasticjob("meets", {"worker": (2, script)})))
    assert finished.status == 0, finished
    for rank in (0, 1):
        said = f"good morning worker {rank}/2 at elasticjob-meets-dlrover-master.default.svc:50001"
        assert said in finished.text, finished
    assert "Succeeded" in finished.text, finished


def test_a_tensorflow_job_ends_with_its_chief(muster):
    tell = 'echo "config $TF_CONFIG"'
    job = elasticjob("ctr", {"ps": (1, "sleep 600"), "worker": (2, tell)}, "ParameterServerStrategy")
    finished = muster.run("run", muster.write("job.yaml", job))
    assert finished.status == 0, finished
    tasks = [json.loads(line) for line in re.findall(r"config (\{.*\})", finished.text)]
    assert sorted(task["task"]["type"] for task in tasks) == ["chief", "worker"], finished
    assert tasks[0]["cluster"]["ps"] == ["ctr-edljob-ps-0.default.svc:2222"], finished


def test_a_worker_that_failed_is_a_new_pod_until_its_count_is_used_up(muster):
    finished = muster.run("run", muster.write("job.yaml", elasticjob("fails", {"worker": (1, "echo tried as $NODE_ID of rank $NODE_RANK; exit 3")})))
    assert finished.status == 3, finished
    # A replacement has a new id and a new name, and the rank of what it replaces.
    tried = re.findall(r"fails-edljob-worker-(\d) \| tried as (\d) of rank (\d)", finished.text)
    assert tried == [("0", "0", "0"), ("1", "1", "0")], finished


@needs_kubectl
def test_the_status_is_where_upstream_and_where_kubectl_wait_look_for_it(server):  # noqa: F811
    server.apply(elasticjob("told", {"worker": (1, "exit 0")}))
    server.verb("wait", "elasticjob/told", "--for=condition=Succeeded", "--timeout=60s")
    status = json.loads(server.verb("get", "elasticjob", "told", "-o", "json").stdout)["status"]
    assert status["phase"] == "Succeeded" and status["completionTime"], status
    assert status["status"]["conditions"] == status["conditions"], status
    assert status["status"]["completionTime"] == status["completionTime"], status
    assert status["status"]["replicaStatuses"]["worker"]["succeeded"] == 1, status
    reasons = [condition["reason"] for condition in status["conditions"]]
    assert reasons[0] == "JobCreated" and reasons[-1] == "JobSucceeded", status
    assert "Phase" in server.verb("get", "elasticjobs").stdout.title()
    assert "Succeeded" in server.verb("get", "elasticjobs").stdout
    # By its name alone, as other jobs.
    assert "ElasticJob (elastic.iml.github.io/v1alpha1)" in server.verb("describe", "told").stdout


def test_a_plan_is_accepted_and_a_wrong_one_refused_with_its_place(muster):
    plan = ("apiVersion: elastic.iml.github.io/v1alpha1\nkind: ScalePlan\nmetadata: {name: p}\nspec:\n"
            "  ownerJob: j\n  replicaResourceSpecs:\n    PS: {replicas: 2}\n")
    refused = muster.run("validate", muster.write("plan.yaml", plan))
    assert refused.status == 2, refused
    assert re.search(r"plan\.yaml:7:9: error: spec\.replicaResourceSpecs\.PS: .*did you mean \"ps\"", refused.err), refused
    good = muster.run("validate", muster.write("plan.yaml", plan.replace("PS", "ps")))
    assert good.status == 0, good


@pytest.mark.parametrize("field, said", [
    ("autoScale: true", "autoScale: has no effect"),
    ('restartTimeout: 60', "restartTimeout: has no effect"),
])
def test_a_field_without_effect_is_named(muster, field, said):
    job = elasticjob("told", {"worker": (1, "exit 0")}).replace("restartCount: 1", field)
    checked = muster.run("validate", muster.write("job.yaml", job))
    assert checked.status == 0 and f"spec.replicaSpecs.worker.{said}" in checked.err, checked


TRAIN = """
import os, sys, time
import torch, torch.distributed as dist
dist.init_process_group("gloo")
one, attempt = torch.ones(1), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
print(f"rank {dist.get_rank()} of {dist.get_world_size()} in attempt {attempt}", flush=True)
while os.path.exists("hold"):
    dist.all_reduce(one)
    time.sleep(0.05)
dist.all_reduce(one)
dist.destroy_process_group()
if "--fails" in sys.argv and attempt == 0:
    sys.exit("not yet")
"""
PUBLISHED = """
apiVersion: elastic.iml.github.io/v1alpha1
kind: ElasticJob
metadata: {name: tune}
spec:
  distributionStrategy: AllreduceStrategy
  optimizeMode: single-job
  replicaSpecs:
    worker:
      replicas: 2
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: main
            image: example/tune
            command: [/bin/bash, -c, "dlrover-run --nnodes=$NODE_NUM --nproc_per_node=1 --max_restarts=1 train.py ARGS"]
"""


@pytest.fixture
def training(muster, shared):
    """A directory with train.py, in which muster is called; Debian's Python has PyTorch."""
    (shared / "train.py").write_text(TRAIN)
    muster.cwd = shared
    muster.environment["PATH"] = "/usr/bin:" + muster.environment["PATH"]
    return shared


def ranks_said(text):
    return sorted(re.findall(r"rank (\d) of 2 in attempt (\d)", text))


def test_a_published_job_trains_with_its_own_command(muster, training):
    finished = muster.run("run", muster.write("job.yaml", PUBLISHED.replace("ARGS", "--fails")))
    assert finished.status == 0, finished
    # Both start again for the failure, in their pods.
    assert ranks_said(finished.out) == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")], finished
    assert "ElasticJob default/tune succeeded after" in finished.out, finished


def test_no_worker_notices_that_the_master_was_killed(muster, training):
    (training / "hold").touch()
    running = muster.start("run", muster.write("job.yaml", PUBLISHED.replace("ARGS", "")))
    running.wait_for("rank 0 of 2")
    running.wait_for("rank 1 of 2")
    master, = masters_of("tune")
    os.kill(master, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while masters_of("tune") in ([], [master]):
        assert time.monotonic() < deadline, running.read()
        time.sleep(0.01)
    (training / "hold").unlink()
    finished = running.finish()
    assert finished.status == 0, finished
    assert ranks_said(finished.out) == [("0", "0"), ("1", "0")], finished


def masters_of(job):
    """Their processes, of which a pod's shim is none."""
    def words(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended since
            return []
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and words(pid)[1:4] == [b"master", b"--job", job.encode()]]
