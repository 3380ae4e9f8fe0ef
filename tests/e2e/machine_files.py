"""The names of all files of this machine, to see whether a suite leaves any behind."""

import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = os.path.expanduser("~")

# What changes by itself: the kernel's own, temporary files, logs and caches (kubectl's lies beside its settings), and toolchains, which are
# large. Also what is made by whoever runs an sshd, in a pod as well, and what `systemd-analyze verify` of our units leaves where systemd
# does not run. `mount` and Keras keep notes of their own. The tests work in the checkout, as somebody else may in another one.
UNWATCHED = {"/proc", "/sys", "/dev", "/tmp", "/var/tmp", "/var/log", "/var/cache", "/var/lib/apt", "/var/lib/dpkg", "/run/lock",
             "/run/user", "/run/sshd", "/run/mount", "/run/systemd/systemd-units-load", str(ROOT), f"{HOME}/.cache", f"{HOME}/.kube/cache",
             f"{HOME}/.cargo", f"{HOME}/.rustup", f"{HOME}/.pyenv", f"{HOME}/.config/go", f"{HOME}/.keras"}
# Directories that kubectl makes for its cache and `ip netns` for its names; what else is in them is watched.
MADE_BY_ANYONE = {f"{HOME}/.kube", "/run/netns"}
CHECKOUT = ".git"
# Made by any Python, wherever its modules lie.
UNWATCHED_NAMES = {"__pycache__"}
# While its process lives, a network belongs to a test that runs beside.
NETWORK = re.compile(r"/run/netns/muster-test-(\d+)-\d+")
# A second or two. A machine with more needs a longer list above, not a longer look.
MOST = 1_000_000


def files_below(top="/", unwatched=frozenset(UNWATCHED), most=MOST):
    """The paths of all that is there, to any depth."""
    found = set()
    directories = [top]
    while directories:
        try:
            entries = list(os.scandir(directories.pop()))
        except OSError:  # it has gone, or may not be read
            continue
        if any(entry.name == CHECKOUT for entry in entries):
            continue
        for entry in entries:
            if entry.path in unwatched or entry.name in UNWATCHED_NAMES:
                continue
            found.add(entry.path)
            if entry.is_dir(follow_symlinks=False):
                directories.append(entry.path)
        if len(found) > most:
            raise RuntimeError(f"more than {most} files below {top}: add the largest directories that no pod can reach to UNWATCHED")
    return found


def of_a_test_beside(path):
    match = NETWORK.fullmatch(path)
    return match is not None and int(match[1]) != os.getpid() and os.path.exists(f"/proc/{match[1]}")


@pytest.fixture(scope="session", autouse=True)
def unchanged_machine():
    """No suite leaves anything on the machine's own file system."""
    before = files_below()
    yield
    left = {path for path in files_below() - before - MADE_BY_ANYONE if not of_a_test_beside(path)}
    assert not left, f"the suite left files on the machine: {sorted(left)[:20]}"
