"""The same training job by hand, by torchrun, by DLRover and by muster-run, and what its workers say of their times."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from measure import ROOT, Failed, family_of, wait_for

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import BuildFailed, Missing, build  # noqa: E402

SCRIPT = ROOT / "bench" / "elastic_train.py"
MANY = 1000  # restarts: no budget ends a job here


# ---- what lines mean

def parse(text):
    """The lines of a job's file; the last one may be half written."""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def steps_after(lines, world, old):
    """When each rank of a world of that size made its first step in a process that is not an old one: {rank: time}."""
    first = {}
    for line in lines:
        if line["what"] == "step" and line["world"] == world and line["pid"] not in old:
            first.setdefault(line["rank"], line["at"])
    return first


def all_stepped(lines, world, old):
    """When the last rank of it made its first step, or None while one has made none."""
    first = steps_after(lines, world, old)
    return max(first.values()) if len(first) == world else None


def pids_in(lines):
    return {line["pid"] for line in lines}


# ---- what starts the workers

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Job:
    """Agents of one job on this machine, each as if it were a node, and the file that its workers write."""

    workers_of_a_node = 1

    def __init__(self, python, place, nodes, workers, size=None):
        """`size`: what --nnodes says, if it is not the number of nodes."""
        self.python, self.place, self.nodes, self.workers, self.size = python, place, nodes, workers, size or str(nodes)
        self.port, self.name = free_port(), f"bench-{os.getpid()}-{time.monotonic_ns()}"
        self.said = place / "said"
        self.said.touch()
        self.logs, self.agents, self.others = [], {}, []
        self.prepare()
        self.begin = time.monotonic()
        for node in range(nodes):
            self.start(node)

    def prepare(self):
        """What has to be there before agents start."""

    def spawn(self, words, environment=None):
        log = self.place / f"log-{len(self.logs)}"
        self.logs.append(log)
        with open(log, "wb") as output:
            return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                    cwd=self.place, start_new_session=True,
                                    env={**os.environ, "TMPDIR": str(self.place), "OMP_NUM_THREADS": "1", **(environment or {})})

    def start(self, node):
        self.agents[node] = self.spawn(*self.agent(node))

    def wait_for_port(self, who):
        end = time.monotonic() + 30
        while not listens(self.port):
            if time.monotonic() > end:
                raise Failed(f"{who} does not listen", self.logs[-1])
            time.sleep(0.002)

    def get_ready(self):
        """Until all is there that shall help it to begin again."""

    def lines(self):
        return parse(self.said.read_text())

    def wait_until(self, seen, limit):
        """What `seen` makes of the lines, once that is something; None after the limit."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            found = seen(self.lines())
            if found is not None:
                return found
            time.sleep(0.02)
        return None

    def first_step(self, limit=90):
        """Seconds from the launch to the first step of all ranks."""
        at = self.wait_until(lambda lines: all_stepped(lines, self.nodes * self.workers, set()), limit)
        if at is None:
            raise Failed(f"{self.title}: no first step within {limit} s", self.logs[-1])
        return at - self.begin

    def settle(self, old, world=None):
        """Until each rank has made a few steps, so that whatever follows happens to a job at work."""
        world = world or self.nodes * self.workers
        def few(lines):
            made = [line for line in lines if line["what"] == "step" and line["pid"] not in old and line["world"] == world]
            return True if len(made) >= 4 * world else None
        if self.wait_until(few, 30) is None:
            raise Failed(f"{self.title}: the job does not continue", self.logs[-1])

    def kill_worker(self, rank, limit=30):
        """Seconds from a worker's death to the next step of all, or None when that does not come."""
        lines = self.lines()
        old = pids_in(lines)
        victim = [line["pid"] for line in lines if line["what"] == "step" and line["rank"] == rank][-1]
        begin = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        self.after_a_death(rank)
        at = self.wait_until(lambda seen: all_stepped(seen, self.nodes * self.workers, old), limit)
        if at is not None:
            self.settle(old)
        return None if at is None else at - begin

    def after_a_death(self, rank):
        """What is done by hand when the workers were started by hand."""

    def family(self, node):
        return family_of(self.agents[node].pid)

    def lose(self, node, how=signal.SIGKILL):
        """The node and all on it, at once."""
        for pid in self.family(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)
        if how == signal.SIGKILL:
            self.agents[node].wait()

    def close(self):
        for process in [*self.agents.values(), *self.others]:
            pids = family_of(process.pid) if process.poll() is None else []
            for pid in [*pids, *pids]:  # a stopped one dies too; what was born in between is of the second round
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
        for pid in pids_in(self.lines()):  # whose agent was killed before
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                if SCRIPT.name.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)


class ByHand(Job):
    """The same processes with the same variables, from a shell. A "node" is a worker.

    Their store is there before them, as an agent's is: a new one for each attempt. One that rank 0 begins itself is often
    asked before it listens, and torch asks again a second later: what a launcher takes would vanish in that."""

    title = "by hand"
    attempts = 16

    def __init__(self, python, place, nodes, workers, size=None):
        super().__init__(python, place, nodes * workers, 1, size)

    def prepare(self):
        ports = self.place / "ports"
        self.others.append(self.spawn([self.python, ROOT / "bench" / "elastic_hand_stores.py", self.attempts, ports]))
        end = time.monotonic() + 30
        while not ports.exists():
            if time.monotonic() > end:
                raise Failed("by hand: there are no stores", self.logs[-1])
            time.sleep(0.01)
        self.ports = json.loads(ports.read_text())
        self.port = self.ports.pop()

    def agent(self, rank):
        world = str(self.nodes)
        return [self.python, "-u", SCRIPT, self.said], {
            "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "GROUP_RANK": "0",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.port), "TORCHELASTIC_USE_AGENT_STORE": "True",
            "TORCHELASTIC_RESTART_COUNT": str(self.attempts - len(self.ports) - 1)}

    def after_a_death(self, rank):
        if wait_for(self.agents[rank], 10) is None:
            raise Failed("a killed worker does not end")
        self.again(self.nodes)

    def again(self, world):
        """Ends what runs and starts a world of that size."""
        for process in self.agents.values():
            process.kill()
        for process in self.agents.values():
            process.wait()
        self.nodes, self.port, self.agents = world, self.ports.pop(), {}
        for rank in range(world):
            self.start(rank)

    def resize(self, world):
        """Seconds that it takes by hand to continue with so many."""
        old, begin = pids_in(self.lines()), time.monotonic()
        self.again(world)
        at = self.wait_until(lambda seen: all_stepped(seen, world, old), 60)
        if at is None:
            raise Failed("by hand: a world of another size made no step", self.logs[-1])
        return at - begin


