"""Jobs that hang, fork, go silent or shout: a clear condition and a running muster."""

import contextlib
import os
import pathlib
import resource
import time

import pytest

from conftest import pytorchjob


@pytest.mark.usefixtures("user")
def test_a_daemon_that_keeps_the_output_open_does_not_block_the_end(muster):
    script = "(setsid sleep 1000 &); echo done; exit 0"
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("daemon", script)), limit=30)
    assert finished.status == 0, finished
    assert "done" in finished.text
    assert not muster.processes()


@pytest.mark.usefixtures("user")
def test_a_process_that_ignores_sigterm_ends_with_its_grace(muster):
    script = "trap '' TERM; echo ready; while :; do sleep 1000; done"
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("deaf", script)), "--timeout", "300ms", limit=30)
    assert finished.status == 124, finished
    assert not muster.processes()


@pytest.mark.usefixtures("user")
def test_a_container_that_closes_its_outputs(muster):
    script = "echo before; exec 1>&- 2>&-; sleep 0.2; exit 3"
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("silent", script)), limit=30)
    assert finished.status == 3, finished
    assert "before" in finished.text


def test_hundreds_of_megabytes_on_one_line(muster, tmp_path):
    # The log is kept in a file; muster itself must not hold it.
    script = "head -c 400000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 0"
    path = muster.write("job.yaml", pytorchjob("loud", script))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    running = muster.start("run", path, "--quiet")
    peak = 0
    while running.process.poll() is None:
        try:
            with open(f"/proc/{running.process.pid}/status") as status:
                for line in status:
                    if line.startswith("VmHWM"):
                        peak = max(peak, int(line.split()[1]))
        except (FileNotFoundError, ProcessLookupError):
            break
        os.sched_yield()
    finished = running.finish()
    assert finished.status == 0, finished
    assert peak < 120_000, f"muster held {peak} KiB"
    assert before >= 0


@pytest.mark.usefixtures("user")
def test_a_log_of_half_a_gigabyte_fills_neither_disk_nor_memory(muster):
    # A reader that can't keep up is told so; the job is not slowed to its pace.
    script = f"yes {'0123456789' * 7} | head -c 500000000; exit 0"
    temporary = muster.directory / "temporary"
    temporary.mkdir()
    temporary.chmod(0o777)
    muster.environment["TMPDIR"] = str(temporary)
    running = muster.start("run", muster.write("job.yaml", pytorchjob("loud", script)), "--quiet")
    largest = 0
    peak = 0
    while running.process.poll() is None:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            kept = pathlib.Path(muster.environment["MUSTER_RUNS_DIR"] or muster.directory / ".muster")
            logs = [file for place in (temporary, kept) for file in place.rglob("*.log*")]
            largest = max(largest, sum(file.stat().st_size for file in logs))
            status = pathlib.Path(f"/proc/{running.process.pid}/status").read_text()
            if "VmHWM:" in status:  # else it has ended, and nobody has asked about it yet
                peak = max(peak, int(status.split("VmHWM:")[1].split()[0]))
            os.truncate(running.out_path, 0)  # what a person's terminal would have scrolled away
        time.sleep(0.05)
    assert running.process.returncode == 0
    # What it printed is kept in two files of 8 MiB besides.
    assert 0 < largest <= (5 * 10 + 2 * 8 + 1) * 2**20, largest
    assert peak < 120_000, f"muster held {peak} KiB"


def test_the_job_runs_on_when_it_writes_more_than_a_pipe_holds_and_ends_at_once(muster):
    script = "seq 1 200000; exit 0"
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("burst", script)), limit=60)
    assert finished.status == 0, finished
    assert "200000" in finished.text
    assert finished.text.count("\n") >= 200000


def test_a_program_that_does_not_exist_starts_nothing(muster):
    text = pytorchjob("nowhere", "true").replace('command: ["sh", "-c"]', 'command: ["no-such-program"]')
    finished = muster.run("run", muster.write("job.yaml", text), limit=30)
    assert finished.status == 2, finished
    assert "no-such-program" in finished.text
    assert "PATH" in finished.text


def test_a_container_without_a_command_is_refused(muster):
    text = "\n".join(line for line in pytorchjob("bare", "true").splitlines()
                     if "command:" not in line)
    text = text[:text.index("            args:")]
    finished = muster.run("run", muster.write("job.yaml", text), limit=30)
    assert finished.status == 2, finished
    assert "command" in finished.text
