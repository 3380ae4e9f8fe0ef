"""What an agent waits for has an end, and the end says what it was."""

from conftest import free_port

# Ranks of the first node stay, the others end at once.
WORKER = """
    import os, sys, time
    with open(sys.argv[1], "a") as said:
        said.write('{"what": "started", "rank": %s}\\n' % os.environ["RANK"])
    if os.environ["GROUP_RANK"] == "0":
        time.sleep(1000)
"""


def start(job, port, *words):
    return job.call("--master-addr", "127.0.0.1", "--master-port", port, "--local-addr", "127.0.0.1", *words, job.write("stay.py", WORKER),
                    job.said)


def test_a_master_that_does_not_come_back_after_the_end_of_the_workers(job):
    port = free_port()
    first, last = (start(job, port, "--nnodes", 2, "--node-rank", rank, "--rdzv-conf", "join_timeout=2") for rank in range(2))
    job.until(lambda: len(job.lines("started")) == 2)
    first.process.kill()
    assert last.wait() == 1
    assert ("the workers of this node have ended with 0, and the job's master could not be reached for 2 s (join_timeout of --rdzv-conf): "
            f"127.0.0.1:{port}: ") in last.text, last.text
    assert "so this is no success" in last.text and "is one of this job there" not in last.text, last.text


def test_a_standby_node_has_the_time_of_pend_timeout(job):
    port = free_port()
    words = ["--nnodes", "2:3", "--node-unit", 2]
    for rank in range(2):
        start(job, port, *words, "--node-rank", rank, "--rdzv-conf", "last_call_timeout=0")
    job.until(lambda: job.lines("started", rank=0))
    late = start(job, port, *words, "--node-rank", 2, "--rdzv-conf", "pend_timeout=1")
    assert late.wait() == 1
    assert "no place for this node after 1 s as a standby node (pend_timeout of --rdzv-conf)" in late.text, late.text
