"""One node, `--standalone`: launch, deaths of workers, ends."""

import os
import pathlib
import signal

import pytest

from conftest import ROOT, alive, children

HERE = ["--standalone", "--nproc-per-node", "2"]


def test_a_job_that_succeeds(job):
    agent = job.start(*HERE)
    assert agent.wait() == 0, agent.text
    assert {line["rank"] for line in job.lines("done")} == {0, 1}
    assert {line["attempt"] for line in job.lines()} == {0}
    assert agent.text == "", "nothing is said of a job that goes well"
    assert list(job.scratch.iterdir()) == [], "nothing is left behind"


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_worker_brings_all_back(job, rank):
    agent = job.start(*HERE, "--max-restarts", 1, steps=100)
    victim = job.until(lambda: job.lines("step", rank=rank, step=3))[0]["pid"]
    others = [line["pid"] for line in job.lines("started") if line["pid"] != victim]
    os.kill(victim, signal.SIGKILL)
    assert agent.wait() == 0, agent.text
    assert {(line["rank"], line["attempt"]) for line in job.lines("done")} == {(0, 1), (1, 1)}
    assert not any(map(alive, others))
    said = [line for line in agent.text.splitlines() if "are restarted" in line]
    assert len(said) == 1 and "SIGKILL" in said[0] and f"worker {rank}" in said[0] and "1 of 1" in said[0], agent.text


def test_a_budget_that_is_used_up(job):
    agent = job.start(*HERE, "--max-restarts", 1, steps=10_000)
    for attempt in range(2):
        victim = job.until(lambda attempt=attempt: job.lines("step", rank=1, attempt=attempt))[0]["pid"]
        os.kill(victim, signal.SIGKILL)
    assert agent.wait() == 1
    assert "SIGKILL" in agent.text and "rank 1" in agent.text, agent.text
    assert len(job.lines("started")) == 4


def test_the_cause_is_named_before_its_victims(job):
    script = job.write("bad.py", """
        import os, sys, time
        import torch.distributed as dist
        from torch.distributed.elastic.multiprocessing.errors import record
        @record
        def main():
            dist.init_process_group("gloo")
            if os.environ["RANK"] == "1":
                raise ValueError("no such column: label")
            dist.barrier()
        main()
    """)
    agent = job.call(*HERE, script)
    assert agent.wait() == 1
    assert "ValueError: no such column: label" in agent.text, agent.text
    assert "Traceback" in agent.text and "rank 1" in agent.text, agent.text


