"""How a run ends: by which signal, what is left, and which error its caller gets."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from conftest import BINARY, MUSTER_RUN, alive, free_port
from torchruns import TORCHRUNS

HERE = ["--standalone", "--nproc-per-node", "2"]
# On Python 3.11 torchrun of torch 1.13 fails without files, and with those of stderr.
TORCHRUN = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--redirects", "1", "--tee", "1"]
# What a program before us ignores stays ignored, and a test may be started in the background of a shell.
PLAIN = ["env", "--default-signal=INT,HUP,USR1"]

WAITS = """
    import json, os, signal, sys, time
    def tell(what):
        fd = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, (json.dumps({"what": what, "rank": int(os.environ["RANK"]), "pid": os.getpid()}) + "\\n").encode())
        os.close(fd)
    signal.signal(signal.SIGUSR1, lambda *_: (tell("SIGUSR1"), sys.exit(0)))
    try:
        tell("started")
        time.sleep(1000)
    except KeyboardInterrupt:
        tell("KeyboardInterrupt")
"""


def both(job, what):
    return job.until(lambda: len(job.lines(what)) == 2 and job.lines(what))


@pytest.mark.parametrize("sent, flags, heard", [(signal.SIGINT, [], "KeyboardInterrupt"),
                                                (signal.SIGUSR1, ["--signals-to-handle", "SIGTERM,SIGUSR1"], "SIGUSR1")],
                         ids=["SIGINT", "SIGUSR1"])
def test_workers_get_the_signal_that_came(job, sent, flags, heard):
    agent = job.call(*HERE, *flags, job.write("waits.py", WAITS), within=PLAIN)
    both(job, "started")
    agent.send(sent)
    assert agent.wait() == 128 + sent, agent.text
    assert len(job.lines(heard)) == 2, job.said.read_text()
    assert list(job.scratch.iterdir()) == []


@pytest.mark.parametrize("python", TORCHRUNS)
def test_workers_of_torchrun_get_the_signal_that_came(job, python):
    """It ends with 1 after every signal, which says neither which one came nor that one did."""
    agent = job.call(*TORCHRUN, job.write("waits.py", WAITS), program=python, within=PLAIN)
    both(job, "started")
    agent.send(signal.SIGINT)
    assert agent.wait() == 1, agent.text
    assert len(job.lines("KeyboardInterrupt")) == 2, agent.text


def test_what_nohup_ignores_stays_ignored(job):
    agent = job.call(*HERE, job.write("waits.py", WAITS), within=["env", "--ignore-signal=HUP"])
    pids = [line["pid"] for line in both(job, "started")]
    agent.send(signal.SIGHUP)
    for pid in pids:
        os.kill(pid, signal.SIGHUP)
    agent.send(signal.SIGTERM)
    assert agent.wait() == 128 + signal.SIGTERM, agent.text


STUBBORN = """
    import json, os, signal, time
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    fd = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(fd, (json.dumps({"what": "started", "rank": int(os.environ["RANK"]), "pid": os.getpid()}) + "\\n").encode())
    time.sleep(1000)
"""


def test_the_second_ctrl_c_says_what_is_waited_for_and_the_third_kills(job):
    agent = job.call(*HERE, "--stop-grace", 600, job.write("stubborn.py", STUBBORN), within=PLAIN)
    pids = [line["pid"] for line in both(job, "started")]
    agent.send(signal.SIGINT)
    # Two that come together are one.
    job.until(lambda: "workers stop" in agent.text)
    agent.send(signal.SIGINT)
    job.until(lambda: "waiting for workers to end; SIGINT for the third time kills them" in agent.text)
    assert all(f"(pid {pid})" in agent.text for pid in pids), agent.text
    assert all(map(alive, pids))
    agent.send(signal.SIGINT)
    assert agent.wait() == 128 + signal.SIGINT
    assert not any(map(alive, pids))


def test_a_kill_after_the_grace_is_said(job):
    agent = job.call(*HERE, "--stop-grace", "0.2", job.write("stubborn.py", STUBBORN), within=PLAIN)
    both(job, "started")
    agent.send(signal.SIGTERM)
    assert agent.wait() == 128 + signal.SIGTERM
    assert agent.text.count("a worker has not ended in time: SIGKILL is sent to it") == 2, agent.text


def test_what_a_rank_left_behind_may_finish(job):
    script = job.write("uploads.py", """
        import os, subprocess
        if os.environ["RANK"] == "0":
            subprocess.Popen(["sh", "-c", "while [ ! -e go ]; do sleep 0.01; done; echo all > uploaded"], start_new_session=True)
    """)
    agent = job.call(*HERE, script)
    job.until(lambda: "what a worker left behind may finish before the node ends" in agent.text)
    (job.place / "go").touch()
    assert agent.wait() == 0, agent.text
    assert (job.place / "uploaded").read_text() == "all\n"


RECORDED = """
    import os
    from torch.distributed.elastic.multiprocessing.errors import record
    @record
    def main():
        if os.environ["RANK"] == "1":
            raise ValueError("no such column: label" + "!" * 10_000)
    main()
