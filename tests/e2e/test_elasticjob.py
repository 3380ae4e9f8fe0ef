"""DLRover's ElasticJob on one machine. Where nothing meets, the masters are programs of the manifests' own, which do nothing."""

import json
import os
import pathlib
import re
import signal
import threading
import time

import pytest

from test_up import needs_kubectl
from test_verbs import Server, server  # noqa: F401 (a fixture)

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


def test_a_tensorflow_job_ends_with_its_chief(muster, shared):
    told = shared / "told"
    # Its end would end the worker, too.
    tell = f'echo "config $TF_CONFIG"; case $NODE_TYPE in worker) touch {told};; *) until [ -e {told} ]; do sleep 0.05; done;; esac'
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


def short_of_nodes(name, command, annotations=""):
    """Four workers, of which this machine has room for two."""
    cores = len(os.sched_getaffinity(0))
    job = elasticjob(name, {"worker": (4, "x")}).replace("command: [sh, -c, 'x']", f"command: {json.dumps(command)}\n"
                                                         f"            resources: {{requests: {{cpu: {cores * 400}m}}}}")
    return job.replace("annotations: {muster.dev/master: image}", f"annotations: {{{annotations}}}")


@needs_kubectl
def test_a_job_trains_with_what_there_is_and_tells_what_is_missing(server):  # noqa: F811
    begins = "dlrover-run --nnodes=2:$NODE_NUM --nproc-per-node=1 --no-python sh -c 'echo world of $WORLD_SIZE; sleep 600'"
    server.apply(short_of_nodes("short", ["sh", "-c", begins]))
    server.verb("wait", "elasticjob/short", "--for=condition=Incomplete", "--timeout=60s")
    missing = ("2 of 4 worker pods (short-edljob-worker-2, short-edljob-worker-3) can't be scheduled since ",
               "; the job continues without them, and they join when they run. short-edljob-worker-2: ", "cpu")
    for told in (server.verb("why", "elasticjob/short").stdout, server.kubectl("describe", "elasticjob", "short").stdout,
                 server.verb("describe", "elasticjob/short").stdout):
        assert all(text in " ".join(told.split()) for text in missing), told
    said = ""
    for _ in range(600):
        said = server.verb("logs", "elasticjob/short").stdout
        if said.count("world of 2") == 2:
            break
        time.sleep(0.1)
    assert said.count("world of 2") == 2, said
    assert json.loads(server.verb("get", "elasticjob", "short", "-o", "json").stdout)["status"]["phase"] == "Running"
    server.verb("delete", "elasticjob/short")


@needs_kubectl
def test_a_job_that_needs_more_than_there_is_ends_with_the_reason(server):  # noqa: F811
    annotations = 'muster.dev/master: image, pending_timeout: "15", pending_fail_strategy: "2"'
    server.apply(short_of_nodes("needs", ["sh", "-c", "exec sleep 600"], annotations)
                 .replace("spec:", "spec:\n  runPolicy: {cleanPodPolicy: None, schedulingPolicy: {minAvailable: 3}}", 1))
    server.verb("wait", "elasticjob/needs", "--for=condition=Failed", "--timeout=120s")
    status = json.loads(server.verb("get", "elasticjob", "needs", "-o", "json").stdout)["status"]
    failed = status["conditions"][-1]
    assert status["phase"] == "Failed" and failed["reason"] == "JobPendingTimeout", status
    assert failed["message"].startswith("PendingTimeout: 2 of 4 worker pods (needs-edljob-worker-2, needs-edljob-worker-3) can't"), status
    assert "longer than 15 s" in failed["message"], status
    server.verb("wait", "pod/needs-edljob-worker-0", "--for=delete", "--timeout=60s")
    assert "PendingTimeout" in server.verb("why", "elasticjob/needs").stdout


FAILS_FIRST = TRAIN.replace("while os.path", """\
if attempt == 0:
    sys.exit("not yet")
while os.path""").replace("    dist.all_reduce(one)\n    time", """\
    if os.path.exists("die"):
        sys.exit("once more")
    dist.all_reduce(one)
    time""")
# Under another name than above, where the processes of the machine are looked at.
KEPT = PUBLISHED.replace("ARGS", "").replace("name: tune", "name: kept")
MASTER = "elasticjob-kept-dlrover-master"


