"""Pods try to reach the machine's own files by the paths of their mounts."""

import os
import pathlib

import pytest

from attacked import PODS, Daemon, pod

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces as root: not root here")

ROOTS = ["/", "//", "/proc/self/root", "/proc/1/root", "/dev/../../..", "/usr/../", "/none/..", "/./"]
ACCOUNT = pathlib.Path("/run/secrets")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    made = Daemon(tmp_path_factory.mktemp("mounts"))
    made.up("--sandbox", "namespaces")
    yield made
    made.down("--kill", check=False)


def refusal(daemon, name, path):
    """Why the container of such a pod does not start."""
    daemon.must("POST", PODS, pod(name, "ls /", volumes=[{"name": "v", "emptyDir": {}}],
                                  container={"volumeMounts": [{"name": "v", "mountPath": path}]}))

    def failed(found):
        for status in found["status"].get("containerStatuses", []):
            for state in status["state"].values():
                if "message" in state:
                    return True
        return False

    found = daemon.wait_for(f"{PODS}/{name}", failed)
    daemon.must("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
    return next(iter(found["status"]["containerStatuses"][0]["state"].values()))["message"]


@pytest.mark.parametrize("path", ROOTS)
def test_the_root_is_no_place_for_a_volume(daemon, path):
    before = ACCOUNT.exists(), sorted(os.listdir("/")), sorted(os.listdir("/run"))
    said = refusal(daemon, f"root-{ROOTS.index(path)}", path)
    assert "root of the container's files" in said
    assert (ACCOUNT.exists(), sorted(os.listdir("/")), sorted(os.listdir("/run"))) == before


@pytest.mark.parametrize("path", ["/proc", "/proc/sys/kernel", "/proc/self/fd", "/usr/../proc/bus", "/proc/1/exe"])
def test_the_kernels_files_stay(daemon, path):
    assert "/proc" in refusal(daemon, f"proc-{abs(hash(path)) % 10000}", path)


def test_links_of_a_volume_lead_nowhere_on_the_machine(daemon, tmp_path):
    """One container plants links in a volume, and the next is mounted through them."""
    outside = pathlib.Path("/muster-security-test")
    planted = pod("planted", "ls -d /v/out/new && echo ok", volumes=[{"name": "v", "emptyDir": {}}],
                  container={"volumeMounts": [{"name": "v", "mountPath": "/v"},
                                              {"name": "v", "mountPath": "/v/out/new"},
                                              {"name": "v", "mountPath": "/v/up/etc/new"}]})
    planted["spec"]["initContainers"] = [{
        "name": "plants", "image": "local", "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        "command": ["sh", "-c", f"ln -s {outside} /v/out; ln -s ../../../../../.. /v/up"]}]
    daemon.must("POST", PODS, planted)
    daemon.wait_for(f"{PODS}/planted", lambda found: found["status"].get("phase") in ("Succeeded", "Failed"))
    assert not outside.exists() and not os.path.exists("/etc/new")
    daemon.must("DELETE", f"{PODS}/planted?gracePeriodSeconds=0")


def test_a_sub_path_that_was_a_link_is_refused(daemon):
    bad = pod("sub", "ls /x", volumes=[{"name": "v", "emptyDir": {}}],
              container={"volumeMounts": [{"name": "v", "mountPath": "/x", "subPath": "link"}]})
    bad["spec"]["initContainers"] = [{
        "name": "plants", "image": "local", "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        "command": ["ln", "-s", "/etc", "/v/link"]}]
    daemon.must("POST", PODS, bad)
    found = daemon.wait_for(f"{PODS}/sub", lambda one: any(
        "message" in state for status in one["status"].get("containerStatuses", [])
        for state in status["state"].values()))
    assert "subPath" in str(found["status"]["containerStatuses"][0]["state"])
    daemon.must("DELETE", f"{PODS}/sub?gracePeriodSeconds=0")


@pytest.mark.parametrize("spec,said", [
    ({"volumes": [{"name": "v", "hostPath": {"path": "/tmp/../etc"}}]}, "must not contain '..'"),
    ({"volumes": [{"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "../k"}]}}]},
     "must not contain '..'"),
    ({"volumes": [{"name": "v", "emptyDir": {}}], "container": {
        "volumeMounts": [{"name": "v", "mountPath": "/x", "subPath": "a/../../b"}]}}, "must not contain '..'"),
])
def test_steps_back_are_refused_by_name(daemon, spec, said):
    status, answer = daemon.ask("POST", PODS, pod("back", "true", **spec))
    assert status == 422 and said in answer["message"], answer
