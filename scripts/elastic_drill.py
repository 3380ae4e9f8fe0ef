"""Kills workers, agents, masters' agents and nodes of a job of muster-run at random moments: it has to step on each time.

elastic_drill.py MUSTER_RUN [ROUNDS] [--seed N] [--only WORDS] [--write]. Real PyTorch over gloo, ROUNDS (200) rounds of each kind of
victim on one node and on two. A round kills its victims at a random moment, restarts what a platform would (an agent, a
node, never a worker), and has passed when a world without them, and then the whole one, has made steps that need everybody.
At the end no process may be left, and every step of the job, however often it was made, must have the loss that it has in a
undisturbed run. Exits 1 with what did not recover, what was left, and where losses differ. --write puts the rows
of the kinds that were played in the place of theirs in docs/elastic.md.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from page_table import PageTable
from processes import become_subreaper, command_line, descendants_of, kill, reap
from training_steps import TRAIN, Steps, Stuck, differences, undisturbed, write_program

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "elastic.md"
HEAD = ("| Where | Victim | Rounds | Recovered | Workers restarted | Death to next step, median | Longest |\n"
        "|---|---|---|---|---|---|---|\n")
TABLE = PageTable("drill", HEAD, 2)
LIMIT_S = 60  # of a round: a hang is a failure, not a stuck drill
GONE_WITHIN_S = 20  # of what is left when its job has ended

STEP_PAUSE_S = 0.02


class Layout:
    def __init__(self, name, nodes, workers, size, kinds):
        self.name, self.nodes, self.workers, self.size, self.kinds = name, nodes, workers, size, kinds

    @property
    def ranks(self):
        return self.nodes * self.workers


# Agent 0 begins with the master. "A node" is an agent with all of its workers.
LAYOUTS = (
    Layout("one node", 1, 2, "1", ("a worker", "the master's agent", "a node", "two at once")),
    Layout("two nodes", 2, 1, "1:2", ("a worker", "an agent", "the master's agent", "a node", "two at once")),
)


def marks_of(pid):
    """Of whom a process is, and whether it has a rank in a group, as only workers have."""
    try:
        variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return set()
    return {variable.partition(b"=")[0] if variable.startswith(b"GROUP_RANK=") else variable for variable in variables}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Job:
    """The agents of a layout, and what their workers told."""

    def __init__(self, muster_run, layout, place):
        self.muster_run, self.layout, self.place = muster_run, layout, place
        self.script = write_program(TRAIN, place)
        self.steps = Steps(place, layout.ranks)
        (place / "tmp").mkdir()
        self.rounds = []  # in words
        self.endpoint = f"127.0.0.1:{free_port()}"
        self.agents = [None] * layout.nodes
        self.dead = set()  # nodes whose agent was killed and is not replaced
        for node in range(layout.nodes):
            self.directory(node).mkdir()
            self.start(node)

    def directory(self, node):
        return self.place / f"node{node}"

    def start(self, node):
        """In the place of one that was killed, too: a directory of its own is where it finds its node's workers."""
        words = ["--nnodes", self.layout.size, "--nproc-per-node", self.layout.workers, "--rdzv-endpoint", self.endpoint,
                 "--rdzv-id", "drill", "--local-addr", "127.0.0.1", "--job-dir", self.directory(node),
                 "--max-restarts", 1_000_000, self.script, self.place, 0, STEP_PAUSE_S]
        with open(self.place / f"agent{node}.txt", "ab") as output:
            self.agents[node] = subprocess.Popen(
                [self.muster_run, *map(str, words)], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                cwd=self.place, env=dict(os.environ, TMPDIR=str(self.place / "tmp"), OMP_NUM_THREADS="1", DRILL_NODE=str(node)))

    def workers(self, node):
        """By their variables: the parents of those that a new agent took over are ours now."""
        return sorted(pid for pid in descendants_of(os.getpid()) if {b"DRILL_NODE=%d" % node, b"GROUP_RANK"} <= marks_of(pid))

    def until(self, holds, what):
        deadline = time.monotonic() + LIMIT_S
        while not (found := holds()):
            for node, agent in enumerate(self.agents):
                if node not in self.dead and agent.poll() is not None:
                    raise Stuck(f"{what}: the agent of node {node} ended by itself with {agent.returncode}")
            if time.monotonic() > deadline:
                raise Stuck(f"{what}: not within {LIMIT_S} s; the last lines are {self.steps.read()[-4:]}")
            time.sleep(0.005)
        return found

    def tail(self):
        ends = [f"--- agent of node {node}\n" + (self.place / f"agent{node}.txt").read_text(errors="replace")[-3000:]
                for node in range(self.layout.nodes)]
        return "\n".join(["the rounds before: " + "; ".join(self.rounds[-4:-1]), *ends])

    def finish(self):
        (self.place / "finish").touch()
        for node, agent in enumerate(self.agents):
            try:
                status = agent.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                raise Stuck(f"the agent of node {node} does not end with its job") from None
            if status != 0:
                raise Stuck(f"the agent of node {node} ended with {status}")

    def close(self):
        for agent in self.agents:
            if agent is not None and agent.poll() is None:
                agent.kill()
                agent.wait()
        self.steps.close()