"""


def assert_the_caller_gets_the_first_cause(job, *words, program):
    file = job.place / "cause.json"
    agent = job.call(*words, job.write("bad.py", RECORDED), program=program, environment={"TORCHELASTIC_ERROR_FILE": str(file)})
    assert agent.wait() == 1
    message = json.loads(file.read_text())["message"]
    assert message["message"].startswith("ValueError: no such column: label"), message
    assert message["errorCode"] == 1 and "Traceback" in message["extraInfo"]["py_callstack"], message


def test_the_caller_gets_the_first_cause(job):
    assert_the_caller_gets_the_first_cause(job, *HERE, program=MUSTER_RUN)


@pytest.mark.parametrize("python", TORCHRUNS)
def test_the_caller_of_torchrun_gets_the_first_cause(job, python):
    assert_the_caller_gets_the_first_cause(job, *TORCHRUN, program=python)


def test_error_files_that_are_named_are_kept(job):
    agent = job.call(*HERE, job.write("bad.py", RECORDED))
    assert agent.wait() == 1
    named, = [line.split()[-1] for line in agent.text.splitlines() if line.strip().startswith("error file")]
    assert json.loads(pathlib.Path(named).read_text())["message"]["message"].startswith("ValueError: no such column"), agent.text
    assert "... (4096 of 100" in agent.text, "the message is cut, and says so"
    assert [path for path in job.scratch.iterdir() if path.name.startswith("muster-")] == []


def test_the_error_is_the_cause_also_when_it_ended_last(job):
    """Rank 0 ends first, with nothing to say; rank 1 has the error, and writes it down while it is being ended."""
    script = job.write("late.py", """
        import os, pathlib, signal, sys, time
        def end(*_):
            raise ValueError("no such column: label")
        if os.environ["RANK"] == "1":
            signal.signal(signal.SIGTERM, end)
            pathlib.Path("ready").touch()
            time.sleep(1000)
        while not os.path.exists("ready"):
            time.sleep(0.01)
        os._exit(7)
    """)
    agent = job.call(*HERE, script)
    assert agent.wait() == 1
    cause, _, others = agent.text.partition("Other failures, probably caused by it:")
    assert "ValueError: no such column: label" in cause and "rank 1" in cause.partition("The cause:")[2], agent.text
    assert "rank 0 (local rank 0)" in others and "exit code 7" in others, agent.text


def test_a_killed_agent_leaves_no_directory(job):
    agent = job.call(*HERE, job.write("waits.py", WAITS), within=PLAIN)
    both(job, "started")
    agent.process.kill()
    agent.process.wait()
    job.until(lambda: list(job.scratch.iterdir()) == [], seconds=20)


def test_clean_removes_what_the_killed_agent_of_a_master_left(job):
    """Its record stays for the agent in its place; nothing happens to that of a living one."""
    def clean():
        done = subprocess.run([BINARY, "clean"], env=dict(os.environ, TMPDIR=str(job.scratch)), capture_output=True, text=True,
                              timeout=60, check=True)
        return [line for line in done.stdout.splitlines() if str(job.scratch) in line]

    agent = job.call("--nnodes", "1:2", "--rdzv-conf", "last_call_timeout=0", "--rdzv-backend", "c10d",
                     "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--nproc-per-node", 2, job.write("waits.py", WAITS), within=PLAIN)
    pids = [line["pid"] for line in both(job, "started")]
    left, = job.scratch.iterdir()
    assert clean() == []
    agent.process.kill()
    agent.process.wait()
    job.until(lambda: not any(alive(pid) for pid in pids), seconds=20)
    job.until(lambda: {path.name for path in left.iterdir()} == {".muster-job", "master.record", "master.record.lock"})
    assert clean() == [], "the agent in its place may come"
    for path in (left, left / "master.record"):
        os.utime(path, (0, 0))
    assert clean() == [f"removed {left}"]
    assert list(job.scratch.iterdir()) == []
