"""Keys and tokens stay in the memory of those who need them."""

import json
import os
import pathlib
import resource
import subprocess

import pytest

from attacked import BINARY, PODS, Daemon, pod

MUSTER_RUN = BINARY.parents[1] / "muster_run" / "muster-run"


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


def size_of_dumps(pid):
    [limit] = [line for line in pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
               if line.startswith("Max core file size")]
    return int(limit.split()[4])


def test_a_daemon_leaves_no_core_dump_and_its_pods_may(tmp_path, dumps):
    daemon = Daemon(tmp_path)
    daemon.up()
    try:
        assert size_of_dumps(daemon.lock()["pid"]) <= 1
        daemon.must("POST", PODS, pod("dumping", f"grep -qE 'core file size +{dumps} ' /proc/self/limits"))
        ended = daemon.wait_for(f"{PODS}/dumping", lambda found: found["status"].get("phase") in ("Succeeded", "Failed"))
        assert ended["status"]["phase"] == "Succeeded", ended["status"]
    finally:
        daemon.down("--kill", check=False)


def started(directory, *words):
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory)}
    return subprocess.Popen(list(map(str, words)), env=environment, cwd=directory, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


# Tells its limit, and waits until it may end.
TELLS = "echo told:$(grep 'core file size' /proc/self/limits | tr -s ' ' | cut -d' ' -f5):told; while ! test -e end; do sleep 0.02; done"


def told(process):
    """The limit of what it runs."""
    said = []
    for line in process.stdout:
        said.append(line)
        if "told:" in line:
            return int(line.split("told:")[1].split(":")[0])
    return pytest.fail("".join(said))


@pytest.mark.parametrize("what", ["run", "muster-run"])
def test_what_runs_jobs_leaves_no_core_dump_and_its_jobs_may(tmp_path, dumps, what):
    if what == "run":
        made = {"apiVersion": "v1", "kind": "Pod", **pod("dumping", TELLS)}
        (tmp_path / "pod.json").write_text(json.dumps(made))
        words = [BINARY, "run", "pod.json"]
    else:
        (tmp_path / "job.sh").write_text(TELLS)
        words = [MUSTER_RUN, "--standalone", "--no-python", "/bin/sh", "job.sh"]
    with started(tmp_path, *words) as process:
        try:
            assert told(process) == dumps
            assert size_of_dumps(process.pid) <= 1
            (tmp_path / "end").touch()
            assert process.wait(30) == 0
        finally:
            process.kill()