class Victim:
    """What is killed at one moment: a worker, an agent, or an agent and all that it had."""

    def __init__(self, job, kind, rng):
        layout = job.layout
        self.job, self.kind = job, kind
        self.node = {"the master's agent": 0, "an agent": layout.nodes - 1}.get(kind, rng.randrange(layout.nodes))
        self.local = rng.randrange(layout.workers)

    @property
    def words(self):
        return f"{self.kind} (of node {self.node}{f', local rank {self.local}' if self.kind == 'a worker' else ''})"

    def kill(self):
        workers = self.job.workers(self.node)
        if self.kind == "a worker":
            doomed = workers[self.local:self.local + 1]
        else:
            self.job.dead.add(self.node)
            doomed = [self.job.agents[self.node].pid, *(workers if self.kind == "a node" else [])]
        for pid in doomed:
            kill(pid)

    def replace(self):
        """What a platform does; a worker is its agent's business."""
        if self.node in self.job.dead:
            self.job.agents[self.node].wait()
            self.job.start(self.node)
            self.job.dead.remove(self.node)


def choose(job, kind, rng):
    """What is killed, by moments: seconds after the first, and the victims. Of two, half of the time the second one dies while
    all are still busy with the first."""
    if kind != "two at once":
        return [(0.0, [Victim(job, kind, rng)])]
    one, other = (Victim(job, rng.choice([each for each in job.layout.kinds if each != kind]), rng) for _ in range(2))
    return [(0.0, [one, other])] if rng.random() < 0.5 else [(0.0, [one]), (rng.uniform(0, 2), [other])]


def one_round(job, kind, rng):
    """Seconds from the (last) death to the first step that needed what was done about it, and how many workers are others."""
    moments = choose(job, kind, rng)
    # A node may be back before the others have continued without it, or after.
    slow = kind == "a node" and job.layout.nodes > 1 and rng.random() < 0.5
    words = ", ".join(f"after {later:.2f} s " * bool(later) + " and ".join(victim.words for victim in victims)
                      for later, victims in moments)
    job.rounds.append(words)
    try:
        time.sleep(rng.uniform(0, 0.3))
        before = set(job.steps.pids().values())
        begin = time.monotonic()
        for later, victims in moments:
            time.sleep(max(0.0, begin + later - time.monotonic()))
            for victim in victims:
                victim.kill()
            killed, mark = time.monotonic(), job.steps.mark()
            if slow:
                job.until(lambda mark=mark: job.steps.stepped(mark), "without it")
            for victim in victims:
                victim.replace()
        at = job.until(lambda: job.steps.stepped(mark), "a step")
        job.until(lambda: job.steps.all_stepped(mark), "a step of all")
        return at - killed, len(set(job.steps.pids().values()) - before)
    except Stuck as why:
        raise Stuck(f"{words}: {why}") from None


class Figures:
    """Of one kind of victim in one layout."""

    def __init__(self):
        self.rounds, self.seconds, self.restarted = 0, [], set()

    def recovered(self, seconds, restarted):
        self.seconds.append(seconds)
        self.restarted.add(restarted)

    def cells(self, workers):
        if not self.seconds:
            return f"{self.rounds} | 0 | – | – | –"
        restarted = " or ".join(map(str, sorted(self.restarted)))
        return (f"{self.rounds} | {len(self.seconds)} | {restarted} of {workers} | {statistics.median(self.seconds):.2f} s | "
                f"{max(self.seconds):.2f} s")


