"""A daemon that can't start does no harm to the pods that outlived the last one."""

import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile

import pytest

from attacked import PODS, Daemon, pod

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted as root")


class Lifeline:
    """A FIFO that a pod holds open (`exec 9>FIFO`): its end is seen without any API."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def remove(self):
        shutil.rmtree(self.path.parent)

    def is_held(self):
        # Readable at its end; with a writer there is nothing to read.
        return not select.select([self.reader], [], [], 0)[0]


def started_with_a_pod(directory, state=None):
    """A daemon, killed, and the lifeline of its pod, which lies where pods see it: they have a /tmp of their own."""
    daemon = Daemon(directory, state)
    daemon.up()
    lifeline = Lifeline(pathlib.Path(tempfile.mkdtemp(prefix="muster-e2e-", dir="/var/tmp")) / "alive")
    daemon.must("POST", PODS, pod("lasting", f"exec 9>{lifeline.path}; exec sleep 1000"))
    running = daemon.wait_for(f"{PODS}/lasting", lambda found: found["status"].get("phase") == "Running")
    daemon.wait_for(f"{PODS}/lasting", lambda _: lifeline.is_held())
    daemon.kill()
    return daemon, lifeline, running["status"]["containerStatuses"][0]["containerID"]


def expect_untouched(daemon, lifeline, container):
    """The next start takes the pod over as it is."""
    assert lifeline.is_held()
    daemon.up()
    found = daemon.wait_for(f"{PODS}/lasting", lambda found: found["status"].get("phase") == "Running")
    status = found["status"]["containerStatuses"][0]
    assert status["containerID"] == container and status["restartCount"] == 0
    assert lifeline.is_held()


def test_a_kubeconfig_that_cant_be_merged(tmp_path):
    daemon, lifeline, container = started_with_a_pod(tmp_path)
    try:
        theirs = tmp_path / ".kube" / "config"
        theirs.parent.mkdir()
        theirs.write_text("not: a kubeconfig\n")
        refused = daemon.up("--merge-kubeconfig", check=False)
        assert refused.returncode == 1 and str(theirs) in refused.stderr, refused
        assert theirs.read_text() == "not: a kubeconfig\n"
        expect_untouched(daemon, lifeline, container)
    finally:
        daemon.down("--kill", check=False)
        lifeline.remove()


@pytest.mark.parametrize("flags", [(), ("--merge-kubeconfig",)])
def test_a_kubeconfig_that_cant_be_written_when_the_pods_were_taken_over(tmp_path, flags):
    """Its place is seen to be a directory only after the whole cluster has started."""
    daemon, lifeline, container = started_with_a_pod(tmp_path)
    try:
        kubeconfig = daemon.state / "kubeconfig"
        kubeconfig.unlink()
        kubeconfig.mkdir()
        refused = daemon.up(*flags, check=False)
        assert refused.returncode == 1 and str(kubeconfig) in refused.stderr, refused
        kubeconfig.rmdir()
        expect_untouched(daemon, lifeline, container)
    finally:
        daemon.down("--kill", check=False)
        lifeline.remove()


def test_a_port_that_is_taken(tmp_path):
    daemon, lifeline, container = started_with_a_pod(tmp_path)
    try:
        with socket.create_server(("127.0.0.1", 0)) as other:
            refused = daemon.up("--listen", f"127.0.0.1:{other.getsockname()[1]}", check=False)
        assert refused.returncode == 1 and "--listen" in refused.stderr, refused
        expect_untouched(daemon, lifeline, container)
    finally:
        daemon.down("--kill", check=False)
        lifeline.remove()


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m,mode=0700", "muster-test", disk], check=True)
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def fill(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 65536)
        except OSError:
            pass


@needs_root
def test_a_full_disk_still_starts_and_lets_things_be_deleted(tmp_path, small_disk):
    daemon, lifeline, container = started_with_a_pod(tmp_path, small_disk / "state")
    maps = "/api/v1/namespaces/default/configmaps"
    try:
        fill(small_disk / "other")
        expect_untouched(daemon, lifeline, container)
        status, answer = daemon.ask("POST", maps, {"metadata": {"name": "new"}, "data": {"text": "x"}})
        assert status == 503 and "the disk is nearly full" in answer["message"], answer
        assert answer["kind"] == "Status" and answer["reason"] == "ServiceUnavailable"
        daemon.must("DELETE", f"{PODS}/lasting?gracePeriodSeconds=0")
        assert daemon.ask("GET", f"{PODS}/lasting")[0] == 404
        (small_disk / "other").unlink()
        daemon.must("POST", maps, {"metadata": {"name": "new"}})
    finally:
        daemon.down("--kill", check=False)
        lifeline.remove()
