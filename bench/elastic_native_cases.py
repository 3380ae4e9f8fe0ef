"""The figures of agents and masters themselves, most of them without a program that trains."""

import contextlib
import json
import os
import pathlib
import resource
import select
import subprocess
import sys
import tempfile
import time

from elastic_jobs import DLRover, Muster, Torchrun, free_port, muster_run, peers, pids_in, running
from figure import Figure
from measure import ROOT, Failed, exact_cpu_seconds, family_of, median, memory_bytes, rounds, wait_for

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from credentials import openssl  # noqa: E402

BUILT = ROOT / "build" / "release" / "bench"
MOST_AGENTS = 16_000


# ---- muster_elastic_bench

class Program:
    """It in one of its modes: what it prints as it comes, and commands to it."""

    def __init__(self, *arguments):
        program = BUILT / "muster_elastic_bench"
        if not program.exists():
            raise Failed("muster_elastic_bench is not built")
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the program)
        self.process = subprocess.Popen([str(word) for word in (program, *arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log)
        self.pid, self.text = self.process.pid, b""

    def next(self, what, limit=60):
        """The value of the next line about that."""
        end = time.monotonic() + limit
        while True:
            line, newline, rest = self.text.partition(b"\n")
            if newline:
                self.text = rest
                told = json.loads(line)
                if told["what"] == what:
                    return told["value"]
                continue
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"muster_elastic_bench: nothing about \"{what}\" within {limit} s{self.said()}")
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise Failed(f"muster_elastic_bench ended with {self.process.wait()}{self.said()}")
            self.text += more

    def said(self):
        self.log.seek(0)
        return "\n" + self.log.read()[-1500:].decode(errors="replace")

    def command(self):
        self.process.stdin.write(b".")
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        if wait_for(self.process, 30) is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


@contextlib.contextmanager
def programs():
    """What starts programs and ends them all, the last one first; and a folder."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mb-")))

        def start(*arguments):
            program = Program(*arguments)
            stack.callback(program.close)
            return program

        yield start, folder


def certificate(folder):
    """Of a server on loopback, and its key; a client that trusts it is given the same."""
    paths = folder / "server.crt", folder / "server.key"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj", "/CN=bench",
            "-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1])
    return paths


@contextlib.contextmanager
def world(agents, tls=False):
    """A master and so many agents, in two processes, and seconds from the start of the agents to the last one's workers."""
    with programs() as (start, folder):
        files = certificate(folder) if tls else ()
        master = start("master", agents, folder, *files)
        port = int(master.next("port"))
        crowd = start("agents", agents, port, *files[:1])
        yield master, crowd, crowd.next("formed", 120)


# ---- worlds

def formed(agents, tls):
    with world(agents, tls) as (_, _, seconds):
        return seconds


def worlds(limits, tls):
    figures, (_, descriptors) = [], resource.getrlimit(resource.RLIMIT_NOFILE)
    for agents, limit in limits.items():
        if descriptors != resource.RLIM_INFINITY and descriptors < agents + 100:
            print(f"elastic-world: {agents:,} agents not measured, a process may have {descriptors} descriptors", flush=True)
            continue
        try:
            tries = [formed(agents, tls) for _ in range(rounds(3))]
        except Failed as why:  # the others are worth knowing
            print(f"elastic-world: {agents:,} agents: {why}", flush=True)
            tries = [float("inf")]
        figures.append(Figure(f"{agents:,} agents form a world{' over TLS' if tls else ''}", min(tries), limit, "s",
                              f"best of {len(tries)}, at worst {max(tries):.3g} s; one TCP connection each, two processes"))
    return figures


def told():
    with world(1000) as (_, crowd, _):
        tries = []
        for _ in range(rounds(20)):
            crowd.command()
            tries.append(crowd.next("told") * 1000)
            crowd.next("again")
    return Figure("worker's death to every survivor told, 1,000 agents", median(tries), 50, "ms",
                  f"median of {len(tries)}, {min(tries):.0f} to {max(tries):.0f} ms; the incident is on the disk first")


def idle_master(agents, tls, megabytes, percent, window=20):
    with world(agents, tls) as (master, _, _):
        time.sleep(2)
        before, begin = exact_cpu_seconds(master.pid), time.monotonic()
        time.sleep(window)
        share = (exact_cpu_seconds(master.pid) - before) / (time.monotonic() - begin) * 100
        memory = memory_bytes(master.pid, "Rss") / 1e6
    who = f"idle master of {agents:,} agents{' over TLS' if tls else ''}"
    return [Figure(f"{who}, memory", memory, megabytes, "MB", "resident, with the program's own pages"),
            Figure(f"{who}, CPU", share, percent, "% of a core", f"over {window} s")]


def world_case(muster):
    del muster
    return [*worlds({64: 0.1, 128: 0.15, 256: 0.2, 4000: 0.6, MOST_AGENTS: 4}, tls=False),
            *worlds({4000: 2.5, MOST_AGENTS: 10}, tls=True), told(),
            *idle_master(1000, False, 24, 1), *idle_master(1000, True, 60, 1)]


# ---- a worker's death

def words_and_values(text):
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def death(muster):
    del muster
    count = rounds(50)
    run = subprocess.run([BUILT / "muster_worker_bench", str(count)], capture_output=True, text=True, check=False, timeout=600)
    if run.returncode != 0:
        raise Failed(f"muster_worker_bench ended with {run.returncode}\n{run.stderr[-2000:]}")
    seen = words_and_values(run.stdout)
    agent, master_ms = [], []
    with programs() as (start, folder):
        master = start("master", 1, folder)
        node = start("workers", int(master.next("port")), folder)
        for _ in range(count):
            node.next("runs")
            node.command()
            killed = node.next("killed")
            agent.append((node.next("agent") - killed) * 1000)
            master_ms.append((master.next("incident") - killed) * 1000)
    return [
        Figure("worker's death to its agent knowing", seen["death_to_agent_ms_median"], 10, "ms",
               f"median of {count}, at most {seen['death_to_agent_ms_max']:.3g} ms; two workers are started in "
               f"{seen['start_of_two_ms_median']:.3g} ms and stopped in {seen['stop_of_two_ms_median']:.3g} ms"),
        Figure("worker's death to its master having decided, in another process", median(master_ms), 10, "ms",
               f"median of {count}, at most {max(master_ms):.3g} ms; its agent knew after {median(agent):.3g} ms"),
    ]


# ---- what an agent costs

def own_processes(pid):
    """The process and what it started that is not the workers'."""
    def name(one):
        try:
            return pathlib.Path(f"/proc/{one}/comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            return "sleep"
    return [one for one in family_of(pid) if name(one) != "sleep"]


SLEEPERS = ["--nproc-per-node", "2", "--no-python", "/bin/sleep", "100000"]


@contextlib.contextmanager
def supervising(kinds, python):
    """{title: its pid} of launchers that have two workers which sleep."""
    words = {Muster: [muster_run(), "--standalone"], Torchrun: [python, "-m", "torch.distributed.run", "--standalone"],
             DLRover: [python, "-m", "dlrover.trainer.torch.main", "--standalone", "--nnodes", "1"]}
    started = {}
    with tempfile.TemporaryDirectory(prefix="mb-", ignore_cleanup_errors=True) as folder:
        try:
            for kind in kinds:
                with open(f"{folder}/{kind.__name__}", "wb") as log:
                    started[kind.title] = subprocess.Popen([str(word) for word in [*words[kind], *SLEEPERS]], stdin=subprocess.DEVNULL,
                                                           stdout=log, stderr=log, env={**os.environ, "TMPDIR": folder})
            end = time.monotonic() + 90
            for title, process in started.items():
                while len(family_of(process.pid)) - len(own_processes(process.pid)) < 2:
                    if time.monotonic() > end or process.poll() is not None:
                        raise Failed(f"{title} does not start two workers")
                    time.sleep(0.1)
            yield {title: process.pid for title, process in started.items()}
        finally:
            for process in started.values():
                for pid in family_of(process.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, 9)
                process.wait()


def costs(pid, window):
    """Of a launcher from now on: (its own resident MB, MB of all its processes, percent of a core)."""
    pids = own_processes(pid)
    before, begin = sum(map(exact_cpu_seconds, pids)), time.monotonic()
    time.sleep(window)
    share = (sum(map(exact_cpu_seconds, pids)) - before) / (time.monotonic() - begin) * 100
    return memory_bytes(pid, "Rss") / 1e6, sum(memory_bytes(one, "Pss") for one in pids) / 1e6, share


def agent_case(muster):
    del muster
    python, others = peers()
    window, seen = 30, {}
    for kind in [Muster, *others]:
        try:
            with supervising([kind], python) as pids:
                time.sleep(3)
                seen[kind.title] = costs(pids[kind.title], window)
        except Failed as why:
            if kind is Muster:
                raise
            print(f"elastic-agent: {why}", flush=True)
    resident, together, share = seen.pop("muster-run")
    beside = "; ".join(f"{title} {own:.0f} MB resident, {all_of_it:.0f} MB with what it started, {cpu:.2f} %"
                       for title, (own, all_of_it, cpu) in seen.items())
    # The stricter of two readings: the agent itself with all that it maps, or its share and that of its shims.
    return [
        Figure("muster-run that supervises 2 idle workers and hosts their master, memory", max(resident, together), 12, "MB",
               f"{resident:.1f} MB resident, {together:.1f} MB its share with its shims; {beside}"),
        Figure("the same, CPU", share, 0.1, "% of a core", f"with its shims, over {window} s"),
        *idle_master(2, False, 12, 0.1, window)]


# ---- a master of its own

@contextlib.contextmanager
def master_process(program, port, folder, limit=30):
    """`master` of that program, in charge; its token is that of the agents of muster_elastic_bench."""
    log = folder / f"master-{time.monotonic_ns()}.txt"
    with open(log, "wb") as said:
        master = subprocess.Popen([program, "master", "--job", "bench", "--records", folder / "master.record", "--port", str(port)],
                                  env={**os.environ, "MUSTER_TOKEN": "run bench"}, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    try:
        end = time.monotonic() + limit
        while "a master is in charge" not in log.read_text(errors="replace"):
            if master.poll() is not None or time.monotonic() > end:
                raise Failed(f"muster master: {log.read_text(errors='replace')[-1500:]}")
            time.sleep(0.005)
        yield master
    finally:
        master.kill()
        master.wait()


def master_case(muster):
    """What it costs that a job's master has a process of its own, as it has in a pod on a cluster."""
    agents, window, back = 100, 20, []
    program = pathlib.Path(muster).parents[1] / "pod_tools" / "muster-in-pods"
    if not program.exists():
        raise Failed("muster-in-pods is not built")
    with programs() as (start, folder):
        port = free_port()
        with master_process(program, port, folder) as master:
            crowd = start("agents", agents, port)
            crowd.next("formed", 120)
            time.sleep(3)
            before, begin = exact_cpu_seconds(master.pid), time.monotonic()
            time.sleep(window)
            share = (exact_cpu_seconds(master.pid) - before) / (time.monotonic() - begin) * 100
            memory = memory_bytes(master.pid, "Rss") / 1e6
        for _ in range(rounds(5)):
            # Agents look for it while a worker that has died waits.
            crowd.command()
            time.sleep(1)
            with master_process(program, port, folder):
                ready = time.monotonic()
                crowd.next("again", 60)
                back.append(time.monotonic() - ready)
                time.sleep(1)
    who = f"muster-in-pods master of {agents} idle agents"
    return [Figure(f"{who}, memory", memory, 16, "MB", "resident, with the program's own pages"),
            Figure(f"{who}, CPU", share, 0.2, "% of a core", f"over {window} s"),
            Figure("a worker that died while no master was there: from the next one in charge to all workers started again", median(back), 1, "s",
                   f"median of {len(back)}, at most {max(back):.3g} s; {agents} agents, kill -9 of the master")]


# ---- another master

class AdoptedMuster(Muster):
    """A new agent takes over the workers of one that was killed, as where something starts it again."""

    more = ("--adopt-grace", "60")


def takeover(muster):
    del muster
    python, _ = peers()
    nodes, seconds = 3, []
    with running(AdoptedMuster, python, nodes, 1) as job, programs() as (start, _):
        job.first_step()
        job.settle(set())
        workers = pids_in(job.lines())
        probe = start("probe", job.port, f"run {job.name}")
        probe.next("in charge")
        for _ in range(rounds(5)):
            host = owner_of(job)
            killed = time.monotonic()
            job.agents[host].kill()
            job.agents[host].wait()
            seconds.append(probe.next("in charge", 30) - killed)
            job.start(host)
            # All of the world have come to the new one when it does what only a whole world lets it do; before that a
            # worker's death would say nothing about it.
            time.sleep(12)
        disturbed = workers ^ {line["pid"] for line in job.lines() if line["what"] == "step" and line["at"] > time.monotonic() - 2}
        recovered = job.kill_worker(1, 60)
    return [Figure("the agent with the master is killed: time until another is in charge, on one machine", median(seconds), 1, "s",
                   f"median of {len(seconds)}, {min(seconds):.3g} to {max(seconds):.3g} s; of {nodes} agents, the next in its place"),
            Figure("workers that it disturbed", len(disturbed), 0, "", f"of {nodes}, that of the killed agent included, which a new agent "
                   "takes over"),
            Figure("a worker killed afterwards, not recovered from", int(recovered is None), 0, "")]


def owner_of(job):
    """The node whose agent listens at the job's endpoint."""
    listening = {line.split()[9] for table in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]
                 if line.split()[3] == "0A" and int(line.split()[1].rsplit(":", 1)[1], 16) == job.port}
    for node, agent in job.agents.items():
        for entry in pathlib.Path(f"/proc/{agent.pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if any(os.readlink(entry) == f"socket:[{inode}]" for inode in listening):
                    return node
    raise Failed("no agent listens at the job's endpoint", job.logs[-1])


CASES = {"elastic-death": death, "elastic-world": world_case, "elastic-agent": agent_case, "elastic-takeover": takeover,
         "elastic-master": master_case}
