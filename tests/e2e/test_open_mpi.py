"""Debian's Open MPI over the pods' network: mpirun in one pod starts its daemons in the others, and the ranks talk
to each other by eth0."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import pytorchjob

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's mpi4py

# Stands for sshd, which would need keys: runs the one command line that it is sent and answers with its output, then
# its exit status.
DAEMON = """
import socket, subprocess
with socket.create_server(("", 2222)) as listener:
    peer, _ = listener.accept()
with peer, peer.makefile("rw") as stream:
    command = ["sh", "-c", stream.readline()]
    status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=peer, stderr=peer).returncode
    stream.write(f"exit {status}\\n")
raise SystemExit(status)
"""

# Stands for ssh: HOST COMMAND... The worker's pod may start after ours, so until it listens we are refused.
AGENT = """
import socket, sys, time
while True:
    try:
        peer = socket.create_connection((sys.argv[1], 2222), 30)
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
peer.settimeout(None)
line = ""
with peer, peer.makefile("rw") as stream:
    print(*sys.argv[2:], file=stream, flush=True)
    for line in stream:
        sys.stderr.write(line)
raise SystemExit(line != "exit 0\\n")
"""

# Each rank hands 4 MiB of its own to the next, and all add up their numbers.
RING = """
import pathlib, socket
from mpi4py import MPI
SIZE = 4 << 20
def received():
    lines = pathlib.Path("/proc/self/net/dev").read_text().splitlines()
    return next(int(line.split(":")[1].split()[0]) for line in lines if line.split(":")[0].strip() == "eth0")
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
before = received()
world.Barrier()
got = bytearray(SIZE)
world.Sendrecv(bytes([rank + 1]) * SIZE, dest=(rank + 1) % size, recvbuf=got, source=(rank - 1) % size)
assert got == bytes([(rank - 1) % size + 1]) * SIZE, "another message"
came = received() - before
assert came >= SIZE, f"only {came} bytes came by eth0"
total = world.allreduce(10 ** rank)
hosts = world.allgather(socket.gethostname())
print(f"rank {rank} of {size} on {hosts[rank]} after {hosts[rank - 1]}, sum {total}", flush=True)
"""


def file(name, content):
    return f"cat >/tmp/{name} <<'END'\n{content.strip()}\nEND\n"


MASTER = file("agent.py", AGENT) + file("ring.py", RING) + f"""
mpirun --allow-run-as-root --leave-session-attached --bind-to none \\
    --mca plm_rsh_agent "{PYTHON} /tmp/agent.py" --mca oob_tcp_if_include eth0 \\
    --mca pml ob1 --mca btl self,tcp --mca btl_tcp_if_include eth0 \\
    --host mpi-master-0,mpi-worker-0,mpi-worker-1 {PYTHON} /tmp/ring.py
"""

WORKER = file("daemon.py", DAEMON) + file("ring.py", RING) + f"exec {PYTHON} /tmp/daemon.py\n"


@pytest.fixture(autouse=True)
def open_mpi():
    if shutil.which("mpirun", path="/usr/bin") is None:
        pytest.skip("mpirun is not installed (Debian's package openmpi-bin)")
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True,
                                                    check=False).returncode:
        pytest.skip("mpi4py is not installed (Debian's package python3-mpi4py)")


def test_mpirun_starts_a_rank_in_each_pod_and_they_talk_by_eth0(muster, user):
    muster.environment["PATH"] = "/usr/bin:/bin"
    manifest = muster.write("job.yaml", pytorchjob("mpi", MASTER, 2, WORKER))
    finished = muster.run("run", manifest, "--sandbox", "namespaces", limit=100)
    assert finished.status == 0, finished
    # mpirun may pass on two ranks' lines before the line feed of the first.
    ranks = sorted(re.findall(r"rank \d of \d on \S+ after \S+, sum \d+", finished.text))
    assert ranks == ["rank 0 of 3 on mpi-master-0 after mpi-worker-1, sum 111",
                     "rank 1 of 3 on mpi-worker-0 after mpi-master-0, sum 111",
                     "rank 2 of 3 on mpi-worker-1 after mpi-worker-0, sum 111"], finished
