"""muster-run with the real thing: real PyTorch over gloo, real processes, real signals.

MUSTER_BIN names `muster` (default: the release build of this checkout); muster-run is of the same build.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "e2e"))

from machine_files import unchanged_machine  # noqa: E402, F401  (a fixture of every test)

BINARY = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))
MUSTER_RUN = BINARY.parents[1] / "muster_run" / "muster-run"

# No test may take longer: a hang is a failure with the output so far, not a stuck suite.
LIMIT_S = 100

# What all workers here do: an all-reduce a step, a line in a file after each. FILE is one a job.
WORKER = """
    import json, os, sys, time
    import torch, torch.distributed as dist
    steps, file = int(sys.argv[1]), sys.argv[2]
    def tell(what, **more):
        line = {"what": what, "rank": int(os.environ["RANK"]), "world": int(os.environ["WORLD_SIZE"]),
                "attempt": int(os.environ["TORCHELASTIC_RESTART_COUNT"]), "pid": os.getpid(), "at": time.monotonic(), **more}
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, (json.dumps(line) + "\\n").encode())
        os.close(fd)
    tell("started")
    dist.init_process_group("gloo")
    for step in range(steps):
        one = torch.ones(1)
        dist.all_reduce(one)
        assert int(one) == dist.get_world_size()
        tell("step", step=step)
        time.sleep(float(os.environ.get("PAUSE", "0.05")))
    tell("done")
    # Threads of gloo that outlive the interpreter abort the process (pytorch/pytorch#179291).
    dist.destroy_process_group()
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Agent:
    """A muster-run, with its output in a file so that nothing can block on a full pipe."""

    def __init__(self, job, words, environment, within=(), program=MUSTER_RUN):
        self.output = job.place / f"agent-{len(job.agents)}.txt"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [*within, program, *map(str, words)], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                cwd=job.place, env={**os.environ, "TMPDIR": str(job.scratch), **environment})

    @property
    def text(self):
        return self.output.read_text(errors="replace")

    def wait(self, seconds=LIMIT_S):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"muster-run has not ended after {seconds} s:\n{self.text[-6000:]}")

    def send(self, what):
        self.process.send_signal(what)

    def workers(self):
        """pids of the processes whose agent this is, by the shims between."""
        shims = children(self.process.pid)
        return [child for shim in shims for child in children(shim)]


def children(pid):
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        return [int(child) for task in tasks
                for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except FileNotFoundError:
        return []


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Job:
    """A script, the agents that run it, and what its workers say."""

    def __init__(self, place):
        self.place, self.scratch, self.agents = place, place / "tmp", []
        self.scratch.mkdir()
        self.said = place / "said"
        self.said.touch()
        self.script = self.write("train.py", WORKER)

    def write(self, name, text):
        file = self.place / name
        file.write_text(textwrap.dedent(text))
        return file

    def start(self, *words, steps=20, script=None, environment=None, within=()):
        """With flags, and by default the script above; `within`: the words of a program that becomes it."""
        script = [script or self.script, steps, self.said]
        self.agents.append(Agent(self, [*words, *script], environment or {}, within))
        return self.agents[-1]

    def call(self, *words, environment=None, within=(), program=MUSTER_RUN):
        """An agent with exactly these words; `program`: under another name, or another program."""
        self.agents.append(Agent(self, words, environment or {}, within, program))
        return self.agents[-1]

    def lines(self, what=None, **same):
        read = [json.loads(line) for line in self.said.read_text().splitlines() if line.endswith("}")]
        return [line for line in read if (what is None or line["what"] == what)
                and all(line.get(key) == value for key, value in same.items())]

    def until(self, holds, seconds=LIMIT_S):
        """Waits for what `holds` returns to be true, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = holds()
            if found:
                return found
            for agent in self.agents:
                if agent.process.poll() not in (None, 0, -signal.SIGKILL):
                    found = holds()
                    if found:
                        return found
            time.sleep(0.02)
        texts = "\n".join(f"--- {agent.output.name} ({agent.process.poll()})\n{agent.text[-3000:]}" for agent in self.agents)
        return pytest.fail(f"not so after {seconds} s; the workers said {self.lines()[-6:]}\n{texts}")

    def close(self):
        pids = [worker for agent in self.agents for worker in agent.workers()]
        for agent in self.agents:
            if agent.process.poll() is None:
                agent.process.kill()
                agent.process.wait()
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="session", autouse=True)
def torch():
    run = subprocess.run(["python3", "-c", "import torch.distributed"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.skip("python3 has no torch: " + (run.stderr.strip().splitlines() or [""])[-1])


assert sys.version_info >= (3, 9)