def end_all():
    while left := reap(0):
        for pid in left:
            kill(pid)


def run_rounds(muster_run, layout, kinds, rng, figures, place):
    """Takes rounds from `kinds` until they are done or one has not recovered: what was told, and what went wrong."""
    wrong = []
    job = Job(muster_run, layout, place)
    try:
        job.until(lambda: job.steps.all_stepped((-1, 0)), "the first step")
        while kinds:
            kind = kinds.pop()
            figures[layout.name, kind].rounds += 1
            figures[layout.name, kind].recovered(*one_round(job, kind, rng))
        job.finish()
        wrong += [f"process {pid} was left: {command_line(pid)}" for pid in reap(GONE_WITHIN_S)]
    except Stuck as why:
        if not job.steps.lines:
            raise SystemExit(f"{layout.name}: {why}\n{job.tail()}") from None
        wrong.append(f"{layout.name}: {why}\n{job.tail()}")
    finally:
        job.close()
        end_all()
    return job.steps.lines, wrong


# ---- what is told

def rows(figures):
    """{(layout, kind): its line of the table}"""
    ranks = {layout.name: layout.ranks for layout in LAYOUTS}
    return {(where, kind): f"| {where} | {kind} | {one.cells(ranks[where])} |\n" for (where, kind), one in figures.items()}


def page_with(page, new):
    """The page with these lines in the place of those of the same kinds; the others stay."""
    return TABLE.with_rows(page, new.values(), [(layout.name, kind) for layout in LAYOUTS for kind in layout.kinds])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster_run", type=pathlib.Path)
    parser.add_argument("rounds", type=int, nargs="?", default=200, help="of each kind of victim, on one node and on two")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="layouts and kinds with these words, as in 'two nodes: a worker'")
    parser.add_argument("--write", action="store_true", help="the table, to docs/elastic.md")
    options = parser.parse_args()
    chosen = [(layout, kind) for layout in LAYOUTS for kind in layout.kinds if options.only in f"{layout.name}: {kind}"]
    if not chosen:
        parser.error(f"nothing has the words {options.only!r}; there are: "
                     + "; ".join(f"{layout.name}: {kind}" for layout in LAYOUTS for kind in layout.kinds))
    become_subreaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and nothing is left of the job
    print(f"seed {options.seed}", flush=True)
    rng = random.Random(options.seed)
    figures = {(layout.name, kind): Figures() for layout, kind in chosen}
    jobs, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="muster-drill-", dir="/var/tmp") as name:
        place = pathlib.Path(name)
        shutil.copy(options.muster_run, place / "muster-run")
        muster_run = str(place / "muster-run")
        for layout in LAYOUTS:
            kinds = [kind for each, kind in chosen if each is layout] * options.rounds
            rng.shuffle(kinds)
            # A job that hangs is given up, and the rounds continue with another.
            while kinds:
                (job_place := place / f"job{len(jobs)}").mkdir()
                lines, bad = run_rounds(muster_run, layout, kinds, rng, figures, job_place)
                jobs.append(lines)
                wrong += bad
                print(*bad, sep="\n", end="\n" if bad else "", flush=True)
        (place / "undisturbed").mkdir()
        steps = 1 + max((line["step"] for lines in jobs for line in lines), default=0)
        losses = undisturbed(muster_run, steps, place / "undisturbed")
    differ = [text for lines in jobs for text in differences(lines, losses)]
    print(*differ[:20], sep="\n", end="\n" if differ else "")
    print(HEAD, *rows(figures).values(), sep="", end="")
    if options.write:
        PAGE.write_text(page_with(PAGE.read_text(), rows(figures)))
    print(f"{sum(len(one.seconds) for one in figures.values())} of {sum(one.rounds for one in figures.values())} rounds recovered, "
          f"{len(wrong)} jobs went wrong, {steps} steps, {len(differ)} of them with another loss than undisturbed")
    return 1 if wrong or differ else 0


if __name__ == "__main__":
    sys.exit(main())
