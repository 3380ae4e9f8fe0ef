"""What `./dev drill peers-faults` shows on torchrun and DLRover and finds absent here: the part of it that needs neither.

That a node may come back, and that the node of the master may go, is in test_nodes.py.
"""

import contextlib

import pytest

from conftest import MUSTER_RUN
from silent_names import ADDRESSES, SilentNames, Unavailable


def test_a_restart_finds_nothing_of_the_attempt_before(job):
    script = job.write("leaves.py", """
        import os, signal
        import torch.distributed as dist
        store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)
        been = store.add("been here", 1)
        if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        print("for the first time" if been == 1 else "again", flush=True)
    """)
    agent = job.call("--standalone", "--max-restarts", 1, script)
    assert agent.wait() == 0, agent.text
    assert "for the first time" in agent.text, agent.text


@pytest.fixture(name="silence")
def make_silence(tmp_path):
    try:
        made = SilentNames(tmp_path)
    except Unavailable as why:
        pytest.skip(f"a network with a name server of its own can't be made here: {why}")
    with contextlib.closing(made):
        yield made


def test_nobody_asks_for_the_name_of_an_address(job, silence):
    """Agents, their master, and the store with real clients; the addresses are in no file."""
    words = ["--nnodes", 2, "--rdzv-endpoint", f"{ADDRESSES[0]}:29400"]
    agents = [job.start(*words, "--local-addr", address, within=silence.within, steps=3) for address in ADDRESSES]
    assert [agent.wait() for agent in agents] == [0, 0], agents[0].text + agents[1].text
    assert silence.questions() == []


def test_on_one_machine_workers_meet_at_an_address_that_has_a_name(job, silence):
    """Newer clients ask for the name of what they connect to. Files of hosts have one for ::1, and none for 127.0.0.1 as IPv6 maps it."""
    script = job.write("meet.py", """
        import os, socket
        socket.setdefaulttimeout(5)
        first = socket.getaddrinfo(os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"], socket.AF_INET6, socket.SOCK_STREAM, 0,
                                   socket.AI_V4MAPPED | socket.AI_ALL)[0][-1]
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as client:
            client.connect(first)
        print(socket.getnameinfo(first, 0)[0], flush=True)
    """)
    agent = job.call("--standalone", script, within=silence.within)
    assert agent.wait() == 0, agent.text
    assert "localhost" in agent.text and silence.questions() == [], agent.text


@pytest.mark.parametrize("name", ["muster-run", "torchrun", "dlrover-run"])
def test_one_node_needs_no_package_under_any_of_its_names(job, name):
    """A worker has what it had without us, of Python's own library too, but for the hook."""
    program = job.place / name
    program.symlink_to(MUSTER_RUN)
    script = job.write("has.py", """
        import sys
        print("has", " ".join(sorted({name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names)), flush=True)
    """)
    agent = job.call("--standalone", "--nnodes", 1, "--nproc-per-node", 1, script, program=program)
    alone = job.call(script, program="python3")
    assert agent.wait() == 0 and alone.wait() == 0, agent.text + alone.text
    assert set(agent.text.split()) - set(alone.text.split()) <= {"sitecustomize", "_muster_hook", "_muster_errors"}, agent.text
