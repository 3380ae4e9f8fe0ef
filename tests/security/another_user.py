"""What another user of this machine does: root can be one."""

import os
import pathlib
import shutil
import subprocess

import pytest

USER = 65534

needs_another_user = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None,
                                        reason="only root can be another user, and setpriv makes it one")

# Says the names of those to which it could connect.
CONNECTS = """
import socket, sys
for path in sys.argv[1:]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_UNIX, kind) as client:
            try:
                client.connect(path)
            except OSError:
                continue
            print(path)
"""


def as_other(*words, stdin=b""):
    """What it has written; errors are not looked at."""
    line = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *map(str, words)]
    return subprocess.run(line, input=stdin, capture_output=True, timeout=30, cwd="/", check=False).stdout.decode()


def shell(script, *arguments):
    return as_other("sh", "-c", script, "sh", *arguments)


def assert_unreadable(paths, more=()):
    """Neither these files and directories, nor what is in them, and nothing can be written."""
    paths = [*paths, *more]
    assert paths
    script = 'for path; do cat "$path"; ls "$path"/; echo x >>"$path" && echo written; mkdir "$path/new" && echo made; done'
    assert shell(script, *paths) == ""


def assert_closed(sockets):
    assert sockets
    assert as_other("/usr/bin/python3", "-c", CONNECTS, *sockets) == ""


def assert_untouchable(pids):
    """No signal reaches them, and nothing of what they have in memory, in their environment or open is read."""
    assert pids
    script = """
        for pid; do
            for signal in TERM STOP KILL 0; do kill -s $signal "$pid" && echo "signalled $pid"; done
            cat "/proc/$pid/environ" "/proc/$pid/maps" "/proc/$pid/mem" "/proc/$pid/fd/0"
            ls "/proc/$pid/fd" "/proc/$pid/cwd/"
        done"""
    assert shell(script, *pids) == ""
    assert all(pathlib.Path(f"/proc/{pid}").exists() for pid in pids)


def below(directory):
    """Everything in it but links, and which of that are sockets."""
    found = [path for path in directory.rglob("*") if not path.is_symlink()]
    return found, [path for path in found if path.is_socket()]


def tree(pid):
    """This process and its descendants."""
    listed = pathlib.Path(f"/proc/{pid}/task")
    children = [int(child) for task in listed.iterdir() for child in (task / "children").read_text().split()]
    return [pid, *(one for child in children for one in tree(child))]
