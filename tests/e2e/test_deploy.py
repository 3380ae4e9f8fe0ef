"""The systemd unit that comes with muster, and what its image is made of."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import textwrap
import time

import pytest

from conftest import BINARY, IN_PODS, ROOT
from test_network import children_of
from test_outlive import pod
from test_up import KUBECTL, needs_kubectl


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_takes_the_unit(tmp_path):
    text = (ROOT / "deploy" / "muster.service").read_text()
    unit = tmp_path / "muster.service"
    # The program has to be there, and so has the user.
    assert "ExecStart=/usr/local/bin/muster up" in text and "User=muster\n" in text
    unit.write_text(text.replace("/usr/local/bin/muster", str(BINARY)).replace("User=muster\n", ""))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], text=True, capture_output=True,
                          timeout=60, check=False)
    said = [line for line in done.stderr.splitlines() if "muster.service" in line]
    assert done.returncode == 0 and not said, done.stderr


def test_pods_outlive_the_service_only_with_a_systemd_that_starts_the_next_one_beside_them():
    unit = (ROOT / "deploy" / "muster.service").read_text()
    more = (ROOT / "deploy" / "muster.service.d" / "outlive.conf").read_text()
    assert "/muster up --supervise " in unit, "they outlive the daemon with any"
    assert "\nKillMode=mixed\n" in unit and "\nDelegateSubgroup=" not in unit, "systemd before 254 knows no subgroup"
    # The name is the one that src/runtime/internal/limits/cgroups.cc looks for.
    assert "\n[Service]\n" in more and "\nDelegateSubgroup=muster-daemon\n" in more and "\nKillMode=process\n" in more
    assert '"/muster-daemon"' in (ROOT / "src" / "runtime" / "internal" / "limits" / "cgroups.cc").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_takes_the_unit_with_pods_that_outlive_it(tmp_path):
    said = subprocess.run(["systemd-analyze", "--version"], text=True, capture_output=True, timeout=60, check=True).stdout
    if int(re.search(r"systemd (\d+)", said)[1]) < 254:
        pytest.skip("this systemd has no DelegateSubgroup: " + said.splitlines()[0])
    text = (ROOT / "deploy" / "muster.service").read_text() + (ROOT / "deploy" / "muster.service.d" / "outlive.conf").read_text()
    unit = tmp_path / "muster.service"
    unit.write_text(text.replace("/usr/local/bin/muster", str(BINARY)).replace("User=muster\n", ""))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], text=True, capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 0 and "muster.service" not in done.stderr, done.stderr


def until(holds, what):
    """What `holds` returns once it is true."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    pytest.fail(f"after 60 s not yet: {what}")


# In namespaces of its own systemd believes that it is the first process of a machine. What it would write elsewhere is kept in memory.
BOOT = """
    set -e
    mount -t tmpfs none /run
    mount -t tmpfs none /var/lib
    umount -l /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup
    mkdir -p /run/systemd/system
    cp {unit} /run/systemd/system/
    printf '[Unit]\\nDefaultDependencies=no\\nWants=muster.service\\n' > /run/systemd/system/test.target
    exec env container=other /lib/systemd/systemd --system --unit=test.target
"""


@pytest.fixture
def own_cgroup():
    """A group of version 2 for the tree of another systemd; it is gone afterwards."""
    mounted = re.search(r"^\S+ (\S+) cgroup2 ", pathlib.Path("/proc/mounts").read_text(), re.MULTILINE)
    if os.geteuid() != 0 or mounted is None:
        pytest.skip("another systemd needs root and a tree of cgroups of version 2")
    group = pathlib.Path(mounted[1]) / f"muster-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as refused:
        pytest.skip(f"no cgroups can be made here: {refused}")
    yield group
    (group / "cgroup.kill").write_text("1")
    for below, _, _ in os.walk(group, topdown=False):
        until(lambda below=below: "populated 0" in (pathlib.Path(below) / "cgroup.events").read_text(), f"{below} is empty")
        os.rmdir(below)


