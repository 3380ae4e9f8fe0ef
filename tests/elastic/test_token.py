"""A job's token on its way from the first node to the others, by hand."""

import pathlib
import re

from conftest import free_port


def words_of(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


def variables_of(pid):
    return pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")


def test_the_line_that_the_first_node_prints_lets_another_join_and_nothing_else_does(job):
    here = {"PET_LOCAL_ADDR": "127.0.0.1"}
    words = ["--nnodes", "1:2", "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--rdzv-conf", "last_call_timeout=0"]
    first = job.start(*words, "--token-file", "new", steps=10_000, environment=here)
    job.until(lambda: job.lines("step", world=1))
    assert "this job has no token" not in first.text, first.text
    [line] = re.findall(r"^ +(MUSTER_TOKEN=.*)$", first.text, re.M)
    token = re.match(r"MUSTER_TOKEN=(\w+) ", line)[1]

    for more in ([], ["--token-file", "new"]):
        stranger = job.call(*words, *more, job.script, environment=here)
        assert stranger.wait() == 1
        assert "the job's master refuses this agent: this is not the token of the job served here" in stranger.text, stranger.text

    pasted = job.call("-c", line, environment=here, program="/bin/bash")  # which becomes the last command that it is given
    job.until(lambda: job.lines("step", world=2))
    agents = [first.process.pid, pasted.process.pid]
    assert not any(token in word for pid in agents for word in words_of(pid)), "ps shows words to all users"
    workers = [line["pid"] for line in job.lines("started", world=2)]
    assert len(workers) == 2
    assert not any(name.startswith("MUSTER_TOKEN") for pid in workers for name in variables_of(pid))