@pytest.fixture
def cluster(tmp_path, shared):
    """A `muster up` whose pods run in the directory with train.py."""
    (shared / "train.py").write_text(FAILS_FIRST)
    made = Server(tmp_path)
    made.cwd = shared
    made.environment["PATH"] = "/usr/bin:" + made.environment["PATH"]
    made.start()
    yield made
    made.down("--kill")


class Said:
    """What a verb that follows something has said so far."""

    def __init__(self, cluster, *words):
        self.words, self.text = words, ""
        self.process = cluster.follow(*words)
        self.limit = threading.Timer(90, self.process.kill)
        self.limit.daemon = True
        self.limit.start()

    def until(self, pattern):
        while not (found := re.search(pattern, self.text)):
            line = self.process.stdout.readline()
            assert line, f"{self.words} ended without {pattern}: {self.text}"
            self.text += line
        return found

    def end(self):
        self.limit.cancel()
        self.process.kill()
        self.process.communicate()
        return self.text


def log_of(cluster, pod):
    made = Said(cluster, "get", "pods", "-w", "-o", "name")
    made.until(f"pod/{pod}\n")
    made.end()
    cluster.verb("wait", f"pod/{pod}", "--for", "condition=Ready", "--timeout", "60s")
    return Said(cluster, "logs", pod, "-f")


def record_of(cluster):
    return json.loads(cluster.verb("get", "configmap", MASTER, "-o", "json").stdout)


def test_the_master_of_the_next_pod_knows_what_was_charged_and_disturbs_no_worker(cluster, shared):
    (shared / "hold").touch()
    cluster.apply(KEPT)
    workers = [log_of(cluster, f"kept-edljob-worker-{id}") for id in (0, 1)]
    for log in workers:
        log.until("rank . of 2 in attempt 1")
    first = log_of(cluster, f"{MASTER}-0")
    runs = r"generation (\d+) runs, 2 workers on 2 nodes.*epoch\W+(\d+)\W+attempt\W+1\b"
    runs_before = first.until(runs).groups()
    before = record_of(cluster)
    assert before["binaryData"]["record"] and int(before["data"]["epoch"]) == int(runs_before[1])

    cluster.verb("delete", "pod", f"{MASTER}-0")
    first.end()
    second = log_of(cluster, f"{MASTER}-1")
    second.until("charged before this master: 1 of 1")
    assert second.until(runs).groups() == runs_before, "the generation of the master before it"
    assert int(record_of(cluster)["data"]["epoch"]) > int(before["data"]["epoch"])

    # The job had one restart.
    (shared / "die").touch()
    cluster.verb("wait", "elasticjob/kept", "--for", "condition=Failed", "--timeout", "60s")
    assert "failed: " in record_of(cluster)["data"]["end"]
    second.end()
    for log in workers:
        assert sorted(re.findall(r"in attempt (\d)", log.end())) == ["0", "1"], log.text
    pods = cluster.verb("get", "pods", "-o", "name").stdout.split()
    assert not [pod for pod in pods if "worker" in pod and not pod.endswith(("worker-0", "worker-1"))], "no worker was replaced"
    cluster.verb("delete", "elasticjob", "kept")
    for kind in ("serviceaccounts", "roles", "rolebindings", "configmaps"):
        cluster.verb("wait", f"{kind}/{MASTER}", "--for", "delete", "--timeout", "30s")


@needs_kubectl
def test_the_master_has_the_token_of_its_account_and_workers_have_none_of_it(cluster, shared):
    (shared / "hold").touch()
    cluster.apply(KEPT)
    log = log_of(cluster, f"{MASTER}-0")
    log.until("a master is in charge")
    log.end()
    accounts = cluster.verb("get", "pods", "-o", "jsonpath={range .items[*]}{.metadata.name}={.spec.serviceAccountName}\n{end}").stdout
    assert dict(line.split("=") for line in accounts.split()) == {
        f"{MASTER}-0": MASTER, "kept-edljob-worker-0": "default", "kept-edljob-worker-1": "default"}
    account = f"--as=system:serviceaccount:default:{MASTER}"
    assert cluster.kubectl("auth", "can-i", "update", f"configmaps/{MASTER}", account).stdout == "yes\n"
    for verb, what in (("get", "secrets"), ("get", "pods"), ("update", "configmaps/another"), ("create", "configmaps")):
        assert cluster.kubectl("auth", "can-i", verb, what, account, check=False).stdout == "no\n", (verb, what)
