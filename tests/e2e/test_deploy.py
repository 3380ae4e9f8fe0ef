"""The systemd unit that comes with muster, and what its image is made of."""

import re
import shutil
import subprocess

import pytest

from conftest import BINARY, IN_PODS, ROOT


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


def test_pods_outlive_the_daemon_only_with_a_systemd_that_starts_the_next_one_beside_them():
    unit = (ROOT / "deploy" / "muster.service").read_text()
    more = (ROOT / "deploy" / "muster.service.d" / "outlive.conf").read_text()
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


def test_the_image_has_all_that_the_program_needs(tmp_path):
    image = tmp_path / "image"
    if not IN_PODS.exists():
        pytest.skip(f"{IN_PODS} is not built")
    subprocess.run([ROOT / "scripts" / "image_root.sh", BINARY, IN_PODS, image], check=True, timeout=60)
    assert (image / "usr/local/bin/muster-in-pods").read_bytes() == IN_PODS.read_bytes()
    assert not list(image.rglob("sh")) and not list(image.rglob("*python*"))
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
