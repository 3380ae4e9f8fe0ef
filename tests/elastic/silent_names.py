"""A network of its own, on this machine, whose name server hears every question and answers none."""

import pathlib
import subprocess
import sys

# Unused: no hosts file has them, so a lookup of their names asks the name server.
ADDRESSES = ("10.77.0.1", "10.77.0.2")

# As distributions and kubelets write it. The machine's own name, so that gloo finds itself.
HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.0.1 {host}\n"

BEGIN = """
mount --bind "$1" /etc/resolv.conf && mount --bind "$2" /etc/hosts && ip link set lo up || exit
shift 2
for address in {addresses}; do ip address add "$address/32" dev lo || exit; done
exec "$@"
"""

# Writes the name of each question to a file; a name is a list of texts, each behind its length.
SERVER = """
import socket, sys
hears = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
hears.bind(("127.0.0.1", 53))
print("ready", flush=True)
while True:
    rest, words = hears.recv(512)[12:], []
    while rest[0]:
        words.append(rest[1:1 + rest[0]].decode())
        rest = rest[1 + rest[0]:]
    with open(sys.argv[1], "a") as heard:
        heard.write(".".join(words) + "\\n")
"""


class Unavailable(Exception):
    """Networks can't be made here."""


class SilentNames:
    def __init__(self, place):
        self.heard = place / "questions"
        self.heard.touch()
        (place / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        (place / "hosts").write_text(HOSTS.format(host=pathlib.Path("/proc/sys/kernel/hostname").read_text().strip()))
        words = ["unshare", "--mount", "--net", "sh", "-c", BEGIN.format(addresses=" ".join(ADDRESSES)), "sh",
                 place / "resolv.conf", place / "hosts", sys.executable, "-c", SERVER, self.heard]
        try:
            self.holder = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except FileNotFoundError as why:
            raise Unavailable(str(why)) from None
        if self.holder.stdout.readline() != "ready\n":
            raise Unavailable(self.holder.communicate()[1].strip())

    @property
    def within(self):
        """What a command begins with to run there."""
        # Its root, too: that of the namespace is another one where the tests run in a root of their own.
        return ["nsenter", "--target", str(self.holder.pid), "--mount", "--net", "--root"]

    def questions(self):
        """The names that were asked for so far, each as often as it was asked."""
        return self.heard.read_text().split()

    def close(self):
        self.holder.kill()
        self.holder.communicate()
