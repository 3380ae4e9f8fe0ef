"""A `muster up` with ElasticJobs that train, and ways to kill its parts: for drills and benchmarks.

With the operator apart, that is a `muster operator` of its own, as on a cluster, and what is left of `muster up` is the API and the node. Pods
are processes of this machine that outlive all of these, so each part can be killed by the id of its process.
"""

import http.client
import itertools
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

from processes import command_line, kill, parent_of
from training_steps import TRAIN, Steps, Stuck, write_program

LIMIT_S = 60  # of a wait: a hang is a failure, not a stuck drill
GONE_WITHIN_S = 20
WORKERS = 2

# What can be killed. The server is the API, the node and the operator at once; with the operator apart it is called the API, and has the node.
MASTER, MASTER_POD, AGENT, WORKER = "the master", "the master's pod", "an agent", "a worker"
SERVER, API, OPERATOR = "the server", "the API", "the operator"

JOB = """
apiVersion: elastic.iml.github.io/v1alpha1
kind: ElasticJob
metadata: {{name: {name}, namespace: default}}
spec:
  distributionStrategy: AllreduceStrategy
  replicaSpecs:
    worker:
      replicas: {workers}
      restartCount: 1000000
      template:
        spec:
          containers:
            - name: main
              image: none
              command: [dlrover-run, --nnodes=$(NODE_NUM), --nproc_per_node=1, --max_restarts=1000000, {script}, {place}, "0", "{pause}"]
"""

numbers = itertools.count()


