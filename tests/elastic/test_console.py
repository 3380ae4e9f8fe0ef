"""What workers write and read: nothing is lost on the way to a slow reader, and rank 0 has our input."""

import os
import select
import subprocess

import pytest

from conftest import LIMIT_S, MUSTER_RUN
from torchruns import TORCHRUNS

HERE = ["--standalone", "--nproc-per-node", "2"]
LINES = 8000
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
# On Python 3.11 torchrun of torch 1.13 fails without files, and with those of stderr.
FILES = ["--redirects", "1", "--tee", "1"]


def begin(job, *words, program=(MUSTER_RUN,), **streams):
    with open(job.place / "errors.txt", "wb") as errors:
        return subprocess.Popen([*program, *map(str, words)], stdout=subprocess.PIPE, stderr=errors, cwd=job.place,
                                env={**os.environ, "TMPDIR": str(job.scratch)}, **{"stdin": subprocess.DEVNULL, **streams})


def errors(job):
    return (job.place / "errors.txt").read_text()


def test_a_reader_that_begins_late_gets_every_line(job):
    script = job.write("talk.py", f"""
        import os, pathlib
        for line in range({LINES}):
            print(f"rank {{os.environ['RANK']}} line {{line}} " + "x" * 100)
        pathlib.Path("talked" + os.environ["RANK"]).touch()
    """)
    run = begin(job, *HERE, "--tee", 3, "--log-dir", job.place / "logs", script)
    job.until(lambda: (job.place / "talked0").exists() and (job.place / "talked1").exists())
    lines = run.stdout.read().decode().splitlines()
    assert run.wait(LIMIT_S) == 0, errors(job)
    assert sorted(lines) == sorted(f"[default{rank}]:rank {rank} line {line} " + "x" * 100
                                   for rank in range(2) for line in range(LINES)), errors(job)
    assert errors(job) == ""


@pytest.mark.parametrize("size", [4000, 30_000])
def test_long_lines_stay_whole(job, size):
    script = job.write("long.py", f"""
        import os
        for line in range(100):
            print(os.environ["RANK"] * {size}, flush=True)
    """)
    run = begin(job, *HERE, "--tee", 3, "--log-dir", job.place / "logs", script)
    lines = run.stdout.read().decode().splitlines()
    assert run.wait(LIMIT_S) == 0, errors(job)
    assert sorted(lines) == sorted(f"[default{rank}]:" + str(rank) * size for rank in range(2) for _ in range(100))


def test_a_progress_bar_moves(job):
    script = job.write("bar.py", """
        import os, sys, time
        sys.stdout.write("\\r 10%")
        sys.stdout.flush()
        while not os.path.exists("seen"):
            time.sleep(0.01)
        sys.stdout.write("\\r100%\\n")
    """)
    run = begin(job, "--standalone", "--tee", 3, "--log-dir", job.place / "logs", script)
    bar = b"[default0]: 10%\r"
    assert select.select([run.stdout], [], [], LIMIT_S)[0], errors(job)
    assert run.stdout.read(len(bar)) == bar
    (job.place / "seen").touch()
    assert run.stdout.read() == b"[default0]:100%\n"
    assert run.wait(LIMIT_S) == 0, errors(job)


ASKS = """
    import os, sys
    if os.environ["RANK"] == "0":
        print("heard", input(), sys.stdin.read().split(), flush=True)
"""


def assert_rank_0_hears(job, *words, program):
    run = begin(job, *words, job.write("ask.py", ASKS), program=program, stdin=subprocess.PIPE)
    out, _ = run.communicate(b"one\ntwo three\n", timeout=LIMIT_S)
    assert run.returncode == 0, errors(job)
    assert out.decode().splitlines()[-1].removeprefix("[default0]:") == "heard one ['two', 'three']"


def test_rank_0_reads_our_input(job):
    assert_rank_0_hears(job, *HERE, program=(MUSTER_RUN,))


@pytest.mark.parametrize("python", TORCHRUNS)
def test_rank_0_reads_the_input_of_torchrun(job, python):
    assert_rank_0_hears(job, *TORCHRUN, *FILES, program=(python,))


@pytest.mark.parametrize("python", TORCHRUNS)
def test_tee_and_files_are_those_of_torchrun(job, python):
    """The same lines on the console, with the same prefixes, and the same files with the same content."""
    script = job.write("lines.py", """
        import os
        for line in range(3):
            print("rank", os.environ["RANK"], "line", line, flush=True)
    """)
    found = []
    for name, program in (("ours", (MUSTER_RUN, *HERE)), ("theirs", (python, *TORCHRUN))):
        logs = job.place / name
        run = begin(job, *FILES, "--log_dir", logs, script, program=program)
        out, _ = run.communicate(timeout=LIMIT_S)
        assert run.returncode == 0, errors(job)
        files = {str(path.relative_to(logs).relative_to(next(logs.iterdir()).name)): path.read_text()
                 for path in logs.rglob("stdout.log")}
        found.append((sorted(out.decode().splitlines()), files))
    assert found[0] == found[1]
    assert found[0][1], "there are files"


def test_other_ranks_have_no_input(job):
    script = job.write("ask.py", """
        import os, sys
        if os.environ["RANK"] == "1":
            print("heard", repr(sys.stdin.read()), flush=True)
    """)
    run = begin(job, *HERE, script, stdin=subprocess.PIPE)
    out, _ = run.communicate(b"one\n", timeout=LIMIT_S)
    assert (run.returncode, out) == (0, b"heard ''\n"), errors(job)


def test_a_breakpoint_can_be_used(job):
    script = job.write("stops.py", """
        answer = 6 * 7
        breakpoint()
        print("after", flush=True)
    """)
    run = begin(job, "--standalone", script, stdin=subprocess.PIPE)
    out, _ = run.communicate(b"p answer\nc\n", timeout=LIMIT_S)
    assert run.returncode == 0, errors(job)
    assert "(Pdb) 42" in out.decode() and out.decode().endswith("after\n"), out
