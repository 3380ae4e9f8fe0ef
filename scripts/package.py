"""Packages of the programs that were built: package.py --program MUSTER --muster-run FILE --in-pods FILE --version V OUTPUT

Of programs of another architecture: with --arch, --sysroot (where the libraries are that they load) and --native, a `muster` of
the same source that runs here: it writes the completions, and the packages that it depends on are those of the others.

Writes to OUTPUT, for the architecture of this machine or --arch:

  muster_V_ARCH.deb             for Debian and its kin: programs, completions, a service that is not started
  muster-V-linux-ARCH.tar.gz    for any Linux with a C library that is as new: the same programs, with the libraries that they
                                load beside them, and the static ones, which load none
  SHA256SUMS

The same inputs give the same bytes: times are that of SOURCE_DATE_EPOCH (default: 0), and no one's name is in them.
"""

import argparse
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# By Debian's names of architectures.
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
COMPLETIONS = {"bash": "usr/share/bash-completion/completions/muster",
               "zsh": "usr/share/zsh/vendor-completions/_muster",
               "fish": "usr/share/fish/vendor_completions.d/muster.fish"}
DESCRIPTION = """\
Description: distributed training jobs on one machine and on Kubernetes
 Runs ordinary Kubeflow manifests (PyTorchJob, TFJob, MPIJob and others) on this
 machine with no cluster, serves a Kubernetes API for them, keeps training through
 failures, and is the operator of these jobs on a cluster.
"""
# The account of the service; it owns what the service keeps.
POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    getent passwd muster >/dev/null ||
        useradd --system --home-dir /var/lib/muster --shell /usr/sbin/nologin muster
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
"""
PRERM = """\
#!/bin/sh
set -e
# An upgrade leaves the service as it is, until it is restarted.
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now muster.service || true; fi
"""
POSTRM = """\
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
    rm -rf /var/lib/muster
    if getent passwd muster >/dev/null; then userdel muster; fi
fi
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options).stdout


def put(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)


def put_documents(tree, doc):
    put(tree / doc / "copyright", (ROOT / "LICENSE").read_bytes())
    put(tree / doc / "README.md", (ROOT / "README.md").read_bytes())
    put(tree / doc / "changelog.gz", gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))
    for example in sorted((ROOT / "examples").glob("*.yaml")):
        put(tree / doc / "examples" / example.name, example.read_bytes())


def needed_by(file):
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(\S+)\]", run("readelf", "--dynamic", "--wide", file))


def library_file(name, arch, sysroot):
    places = [sysroot / folder / TRIPLETS[arch] / name for folder in ("usr/lib", "lib")]
    for place in places:
        if place.exists():
            return place
    raise SystemExit(f"package.py: the library {name} is neither {' nor '.join(str(place) for place in places)}")


def libraries_of(program, arch, sysroot):
    """name -> file of the shared libraries that it loads, without those of the C library and the loader. They are read and not
    run, so the architecture may be any."""
    own = re.compile(r"(libc|libm|libdl|libpthread|librt|libresolv)\.so|ld-linux")
    found, pending = {}, needed_by(program)
    while pending:
        name = pending.pop()
        if name not in found and not own.match(name):
            found[name] = library_file(name, arch, sysroot)
            pending += needed_by(found[name])
    return found


def loads_libraries(program):
    return "INTERP" in run("readelf", "--program-headers", "--wide", program)


def depends_of(program, work):
    """The packages with those libraries, and how new they must be; Debian has the same for each architecture."""
    put(work / "debian" / "control", "Source: muster\nPackage: muster\nArchitecture: any\n")
    said = run("dpkg-shlibdeps", "-O", program, cwd=work)
    return re.search(r"^shlibs:Depends=(.*)$", said, re.MULTILINE)[1]


def fill_debian_tree(tree, options, work):
    put(tree / "usr/bin/muster", options.program.read_bytes(), 0o755)
    (tree / "usr/bin/muster-run").symlink_to("muster")
    for shell, path in COMPLETIONS.items():
        put(tree / path, run(options.native, "completion", shell))
    unit = (ROOT / "deploy/muster.service").read_text().replace("/usr/local/bin/muster", "/usr/bin/muster")
    put(tree / "usr/lib/systemd/system/muster.service", unit)
    put_documents(tree, "usr/share/doc/muster")
    size = sum(file.stat().st_size for file in tree.rglob("*") if file.is_file() and not file.is_symlink())
    control = (f"Package: muster\nVersion: {options.version}\nArchitecture: {options.arch}\nSection: science\nPriority: optional\n"
               f"Maintainer: The authors of Muster\nInstalled-Size: {size // 1024 + 1}\n"
               f"Depends: {depends_of(options.native, work)}, passwd\nRecommends: passt, ca-certificates\n" + DESCRIPTION)
    put(tree / "DEBIAN/control", control)
    for name, text in (("postinst", POSTINST), ("prerm", PRERM), ("postrm", POSTRM)):
        put(tree / "DEBIAN" / name, text, 0o755)


def make_debian_package(options, work):
    tree = work / "deb"
    fill_debian_tree(tree, options, work)
    for directory in [tree, *(each for each in tree.rglob("*") if each.is_dir() and not each.is_symlink())]:
        directory.chmod(0o755)
    package = options.output / f"muster_{options.version}_{options.arch}.deb"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(options.epoch)}
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, package, env=environment)
    return package


def make_archive(options, work):
    name = f"muster-{options.version}-linux-{options.arch}"
    tree = work / name
    put(tree / "bin/muster", options.program.read_bytes(), 0o755)
    put(tree / "bin/muster-run", options.muster_run.read_bytes(), 0o755)
    put(tree / "bin/muster-in-pods", options.in_pods.read_bytes(), 0o755)
    for library, file in libraries_of(options.program, options.arch, options.sysroot).items():
        put(tree / "lib/muster" / library, file.read_bytes(), 0o644)
    put_documents(tree, "share/doc/muster")
    for shell, path in COMPLETIONS.items():
        put(tree / path.removeprefix("usr/"), run(options.native, "completion", shell))
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for path in sorted(tree.rglob("*")):
            member = archive.gettarinfo(path, str(path.relative_to(work)))
            member.uid = member.gid = 0
            member.uname = member.gname = "root"
            member.mtime = options.epoch
            member.mode = 0o755 if path.is_dir() else path.stat().st_mode & 0o777
            with (open(path, "rb") if path.is_file() else io.BytesIO()) as content:
                archive.addfile(member, content)
    package = options.output / f"{name}.tar.gz"
    package.write_bytes(gzip.compress(tar.getvalue(), 9, mtime=0))
    return package


def main():
    parser = argparse.ArgumentParser(description="Packages of the programs that were built.")
    for name in ("program", "muster-run", "in-pods"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--arch", choices=TRIPLETS, default=run("dpkg", "--print-architecture").strip())
    parser.add_argument("--sysroot", type=pathlib.Path, default=pathlib.Path("/"))
    parser.add_argument("--native", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    options.program = options.program.resolve()
    options.native = (options.native or options.program).resolve()
    options.output = options.output.resolve()
    options.epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    for static in (options.muster_run, options.in_pods):
        if loads_libraries(static):
            raise SystemExit(f"package.py: {static} loads libraries: build it without sanitizers")
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as work:
        made = [make_debian_package(options, pathlib.Path(work)), make_archive(options, pathlib.Path(work))]
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in made)
    (options.output / "SHA256SUMS").write_text(sums)
    for file in made:
        print(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
