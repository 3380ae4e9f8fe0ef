"""ElasticJobs with parameter servers on one machine, with their real master: what programs ask of it, and what of that outlives servers and
masters. The servers know nothing of Muster. At the end the same with real TensorFlow."""

import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

import pytest

from conftest import ROOT
from test_scale_plan import plan
from test_up import needs_kubectl
from test_verbs import Server

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from examples import environment_for  # noqa: E402
from programs import Missing  # noqa: E402

SOURCES = ROOT / "python" / "muster" / "src"
JOB = """
apiVersion: elastic.iml.github.io/v1alpha1
kind: ElasticJob
metadata: {name: ctr}
spec:
  distributionStrategy: ParameterServerStrategy
  replicaSpecs:
    ps: &type
      replicas: 2
      template: &pod
        spec:
          containers:
          - name: main
            image: x
            command: [python3, serve.py]
    chief:
      replicas: 1
      template: &program
        spec:
          containers:
          - name: main
            image: x
            command: [python3, train.py]
    worker: {replicas: 2, template: *program}
"""
SERVE = """
import os, signal
print("serves as", os.environ["NODE_ID"], "of rank", os.environ["NODE_RANK"], flush=True)
signal.pause()
"""
TRAIN = """
import os, queue, sys
sys.path.append("muster/instead")
import muster
from dlrover.python.elastic_agent.tensorflow.elastic_ps import ElasticPsClient

who = os.environ["NODE_TYPE"] + " " + os.environ["NODE_RANK"]

def tell(*words):
    os.write(1, (" ".join(map(str, (who, *words))) + "\\n").encode())

now = muster.cluster(timeout=60)
tell("sees", now.version, *now.ps, now.complete)
changes = queue.Queue()
muster.on_ps_change(lambda old, new: changes.put((old.version, new.version, new.ps == old.ps)))
muster.set_local_version(now.version)
muster.keys().add("here")
muster.barrier(timeout=60)
tell("met", muster.keys().get("here").decode(), "at", ElasticPsClient().get_local_cluster_version())
while not os.path.exists("go on"):
    try:
        tell("change", *changes.get(timeout=0.05))
    except queue.Empty:
        pass
muster.barrier(timeout=60)
tell("met again at", ElasticPsClient().get_local_cluster_version(), "of", ElasticPsClient().get_global_cluster_version())
try:
    tell("keys", muster.keys().get("here").decode())
except ConnectionError:
    tell("keys are lost:", muster.keys().get("here"))
muster.barrier("end", timeout=60)  # the end of the chief is that of the others
"""
THREE = ["chief 0", "worker 0", "worker 1"]


@pytest.fixture
def training(muster, shared):
    shutil.copytree(SOURCES / "muster", shared / "muster")
    (shared / "serve.py").write_text(SERVE)
    (shared / "train.py").write_text(TRAIN)
    muster.cwd = shared
    muster.environment["PATH"] = "/usr/bin:" + muster.environment["PATH"]
    return shared


def said(text, what):
    """Who said it, sorted."""
    return sorted(line.split(" | ", 1)[1].removesuffix(what) for line in text.splitlines() if line.endswith(what) and " | " in line)


def wait_for(running, count, what, limit=60):
    """Returns how often it was said."""
    deadline = time.monotonic() + limit
    while running.read().count(what) < count:
        assert running.process.poll() is None and time.monotonic() < deadline, running.read()[-6000:]
        time.sleep(0.05)
    return running.read().count(what)


def process(muster, begins):
    pid, = (pid for pid, words in muster.processes().items() if words.startswith(begins))
    return pid


def test_a_server_that_was_killed_is_followed_by_another_at_its_address(muster, training):
    running = muster.start("run", muster.write("job.yaml", JOB.replace("&type\n      replicas: 2", "&type\n      replicas: 1")))
    wait_for(running, 3, " met 3 at 1")
    wait_for(running, 1, "serves as 0 of rank 0")
    os.kill(process(muster, b"python3 serve.py"), signal.SIGKILL)
    wait_for(running, 3, " change 1 2 True")
    wait_for(running, 1, "serves as 1 of rank 0")
    (training / "go on").touch()
    finished = running.finish()
    assert finished.status == 0, finished
    assert said(finished.out, " sees 1 ctr-edljob-ps-0.default.svc:2222 True") == THREE, finished
    assert said(finished.out, " met again at 1 of 2") == THREE, finished
    assert said(finished.out, " keys 3") == THREE, finished


