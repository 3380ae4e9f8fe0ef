"""MPIJobs by `muster run`, whose workers mpirun reaches by `muster rsh`: Debian's Open MPI, no sshd, no API."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's mpi4py

MPIRUN = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "--oversubscribe"]


@pytest.fixture(autouse=True)
def open_mpi(muster):
    if shutil.which("mpirun", path="/usr/bin") is None:
        pytest.skip("mpirun is not installed (Debian's package openmpi-bin)")
    muster.environment["PATH"] = "/usr/bin:/bin"


def mpijob(muster, launcher, version="v2beta1", workers=2, worker=None, annotations=None, **spec):
    """The file of a job whose workers have no command unless `worker` is one."""
    def replica(count, command):
        container = {"name": "mpi", "image": "debian:12", **({"command": command} if command else {})}
        return {"replicas": count, "template": {"spec": {"containers": [container]}}}
    job = {"apiVersion": f"kubeflow.org/{version}", "kind": "MPIJob",
           "metadata": {"name": "ring", "annotations": annotations or {}},
           "spec": {"runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 0}, **spec,
                    "mpiReplicaSpecs": {"Launcher": {**replica(1, launcher), "restartPolicy": "Never"},
                                        "Worker": replica(workers, worker)}}}
    return muster.write("job.json", json.dumps(job))


def ranks_of(finished):
    return sorted(re.findall(r"ring-launcher \| (ring-\S+)", finished.text))


@pytest.mark.parametrize("version", ["v1", "v1alpha2", "v2beta1"])
def test_ranks_start_in_the_workers(muster, version):
    finished = muster.run("run", mpijob(muster, [*MPIRUN, "-np", "4", "hostname"], version, slotsPerWorker=2))
    assert finished.status == 0, finished
    assert ranks_of(finished) == ["ring-worker-0"] * 2 + ["ring-worker-1"] * 2, finished


@pytest.mark.parametrize("command", [["sleep", "infinity"], [""]], ids=["asleep", "empty"])
@pytest.mark.parametrize("version", ["v1", "v1alpha2"])
def test_ranks_start_in_workers_that_kubectl_would_enter(muster, version, command):
    finished = muster.run("run", mpijob(muster, [*MPIRUN, "-np", "2", "hostname"], version, worker=command))
    assert finished.status == 0, finished
    assert ranks_of(finished) == ["ring-worker-0", "ring-worker-1"], finished


def test_a_worker_ends_with_its_own_command(muster):
    # The server beside it does not keep the worker running.
    finished = muster.run("run", mpijob(muster, ["sleep", "1000"], "v1", worker=["sh", "-c", "sleep 1; exit 3"]))
    assert finished.status == 3, finished
    assert "exited with code 3" in finished.text, finished


def test_a_launcher_that_calls_no_worker_is_told_what_to_look_at(muster):
    # As an mpirun of another implementation does it, which does not know the job's hostfile.
    alone = f"unset OMPI_MCA_orte_default_hostfile; exec {' '.join(MPIRUN)} -np 1 hostname"
    finished = muster.run("run", mpijob(muster, ["sh", "-c", alone]))
    assert finished.status == 0 and ranks_of(finished) == ["ring-launcher"], finished
    assert re.search(r"NoWorkerCalled.* spec\.mpiImplementation is OpenMPI", finished.text), finished
    usual = muster.run("run", mpijob(muster, [*MPIRUN, "-np", "2", "hostname"]))
    assert usual.status == 0 and "NoWorkerCalled" not in usual.text, usual


def test_explain_shows_what_runs(muster):
    job = mpijob(muster, ["sh", "-c", "echo the agent is $OMPI_MCA_plm_rsh_agent"])
    told = muster.run("explain", job, "--rank", "launcher")
    finished = muster.run("run", job)
    agent = re.search(r"the agent is (.+)", finished.text)[1]
    assert "rsh" in agent and agent in told.out, (told, finished)


def test_an_ordinary_user_needs_nothing_more(muster, user):
    finished = muster.run("run", mpijob(muster, [*MPIRUN, "-np", "2", "hostname"]))
    assert finished.status == 0, finished
    assert ranks_of(finished) == ["ring-worker-0", "ring-worker-1"], finished


def test_daemons_start_daemons(muster, shared):
    # In a tree of two branches the daemons of the last workers are started by workers, not by the launcher. As their
    # sessions stay attached, the agents that were called are still there when the ranks look.
    look = f"""hostname; for file in /proc/[0-9]*/cmdline; do
        line=$(tr '\\0' ' ' <$file); printf '%s %s\\n' "$(hostname)" "$line" >>{shared}/processes
        done 2>/dev/null; true"""
    command = [*MPIRUN, "--leave-session-attached", "--mca", "routed", "radix", "--mca", "routed_radix", "2", "-np", "6",
               "sh", "-c", look]
    finished = muster.run("run", mpijob(muster, command, workers=6))
    assert finished.status == 0, finished
    assert ranks_of(finished) == [f"ring-worker-{i}" for i in range(6)], finished
    processes = (shared / "processes").read_text()
    called = re.findall(r"^ring-worker-(\d) /\S+ rsh --token-file \S+ .*? ring-worker-(\d)\.\S+ +orted ", processes, re.M)
    assert sorted(called) == [("0", "2"), ("0", "4"), ("1", "3"), ("1", "5")], processes


def test_a_hundred_megabytes_pass_both_ways(muster):
    bulk = """
        set -e
        worker=$(sed -n 's/ .*//; 1p' /etc/mpi/hostfile)
        head -c 100000000 /dev/urandom >/tmp/sent
        $OMPI_MCA_plm_rsh_agent $worker 'cat >/tmp/came; sha256sum </tmp/came' </tmp/sent
        $OMPI_MCA_plm_rsh_agent $worker 'cat /tmp/came' >/tmp/back
        sha256sum </tmp/sent; sha256sum </tmp/back
        stat -c '%s bytes' /tmp/back"""
    finished = muster.run("run", mpijob(muster, ["bash", "-c", bulk], workers=1))
    assert finished.status == 0, finished
    digests = re.findall(r"ring-launcher \| ([0-9a-f]{64}) ", finished.text)
    assert len(digests) == 3 and len(set(digests)) == 1, finished
    assert "100000000 bytes" in finished.text, finished


def test_the_exit_status_of_a_rank_is_that_of_the_run(muster):
    finished = muster.run("run", mpijob(muster, [*MPIRUN, "-np", "2", "sh", "-c", "exit 7"]))
    assert finished.status == 7, finished


def test_a_rank_that_is_killed_for_memory_is_told(muster):
    # The worker's pod survives its rank, and mpirun alone fails.
    greedy = [*MPIRUN, "-np", "1", PYTHON, "-c", "print(len(bytearray(512 << 20)))"]
    job = json.loads(mpijob(muster, greedy, workers=1).read_text())
    container = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"memory": "128Mi"}}
    finished = muster.run("run", muster.write("job.json", json.dumps(job)))
    if "resources.limits.memory" in finished.text:
        pytest.skip("no cgroup can be written here")
    assert finished.status != 0, finished
    assert "pod ring-worker-0: OOMKilling: The kernel killed processes of container mpi" in finished.text, finished
    # With groups of version 2 all of the worker is killed, and may be the first to fail.
    assert re.search(r"muster:   out of memory: pod ring-worker-0, container mpi \(its limit is 128Mi\)|"
                     r"pod ring-worker-0, container mpi .*OOMKilled", finished.text), finished


def test_two_jobs_at_once_do_not_meet(muster):
    commands = [[*MPIRUN, "-np", "2", "sh", "-c", "sleep 1; hostname"]] * 2
    jobs = []
    for number, command in enumerate(commands):
        job = json.loads(mpijob(muster, command).read_text())
        job["metadata"]["name"] = f"ring-{number}"
        jobs.append(job)
    both = muster.write("both.yaml", "\n---\n".join(json.dumps(job) for job in jobs))
    finished = muster.run("run", both)
    assert finished.status == 0, finished
    ranks = sorted(re.findall(r"ring-(\d)-launcher \| ring-(\d)-worker-(\d)", finished.text))
    assert ranks == [("0", "0", "0"), ("0", "0", "1"), ("1", "1", "0"), ("1", "1", "1")], finished


def test_what_a_program_of_mpi_reads_and_writes_passes_through(muster):
    command = ["sh", "-c", f"printf 'a line\\n' | {' '.join(MPIRUN)} -np 2 sh -c 'echo heard $(cat); echo low >&2'"]
    finished = muster.run("run", mpijob(muster, command))
    assert finished.status == 0, finished
    # Rank 0 has mpirun's standard input, the others have none.
    assert sorted(re.findall(r"ring-launcher \| (heard.*)", finished.text)) == ["heard", "heard a line"], finished
    assert len(re.findall(r"ring-launcher \| low", finished.text)) == 2, finished


def test_a_worker_with_a_command_of_its_own_is_reached_by_ssh(muster):
    job = mpijob(muster, ["mpirun", "hostname"], worker=["/bin/sleep", "1000"])
    shown = muster.run("run", "--dry-run", "--output", "json", job)
    assert shown.status == 0, shown
    assert "ring-ssh" in shown.out and "ring-rsh" not in shown.out, shown
    shown = muster.run("run", "--dry-run", "--output", "json", mpijob(muster, ["mpirun", "hostname"]))
    assert "ring-ssh" not in shown.out and "ring-rsh" in shown.out, shown


@pytest.mark.parametrize("annotation, value, way_out", [
    ("muster.dev/remote-shell", "kubexec", '"rsh" or "ssh"'),
    ("muster.dev/rsh-port", "70000", "1 to 65535"),
])
def test_an_unknown_way_to_the_workers_is_refused(muster, annotation, value, way_out):
    finished = muster.run("validate", mpijob(muster, ["mpirun", "hostname"], annotations={annotation: value}))
    assert finished.status == 2, finished
    assert f"metadata.annotations[{annotation}]" in finished.text and way_out in finished.text, finished


def test_a_worker_that_is_not_there_is_named(muster, tmp_path):
    token = tmp_path / "token"
    token.write_text("0" * 64)
    finished = muster.run("rsh", "--token-file", token, "--patience", "300ms", "--port", "7", "no-such-worker", "true")
    assert finished.status == 255, finished
    assert "no-such-worker:7 could not be reached in" in finished.err and "the name is not known" in finished.err, finished


def test_the_example_learns(muster):
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import mpi4py, sklearn"], capture_output=True,
                                                    check=False).returncode:
        pytest.skip("mpi4py or scikit-learn is not installed (Debian's packages python3-mpi4py, python3-sklearn)")
    finished = muster.run("run", pathlib.Path(ROOT) / "examples" / "mpi-digits.yaml")
    assert finished.status == 0, finished
    assert len(re.findall(r"rank \d of 4 is ready on digits-worker-[01]", finished.text)) == 4, finished
    accuracy = re.findall(r"accuracy: (\d\.\d+)", finished.text)
    assert accuracy and all(float(value) > 0.9 for value in accuracy), finished
