"""MPIJob on `muster up` with Debian's Open MPI and a real kubectl: workers are reached by muster rsh, kubexec.sh or sshd."""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BINARY, ROOT
from test_up import Up, needs_kubectl

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import Missing, build  # noqa: E402

needs_mpirun = pytest.mark.skipif(shutil.which("mpirun", path="/usr/bin") is None,
                                  reason="mpirun is not installed (Debian's package openmpi-bin)")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="sshd lets in nobody else when it is not root's")

# One line for each rank; the programs of Open MPI have no arguments of their own to say where they may run.
MPIRUN = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "--oversubscribe"]


@pytest.fixture
def up(tmp_path):
    world = Up(tmp_path)
    world.environment["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin"
    yield world
    world.muster("down", "--state", str(world.state), check=False)


def bring(up, program):
    """The program is in the pods' PATH, or the test is skipped with the reason."""
    try:
        up.environment["PATH"] = f"{pathlib.Path(build(program)).parent}:{up.environment['PATH']}"
    except Missing as why:
        pytest.skip(str(why))


def container(command=None, **more):
    return {"name": "mpi", "image": "debian", **({"command": command} if command else {}), **more}


def mpijob(version, launcher, workers=2, **spec):
    def replica(count, one):
        return {"replicas": count, "template": {"spec": {"containers": [one]}}}
    return {"apiVersion": f"kubeflow.org/{version}", "kind": "MPIJob", "metadata": {"name": "ring"},
            "spec": {"slotsPerWorker": 2, "runPolicy": {"cleanPodPolicy": "Running"}, **spec,
                     "mpiReplicaSpecs": {"Launcher": replica(1, container(launcher)),
                                         "Worker": replica(workers, container())}}}


def apply(up, *objects):
    up.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(each) for each in objects))


def state_of(up):
    """What is to be read when a job does not end as it should."""
    return "\n".join(up.kubectl(*words, check=False).stdout for words in
                     (("describe", "mpijob,pods"), ("get", "events"), ("logs", "ring-launcher")))


def ends_well(up, seconds=50):
    done = up.kubectl("wait", "mpijob/ring", "--for=condition=Succeeded", f"--timeout={seconds}s", check=False)
    assert done.returncode == 0, done.stderr + state_of(up)


@needs_kubectl
@needs_mpirun
def test_a_v1_launcher_starts_its_ranks_by_kubectl_exec(up):
    up.start()
    job = mpijob("v1", [*MPIRUN, "-np", "4", "hostname"])
    job["metadata"]["annotations"] = {"muster.dev/remote-shell": "kubexec"}
    apply(up, job)
    ends_well(up)
    # Open MPI warns, in lines that begin with a bracket, when a child of its own was faster than it.
    ranks = [line for line in up.kubectl("logs", "ring-launcher").stdout.splitlines() if not line.startswith("[")]
    assert sorted(ranks) == ["ring-worker-0"] * 2 + ["ring-worker-1"] * 2, state_of(up)
    # The launcher may enter its workers alone.
    may = up.kubectl("auth", "can-i", "create", "pods/ring-worker-1", "--subresource=exec",
                     "--as=system:serviceaccount:default:ring-launcher", check=False).stdout.strip()
    other = up.kubectl("auth", "can-i", "create", "pods/another", "--subresource=exec",
                       "--as=system:serviceaccount:default:ring-launcher", check=False).stdout.strip()
    assert (may, other) == ("yes", "no")
    up.kubectl("delete", "mpijob", "ring", "--timeout=30s")
    up.kubectl("wait", "configmap/ring-config", "role/ring-launcher", "--for=delete", "--timeout=30s")


@needs_mpirun
def test_the_example_by_kubectl_exec_learns(up):
    if subprocess.run(["/usr/bin/python3", "-c", "import mpi4py, sklearn"], capture_output=True, check=False).returncode:
        pytest.skip("mpi4py or scikit-learn is not installed (Debian's packages python3-mpi4py, python3-sklearn)")
    # The peers' kubectl, in the PATH of the launcher alone: what applies and waits here is our own command line.
    bring(up, "kubectl")
    up.cwd = ROOT
    up.start()
    up.environment["KUBECONFIG"] = str(up.kubeconfig)
    up.muster("apply", "-f", "examples/mpi-kubexec-digits.yaml")
    done = up.muster("wait", "mpijob/digits", "--for", "condition=Succeeded", "--timeout", "100s", check=False, limit=110)
    said = up.muster("logs", "mpijob/digits").stdout
    assert done.returncode == 0, done.stdout + done.stderr + said
    assert len(re.findall(r"rank \d of 4 is ready on digits-worker-[01]", said)) == 4, said
    accuracy = re.findall(r"accuracy: (\d\.\d+)", said)
    assert accuracy and all(float(value) > 0.9 for value in accuracy), said
    assert "kubexec.sh" in up.get("/api/v1/namespaces/default/configmaps/digits-config")[1]


