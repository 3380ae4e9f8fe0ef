"""What workers share at the store of their agent, from python/muster: keys, barriers, points."""

from conftest import ROOT, free_port

PROGRAM = """
    import os, signal, sys, threading
    sys.path.insert(0, sys.argv[1])
    import muster
    here, keys = muster.world(), muster.keys()

    def tell(*words):
        os.write(1, (" ".join(map(str, (here.rank, *words))) + "\\n").encode())

    if here.restart_count == 0:
        tell("first")
        keys.set("left", b"over")
        muster.barrier("all have set it")
        if here.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            muster.barrier("never", timeout=60)
        except (ConnectionError, TimeoutError) as error:
            tell("ended", type(error).__name__)
        raise SystemExit(1)

    tell("again", keys.get("left"))
    for step in range(20):
        keys.add("steps")
        muster.barrier()
        steps = int(keys.get("steps"))
        muster.barrier()
        assert steps == here.size * (step + 1), steps
    if here.rank == 0:
        try:
            muster.barrier("late", timeout=0.01)
            tell("not late")
        except TimeoutError as error:
            tell(error)
        keys.set("go", b"")
    else:
        keys.wait_for("go")
    muster.barrier("late")

    # Threads and children have connections of their own.
    waiter = threading.Thread(target=keys.wait_for, args=("from the child",))
    waiter.start()
    if here.rank == 0 and os.fork() == 0:
        keys.set("from the child", b"1")
        os._exit(0)
    waiter.join()

    alone = muster.join_sync(f"only {here.rank}")
    assert not alone and not muster.join_sync(f"only {here.rank}"), "others have not reached it"
    assert muster.join_sync("end", timeout=60)
    tell("end", keys.get("steps"), keys.delete("no such key"))
"""


def test_workers_of_two_nodes_share_keys_and_meet(job):
    """The second attempt sees nothing of the first, and no one waits for a worker that is gone."""
    script = job.write("share.py", PROGRAM)
    flags = ["--nnodes", "2", "--nproc-per-node", "2", "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--max-restarts", "1"]
    nodes = [job.call(*flags, script, ROOT / "python/muster/src") for _ in range(2)]
    assert [node.wait() for node in nodes] == [0, 0], [node.text for node in nodes]
    said = sorted(line for node in nodes for line in node.text.splitlines())
    assert [line for line in said if " first" in line] == [f"{rank} first" for rank in range(4)]
    assert [line for line in said if " again " in line] == [f"{rank} again None" for rank in range(4)]
    assert [line for line in said if " end b" in line] == [f"{rank} end b'80' False" for rank in range(4)]
    assert "0 1 of 4 workers have come to the barrier 'late' within 0.01 s" in said, said