def old_torchrun(python):
    """Without these variables the torchrun of torch 1.13 does not start under Python 3.11."""
    return {"PET_REDIRECTS": "1", "PET_TEE": "1"} if pathlib.Path(python).name == "python3" else {}


class Torchrun(Job):
    title = "torchrun"

    def agent(self, node):
        del node
        meeting = ["--standalone"] if self.size == "1" else [
            "--nnodes", self.size, "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{self.port}", "--rdzv-id", self.name,
            "--local-addr", "127.0.0.1"]
        return [self.python, "-m", "torch.distributed.run", *meeting, "--nproc-per-node", self.workers, "--max-restarts", MANY,
                SCRIPT, self.said], old_torchrun(self.python)


class DLRover(Job):
    title = "DLRover"

    def prepare(self):
        if self.size != "1":
            self.others.append(self.spawn([self.python, "-m", "dlrover.python.master.main", "--platform", "local", "--port", self.port,
                                           "--node_num", self.nodes, "--job_name", self.name]))
            self.wait_for_port("DLRover's master")

    def agent(self, node):
        meeting, environment = ["--standalone", "--nnodes", "1"], {}
        if self.size != "1":
            meeting = ["--nnodes", self.size]
            environment = {"DLROVER_MASTER_ADDR": f"127.0.0.1:{self.port}", "NODE_RANK": str(node), "NODE_ID": str(node),
                           "NODE_NUM": str(self.nodes), "ELASTIC_JOB_NAME": self.name, "POD_IP": "127.0.0.1"}
        return [self.python, "-m", "dlrover.trainer.torch.main", *meeting, "--nproc-per-node", self.workers,
                "--max-restarts", MANY, SCRIPT, self.said], environment


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Muster(Job):
    """Nodes without a rank: with one, only that of rank 0 would host the master."""

    title = "muster-run"
    more = ()

    def start(self, node):
        super().start(node)
        # The first one has the endpoint. Another of the same machine would take its place if it came first.
        if self.size != "1":
            self.wait_for_port("muster-run")

    def agent(self, node):
        del node
        meeting = ["--standalone"] if self.size == "1" else [
            "--nnodes", self.size, "--rdzv-endpoint", f"127.0.0.1:{self.port}", "--rdzv-id", self.name, "--local-addr", "127.0.0.1"]
        return [muster_run(), *meeting, *self.more, "--nproc-per-node", self.workers, "--max-restarts", MANY, SCRIPT, self.said], {
            "PYTHON_EXEC": str(self.python)}


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def used_by(pid):
    """Processor time of a process that sleeps; None of one that does not."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return (fields[11], fields[12]) if fields[0] == "S" else None


class WarmMuster(Muster):
    title = "muster-run --warm"
    more = ("--warm=torch,torch.distributed,torch.nn.parallel",)

    def get_ready(self):
        """A spare for each worker has imported: it is asleep, and uses no processor any more."""
        quiet, end = 0, time.monotonic() + 60
        used = None
        while quiet < 10:
            if time.monotonic() > end:
                raise Failed("there is no warm spare", self.logs[-1])
            time.sleep(0.02)
            now = [used_by(pid) for pid in self.spares()]
            quiet = quiet + 1 if now == used and len(now) == self.workers and None not in now else 0
            used = now

    def spares(self):
        return [pid for pid in self.family(0) if pid not in pids_in(self.lines()) and b"/zygote.py" in command_of(pid)]


def muster_run():
    return pathlib.Path(os.environ["MUSTER"]).parents[1] / "muster_run" / "muster-run"


# ---- which of them there are

def compiled(python):
    """With its packages' bytecode on disk. They are installed without, and where PYTHONDONTWRITEBYTECODE is set each
    worker would compile all of torch at each start: five seconds of processor time in which nothing else is seen."""
    where = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True,
                           text=True).stdout.strip()
    # What is no source of this Python stays as it is: packages bring templates along.
    subprocess.run([python, "-m", "compileall", "-qq", "-j", "0", where], check=False)
    return python


def peers():
    """The Python that all are started with, and the kinds of jobs that it can start."""
    try:
        return compiled(build("python-elastic-peers")), [Torchrun, DLRover]
    except (Missing, BuildFailed) as why:
        print(f"DLRover and a current torch: not measured, {why}", flush=True)
    return pathlib.Path("/usr/bin/python3"), [Torchrun]


@contextlib.contextmanager
def running(kind, python, nodes, workers, size=None):
    with tempfile.TemporaryDirectory(prefix="mb-", ignore_cleanup_errors=True) as place:
        job = kind.__new__(kind)
        try:
            job.__init__(python, pathlib.Path(place), nodes, workers, size)
            yield job
        finally:
            job.close()
