"""A process of real clients of torch's store. For each line "PORT WHAT COUNT NAME" of its input it says "ready", waits for a
line, and prints when it began and ended, on the clock that all processes of a machine share."""

import datetime
import sys
import time

from torch.distributed import TCPStore


def client(port):
    return TCPStore("127.0.0.1", port, is_master=False, wait_for_workers=False, timeout=datetime.timedelta(seconds=60))


def clients(port, count, name, one):
    """Each connects, sets its key and reads it, and stays, as ranks do that begin."""
    del one
    kept = []
    for number in range(count):
        kept.append(client(port))
        kept[-1].set(f"{name}/{number}", b"x" * 64)
        kept[-1].get(f"{name}/{number}")
    return kept


def operations(port, count, name, one):
    """Of one client: what process groups do while they are made."""
    del port
    for number in range(count // 4):
        one.set(f"{name}/{number}", b"x" * 64)
        one.get(f"{name}/{number}")
        one.add(f"{name}/count", 1)
        one.wait([f"{name}/{number}"])


for line in sys.stdin:
    port, what, count, name = line.split()
    one = client(int(port))
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.monotonic()
    held = {"clients": clients, "operations": operations}[what](int(port), int(count), name, one)
    print(begin, time.monotonic(), flush=True)
    sys.stdin.readline()  # connections stay until all have been made
    held = one = None
