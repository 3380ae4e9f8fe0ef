"""Programs of another architecture, in an emulator: cross_drill.py --arch ARCH --sysroot DIR [ARCHIVE]

The archive that ./dev package --arch ARCH made is unpacked, and its programs say their version, check the examples and explain
one. The C library and its loader come from the sysroot, all other libraries from the archive. Pods and workers are not started: their
programs would need the kernel to know the emulator. Status 77 where there is no emulator.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[1]
PROCESSORS = {"amd64": ("x86_64", "Advanced Micro Devices X86-64"), "arm64": ("aarch64", "AArch64")}


class Drill:
    def __init__(self, tree, emulator, sysroot, machine):
        self.tree, self.emulator, self.sysroot, self.machine = tree, emulator, sysroot, machine
        self.failed = 0

    def check(self, what, holds, said=""):
        print(f"{'ok    ' if holds else 'FAILED'} {what}{'' if holds else ': ' + said.strip()}", flush=True)
        self.failed += not holds

    def says(self, text, program, *words):
        done = subprocess.run([self.emulator, "-L", self.sysroot, self.tree / "bin" / program, *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=120, check=False)
        self.check(f"{program} {' '.join(map(str, words))}", done.returncode == 0 and text in done.stdout + done.stderr,
                   f"exit status {done.returncode}: {(done.stderr or done.stdout)[-300:]}")

    def is_for_it(self, file):
        header = subprocess.run(["readelf", "--file-header", file], capture_output=True, text=True, check=True).stdout
        self.check(f"{file.relative_to(self.tree)} is for {self.machine}", self.machine in header, header)

    def run(self, version):
        for file in sorted([*(self.tree / "bin").iterdir(), *(self.tree / "lib/muster").iterdir()]):
            self.is_for_it(file)
        self.says(version, "muster", "version")
        for example in sorted((ROOT / "examples").glob("*.yaml")):
            self.says("", "muster", "validate", example)
        self.says("digits-worker-0", "muster", "explain", ROOT / "examples/pytorch-digits.yaml")
        self.says("--nproc-per-node", "muster-run", "--help")
        self.says("rsh", "muster-in-pods", "--help")


def main():
    parser = argparse.ArgumentParser(description="Programs of another architecture, in an emulator.")
    parser.add_argument("--arch", choices=PROCESSORS, required=True)
    parser.add_argument("--sysroot", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("archive", type=pathlib.Path)
    options = parser.parse_args()
    processor, machine = PROCESSORS[options.arch]
    emulator = shutil.which(f"qemu-{processor}-static") or shutil.which(f"qemu-{processor}")
    if emulator is None:
        print(f"package-{options.arch}: skipped: there is no qemu-{processor}; Debian's package qemu-user-static has it")
        return SKIPPED
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(options.archive) as archive:
            archive.extractall(place, filter="tar") if hasattr(tarfile, "tar_filter") else archive.extractall(place)
        [tree] = pathlib.Path(place).iterdir()
        drill = Drill(tree, emulator, options.sysroot, machine)
        drill.run(options.version)
    print(f"package-{options.arch}: {drill.failed} failed" if drill.failed else f"package-{options.arch}: all hold")
    return 1 if drill.failed else 0


if __name__ == "__main__":
    sys.exit(main())