@pytest.mark.parametrize("text, said", [("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
                                        ("def broken(:", "SyntaxError: invalid syntax")])
def test_a_program_that_cannot_be_loaded_is_started_once(job, text, said):
    script = job.write("broken.py", "import os, sys\n" + text)
    agent = job.call("--standalone", "--max-restarts", 3, script)
    assert agent.wait() == 1
    assert said in agent.text and "another try would end in the same way" in agent.text, agent.text
    assert agent.text.count("(exit code 1)") + agent.text.count("exit code 1") < 4, agent.text


def test_the_same_error_twice_without_progress_ends_the_job(job):
    script = job.write("stubborn.py", """
        import os
        open(os.environ["SAID"], "a").write("x")
        import muster
        if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            muster.step()
        raise KeyError("loss")
    """)
    package = ROOT / "python" / "muster" / "src"
    agent = job.call("--standalone", "--max-restarts", 10, script, environment={"SAID": str(job.said), "PYTHONPATH": str(package)})
    assert agent.wait() == 1
    assert "KeyError: 'loss'" in agent.text and "failed twice in the same way" in agent.text, agent.text
    # The first had made a step; after it nothing came any more.
    assert job.said.read_text() == "xx"


def test_lines_with_a_text_go_to_one_file_of_all_ranks(job):
    script = job.write("talk.py", """
        import os, sys
        for step in range(3):
            print(f"step {step} loss 0.{os.environ['RANK']}", flush=True)
            print("noise", flush=True)
    """)
    agent = job.call(*HERE, "--tee", 3, "--log-dir", job.place / "logs", "--duplicate-stdout-filters", "loss,epoch", script)
    assert agent.wait() == 0, agent.text
    filtered, = (job.place / "logs").glob("*/attempt_0/filtered_stdout.log")
    lines = filtered.read_text().splitlines()
    assert sorted(lines) == [f"[default{rank}]:step {step} loss 0.{rank}" for rank in range(2) for step in range(3)]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_workers_are_bound_to_cores_of_their_own(job):
    script = job.write("where.py", """
        import os, pathlib
        pathlib.Path("cpus" + os.environ["RANK"]).write_text(" ".join(map(str, os.sched_getaffinity(0))))
    """)
    agent = job.call(*HERE, "--numa-binding", "exclusive", script)
    assert agent.wait() == 0, agent.text
    cpus = [set((job.place / f"cpus{rank}").read_text().split()) for rank in range(2)]
    assert cpus[0] and cpus[1] and not cpus[0] & cpus[1], cpus


def test_sigterm_ends_the_workers_and_the_agent(job):
    agent = job.start(*HERE, steps=10_000)
    pids = [line["pid"] for line in job.until(lambda: len(job.lines("step", step=1)) == 2 and job.lines("step", step=1))]
    agent.send(signal.SIGTERM)
    assert agent.wait() == 128 + signal.SIGTERM, agent.text
    assert not any(map(alive, pids))


def test_what_is_wrong_is_said_before_anything_starts(job):
    not_executable = job.write("plain", "x")
    for words, said in (
            (["--nnodes", "3:2", job.script], "--nnodes 3:2: at least 3 nodes but at most 2; expects N or MIN:MAX, with 1 <= MIN <= MAX"),
            (["--nproc-per-node", "none", job.script], "--nproc-per-node none"),
            (["--no-such-flag", job.script], "--no-such-flag"),
            (["--max-restart", "1", job.script], "--max-restarts"),
            (["--standalone", job.place / "missing.py"], f"there is no {job.place / 'missing.py'} (a module needs -m)"),
            (["--standalone", "--no-python", not_executable],
             f"{not_executable} may not be executed; run 'chmod +x {not_executable}', or drop --no-python if it is a Python script"),
            (["--standalone", "--log-dir", "/proc/nowhere", "--tee", "9", job.script], "--tee"),
            ([], "script")):
        agent = job.call(*words)
        assert agent.wait(20) == 2, (words, agent.text)
        assert said in agent.text, (words, agent.text)
    assert job.lines() == []


def test_a_killed_agent_takes_its_workers_with_it(job):
    agent = job.start(*HERE, steps=10_000)
    pids = [line["pid"] for line in job.until(lambda: len(job.lines("step", step=1)) == 2 and job.lines("step", step=1))]
    agent.process.kill()
    agent.process.wait()
    job.until(lambda: not any(map(alive, pids)), seconds=10)


def test_a_new_agent_takes_over_the_workers_of_a_killed_one(job):
    words = ["--nproc-per-node", 2, "--adopt-grace", "20", "--rdzv-id", "adopted"]
    agent = job.start(*words, steps=120)
    pids = [line["pid"] for line in job.until(lambda: len(job.lines("step", step=1)) == 2 and job.lines("step", step=1))]
    agent.process.kill()
    agent.process.wait()
    follower = job.start(*words, steps=120)
    assert follower.wait() == 0, follower.text
    assert {line["pid"] for line in job.lines("done")} == set(pids)
    assert {line["attempt"] for line in job.lines()} == {0}


def test_workers_that_are_taken_over_before_they_have_met_find_each_other(job):
    """They know the address of the store that died with their agent, and no other."""
    script = job.write("late.py", """
        import json, os, sys, time
        import torch.distributed as dist
        def tell(what):
            with open(sys.argv[2], "a") as file:
                file.write(json.dumps({"what": what, "rank": int(os.environ["RANK"]), "pid": os.getpid()}) + "\\n")
        tell("started")
        while not os.path.exists(sys.argv[2] + ".go"):
            time.sleep(0.02)
        dist.init_process_group("gloo")
        dist.barrier()
        tell("done")
        dist.destroy_process_group()
    """)
    words = ["--nproc-per-node", 2, "--adopt-grace", "20", "--rdzv-id", "late"]
    agent = job.start(*words, script=script)
    pids = {line["pid"] for line in job.until(lambda: len(job.lines("started")) == 2 and job.lines("started"))}
    agent.process.kill()
    agent.process.wait()
    follower = job.start(*words, script=script)
    pathlib.Path(f"{job.said}.go").touch()
    assert follower.wait() == 0, follower.text
    assert {line["pid"] for line in job.lines("done")} == pids


def listening(pid):
    """The addresses at which it accepts connections, as the kernel writes them."""
    inodes = {target[len("socket:["):-1] for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()
              if (target := os.readlink(entry)).startswith("socket:[")}
    rows = [line.split() for name in ("tcp", "tcp6") if pathlib.Path(f"/proc/{pid}/net/{name}").exists()
            for line in pathlib.Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes}


@pytest.mark.parametrize("words,open_to_all", [(["--standalone"], False), (["--nnodes", 1], False),
                                               (["--nnodes", 1, "--local-addr", "127.0.0.1"], False),
                                               (["--nnodes", 1, "--local-addr", "127.0.0.2"], True)])
def test_one_node_listens_at_loopback_and_else_says_so(job, words, open_to_all):
    agent = job.start(*words, "--nproc-per-node", 2, steps=10_000)
    job.until(lambda: job.lines("step"))
    pids = [agent.process.pid, *children(agent.process.pid)]  # what the workers open is torch's
    addresses = set().union(*map(listening, pids))
    loopback = {"0100007F", "00000000000000000000000001000000"}
    assert addresses and (not addresses <= loopback) == open_to_all, addresses
    assert ("opens the workers' store to all users of this machine" in agent.text) == open_to_all, agent.text
    agent.send(signal.SIGTERM)
    agent.wait()
