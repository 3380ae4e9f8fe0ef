"""The informers of three minor versions of client-go, through what they meet in a long life: thousands of events, watches
that end at their time, a server that ends and comes back. Skipped where they are not built."""

import os
import subprocess

import pytest

from conftest import BINARY, Api
from test_clients import client

VERSIONS = ["0.29", "0.32", "0.36"]


class Follower:
    """One run of the program, with its output as it comes."""

    def __init__(self, version, kubeconfig, namespace, *words):
        self.process = subprocess.Popen(
            [client(f"informers-{version}"), "-kubeconfig", kubeconfig, "-namespace", namespace, *words], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def sees(self, *events):
        for event in events:
            self.process.stdin.write(event + "\n")
            self.process.stdin.flush()
            assert self.line() == "seen", self.process.communicate(timeout=60)

    def finish(self):
        out, err = self.process.communicate(timeout=800)
        assert self.process.returncode == 0, (out, err)
        return out.splitlines()


def begins_by_watching(api, maps):
    return api.get(f"{maps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
                   "&timeoutSeconds=1").status == 200


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("watch_list", [False, True])
def test_informers_see_each_of_many_events_once(api, kubeconfig, namespace, maps, version, watch_list):
    """Ten thousand events of our server for the newest client, a fifth of them for the others. Of a real one, which only proves the
    test, a fifth of these."""
    objects = 100 if version == VERSIONS[-1] else 20
    words = ["-objects", str(objects // 5 if os.environ.get("KUBECONFIG") else objects)]
    if watch_list:
        words.append("-watch-list")
    lines = Follower(version, kubeconfig, namespace, *words, "events", "rollover", "counter").finish()
    # Of a server that has it switched off they take a list instead.
    lists = 0 if watch_list and begins_by_watching(api, maps) else 1
    assert lines == [f"began by {lists} lists and 1 watches", "events: ok", "rollover: ok", "counter: ok"]


def config(name, step):
    return {"metadata": {"name": name, "labels": {"set": "restart", "step": str(step)}}}


class Server:
    """A server of this test's own, that may end."""

    def __init__(self, directory):
        self.state = directory / "state"
        self.address = "127.0.0.1:0"

    def start(self):
        self.muster("up", "--listen", self.address, "--detach")
        self.address = Api(self.state / "kubeconfig").url.netloc

    def muster(self, verb, *words):
        subprocess.run([BINARY, verb, "--state", self.state, *words], check=True, timeout=60, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


@pytest.fixture
def server(tmp_path):
    if os.environ.get("KUBECONFIG"):
        pytest.skip("this server is not ours to end")
    made = Server(tmp_path)
    made.start()
    yield made
    made.muster("down", "--kill")


@pytest.mark.parametrize("version", VERSIONS)
def test_informers_go_on_without_a_gap_when_the_server_comes_back(server, version):
    maps = "/api/v1/namespaces/default/configmaps"
    api = Api(server.state / "kubeconfig")
    api.post(maps, config("kept", 1))
    follower = Follower(version, server.state / "kubeconfig", "default", "restart")
    assert follower.line() == "synced"
    # Of a watch that ends within a second and told nothing, client-go thinks ill, and lists.
    api.patch(maps + "/kept", config("kept", 2))
    follower.sees("update kept 2")
    for step in (3, 4):
        server.muster("down", "--kill")
        server.start()
        api = Api(server.state / "kubeconfig")
        api.post(maps, config(f"made-{step}", step))
        api.patch(maps + "/kept", config("kept", step))
        api.delete(f"{maps}/made-{step}")
        follower.sees(f"add made-{step} {step}", f"update kept {step}", f"delete made-{step} {step}")
    assert follower.finish() == ["0 more lists", "restart: ok"]