@needs_kubectl
@needs_mpirun
@pytest.mark.parametrize("version", ["v1", "v1alpha2", "v2beta1"])
def test_a_launcher_starts_its_ranks_by_our_remote_shell(up, version):
    up.start()
    run = " ".join([*MPIRUN, "-np", "4"])
    look = f"{run} hostname; {run} sh -c 'env; cat /proc/[0-9]*/cmdline 2>/dev/null; true'"
    apply(up, mpijob(version, ["sh", "-c", look]))
    ends_well(up)
    said = up.kubectl("logs", "ring-launcher").stdout
    ranks = re.findall(r"^ring-worker-\d$", said, re.M)
    assert sorted(ranks) == ["ring-worker-0"] * 2 + ["ring-worker-1"] * 2, said
    secret = json.loads(up.kubectl("get", "secrets", "-o", "json").stdout)["items"]
    assert [one["metadata"]["name"] for one in secret] == ["ring-rsh"]
    token = base64.b64decode(secret[0]["data"]["token"]).decode()
    assert len(token) == 64 and token not in said


# As Horovod does it when it is elastic: asks the script again and again, and starts something on each host of a new list.
# A worker of a list may be gone by then. It ends when there are five hosts.
DISCOVERS = """
    known=
    while set -- $known; [ $# != 5 ]; do
        hosts=$(/etc/mpi/discover_hosts.sh | sed 's/:.*//' | tr '\\n' ' ')
        if [ "$hosts" != "$known" ]; then
            known=$hosts
            for host in $hosts; do timeout 5 $OMPI_MCA_plm_rsh_agent "$host" hostname; done | tr '\\n' ' '
            echo "are reached"
        fi
        sleep 0.1
    done"""


@needs_kubectl
@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_a_launcher_sees_workers_come_and_go(up, version):
    up.start()
    apply(up, mpijob(version, ["bash", "-c", DISCOVERS]))
    up.kubectl("wait", "mpijob/ring", "--for=condition=Running", "--timeout=30s")
    launcher = json.loads(up.kubectl("get", "pod", "ring-launcher", "-o", "json").stdout)
    follow = ["timeout", "60", BINARY, "logs", "-f", "ring-launcher", "--kubeconfig", up.kubeconfig]
    with subprocess.Popen(follow, env=up.environment, text=True, stdout=subprocess.PIPE) as log:
        for workers in (2, 4, 1, 5):
            change = {"spec": {"mpiReplicaSpecs": {"Worker": {"replicas": workers}}}}
            up.kubectl("patch", "mpijob", "ring", "--type=merge", "-p", json.dumps(change))
            wanted = [f"ring-worker-{i}" for i in range(workers)]
            # Between two numbers there may be lists of those that were quicker.
            reached = next((line for line in log.stdout if line.split() == [*wanted, "are", "reached"]), None)
            assert reached, f"never {wanted}\n{state_of(up)}"
    ends_well(up)
    ended = json.loads(up.kubectl("get", "pod", "ring-launcher", "-o", "json").stdout)
    assert ended["metadata"]["uid"] == launcher["metadata"]["uid"]
    assert [each["restartCount"] for each in ended["status"]["containerStatuses"]] == [0]


