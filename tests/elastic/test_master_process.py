"""`muster master`: a job's master in a process of its own, which may die at any moment."""

import os
import random
import re
import shutil
import signal
import time

import pytest

from conftest import BINARY, MUSTER_RUN, free_port, listens
from test_tls import authority

# Says what it does without torch, so that what is measured is not torch's start.
LIGHT = """
    import json, os, sys, time
    file = sys.argv[2]
    def tell(what):
        line = {"what": what, "rank": int(os.environ["RANK"]), "attempt": int(os.environ["TORCHELASTIC_RESTART_COUNT"]),
                "world": int(os.environ["WORLD_SIZE"]), "pid": os.getpid(), "at": time.monotonic()}
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, (json.dumps(line) + "\\n").encode())
        os.close(fd)
    tell("started")
    while not os.path.exists(file + ".finish"):
        time.sleep(0.02)
    if os.path.exists(file + ".fail"):
        raise SystemExit(64)
    tell("done")
"""


class Masters:
    """Masters of one job, one after another at one address."""

    def __init__(self, job):
        self.job, self.port, self.record = job, free_port(), job.place / "record"
        self.environment = {"DLROVER_MASTER_ADDR": f"127.0.0.1:{self.port}", "MUSTER_TOKEN": "secret"}
        self.light = job.write("light.py", LIGHT)

    def start(self, *flags, wait=True):
        master = self.job.call("master", "--job", "test", "--records", self.record, "--port", self.port, *flags,
                               environment={"MUSTER_TOKEN": "secret"}, program=BINARY)
        if wait:
            self.job.until(lambda: "a master is in charge" in master.text)
        return master

    def agent(self, *flags, steps=0, script=None, **environment):
        words = ["--nnodes", "2", *flags] if "--nnodes" not in flags else flags
        return self.job.start(*words, steps=steps, script=script or self.light,
                              environment={**self.environment, **environment})

    def finish(self):
        (self.job.place / "said.finish").touch()

    def fail(self):
        (self.job.place / "said.fail").touch()
        self.finish()


@pytest.fixture
def masters(job):
    return Masters(job)


def kill_worker(pid):
    os.kill(pid, signal.SIGKILL)


def kill(agent):
    agent.send(signal.SIGKILL)
    agent.process.wait()


def test_a_job_runs_and_the_master_ends_as_it_does(job, masters):
    agents = [masters.agent(steps=5, script=job.script) for _ in range(2)]
    master = masters.start(wait=False)
    assert [agent.wait() for agent in agents] == [0, 0]
    assert master.wait() == 0
    assert {line["world"] for line in job.lines("done")} == {2}
    assert "the job has 2 to 2 nodes, as its agents say" in master.text
    assert re.search(r"generation 1 runs, 2 workers on 2 nodes", master.text)
    assert "the job has succeeded" in master.text
    again = masters.start(wait=False)
    assert again.wait() == 0, "its end is in the record"


def test_the_end_is_told_to_who_asks_later(job, masters):
    agent = masters.agent("--nnodes", "1", "--final-exit-codes", "64")
    master = masters.start()
    job.until(lambda: job.lines("started"))
    masters.fail()
    assert agent.wait() == 1
    assert master.wait() == 1
    assert "the job has failed" in master.text
    late = masters.agent("--nnodes", "1")
    again = masters.start(wait=False)
    assert late.wait() == 1
    assert again.wait() == 1
    assert len(job.lines("started")) == 1, "nothing runs again after the end"


def test_a_job_that_failed_begins_again_where_that_is_asked_for(job, masters):
    agent = masters.agent("--nnodes", "1", "--max-restarts", "1", "--final-exit-codes", "64")
    master = masters.start("--begin-again")
    job.until(lambda: job.lines("started"))
    kill_worker(job.lines("started")[-1]["pid"])
    job.until(lambda: job.lines("started", attempt=1))
    masters.fail()
    assert agent.wait() == 1
    assert master.wait() == 1
    (job.place / "said.fail").unlink()
    late = masters.agent("--nnodes", "1")
    again = masters.start("--begin-again", wait=False)
    assert late.wait() == 0
    assert again.wait() == 0
    assert "begins again, with whole budgets" in again.text
    assert "charged before" not in again.text
    assert len(job.lines("started", attempt=0)) == 2
    after = masters.start("--begin-again", wait=False)
    assert after.wait() == 0, "a job that has succeeded has ended"


def test_the_variable_of_the_operator_leads_there_whatever_the_command_says(job, masters):
    leads = {"DLROVER_MASTER_ADDR": "", "MUSTER_MASTER_ADDR": f"127.0.0.1:{masters.port}", "MUSTER_MASTER_JOB": "test"}
    agents = [masters.agent("--nnodes", "2", "--rdzv-id", str(node), "--rdzv-endpoint", "127.0.0.1:1", **leads) for node in (1, 2)]
    master = masters.start()
    job.until(lambda: len(job.lines("started", world=2)) == 2)
    masters.finish()
    assert [agent.wait() for agent in (*agents, master)] == [0, 0, 0]


def test_dlrovers_variable_leads_there(job, masters):
    name = job.place / "dlrover-run"
    name.symlink_to(MUSTER_RUN)
    for _ in range(2):
        job.call("--nnodes", "2", "--nproc-per-node", "2", masters.light, 0, job.said, environment=masters.environment, program=name)
    master = masters.start()
    job.until(lambda: len(job.lines("started", world=4)) == 4)
    masters.finish()
    assert [agent.wait() for agent in job.agents] == [0, 0, 0]
    assert "4 workers on 2 nodes" in master.text


