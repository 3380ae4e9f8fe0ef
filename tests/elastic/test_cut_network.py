"""Machines with a network between them that is cut and made whole: network namespaces, so only where we may make them."""

import os
import signal
import subprocess

import pytest


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class Machines:
    """Each is a namespace with an interface `net0`, and its number is the end of its address; that of the first is a bridge to all."""

    def __init__(self):
        self.names = []

    def make(self, count):
        for number in range(1, count + 1):
            name = f"muster-test-{os.getpid()}-{number}"
            if not ip("netns", "add", name, check=False):
                return False
            self.names.append(name)
            if number == 1:
                ip("-n", name, "link", "add", "net0", "type", "bridge")
            else:
                ip("link", "add", "net0", "netns", name, "type", "veth", "peer", "name", f"to{number}", "netns", self.names[0])
                ip("-n", self.names[0], "link", "set", f"to{number}", "master", "net0", "up")
            ip("-n", name, "address", "add", f"10.77.0.{number}/24", "dev", "net0")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "net0", "up")
        return True

    def connect(self, number, whole):
        ip("-n", self.names[0], "link", "set", f"to{number}", "up" if whole else "down")

    def remove(self):
        for name in self.names:
            ip("netns", "delete", name, check=False)


@pytest.fixture(name="machines")
def make_machines():
    made = Machines()
    yield made
    made.remove()


@pytest.mark.parametrize("count, gives_way", [(2, 1), (3, 2)], ids=["of equals the newer stays", "the larger stays"])
def test_both_sides_go_on_and_are_one_job_again(job, machines, count, gives_way):
    """The second machine is cut off, and its agent takes the master's place for itself."""
    if os.geteuid() != 0 or not machines.make(count):
        pytest.skip("network namespaces can't be made here")
    # With a shorter limit, a busy machine may look like a cut network, and the side that did not lose its master begins a newer one.
    words = ["--nnodes", f"1:{count}", "--rdzv-endpoint", "10.77.0.1:29400,10.77.0.2:29400", "--rdzv-id", "cut", "--heartbeat", "3",
             "--max-restarts", "3", "--rdzv-conf", "last_call_timeout=1"]
    agents = [job.start(*words, "--local-addr", f"10.77.0.{number}", steps=100_000, within=["ip", "netns", "exec", name],
                        environment={"GLOO_SOCKET_IFNAME": "net0"})
              for number, name in enumerate(machines.names, 1)]

    def stepping(world, besides=()):
        """Workers in worlds of that size."""
        return len({line["pid"] for line in job.lines("step", world=world, step=3)} - set(besides))

    job.until(lambda: stepping(count) == count)
    first = {line["pid"] for line in job.lines()}
    machines.connect(2, False)
    job.until(lambda: sum(stepping(world, besides=first) for world in {1, count - 1}) == count)
    before = {line["pid"] for line in job.lines()}
    machines.connect(2, True)
    job.until(lambda: stepping(count, besides=before) == count)
    assert [number for number, agent in enumerate(agents, 1) if "hosts the job's master no more" in agent.text] == [gives_way]
    for agent in agents:
        agent.send(signal.SIGTERM)
    for agent in agents:
        assert agent.wait() == 128 + signal.SIGTERM, agent.text
