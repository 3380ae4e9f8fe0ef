"""Separates points by a plane, with the plane at parameter servers: each worker has points of its own, fetches the plane, and sends what its
points would change of it. The evaluator looks on until it is good enough.

Reads TF_CONFIG, which an ElasticJob sets, and needs nothing but Python.
"""

import contextlib
import json
import math
import os
import random
import socket
import socketserver
import threading
import time

CONFIG = json.loads(os.environ["TF_CONFIG"])
SERVERS = CONFIG["cluster"]["ps"]
KIND, INDEX = CONFIG["task"]["type"], CONFIG["task"]["index"]
NUMBERS = 8
STEPS, BATCH, RATE = 100, 32, 0.5
GOOD = 0.9


def share_of(server):
    """The numbers of the plane that this server has."""
    return range(server, NUMBERS, len(SERVERS))


# ---- a server ----

class Asked(socketserver.StreamRequestHandler):
    """A line has what is to be added to this server's numbers; they are the answer."""

    numbers, lock = [0.0 for _ in share_of(INDEX)], threading.Lock()

    def handle(self):
        for line in self.rfile:
            with self.lock:
                self.numbers[:] = [have + more for have, more in zip(self.numbers, json.loads(line), strict=True)]
                self.wfile.write(json.dumps(self.numbers).encode() + b"\n")


def serve():
    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    port = int(SERVERS[INDEX].rpartition(":")[2])
    with Server(("", port), Asked) as server:
        print(f"serves {len(share_of(INDEX))} numbers", flush=True)
        server.serve_forever()  # the job ends without it


# ---- who asks ----

def connected(address):
    """All replicas start at once, so it may not be there yet."""
    host, _, port = address.rpartition(":")
    while True:
        try:
            return socket.create_connection((host, int(port)), 60)
        except (ConnectionRefusedError, socket.gaierror):
            time.sleep(0.05)


class Plane:
    """What the servers have of it together."""

    def __init__(self, stack):
        self.streams = [stack.enter_context(stack.enter_context(connected(address)).makefile("rw")) for address in SERVERS]

    def add(self, change):
        """The plane with the change, and those of others."""
        for server, stream in enumerate(self.streams):
            print(json.dumps([change[at] for at in share_of(server)]), file=stream, flush=True)
        plane = [0.0] * NUMBERS
        for server, stream in enumerate(self.streams):
            for at, number in zip(share_of(server), json.loads(stream.readline()), strict=True):
                plane[at] = number
        return plane


def product(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


TRUTH = [random.Random(at).uniform(-1, 1) for at in range(NUMBERS)]


def points(source, count):
    """With the side of the true plane on which each is."""
    drawn = [[source.gauss(0, 1) for _ in range(NUMBERS)] for _ in range(count)]
    return [(point, float(product(point, TRUTH) > 0)) for point in drawn]


def change_for(plane, batch):
    change = [0.0] * NUMBERS
    for point, side in batch:
        wrong = side - 1 / (1 + math.exp(-product(point, plane)))
        change = [have + RATE * wrong * number / len(batch) for have, number in zip(change, point, strict=True)]
    return change


def accuracy_of(plane):
    tests = points(random.Random("tests"), 500)
    return sum((product(point, plane) > 0) == (side > 0) for point, side in tests) / len(tests)


def train(servers):
    source = random.Random(f"{KIND} {INDEX}")
    plane = servers.add([0.0] * NUMBERS)
    for _ in range(STEPS):
        plane = servers.add(change_for(plane, points(source, BATCH)))
    return accuracy_of(plane)


def evaluate(servers):
    while (accuracy := accuracy_of(servers.add([0.0] * NUMBERS))) < GOOD:
        time.sleep(0.05)
    return accuracy


def main():
    if KIND == "ps":
        serve()
        return
    with contextlib.ExitStack() as stack:
        accuracy = (evaluate if KIND == "evaluator" else train)(Plane(stack))
    if accuracy < GOOD:
        raise SystemExit(f"an accuracy of {accuracy:.4f} only")
    print(f"accuracy: {accuracy:.4f} of the {KIND} {INDEX}, with the numbers of {len(SERVERS)} servers", flush=True)


main()