@pytest.mark.skipif(not pathlib.Path("/lib/systemd/systemd").exists(), reason="there is no systemd here")
@needs_kubectl
def test_under_systemd_pods_run_on_through_a_crash_and_end_with_the_service(tmp_path, own_cgroup):
    unit = tmp_path / "muster.service"
    unit.write_text((ROOT / "deploy" / "muster.service").read_text()
                    .replace("/usr/local/bin/muster up", f"{BINARY} up --listen 127.0.0.1:0")
                    .replace("User=muster", "User=nobody")
                    .replace("Wants=network-online.target\nAfter=network-online.target\n", "DefaultDependencies=no\n"))
    boot = tmp_path / "boot.sh"
    boot.write_text(textwrap.dedent(BOOT.format(unit=unit)))
    with open(tmp_path / "systemd.txt", "wb") as output:
        systemd = subprocess.Popen(["sh", "-c", f"echo 0 > {own_cgroup}/cgroup.procs && exec unshare --pid --mount --cgroup --fork "
                                    f"--kill-child --mount-proc sh {boot}"], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        init = until(lambda: next(iter(children_of(systemd.pid)), None), "systemd is there")
        state = pathlib.Path(f"/proc/{init}/root/var/lib/muster/state")

        def daemon():
            found = json.loads((state / "lock").read_text()) if (state / "lock").exists() else {}
            return found["pid"] if found.get("address") else None

        def kubectl(*words, text=None):
            done = subprocess.run([KUBECTL, "--kubeconfig", state / "kubeconfig", *words], input=text, capture_output=True, text=True,
                                  timeout=60, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout

        first = until(daemon, "muster is up")
        kubectl("create", "-f", "-", text=json.dumps(pod("sleeps", "exec sleep 1000")))
        kubectl("wait", "--for=condition=Ready", "pod/sleeps", "--timeout=40s")
        before = json.loads(kubectl("get", "pod", "sleeps", "-o", "json"))["status"]["containerStatuses"][0]
        # The number is that of the process in the namespace of systemd.
        inside = ["nsenter", "-t", str(init), "--mount", "--pid"]
        subprocess.run([*inside, "kill", "-KILL", str(first)], check=True, timeout=60)
        until(lambda: daemon() not in (None, first), "the next daemon is up")
        after = json.loads(kubectl("get", "pod", "sleeps", "-o", "json"))["status"]["containerStatuses"][0]
        assert (after["containerID"], after["state"]) == (before["containerID"], before["state"]) and "running" in after["state"], after
        subprocess.run([*inside, "systemctl", "stop", "muster"], check=True, timeout=60, capture_output=True)
        assert not (own_cgroup / "system.slice" / "muster.service").exists(), "all of its processes have ended"
    except BaseException:
        print((tmp_path / "systemd.txt").read_text(errors="replace")[-4000:])
        raise
    finally:
        systemd.kill()
        systemd.wait()


def test_the_image_has_all_that_the_program_needs(tmp_path):
    image = tmp_path / "image"
    if not IN_PODS.exists():
        pytest.skip(f"{IN_PODS} is not built")
    subprocess.run([ROOT / "scripts" / "image_root.sh", BINARY, IN_PODS, image], check=True, timeout=60)
    assert (image / "usr/local/bin/muster-in-pods").read_bytes() == IN_PODS.read_bytes()
    assert not list(image.rglob("sh")) and {path.parent.name for path in image.rglob("*python*")} <= {"bin", "muster", "dlrover"}
    for name in ("bin/muster-start", "bin/torchrun", "bin/python3", "python/sitecustomize.py", "python/muster/__init__.py"):
        assert (image / "opt/muster" / name).is_file(), name
    done = subprocess.run(["unshare", "--user", "--map-root-user", f"--root={image}", "/usr/bin/muster", "manifests", "--crds-only"],
                          text=True, capture_output=True, timeout=60, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip("user namespaces are forbidden here: " + done.stderr)
    assert done.returncode == 0 and "name: pytorchjobs.kubeflow.org" in done.stdout, done


def test_the_dockerfile_names_files_that_are_there():
    text = (ROOT / "deploy" / "Dockerfile").read_text()
    for path in ("dev", "scripts", "scripts/image_root.sh"):
        assert path in text and (ROOT / path).exists()
    assert "/image\n" in text and "src/pod_tools/muster-in-pods" in text
    # Where an image comes from is its builder's choice, and it runs as nobody.
    assert "FROM debian:12 AS build" in text and "FROM scratch" in text and "USER 65532:65532" in text
