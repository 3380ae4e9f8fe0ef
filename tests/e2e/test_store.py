"""Real clients of torch take our TCPStore for torch's own."""

import os
import subprocess
import textwrap

import pytest

from conftest import BINARY

SERVER = BINARY.parents[2] / "bench" / "muster_store_server"


@pytest.fixture
def store():
    """Its port."""
    server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(server.stdout.readline())
        assert server.poll() is None, "the server ended on its own"
    finally:
        server.stdin.close()
        assert server.wait(20) == 0
        server.stdout.close()


def run(programs, **environment):
    """All at once, each with its text and its variables; their outputs. By the python3 that jobs get."""
    started = [subprocess.Popen(["python3", "-c", textwrap.dedent(text)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, **environment, **variables})
               for text, variables in programs]
    outputs = []
    for process in started:
        output, _ = process.communicate(timeout=100)
        assert process.returncode == 0, output
        outputs.append(output)
    return outputs


CLIENT = """
    import datetime, sys
    import torch.distributed as dist
    def store(seconds=30):
        return dist.TCPStore("127.0.0.1", {port}, is_master=False, timeout=datetime.timedelta(seconds=seconds))
"""


def client(port, text):
    return textwrap.dedent(CLIENT.format(port=port)) + textwrap.dedent(text)


def test_each_operation_of_a_client(store):
    run([(client(store, """
        s = store()
        s.set("k", "v")
        assert s.get("k") == b"v"
        assert s.add("n", 41) == 41 and s.add("n", 1) == 42 and s.get("n") == b"42"
        assert s.compare_set("k", "v", "w") == b"w" and s.compare_set("k", "v", "x") == b"w"
        assert s.compare_set("none", "v", "x") == b"v"
        keys = s.num_keys()
        assert s.delete_key("k") and not s.delete_key("k") and s.num_keys() == keys - 1
        s.set("long", "x" * 3_000_000)
        assert len(s.get("long")) == 3_000_000
        p = dist.PrefixStore("p", s)
        p.set("k", "1")
        assert s.get("p/k") == b"1"
        s.wait(["p/k", "n"])
        if hasattr(s, "append"):
            s.append("a", "1"); s.append("a", "2")
            assert s.get("a") == b"12"
        if hasattr(s, "multi_get"):
            s.multi_set(["x", "y"], ["1", "2"])
            assert s.multi_get(["x", "y"]) == [b"1", b"2"]
        if hasattr(s, "check"):
            assert s.check(["n"]) and not s.check(["nobody"])
        if hasattr(s, "queue_push"):
            s.queue_push("q", "1"); s.queue_push("q", "2")
            assert s.queue_len("q") == 2 and s.queue_pop("q") == b"1" and s.queue_pop("q") == b"2"
        if hasattr(s, "list_keys"):
            assert "n" in s.list_keys()
        """), {})])


def test_a_wait_ends_when_another_sets_the_key_or_with_its_time(store):
    run([(client(store, """
        s = store()
        s.set("ready", "")
        assert s.get("answer") == b"42"
        short = store(1)
        try:
            short.get("never")
            sys.exit("it came")
        except RuntimeError as error:
            assert "imeout" in str(error) or "imed out" in str(error) or "reset" in str(error), error
        s.set("done", "")
        """), {}), (client(store, """
        s = store()
        s.wait(["ready"])
        s.set("answer", "42")
        s.wait(["done"])
        """), {})])


def test_a_process_group_forms_over_it_again_and_again(store):
    """As workers of an elastic agent that hosts the store: all are clients, each attempt has its own keys."""
    program = """
        import os, torch, torch.distributed as dist
        dist.init_process_group("gloo")
        t = torch.ones(1) * (dist.get_rank() + 1)
        dist.all_reduce(t)
        dist.barrier()
        print(int(t.item()))
    """
    for attempt in range(3):
        said = run([(program, {"RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(3)],
                   WORLD_SIZE="3", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(store),
                   TORCHELASTIC_USE_AGENT_STORE="True", TORCHELASTIC_RESTART_COUNT=str(attempt))
        assert [line.split()[-1] for line in said] == ["6", "6", "6"]
