"""scripts/package.py: the package and the archive have what they should, the same each time, and run where they are unpacked."""

import os
import pathlib
import shutil
import subprocess
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "release" / "src"
PROGRAM = pathlib.Path(os.environ.get("MUSTER_BIN", BUILT / "cli" / "muster"))
STATIC = [pathlib.Path(os.environ.get("MUSTER_STATIC_DIR", BUILT)) / name
          for name in ("muster_run/muster-run", "pod_tools/muster-in-pods")]

pytestmark = pytest.mark.skipif(
    not (PROGRAM.exists() and all(each.exists() for each in STATIC) and shutil.which("dpkg-shlibdeps")),
    reason="the programs are not built, or dpkg-dev is not installed")


def package(output):
    subprocess.run(["python3", ROOT / "scripts" / "package.py", "--program", PROGRAM, "--muster-run", STATIC[0],
                    "--in-pods", STATIC[1], "--version", "1.2.3", output], check=True, capture_output=True)
    return output


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return package(tmp_path_factory.mktemp("made") / "out")


def only(folder, pattern):
    [found] = folder.glob(pattern)
    return found


def test_the_debian_package_has_programs_completions_and_a_service(made, tmp_path):
    package_file = only(made, "*.deb")
    subprocess.run(["dpkg-deb", "-x", package_file, tmp_path], check=True)
    there = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*")}
    for name in ("usr/bin/muster", "usr/bin/muster-run", "usr/lib/systemd/system/muster.service",
                 "usr/share/bash-completion/completions/muster", "usr/share/zsh/vendor-completions/_muster",
                 "usr/share/fish/vendor_completions.d/muster.fish", "usr/share/doc/muster/copyright"):
        assert name in there, name
    assert "/usr/bin/muster up" in (tmp_path / "usr/lib/systemd/system/muster.service").read_text()
    for word in ("version", "--help"):
        subprocess.run([tmp_path / "usr/bin/muster", word], check=True, capture_output=True)
    subprocess.run([tmp_path / "usr/bin/muster-run", "--help"], check=True, capture_output=True)
    fields = subprocess.run(["dpkg-deb", "-f", package_file], check=True, capture_output=True, text=True).stdout
    assert "Version: 1.2.3\n" in fields and "libssl3" in fields and "libc6 (>= 2.36)" in fields
    listing = subprocess.run(["dpkg-deb", "-c", package_file], check=True, capture_output=True, text=True).stdout
    assert all(" root/root " in line for line in listing.splitlines())


def test_the_maintainers_scripts_are_sound(made, tmp_path):
    subprocess.run(["dpkg-deb", "-e", only(made, "*.deb"), tmp_path], check=True)
    for name in ("postinst", "prerm", "postrm"):
        subprocess.run(["sh", "-n", tmp_path / name], check=True)
        assert os.access(tmp_path / name, os.X_OK)
    # What is not purged is kept.
    assert "$1\" = purge" in (tmp_path / "postrm").read_text()


def test_the_archive_runs_where_it_is_unpacked_with_its_own_libraries(made, tmp_path):
    with tarfile.open(only(made, "*.tar.gz")) as archive:
        names = archive.getnames()
        assert all(not name.startswith(("/", "..")) for name in names)
        archive.extractall(tmp_path, filter="tar") if hasattr(tarfile, "tar_filter") else archive.extractall(tmp_path)
    top = only(tmp_path, "muster-1.2.3-linux-*")
    said = subprocess.run([top / "bin/muster", "version"], check=True, capture_output=True, text=True).stdout
    assert said.startswith("muster ")
    loaded = subprocess.run(["ldd", top / "bin/muster"], check=True, capture_output=True, text=True).stdout
    for library in (top / "lib/muster").iterdir():
        assert str(library) in os.path.normpath(loaded.split(library.name + " => ")[1].split(" ")[0]), library
    subprocess.run([top / "bin/muster-run", "--help"], check=True, capture_output=True)


def test_the_same_inputs_give_the_same_bytes(made, tmp_path):
    again = package(tmp_path / "again")
    assert (again / "SHA256SUMS").read_text() == (made / "SHA256SUMS").read_text()
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=again, check=True)