@needs_kubectl
@needs_mpirun
def test_ranks_are_reached_by_names_of_the_clusters_own_domain(up):
    """The mpi-operator's "with custom cluster-domain"."""
    up.environment["CUSTOM_CLUSTER_DOMAIN"] = "corp.example"
    up.start()
    run = " ".join([*MPIRUN, "-np", "6", "hostname"])
    apply(up, mpijob("v2beta1", ["sh", "-c", f"cat /etc/mpi/hostfile; {run}"], runLauncherAsWorker=True))
    ends_well(up)
    said = up.kubectl("logs", "ring-launcher").stdout.splitlines()
    pods = ["ring-launcher", "ring-worker-0", "ring-worker-1"]
    assert said[:3] == [f"{pod}.ring.default.svc.corp.example slots=2" for pod in pods]
    # Open MPI gives its remote shells process groups of their own, and warns where one has begun already.
    ranks = [line for line in said[3:] if "Warning: setpgid(" not in line]
    assert sorted(ranks) == sorted(pods * 2), state_of(up)


@needs_kubectl
@needs_mpirun
def test_a_program_that_fails_fails_the_job(up):
    up.start()
    apply(up, mpijob("v1", [*MPIRUN, "-np", "2", "sh", "-c", "exit 7"]))
    done = up.kubectl("wait", "mpijob/ring", "--for=condition=Failed", "--timeout=50s", check=False)
    assert done.returncode == 0, done.stderr + state_of(up)
    # Which rank it was and how it ended mpirun tells only when it heard so before all were gone.
    assert re.search(r"a\s+non-zero exit code|Exit code: +7", up.kubectl("logs", "ring-launcher").stdout), state_of(up)
    ended = json.loads(up.kubectl("get", "pod", "ring-launcher", "-o", "json").stdout)["status"]["containerStatuses"][0]
    assert ended["state"]["terminated"]["exitCode"] != 0, ended


@needs_kubectl
@needs_mpirun
@needs_root
def test_a_v2beta1_launcher_starts_its_ranks_by_ssh(up):
    bring(up, "sshd")
    up.start()
    job = mpijob("v2beta1", [*MPIRUN, "-np", "4", "hostname"])
    # The settings that images for MPI bring are the pods' here: ssh asks no one about host keys, sshd finds /run/sshd.
    worker = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    options = "-f /etc/ssh/sshd_config.d/10-muster.conf -h /tmp/key -o PidFile=none"
    worker["command"] = ["sh", "-c", "ssh-keygen -q -N '' -f /tmp/key; "
                                     f'exec "$(command -v sshd)" -De {options}']
    apply(up, job)
    ends_well(up)
    ranks = re.findall(r"ring-worker-\d", up.kubectl("logs", "ring-launcher").stdout)
    assert sorted(ranks) == ["ring-worker-0"] * 2 + ["ring-worker-1"] * 2, state_of(up)


@needs_kubectl
def test_all_versions_are_served_and_each_keeps_its_conventions(up):
    up.start()
    jobs = []
    for version in ("v1", "v1alpha2", "v2beta1"):
        job = mpijob(version, ["true"])
        job["metadata"]["name"] = version
        job["metadata"]["annotations"] = {"muster.dev/remote-shell": "ssh" if version == "v2beta1" else "kubexec"}
        del job["spec"]["runPolicy"]
        job["spec"].update({"runPolicy": {"suspend": True}})
        jobs.append(job)
    apply(up, *jobs)
    read = json.loads(up.kubectl("get", "mpijobs.v1.kubeflow.org", "-o", "json").stdout)["items"]
    assert {each["metadata"]["name"]: each["spec"]["dialect"] for each in read} == \
        {"v1": "v1", "v1alpha2": "v1", "v2beta1": "v2beta1"}
    for version in ("v1", "v1alpha2", "v2beta1"):
        up.kubectl("wait", f"mpijob/{version}", "--for=condition=Suspended", "--timeout=20s")
    secrets = up.kubectl("get", "secrets", "-o", "name").stdout.split()
    assert secrets == ["secret/v2beta1-ssh"]


@needs_kubectl
def test_bad_manifests_are_refused_with_the_field(up):
    up.start()
    for change, field in (({"slotsPerWorker": 0}, "spec.slotsPerWorker"),
                          ({"mpiImplementation": "OpenMP"}, "spec.mpiImplementation")):
        job = mpijob("v2beta1", ["true"], **change)
        refused = up.kubectl("apply", "-f", "-", stdin=json.dumps(job), check=False)
        assert refused.returncode != 0 and field in refused.stderr, refused
        file = up.directory / "job.json"
        file.write_text(json.dumps(job))
        checked = up.muster("validate", str(file), check=False)
        assert checked.returncode != 0 and field in checked.stdout + checked.stderr, checked
