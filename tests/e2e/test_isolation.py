"""Pods are apart as on a cluster: two jobs on the same port never meet."""

import os
import shutil
import tempfile
import textwrap

import pytest

from conftest import BINARY, ROOT, needs_root, pytorchjob

# Listens on the default port on every address, as torch's store does; each client must meet the
# server of its own job.
SERVER = """
python3 - <<'END'
import os, socket
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("", int(os.environ["MASTER_PORT"])))
listener.listen()
for _ in range(2):
    peer, address = listener.accept()
    peer.sendall(os.environ["JOB"].encode())
    peer.close()
END
"""
CLIENT = """
python3 - <<'END'
import os, socket, time
for attempt in range(400):
    try:
        peer = socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])), 2)
        break
    except OSError:
        time.sleep(0.02)
answer = peer.recv(100).decode()
print("asked", os.environ["JOB"], "met", answer)
assert answer == os.environ["JOB"]
END
"""


def two_jobs():
    jobs = []
    for name in ("red", "blue"):
        jobs.append(pytorchjob(name, f"export JOB={name}\n" + SERVER, 2, f"export JOB={name}\n" + CLIENT))
    return "---\n".join(jobs)


@pytest.mark.usefixtures("user")
def test_two_jobs_at_once_on_the_same_default_port(muster):
    finished = muster.run("run", muster.write("jobs.yaml", two_jobs()), limit=60)
    assert finished.status == 0, finished
    assert finished.text.count("asked red met red") == 2, finished
    assert finished.text.count("asked blue met blue") == 2, finished


@pytest.mark.usefixtures("user")
def test_two_real_trainings_at_once_on_the_same_default_port(muster):
    # Without namespaces a worker of one joined the other's master and reported a world of its size.
    pytest.importorskip("torch")
    for file in ("digits.py", "drawn_digits.py"):
        shutil.copy(ROOT / "examples" / file, muster.directory)
    job = (ROOT / "examples" / "pytorch-digits.yaml").read_text().replace("examples/digits.py", "digits.py")
    jobs = "\n---\n".join(job.replace("name: digits", f"name: {name}") for name in ("red", "blue"))
    assert jobs.count("name: red") == 1
    muster.cwd = muster.directory
    finished = muster.run("run", muster.write("jobs.yaml", jobs), "--env", "EPOCHS=2", limit=100)
    assert finished.status == 0, finished
    for name in ("red", "blue"):
        for rank, pod in enumerate((f"{name}-master-0", f"{name}-worker-0", f"{name}-worker-1")):
            assert f"{pod} | rank {rank} of 3 is ready" in finished.text, finished
        assert f"PyTorchJob default/{name} succeeded" in finished.text, finished


@pytest.mark.usefixtures("machine_network")
def test_two_jobs_on_one_port_take_turns_where_the_network_is_shared(muster):
    finished = muster.run("run", muster.write("jobs.yaml", two_jobs()), "--sandbox", "none", limit=60)
    assert finished.status == 0, finished
    assert finished.text.count("asked red met red") == 2, finished
    assert finished.text.count("asked blue met blue") == 2, finished


@pytest.mark.usefixtures("machine_network")
def test_two_musters_cannot_share_the_machines_network(muster):
    first = muster.start("run", muster.write("one.yaml", pytorchjob("one", "echo up; sleep 1000")),
                         "--sandbox", "none")
    first.wait_for("one-master-0 | up")
    second = muster.run("run", muster.write("two.yaml", pytorchjob("two", "echo met")), "--sandbox", "none")
    assert second.status == 1, second
    assert "another muster" in second.text and "met\n" not in second.text
    if os.geteuid() == 0:
        apart = muster.run("run", muster.directory / "two.yaml", "--sandbox", "namespaces")
        assert apart.status == 0, apart
    first.interrupt()
    assert first.finish(30).status == 130
    again = muster.run("run", muster.directory / "two.yaml", "--sandbox", "none")
    assert again.status == 0, again




@pytest.mark.usefixtures("user")
def test_each_pod_has_its_own_names_interfaces_and_processes(muster):
    script = textwrap.dedent("""
        echo "hostname $(hostname)"
        echo "interfaces $(ls /sys/class/net | tr '\\n' ' ')"
        echo "first $(cat /proc/1/comm) mine $$"
        echo "address $(getent hosts $(hostname) | cut -d' ' -f1)"
        getent hosts apart-master-0 && getent hosts apart-master-0.default.svc.cluster.local
        exit 0
    """)
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("apart", script, 1, script)), limit=30)
    assert finished.status == 0, finished
    for pod in ("apart-master-0", "apart-worker-0"):
        assert f"hostname {pod}" in finished.text, finished
    # Whatever the machine has, such as tunnels that the kernel gives each network.
    assert finished.text.count("interfaces eth0 lo") == 2, finished


@needs_root
def test_each_pod_has_its_own_tmp(muster):
    """What the caller needs below /tmp (its directory, HOME, PATH) stays visible; nothing else is."""
    with tempfile.NamedTemporaryFile(dir="/tmp", prefix="muster-e2e-") as outside:
        script = f'test -e {outside.name} && echo "tmp shared"; echo mine >> {outside.name}; echo "wrote $(cat {outside.name} | wc -l)"'
        finished = muster.run("run", muster.write("job.yaml", pytorchjob("apart", script, 1, script)), limit=30)
        assert finished.status == 0, finished
        assert "tmp shared" not in finished.text, finished
        assert finished.text.count("wrote 1") == 2, finished
        assert outside.read() == b"", "a pod wrote into the machine's /tmp"


@needs_root
def test_a_pod_cannot_see_the_machines_processes(muster):
    script = "ps -e -o pid= 2>/dev/null | wc -l || true; ls -d /proc/[0-9]* | wc -l"
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("alone", script)), limit=30)
    assert finished.status == 0, finished
    counts = [int(line.split()[-1]) for line in finished.text.splitlines()
              if line.split() and line.split()[-1].isdigit() and "alone-master-0" in line]
    assert counts and min(counts) < 10, finished


NESTED = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: outer}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: pytorch
            image: local
            command: ["{binary}", run, "{inner}", --sandbox, "{sandbox}"]
            securityContext: {{privileged: {privileged}}}
"""


@needs_root
@pytest.mark.parametrize("privileged", [True, False])
def test_muster_runs_inside_a_sandbox(muster, shared, privileged):
    # With the rights of a privileged container pods are apart as ever; without them it says what is missing.
    inner = shared / "inner.yaml"
    inner.write_text(pytorchjob("inner", "hostname; exit 0"))
    text = NESTED.format(binary=BINARY, inner=inner, privileged=str(privileged).lower(),
                         sandbox="namespaces" if privileged else "auto")
    finished = muster.run("run", muster.write("job.yaml", text), limit=60)
    assert finished.status == 0, finished
    if privileged:
        assert "| inner-master-0 | inner-master-0" in finished.text, finished
    else:
        assert "CAP_SYS_ADMIN" in finished.text, finished
