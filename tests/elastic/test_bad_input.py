"""Errors in a job are reported with their cause, their place and what to do; and nothing is retried forever.

What is seen before anything starts, and errors of the program, are in test_one_node.py; who is missing in test_nodes.py.
"""

import contextlib
import os
import re
import socket
import struct
import subprocess
import threading

import pytest

from conftest import free_port, listens


@contextlib.contextmanager
def stranger(answer):
    """Another program that listens; the answer to whatever comes first, or None to say nothing."""
    kept = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    kept.append(server.accept()[0])
                    if answer is not None:
                        kept[-1].recv(4096)
                        kept[-1].sendall(answer)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in kept:
                connection.close()


def second(job, port, *more):
    """The agent of a node that does not host the master, and gives up soon."""
    return job.call("--nnodes", 2, "--node-rank", 1, "--master-addr", "127.0.0.1", "--master-port", port, "--local-addr", "127.0.0.1",
                    "--rdzv-conf", "join_timeout=2", *more, job.script)


def test_a_module_that_is_not_there_is_started_once(job):
    agent = job.call("--standalone", "--max-restarts", 3, "-m", "no.such.module")
    assert agent.wait() == 1
    assert "ImportError: no.such.module can't be run as a module (-m); another try would end in the same way" in agent.text, agent.text
    assert agent.text.count("No module named") == 1, agent.text


def test_the_port_of_the_store_is_taken(job):
    with stranger(None) as port:
        agent = job.call("--nnodes", 1, "--master-addr", "127.0.0.1", "--master-port", port, job.script)
        assert agent.wait() == 2
    assert re.search(rf"--master-port {port}, where the workers' store is to be: .*another program listens there", agent.text), agent.text


@pytest.mark.parametrize("answer, said", [
    (None, "the server does not answer"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the other side does not speak this protocol"),
], ids=["says nothing", "speaks another protocol"])
def test_something_else_is_where_the_nodes_meet(job, answer, said):
    with stranger(answer) as port:
        agent = second(job, port)
        assert agent.wait() == 1
    assert f"no world after 2 s (join_timeout of --rdzv-conf): the job's master can't be reached: {said}" in agent.text, agent.text
    assert f"The nodes meet at 127.0.0.1:{port} (--master-addr and --master-port)" in agent.text, agent.text


@pytest.mark.parametrize("hello", [b"\0" + struct.pack("<I", 0x3C85F7CE), b"\1" + struct.pack("<Q", 19) + b"/torch.rendezvous.a"],
                         ids=["torch 2.1 and newer", "torch before 2.1"])
def test_a_client_of_torchs_own_store_is_told_apart_at_once(job, hello):
    """As torchrun is one that a worker starts, or another node in place of muster-run. It would try for its whole time. These are its first
    bytes."""
    port = free_port()
    agent = job.start("--nnodes", 2, "--rdzv-endpoint", f"127.0.0.1:{port}")
    job.until(lambda: listens(port))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(hello)
        while client.recv(100):
            pass
    job.until(lambda: "torch's own torchrun calls where agents of muster-run meet" in agent.text)


def test_nobody_is_where_the_nodes_meet(job):
    port = free_port()
    agent = second(job, port)
    assert agent.wait() == 1
    assert f"connecting to 127.0.0.1:{port}: Connection refused" in agent.text, agent.text
    assert "is one of this job there, and does every node say the same?" in agent.text, agent.text


def test_a_master_of_another_version(job):
    """Frames have their length before them, the lowest byte first; this one is Welcome{version {major 9}, server "other"}."""
    welcome = b"\x12\x0b\x0a\x02\x08\x09\x12\x05other"
    with stranger(struct.pack("<I", len(welcome)) + welcome) as port:
        agent = second(job, port)
        assert agent.wait() == 1
    assert ("the server speaks version 9.0 of the protocol and this program 1.2: at most one minor version may lie between them; "
            "install the same release of muster on both") in agent.text, agent.text


def test_an_agent_of_another_version_is_told_so_by_the_master(job):
    port = free_port()
    agent = job.start("--nnodes", "1:2", "--node-rank", 0, "--master-addr", "127.0.0.1", "--master-port", port, "--rdzv-id", "v",
                      "--local-addr", "127.0.0.1")
    job.until(lambda: listens(port))
    # Hello{version {major 9}, token "run v", client "c"}
    hello = b"\x0a\x0e\x0a\x02\x08\x09\x12\x05run v\x1a\x01c"
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(struct.pack("<I", len(hello)) + hello)
        said = b"".join(iter(lambda: client.recv(4096), b""))
    assert b"the caller speaks version 9.0 of the protocol" in said, said
    assert "a connection was refused" in agent.text and "version 9.0" in agent.text, agent.text


def test_two_agents_claim_one_slot(job):
    port = free_port()
    words = ["--nnodes", "1:2", "--node-rank", 0, "--master-addr", "127.0.0.1", "--master-port", port, "--local-addr", "127.0.0.1",
             "--heartbeat", 1, "--rdzv-conf", "last_call_timeout=0"]
    job.start(*words, steps=10_000)
    job.until(lambda: job.lines("step"))
    other = job.start(*words, steps=10_000)
    assert other.wait() == 1
    assert re.search(r"slot 0 is held by the agent .* at 127\.0\.0\.1, which is alive: give each node its own --node-rank, or none",
                     other.text), other.text
    assert len(job.lines("started")) == 1, "the first one is not disturbed"


def test_another_token(job):
    port = free_port()
    words = ["--nnodes", "1:2", "--rdzv-endpoint", f"127.0.0.1:{port}", "--local-addr", "127.0.0.1"]
    job.start(*words, "--token-file", job.write("ours", "ours\n"), steps=10_000)
    job.until(lambda: listens(port))
    other = job.call(*words, "--token-file", job.write("theirs", "theirs\n"), job.script)
    assert other.wait() == 1
    assert ("the job's master refuses this agent: this is not the token of the job served here; all nodes of a job need the same "
            "token (--token-file or MUSTER_TOKEN), or without one the same --rdzv-id") in other.text, other.text


def test_no_number_of_nodes_is_a_multiple_of_the_unit(job):
    agent = job.call("--nnodes", "2:3", "--node-unit", 4, "--rdzv-endpoint", f"127.0.0.1:{free_port()}", job.script)
    assert agent.wait() == 2
    assert "--node-unit 4: no number of nodes from 2 to 3 (--nnodes 2:3) is a multiple of 4" in agent.text, agent.text


def test_a_full_disk_below_the_logs_stops_nobody(job):
    within = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && exec "$@"', job.place / "logs"]
    (job.place / "logs").mkdir()
    if os.geteuid() != 0 or subprocess.run([*within, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no small file system can be made here")
    script = job.write("chatter.py", """
        for line in range(4000):
            print("x" * 63)
        open("survived", "w").close()
    """)
    agent = job.call("--standalone", "--redirects", 3, "--log-dir", job.place / "logs", script, within=within)
    assert agent.wait() == 0, agent.text
    assert (job.place / "survived").exists()
    assert re.search(r"its log can't be written rank=0 stream=stdout file=\S*/attempt_0/0/stdout\.log error=\"No space left on device\"",
                     agent.text), agent.text
    assert re.search(r"bytes of a worker's output were lost in total rank=0 bytes=\d+", agent.text), agent.text
