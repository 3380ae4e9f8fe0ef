"""`muster run --context`: the file that runs on this machine runs on a cluster, with the same output. The cluster is a
`muster up` of its own: an API over TLS, an operator, and logs of pods that run."""

import json
import re
import signal
import subprocess

import pytest

from conftest import BINARY, pytorchjob
from test_up import Up


class Cluster(Up):
    def run(self, *args, manifest, context=True, status=0):
        """(lines of standard output, lines of standard error) of `muster run` on the cluster, or here."""
        where = ["--context", "muster", "--kubeconfig", str(self.kubeconfig)] if context else []
        done = subprocess.run([BINARY, "run", *where, *args, "-"], env=self.environment, cwd=self.directory, input=manifest,
                              text=True, capture_output=True, timeout=120, check=False)
        assert done.returncode == status, done
        return done.stdout.splitlines(), done.stderr.splitlines()

    def begin(self, *args, manifest):
        (self.directory / "job.yaml").write_text(manifest)
        return subprocess.Popen([BINARY, "run", "--context", "muster", "--kubeconfig", str(self.kubeconfig), *args, "job.yaml"],
                                env=self.environment, cwd=self.directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def jobs(self):
        return [job["metadata"]["name"] for job in self.send("GET", "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs")["items"]]

    def pods(self, ended=True):
        """Their names; without those that have ended, which a collector may remove later."""
        return [pod["metadata"]["name"] for pod in self.send("GET", "/api/v1/namespaces/default/pods")["items"]
                if ended or pod["status"]["phase"] not in ("Succeeded", "Failed")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    made.start()
    yield made
    made.down("--kill")


def timeless(lines):
    """What two runs have in common: no times, and no counts of moments at which somebody looked; lines of different pods may come in
    another order."""
    kept = [re.sub(r"\b\d+(\.\d+)? (s|min|h)\b", "TIME", line) for line in lines if " active, " not in line]
    return sorted(kept)


# What each says is what it was told by its job: names, ranks, and the world as it is there.
SCRIPT = 'echo "rank $RANK of $WORLD_SIZE, master $MASTER_ADDR:$MASTER_PORT, host $(hostname)"; sleep 0.3'


def test_the_same_file_has_the_same_output(cluster):
    manifest = pytorchjob("same", SCRIPT, 2, SCRIPT)
    here = cluster.run(manifest=manifest, context=False)
    there = cluster.run(manifest=manifest)
    assert timeless(here[0]) == timeless(there[0])
    assert here[1] == there[1] == []
    assert "same-worker-1 | rank 2 of 3, master same-master-0:23456, host same-worker-1" in there[0]
    assert any(line.startswith("muster: PyTorchJob default/same succeeded after ") for line in there[0])
    assert "same" in cluster.jobs(), "a job that has ended stays"


def test_a_failure_has_the_same_output_and_status(cluster):
    manifest = pytorchjob("fails", "echo broken >&2; exit 5", 1, "sleep 60")
    here = cluster.run(manifest=manifest, context=False, status=5)
    there = cluster.run(manifest=manifest, status=5)
    wanted = [line for line in timeless(here[0]) if "first to fail" in line or "| broken" in line or " failed" in line]
    assert wanted and [line for line in timeless(there[0]) if line in wanted] == wanted


def test_what_is_there_already_is_not_touched(cluster):
    manifest = pytorchjob("twice", "true")
    cluster.run(manifest=manifest)
    _, said = cluster.run(manifest=manifest, status=2)
    assert "PyTorchJob default/twice already exists: delete it" in said[0]
    assert said[1] == "muster run: 1 error; nothing was started"
    (cluster.directory / "twice.yaml").write_text(manifest)
    cluster.muster("delete", "--kubeconfig", str(cluster.kubeconfig), "-f", "twice.yaml")
    cluster.run(manifest=manifest)


def test_objects_logs_and_numbers_are_as_they_are_here(cluster):
    lines, _ = cluster.run("--output", "json", "--logs", "kept", "--replicas", "Worker=2", "--env", "WORD=hello",
                           manifest=pytorchjob("flags", "true", 1, "echo $WORD"))
    [job] = json.loads("\n".join(lines))["items"]
    assert job["status"]["conditions"][-1]["type"] == "Succeeded"
    assert job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 2
    for worker in (0, 1):
        assert (cluster.directory / "kept" / f"default_flags-worker-{worker}.log").read_text() == "hello\n"


def test_the_namespace_is_that_of_the_flag_and_has_to_be_there(cluster):
    manifest = pytorchjob("spaced", "true")
    _, said = cluster.run("--namespace", "nowhere", manifest=manifest, status=2)
    assert 'there is no namespace "nowhere"' in said[0]
    cluster.send("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
    lines, _ = cluster.run("--namespace", "team-a", manifest=manifest)
    assert any(line.startswith("muster: PyTorchJob team-a/spaced succeeded") for line in lines)


def test_ctrl_c_deletes_the_job_and_waits_for_its_pods(cluster):
    process = cluster.begin(manifest=pytorchjob("stopped", "echo up; sleep 600", 1, "sleep 600"))
    said = []
    for line in process.stdout:
        said.append(line)
        if line == "stopped-master-0 | up\n":
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (said, out, err)
    assert "muster: interrupted: deleting the jobs and waiting for their pods to go (Ctrl-C again leaves at once)\n" in out
    assert "stopped" not in cluster.jobs()
    assert not [name for name in cluster.pods(ended=False) if name.startswith("stopped-")]


def test_the_time_that_is_up_deletes_the_job(cluster):
    lines, _ = cluster.run("--timeout", "2s", manifest=pytorchjob("late", "sleep 600"), status=124)
    assert any(line.startswith("muster: PyTorchJob default/late timed out after ") for line in lines)
    assert "late" not in cluster.jobs()


def test_a_server_that_is_away_is_named(cluster, tmp_path):
    away = tmp_path / "kubeconfig"
    away.write_text(re.sub(r"https://127\.0\.0\.1:\d+", "https://127.0.0.1:1", cluster.kubeconfig.read_text()))
    done = cluster.muster("run", "--kubeconfig", str(away), "-", input=pytorchjob("unreached", "true"), check=False)
    assert done.returncode == 1 and "muster run: creating PyTorchJob default/unreached: " in done.stderr
    assert "the server is https://127.0.0.1:1" in done.stderr
    done = cluster.muster("run", "--context", "none", "--kubeconfig", str(cluster.kubeconfig), "-", check=False, input="")
    assert done.returncode == 1 and "none" in done.stderr
