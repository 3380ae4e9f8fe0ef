"""What TVM's auto-tuning does over the network of an MXJob: the tuner asks the tracker for a server, and works with it.

Reads MX_CONFIG, which the job sets.
"""

import json
import os
import socket
import time

CONFIG = json.loads(os.environ["MX_CONFIG"])
ROLE = CONFIG["task"]["type"].lower()


def address_of(role):
    one = CONFIG["cluster"][role][0]
    return one["url"], one["port"]


def connected(address):
    """All replicas start at once, so none may be there yet."""
    while True:
        try:
            return socket.create_connection(address, 60)
        except (ConnectionRefusedError, socket.gaierror):
            time.sleep(0.05)


def told(address, line):
    with connected(address) as peer, peer.makefile("rw") as stream:
        print(line, file=stream, flush=True)
        return stream.readline().strip()


def answer(count, reply):
    """Lets so many come, and answers when all have: `reply` knows what each said."""
    with socket.create_server(("", address_of(ROLE)[1])) as listener:
        streams = [listener.accept()[0].makefile("rw") for _ in range(count)]
        said = [stream.readline().strip() for stream in streams]
        for stream in streams:
            print(reply(said), file=stream, flush=True)
            stream.close()


def main():
    if ROLE == "tunertracker":
        servers = len(CONFIG["cluster"]["tunerserver"])
        answer(servers + 1, lambda said: next(line for line in said if line))
    elif ROLE == "tunerserver":
        told(address_of("tunertracker"), "{}:{}".format(*address_of(ROLE)))
        answer(1, lambda said: int(said[0]) ** 2)
    else:
        host, port = told(address_of("tunertracker"), "").split(":")
        print(f"tuned with {host}: {told((host, int(port)), '12')}", flush=True)


main()
