"""Install the Debian package in a bare Debian, use it, remove it: package_drill.py PACKAGE

The root is made by debootstrap. The archive beside the package is unpacked and used first, where none of the libraries is installed.
What is there after `apt purge` and was not there before is named, and the drill has failed. Status 77 where no such root can be made.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
# What apt and dpkg keep of any package, and what Muster's page on removal says that it leaves.
OF_OTHERS = ("var/lib/apt/", "var/lib/dpkg/", "var/cache/", "var/log/", "etc/ld.so.cache/", "root/.muster/",
             # The copies that useradd and userdel keep of what they change.
             "etc/passwd-/", "etc/group-/", "etc/shadow-/", "etc/gshadow-/")
ACCOUNTS = ("etc/passwd", "etc/group", "etc/shadow", "etc/gshadow")
# The mounts live and die with the namespace.
INSIDE = """
set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys" || mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
exec chroot "$1" sh -ec "$2"
"""
USE = r"""
cd /root
printf '#!/bin/sh\necho "rank $RANK of $WORLD_SIZE"\n' > hello.sh
chmod +x hello.sh
muster run --workers 2 ./hello.sh | tee said
grep -q 'rank 1 of 2' said
rm hello.sh said
muster up --detach --listen 127.0.0.1:0
muster status
muster down
"""
INSTALLED = """
test -e /usr/share/bash-completion/completions/muster
test -e /usr/lib/systemd/system/muster.service
id muster
"""


class Root:
    """A bare Debian in a directory."""

    def __init__(self, place):
        self.place = pathlib.Path(place)

    def run(self, script):
        """Its output, also to ours."""
        environment = {"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "dumb",
                       "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", INSIDE, "root", self.place, script],
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=1200, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{done.stdout}\npackage drill: exit status {done.returncode} of:\n{script}")
        return done.stdout

    def files(self):
        found = set()
        for folder, folders, files in os.walk(self.place):
                found.update(os.path.relpath(os.path.join(folder, name), self.place) for name in [*files, *folders])
        return {path for path in found if not (path + "/").startswith(OF_OTHERS)}

    def accounts(self):
        return {name: (self.place / name).read_text() for name in ACCOUNTS if (self.place / name).exists()}


def timed(what, action, *arguments):
    begin = time.monotonic()
    result = action(*arguments)
    print(f"{what}: {time.monotonic() - begin:.1f} s", flush=True)
    return result


def bootstrap(place):
    for program in ("debootstrap", "unshare", "chroot"):
        if not shutil.which(program):
            print(f"package drill: there is no {program} here", file=sys.stderr)
            raise SystemExit(SKIPPED)
    made = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", place], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        print(f"package drill: debootstrap failed\n{made.stdout[-2000:]}{made.stderr[-2000:]}", file=sys.stderr)
        raise SystemExit(SKIPPED)


def rehearse(root, package):
    shutil.copy("/etc/resolv.conf", root.place / "etc/resolv.conf")
    timed("apt update", root.run, "apt-get update -q")
    files, accounts = root.files(), root.accounts()
    for archive in package.parent.glob("muster-*-linux-*.tar.gz"):
        shutil.copy(archive, root.place / "root/muster.tar.gz")
        timed("the archive", root.run, "mkdir /root/unpacked; tar xzf /root/muster.tar.gz -C /root/unpacked --strip-components 1\n"
              "PATH=/root/unpacked/bin:$PATH\n" + USE + "rm -r /root/unpacked /root/muster.tar.gz\n")
    shutil.copy(package, root.place / "root" / package.name)
    timed("install", root.run, f"apt-get install -q -y --no-install-recommends /root/{package.name}")
    print(timed("use", root.run, USE + INSTALLED), end="")
    timed("purge", root.run, f"apt-get purge -q -y muster; apt-get autoremove -q -y --purge; rm /root/{package.name}")
    left = sorted(root.files() - files)
    for path in left:
        print(f"left: /{path}")
    gone = sorted(files - root.files())
    for path in gone:
        print(f"gone: /{path}")
    changed = [name for name, text in accounts.items() if root.accounts().get(name) != text]
    for name in changed:
        print(f"changed: /{name}")
    return not (left or gone or changed)


def main():
    parser = argparse.ArgumentParser(description="Install the Debian package in a bare Debian, use it, remove it.")
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, help="a bare root that is there already; it is kept, and changed")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("package drill: a bare root needs root: debootstrap, mount and chroot", file=sys.stderr)
        raise SystemExit(SKIPPED)
    if options.root:
        sound = rehearse(Root(options.root), options.package.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="muster-package-root.") as place:
            timed("debootstrap", bootstrap, place)
            sound = rehearse(Root(place), options.package.resolve())
    print("package drill: nothing is left" if sound else "package drill: FAILED")
    raise SystemExit(0 if sound else 1)


if __name__ == "__main__":
    main()
