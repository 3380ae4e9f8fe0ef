"""Keys, barriers and points in a world of one, and what is said where there is no store. With several workers: tests/elastic/test_keys.py."""

import threading

import pytest

from conftest import good, run


def test_one_worker_shares_with_itself():
    said = good(run("-c", """
import muster
keys = muster.keys()
print(keys.get("a"), keys.add("n", 2), keys.add("n"), keys.get("n"))
keys.set("a", b"x")
keys.wait_for("a", "n", timeout=5)
print(keys.get("a"), keys.delete("a"), keys.delete("a"), keys.get("a"), muster.keys() is keys)
muster.barrier()
muster.barrier()
print(muster.join_sync("p"), muster.join_sync("p"), muster.join_sync("q", timeout=5))
try:
    keys.wait_for("none", timeout=0.01)
except TimeoutError as error:
    print(error)
"""))
    assert said.splitlines() == ["None 2 3 b'3'", "b'x' True False None True", "True True True",
                                 "not all of the keys exist after 0.01 s"], said


def test_a_wait_ends_when_another_thread_sets_the_key():
    from muster._keys import KeysOfOne

    keys = KeysOfOne()
    waiter = threading.Thread(target=keys.wait_for, args=("a",))
    waiter.start()
    keys.set("a", b"")
    waiter.join(60)
    assert not waiter.is_alive()


@pytest.mark.parametrize("variables", [{}, {"MUSTER_GENERATION": "1.1"}, {"MUSTER_GENERATION": "1.1", "MASTER_ADDR": "here"},
                                       {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "4711"}])
def test_without_an_agent_it_says_so(variables):
    ended = run("-c", "import muster; muster.barrier()", RANK=0, WORLD_SIZE=2, **variables)
    assert ended.returncode == 1 and "RuntimeError: keys, barriers and sync points are at the store of muster-run" in ended.stderr, ended


def test_a_store_that_is_gone_is_told():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    ended = run("-c", "import muster; muster.keys().get('a')", RANK=0, WORLD_SIZE=2, MUSTER_GENERATION="1.1", MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port)
    assert ended.returncode == 1 and f"ConnectionError: the store of the workers at 127.0.0.1:{port}:" in ended.stderr, ended