def test_nodes_are_checked_where_they_ask_for_it(job, masters):
    for _ in range(2):
        masters.agent("--precheck", "1")
    master = masters.start()
    job.until(lambda: len(job.lines("started")) == 2)
    assert "node check: 2 nodes in" in master.text
    masters.finish()
    assert master.wait() == 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here")
def test_agents_and_master_over_tls(job, masters):
    tls = authority(job.place, "ours")
    agents = [masters.agent(*tls) for _ in range(2)]
    master = masters.start(*tls)
    job.until(lambda: len(job.lines("started")) == 2)
    stranger = masters.agent("--rdzv-conf", "join_timeout=3", *authority(job.place, "theirs"))
    assert stranger.wait() == 1
    masters.finish()
    assert [agent.wait() for agent in (*agents, master)] == [0, 0, 0]
    assert len(job.lines("started")) == 2


def test_no_worker_is_disturbed_when_masters_die_at_random_moments(job, masters):
    moments = random.Random(7)
    agents = [masters.agent(steps=100000, script=job.script) for _ in range(2)]
    master = masters.start(wait=False)
    job.until(lambda: len(job.lines("step")) > 4)
    workers = {line["pid"] for line in job.lines("started")}
    for _ in range(20):
        time.sleep(moments.uniform(0, 0.6))
        kill(master)
        seen = len(job.lines("step"))
        job.until(lambda seen=seen: len(job.lines("step")) > seen + 2)  # noqa: B023
        master = masters.start(wait=moments.random() < 0.7)
    job.until(lambda: "a master is in charge" in master.text)
    job.until(lambda: "generation 1 runs" in master.text)
    assert {line["pid"] for line in job.lines("started")} == workers, "no worker was started again"
    assert {line["attempt"] for line in job.lines("step")} == {0}
    assert not [agent.text for agent in agents if "workers stop" in agent.text]
    for agent in agents:
        agent.send(signal.SIGTERM)


def test_a_worker_that_dies_while_no_master_is_there_is_back_when_the_next_one_is(job, masters):
    for _ in range(2):
        masters.agent("--max-restarts", "100")
    master = masters.start()
    job.until(lambda: len(job.lines("started")) == 2)
    for attempt in range(1, 4):
        kill(master)
        victim = job.lines("started")[-1]["pid"]
        kill_worker(victim)
        time.sleep(0.3)  # so that agents wait longer and longer between two attempts to connect
        master = masters.start()
        ready = time.monotonic()
        job.until(lambda attempt=attempt: len(job.lines("started", attempt=attempt)) == 2)
        back = max(line["at"] for line in job.lines("started", attempt=attempt))
        assert back - ready < 3, "the bench has the figure"
    masters.finish()
    assert master.wait() == 0


def test_it_stops_without_ending_the_job(job, masters):
    agents = [masters.agent() for _ in range(2)]
    master = masters.start()
    job.until(lambda: len(job.lines("started")) == 2)
    master.send(signal.SIGTERM)
    assert master.wait() == 143
    assert "the master stops, and the job does not" in master.text
    other = masters.start()
    masters.finish()
    assert [agent.wait() for agent in agents] == [0, 0]
    assert other.wait() == 0
    assert len(job.lines("started")) == 2


def test_budgets_outlive_masters(job, masters):
    masters.agent("--nnodes", "1", "--max-restarts", "1")
    master = masters.start()
    job.until(lambda: job.lines("started", attempt=0))
    kill_worker(job.lines("started")[-1]["pid"])
    job.until(lambda: job.lines("started", attempt=1))
    kill(master)
    master = masters.start()
    assert "charged before this master: 1 of 1 worker failures" in master.text
    job.until(lambda: "generation" in master.text)
    kill_worker(job.lines("started")[-1]["pid"])
    assert master.wait() == 1


def test_terms_that_differ_are_told_once(job, masters):
    master = masters.start()
    for nodes, flags in enumerate((["--nnodes", "1:3", "--max-restarts", "3"], ["--nnodes", "1:2"], ["--nnodes", "1:2"]), 1):
        masters.agent(*flags, "--rdzv-conf", "last_call_timeout=1")
        # The second world is the next one, and has the new terms: a third node stands by.
        job.until(lambda nodes=nodes: f"{min(nodes, 2)} workers on {min(nodes, 2)} nodes" in master.text)
    assert master.text.count("has other terms than the job") == 1
    assert "--nnodes 1:2 (the job's: 1:3), --max-restarts 0 (the job's: 3)" in master.text
    masters.finish()
    assert master.wait() == 0


@pytest.mark.parametrize("words, token, status, text", [
    ([], "secret", 2, "name the job: --job NAME"),
    (["--job", "a"], "secret", 2, "either --records FILE or --record-object NAME"),
    (["--job", "a", "--records", "record", "--token-file", "none"], "", 2, "--token-file"),
    (["--job", "a", "--record-object", "b", "--kubeconfig", "none"], "secret", 2, "none"),
])
def test_what_is_wrong_is_named(job, words, token, status, text):
    master = job.call("master", *words, environment={"MUSTER_TOKEN": token}, program=BINARY)
    assert master.wait() == status
    assert text in master.text


def test_a_port_that_is_taken_is_named(job, masters):
    masters.start()
    assert listens(masters.port)
    other = masters.start("--records", job.place / "other", wait=False)
    assert other.wait() == 3
    assert f"--port {masters.port}" in other.text
