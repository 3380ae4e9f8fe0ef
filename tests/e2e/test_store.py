"""Real clients of torch take our TCPStore for torch's own.

MUSTER_STORE_PYTHON names a Python whose torch alone takes part, as `./dev drill store-versions` does with one torch after the other.
"""

import os
import subprocess
import sys
import textwrap

import pytest

from conftest import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import find  # noqa: E402

SERVER = BINARY.parents[2] / "bench" / "muster_store_server"
JOBS, PEERS = "python3", "python-elastic-peers"
NAMED = os.environ.get("MUSTER_STORE_PYTHON")


@pytest.fixture(params=[NAMED] if NAMED else [JOBS, PEERS])
def python(request):
    """One that has a torch: that of jobs, and a current one where it is here."""
    if request.param != PEERS:
        return request.param
    return find(PEERS) or pytest.skip("there is no current torch; ./dev bench elastic-store fetches one")


class Store:
    def __init__(self, server):
        self.server, self.port = server, int(server.stdout.readline())

    def begin_anew(self):
        """As an agent does for each attempt."""
        self.server.stdin.write("\n")
        self.server.stdin.flush()
        assert self.server.stdout.readline() == "anew\n"


@pytest.fixture
def store():
    server = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Store(server)
        assert server.poll() is None, "the server ended on its own"
    finally:
        server.stdin.close()
        assert server.wait(20) == 0
        server.stdout.close()


def run(python, programs, **environment):
    """All at once, each with its text and its variables; their outputs."""
    started = [subprocess.Popen([python, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, **environment, **variables})
               for text, variables in programs]
    outputs = []
    for process in started:
        output, _ = process.communicate(timeout=110)
        assert process.returncode == 0, output
        outputs.append(output)
    return outputs


CLIENT = """
    import datetime, sys
    import torch, torch.distributed as dist
    OLD = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 3)
    def store(seconds=30):
        return dist.TCPStore("127.0.0.1", {port}, is_master=False, timeout=datetime.timedelta(seconds=seconds))
"""


def client(store, text):
    return textwrap.dedent(CLIENT.format(port=store.port)) + textwrap.dedent(text)


def test_each_operation_of_a_client(store, python):
    run(python, [(client(store, """
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
            assert {"n", "p/k"} <= set(s.list_keys())
        if hasattr(s, "clone"):
            assert s.clone().get("n") == b"42"
        if hasattr(s, "barrier"):
            s.barrier("alone", 1)
        """), {})])


def test_a_wait_ends_when_another_sets_the_key_or_with_its_time(store, python):
    run(python, [(client(store, """
        s = store()
        s.set("ready", "")
        assert s.get("answer") == b"42"
        short = store(1)
        try:
            short.get("never")
            sys.exit("it came")
        except RuntimeError as error:
            assert "imeout" in str(error) or "imed out" in str(error) or "reset" in str(error), error
        if not OLD:  # which leave their connection at that
            short.set("later", "it goes on")
            assert short.get("later") == b"it goes on"
        if hasattr(s, "queue_pop"):
            s.set("popping", "")
            assert s.queue_pop("q") == b"item"
        if hasattr(s, "barrier"):
            s.barrier("both", 2)
        s.set("done", "")
        """), {}), (client(store, """
        s = store()
        s.wait(["ready"])
        s.set("answer", "42")
        if hasattr(s, "queue_pop"):
            s.wait(["popping"])
            s.queue_push("q", "item")
        if hasattr(s, "barrier"):
            s.barrier("both", 2)
        s.wait(["done"])
        """), {})])


def test_a_process_group_forms_over_it_again_and_again(store, python):
    """As workers of an elastic agent that hosts the store: all are clients. Not every torch keeps the keys of attempts apart."""
    program = """
        import os, torch, torch.distributed as dist
        dist.init_process_group("gloo")
        t = torch.ones(1) * (dist.get_rank() + 1)
        dist.all_reduce(t)
        dist.barrier()
        print(int(t.item()))
        dist.destroy_process_group()  # torch 2.10 aborts now and then where one is left behind
    """
    for attempt in range(2):
        store.begin_anew()
        said = run(python, [(program, {"RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(3)],
                   WORLD_SIZE="3", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(store.port),
                   TORCHELASTIC_USE_AGENT_STORE="True", TORCHELASTIC_RESTART_COUNT=str(attempt))
        assert [line.split()[-1] for line in said] == ["6", "6", "6"]