def test_what_a_master_knew_of_servers_outlives_it(muster, training):
    running = muster.start("run", muster.write("job.yaml", JOB))
    wait_for(running, 3, " met 3 at 1")
    master = next(pid for pid, words in muster.processes().items() if b" master --job ctr " in words)
    os.kill(master, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while not any(pid != master and b" master --job ctr " in words for pid, words in muster.processes().items()):
        assert time.monotonic() < deadline, running.read()
        time.sleep(0.01)
    (training / "go on").touch()
    finished = running.finish()
    assert finished.status == 0, finished
    assert " change " not in finished.out, finished
    assert said(finished.out, " met again at 1 of 1") == THREE, finished
    assert said(finished.out, " keys are lost: None") == THREE, finished


@pytest.mark.parametrize("words, variables, status, said", [
    ([], {}, 2, "DLROVER_MASTER_ADDR is not set"),
    ([], {"DLROVER_MASTER_ADDR": "x", "NODE_TYPE": "ps"}, 2, "no parameter server of rank 0"),
    (["now"], {}, 2, 'unexpected word "now"'),
    (["--for"], {}, 2, "--for needs a command"),
    (["--for", "sh", "-c", "exit 3"], {}, 3, ""),
    (["--for", "there is no such command"], {}, 127, "No such file or directory"),
    (["--for", "/etc/passwd"], {}, 126, "Permission denied"),
])
def test_the_connection_says_what_is_wrong(muster, words, variables, status, said):
    muster.environment.update(variables)
    ended = muster.run("ask-master", *words)
    assert ended.status == status and said in ended.err, ended
    # Who attends for a command sees its end, and ends after it.
    muster.wait_for_no_processes(limit=30)


# As TensorFlow's programs were before strategies: each worker has its own graph and session, and the weights are with the servers. Their
# number is part of each process of TensorFlow from its start, so that another number means another start, from the checkpoint.
TENSORFLOW = """
import json, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow.compat.v1 as tf
import muster

config = json.loads(os.environ["TF_CONFIG"])
kind, index = config["task"]["type"], config["task"]["index"]

def changed(old, new):
    if kind != "ps":
        print("change", old.version, new.version, "of", len(new.ps), flush=True)
    if len(new.ps) != len(servers):
        os.execv(sys.executable, [sys.executable, *sys.argv])

servers = muster.cluster(timeout=120).ps
muster.on_ps_change(changed)
if kind == "ps" and index >= len(servers):
    time.sleep(600)  # it leaves
cluster = tf.train.ClusterSpec({**config["cluster"], "ps": list(servers)})
server = tf.train.Server(cluster, kind, index)
if kind == "ps":
    server.join()
tf.disable_eager_execution()
random = np.random.RandomState(index)
truth = np.random.RandomState(7).randn(64, 10)
with tf.device(tf.train.replica_device_setter(worker_device=f"/job:{kind}/task:{index}", cluster=cluster)):
    step = tf.train.get_or_create_global_step()
    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.float32, [None, 10])
    weights, biases = tf.get_variable("weights", [64, 10]), tf.get_variable("biases", [10])
    loss = tf.reduce_mean(tf.square(x @ weights + biases - y))
    train = tf.train.GradientDescentOptimizer(0.02).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(server.target, is_chief=kind == "chief", checkpoint_dir="model" if kind == "chief" else None,
                                       save_checkpoint_steps=20, save_summaries_steps=None, save_summaries_secs=None) as session:
    while not os.path.exists("go on"):
        data = random.randn(64, 64)
        _, value, at = session.run([train, loss, step], {x: data, y: data @ truth})
        print("step", at, "loss", value, flush=True)
        time.sleep(0.02)
"""


def test_tensorflow_continues_from_its_checkpoint_when_a_server_was_killed(muster, training):
    try:
        muster.environment = environment_for("tensorflow-servers.yaml", muster.environment)
    except Missing as why:
        pytest.skip(str(why))
    (training / "train.py").write_text(TENSORFLOW)
    running = muster.start("run", muster.write("job.yaml", JOB.replace("serve.py", "train.py")))
    wait_for(running, 400, " step ", limit=300)
    killed = [pid for pid, words in muster.processes().items() if words.startswith(b"python3 train.py")
              and b"POD_NAME=ctr-edljob-ps-1" in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
    os.kill(killed[0], signal.SIGKILL)
    wait_for(running, 3, " change 1 2 of 2", limit=120)
    wait_for(running, running.read().count(" step ") + 100, " step ", limit=120)
    (training / "go on").touch()
    finished = running.finish()
    assert finished.status == 0, finished
    earlier, later = finished.out.split(" change 1 2", 1)
    trained = [[(int(step), float(loss)) for step, loss in re.findall(r" step (\d+) loss (\S+)", text)] for text in (earlier, later)]
    # Not from the beginning, and not beyond what was on record: 20 steps, and what the others did meanwhile.
    assert trained[0][-1][0] - 100 < trained[1][0][0], finished
    assert max(loss for _, loss in trained[1]) < trained[0][0][1] / 2, finished


class Training(Server):
    """The same job on a `muster up`: only there others change it while it runs."""

    def __init__(self, directory, programs):
        super().__init__(directory)
        self.cwd = programs  # where its pods begin

    def begin(self):
        self.start()
        self.apply(JOB.replace("serve.py", "train.py"))

    def steps(self):
        """(step, loss) of the chief and of its starts."""
        return [(int(step), float(loss)) for step, loss in re.findall(r"step (\d+) loss (\S+)", self.log())]

    def log(self):
        return self.muster("logs", "ctr-edljob-chief-0", check=False).stdout

    def pods(self):
        listed = json.loads(self.verb("get", "pods", "-o", "json").stdout)["items"]
        return {pod["metadata"]["name"].removeprefix("ctr-edljob-"): pod for pod in listed if "deletionTimestamp" not in pod["metadata"]}

    def until(self, what, happens, limit=150):
        deadline = time.monotonic() + limit
        while not (seen := happens()):
            assert time.monotonic() < deadline, f"{what}: {sorted(self.pods())}, {re.findall('change .*', self.log())}\n{self.log()[-1500:]}"
            time.sleep(0.2)
        return seen

    def until_trained_on(self, change):
        """Once the chief has been told of a change: the steps before it, and a hundred after it."""
        self.until(change, lambda: change in self.log())
        before, _, _ = self.log().partition(change)
        last = len(re.findall(r"step \d+ loss", before))
        self.until(f"steps after {change}", lambda: len(self.steps()) > last + 100)
        return self.steps()[:last], self.steps()[last:]


@pytest.fixture
def up(muster, training, tmp_path):
    try:
        environment = environment_for("tensorflow-servers.yaml", muster.environment)
    except Missing as why:
        pytest.skip(str(why))
    (training / "train.py").write_text(TENSORFLOW)
    made = Training(tmp_path / "up", training)
    made.directory.mkdir()
    made.environment["PATH"] = environment["PATH"]
    made.environment["PYTHONPYCACHEPREFIX"] = environment["PYTHONPYCACHEPREFIX"]
    made.begin()
    yield made
    made.down("--kill")


@needs_kubectl
def test_tensorflow_continues_with_a_server_more_one_that_moved_and_one_less(up, training):
    up.until("steps", lambda: len(up.steps()) > 200, limit=300)
    first_loss = up.steps()[0][1]

    def continues(before, after):
        # Not from the beginning, and not beyond what was on record: 20 steps, and what the others did meanwhile.
        assert before[-1][0] - 100 < after[0][0], (before[-1], after[0])
        assert max(loss for _, loss in after) < first_loss / 2, after

    up.apply(plan("more", "ctr", "createPods: [{type: ps, resource: {memory: 3Gi}}]"))
    continues(*up.until_trained_on("change 1 2 of 3"))
    assert up.pods()["ps-2"]["spec"]["containers"][0]["resources"]["limits"] == {"memory": "3Gi"}

    up.apply(plan("moved", "ctr", "migratePods: [{name: ctr-edljob-ps-1, resource: {memory: 4Gi}}]"))
    continues(*up.until_trained_on("change 2 3 of 3"))
    pods = up.pods()
    assert [name for name in sorted(pods) if name.startswith("ps-")] == ["ps-0", "ps-2", "ps-3"], sorted(pods)
    assert pods["ps-3"]["metadata"]["annotations"]["muster.dev/rank"] == "1"
    assert pods["ps-3"]["spec"]["containers"][0]["resources"]["limits"] == {"memory": "4Gi"}

    # The master follows the number that is wanted: it need not wait whether a server comes back.
    up.apply(plan("fewer", "ctr", "replicaResourceSpecs: {ps: {replicas: 2}}"))
    continues(*up.until_trained_on("change 3 4 of 2"))
    assert [name for name in sorted(up.pods()) if name.startswith("ps-")] == ["ps-0", "ps-3"], sorted(up.pods())

    (training / "go on").touch()
    up.kubectl("wait", "elasticjob/ctr", "--for=condition=Succeeded", "--timeout=60s")
