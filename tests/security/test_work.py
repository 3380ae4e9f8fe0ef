"""What comes from outside costs work in proportion to its size: ten times the input, at most twelve times the work."""

import json
import os
import pathlib
import resource
import subprocess

import pytest

from attacked import BINARY, MERGE, RBAC, Daemon, rule

MAPS = "/api/v1/namespaces/default/configmaps"
# What a measurement of the kernel's ticks and a request itself may add.
LEAST_S = 0.05
MOST_GROWTH = 12


def computed_by_children(work):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Measured(Daemon):
    """Counts what its daemon computes."""

    def computed(self):
        fields = pathlib.Path(f"/proc/{self.lock()['pid']}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    made = Measured(tmp_path_factory.mktemp("work"))
    made.up()
    yield made
    made.down("--kill", check=False)


def expect_linear(cost, size):
    small = max(min(cost(size) for _ in range(3)), LEAST_S)
    large = min(cost(10 * size) for _ in range(2))
    assert large <= MOST_GROWTH * small, f"{small:.2f} s became {large:.2f} s"


@pytest.mark.parametrize("form", ["YAML", "JSON"])
def test_manifests_on_one_line(tmp_path, form):
    def cost(size):
        data = {f"k{i}": f"v{i}" for i in range(size)}
        text = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data})
        if form == "YAML":
            text = ("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {" +
                    ", ".join(f"{key}: {value}" for key, value in data.items()) + "}}")
        path = tmp_path / "m.yaml"
        path.write_text(text)
        return computed_by_children(lambda: subprocess.run([BINARY, "validate", path], capture_output=True, timeout=60,
                                                           check=False))

    expect_linear(cost, 4_000)


def request_cost(daemon, method, path, body, **more):
    before = daemon.computed()
    status, answer = daemon.ask(method, path, body, **more)
    return daemon.computed() - before, status, answer


def with_map(daemon, size):
    daemon.ask("DELETE", f"{MAPS}/wide")
    daemon.must("POST", MAPS, {"metadata": {"name": "wide"}, "data": {f"k{i}": "v" for i in range(size)}})


def test_patches_of_wide_objects(daemon):
    def moves(size):
        with_map(daemon, 2 * size)
        operations = [{"op": "move", "from": f"/data/k{i}", "path": f"/data/x{i}"} for i in range(min(size, 10_000))]
        spent, status, answer = request_cost(daemon, "PATCH", f"{MAPS}/wide", operations,
                                             content_type="application/json-patch+json")
        assert status == 200, answer
        return spent

    def removals(size, content_type):
        with_map(daemon, 2 * size)
        spent, status, answer = request_cost(daemon, "PATCH", f"{MAPS}/wide",
                                             {"data": {f"k{i}": None for i in range(size)}}, content_type=content_type)
        assert status == 200, answer
        return spent

    expect_linear(moves, 1_000)
    expect_linear(lambda size: removals(size, MERGE), 3_000)
    expect_linear(lambda size: removals(size, "application/strategic-merge-patch+json"), 3_000)


def test_roles_of_many_combinations(daemon):
    token = daemon.account("author", rule(["create"], ["clusterroles"], "rbac.authorization.k8s.io"), role="view")

    def cost(size):
        names = [f"n{i}" for i in range(size)]
        spent, status, answer = request_cost(daemon, "POST", f"{RBAC}/clusterroles", token=token, body={
            "metadata": {"name": "wide"}, "rules": [{"verbs": ["get", *names], "apiGroups": ["", *names],
                                                     "resources": ["pods", *names]}]})
        assert status == 403, answer
        return spent

    expect_linear(cost, 100)


def test_selectors(daemon):
    def cost(size):
        terms = ",".join(f"!k{i}" for i in range(size))
        return request_cost(daemon, "GET", f"/api/v1/pods?labelSelector={terms}", None)[0]

    expect_linear(cost, 300)
    status, answer = daemon.ask("GET", "/api/v1/pods?labelSelector=" + ",".join(f"!k{i}" for i in range(200)))
    assert status == 400 and "at most 100 requirements" in answer["message"]
