"""The keys of a daemon stay in its memory."""

import pathlib
import resource

import pytest

from attacked import PODS, Daemon, pod


@pytest.fixture
def dumps():
    """Programs that this one starts may leave core dumps of this size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    size = 1 << 20
    if hard != resource.RLIM_INFINITY and hard < size:
        pytest.skip("core dumps are forbidden here")
    resource.setrlimit(resource.RLIMIT_CORE, (size, hard))
    yield size
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def test_a_daemon_leaves_no_core_dump_and_its_pods_may(tmp_path, dumps):
    daemon = Daemon(tmp_path)
    daemon.up()
    try:
        [limit] = [line for line in pathlib.Path(f"/proc/{daemon.lock()['pid']}/limits").read_text().splitlines()
                   if line.startswith("Max core file size")]
        assert int(limit.split()[4]) <= 1, limit
        daemon.must("POST", PODS, pod("dumping", f"grep -qE 'core file size +{dumps} ' /proc/self/limits"))
        ended = daemon.wait_for(f"{PODS}/dumping", lambda found: found["status"].get("phase") in ("Succeeded", "Failed"))
        assert ended["status"]["phase"] == "Succeeded", ended["status"]
    finally:
        daemon.down("--kill", check=False)