def command_lines():
    """{pid: its command line} of all processes of this machine: those of pods whose `muster up` was killed may be anybody's children."""
    return {int(entry.name): command_line(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()}


def pod_of(pid):
    """The name of the pod that a process is in; empty for one that is gone."""
    while pid > 1:
        program, _, pod = command_line(pid).rstrip().partition(" default/")
        if program == "muster-pod":
            return pod
        pid = parent_of(pid)
    return ""


class Stage:
    """`muster up`, a `muster operator` if that is apart, and jobs. `pause`: of the jobs, in seconds after each step; `program`: what they
    train with."""

    def __init__(self, muster, place, apart, pause, program=TRAIN):
        self.place, self.state, self.apart, self.pause, self.program_of_jobs = place, place / "state", apart, pause, program
        self.number = next(numbers)
        # A loopback address of its own: no connection takes its port while nothing listens.
        self.host = f"127.{random.randrange(64, 127)}.{random.randrange(256)}.{random.randrange(1, 255)}"
        programs = place / "bin"
        programs.mkdir()
        # Each pod has a /tmp of its own, so the program lies where the jobs do. Pods find it in PATH, as in an image.
        self.program = shutil.copy(muster, programs / "muster")
        for name in ("muster-run", "dlrover-run"):
            (programs / name).symlink_to("muster")
        self.agent = programs / "muster-run"
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
        self.processes = {}  # by their logs' names; of those that were killed there is none
        self.jobs = []

    def begin(self, jobs):
        """Starts all, with so many jobs, each of which has made a step when this returns."""
        self.start_server()
        if self.apart:
            definitions = self.place / "definitions.yaml"
            definitions.write_text(self.must("manifests", "--crds-only"))
            self.call("apply", "-f", definitions)
            self.start_operator()
        self.jobs = [Job(self, f"drill-{os.getpid()}-{self.number}-{each}") for each in range(jobs)]
        manifest = self.place / "jobs.yaml"
        manifest.write_text("---".join(job.manifest() for job in self.jobs))
        self.call("apply", "-f", manifest)
        for job in self.jobs:
            self.until(lambda job=job: job.steps.all_stepped((-1, 0)), f"the first step of {job.name}")
            job.first_agents = job.agents()

    # ---- its processes

    def spawn(self, name, *words):
        with open(self.log(name), "ab") as output:
            self.processes[name] = subprocess.Popen([self.program, *map(str, words)], stdin=subprocess.DEVNULL, stdout=output,
                                                    stderr=subprocess.STDOUT, cwd=self.place, env=self.environment)

    def log(self, name):
        return self.place / f"{name}.txt"

    def start_server(self):
        """Returns when it answers."""
        self.spawn("server", "up", "--state", self.state, "--listen", f"{self.host}:6443", *["--without-operator"] * self.apart)
        self.until(lambda: self.call("get", "nodes", may_fail=True), "an answer of the server")

    def start_operator(self):
        """Without an API it waits for one."""
        self.spawn("operator", "operator", "--kubeconfig", self.state / "kubeconfig", "--agent-tokens", "--log-format=text",
                   "--metrics-bind-address=0", f"--health-probe-bind-address={self.host}:8081")

    def operator_is_ready(self):
        connection = http.client.HTTPConnection(self.host, 8081, timeout=10)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def kill(self, part):
        process = self.processes.pop("operator" if part == OPERATOR else "server")
        process.kill()
        process.wait()

    def close(self):
        """As Ctrl-C ends it, with its pods."""
        for process in [self.processes[name] for name in ("operator", "server") if name in self.processes]:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(GONE_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes.clear()
        for job in self.jobs:
            job.steps.close()

    # ---- what it says

    def must(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise Stuck(f"muster {words[0]}: {done.stderr[-500:]}")
        return done.stdout

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, check=False, timeout=2 * LIMIT_S,
                              stdin=subprocess.DEVNULL, env=self.environment)

    def call(self, verb, *words, may_fail=False):
        """What a verb with this server prints; nothing if it failed and may."""
        of_server = (verb, "--kubeconfig", self.state / "kubeconfig", *words)
        if not may_fail:
            return self.must(*of_server)
        done = self.run(*of_server)
        return done.stdout if done.returncode == 0 else ""

    def until(self, holds, what):
        deadline = time.monotonic() + LIMIT_S
        while not (found := holds()):
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise Stuck(f"{what}: the {name} ended by itself with {process.returncode}: {self.tail(name)}")
            if time.monotonic() > deadline:
                raise Stuck(f"{what}: not within {LIMIT_S} s")
            time.sleep(0.01)
        return found

    def tail(self, name):
        return self.log(name).read_text(errors="replace")[-1000:] if self.log(name).exists() else ""

    def workers(self):
        """{job: the processes of its workers}"""
        seen = command_lines()
        return {job: job.workers(seen) for job in self.jobs}


class Job:
    """An ElasticJob of a stage, and what its workers tell."""

    def __init__(self, stage, name):
        self.stage, self.name, self.place = stage, name, stage.place / name
        self.place.mkdir()
        self.steps = Steps(self.place, WORKERS)
        self.script = write_program(stage.program_of_jobs, self.place)
        # A pod that goes for the second time in a row is followed by another after ten seconds: a job loses each of its pods once.
        self.lost_master = False
        self.first_agents = set()

    def manifest(self):
        return JOB.format(name=self.name, workers=WORKERS, script=self.script, place=self.place, pause=self.stage.pause)

    def masters(self):
        return self.called(f" master --job {self.name} ")

    def agents(self):
        return self.called("dlrover-run --nnodes=", f" {self.script} ")

    def workers(self, seen=None):
        return self.called(f"python3 -u {self.script} ", seen=seen)

    def called(self, *words, seen=None):
        return {pid for pid, line in (command_lines() if seen is None else seen).items() if all(each in line for each in words)}

    def may_lose(self, part):
        if part in (MASTER, MASTER_POD):
            return not self.lost_master
        return part != AGENT or bool(self.first_agents)

    def kill(self, part, rng):
        """What a platform does about it is left to it."""
        if part == WORKER:
            kill(rng.choice(sorted(self.workers())))
        elif part == AGENT:
            kill(victim := rng.choice(sorted(self.first_agents)))
            self.first_agents.remove(victim)
        elif part == MASTER:
            self.lost_master = True
            for pid in self.masters():
                kill(pid)
        else:
            self.lost_master = True
            [master] = self.masters()
            self.stage.call("delete", "pod", pod_of(master), "--wait=false")

    def has_master_in_charge(self, old):
        """Whether a master that is none of the old ones has the job's world: its log says of which generation that is."""
        pods = [pod for pid in self.masters() - old if (pod := pod_of(pid))]
        return any("generation " in self.stage.call("logs", f"pod/{pod}", may_fail=True) for pod in pods)

    def finish(self):
        self.stage.call("wait", f"elasticjob/{self.name}", "--for=condition=Succeeded", f"--timeout={LIMIT_S}s")
