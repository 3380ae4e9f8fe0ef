"""Runs published manifests with programs that are here in place of those that only their images have.

corpus_drill.py MUSTER [--only WORDS]. MUSTER_CORPUS names the directory that has them as manifests/*.yaml. Nothing of a
manifest is changed but its commands; one that has to run and does not succeed, or whose program does not say that it did
its work, is a failure.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "cluster" / "published")]

from stand_ins import DONE, CantRun, stand_in  # noqa: E402

from programs import Missing, build  # noqa: E402

# Where the end-to-end tests look as well.
CORPUS = pathlib.Path(os.environ.get("MUSTER_CORPUS", ROOT.parent / "shared" / "corpus"))

LIMIT_S = 300


def published():
    return sorted((CORPUS / "manifests").glob("*.yaml"))


def with_stand_ins(path):
    """The manifest's jobs; raises CantRun."""
    return [stand_in(job) for job in yaml.safe_load_all(path.read_text()) if job]


def prepare(path, folder):
    """The manifest to run and the PATH that it wants; raises CantRun or Missing."""
    made = with_stand_ins(path)
    environment = next((each.environment for each in made if each.environment), None)
    search = os.environ["PATH"]
    if environment:
        search = f"{pathlib.Path(build(f'python-{environment}')).parent}:{search}"
    manifest = pathlib.Path(folder) / path.name
    manifest.write_text("\n---\n".join(json.dumps(each.job) for each in made))
    return manifest, search


def run(muster, path):
    """Why it did not go well, or None; raises CantRun or Missing."""
    # Whether it should be refused is for the end-to-end tests to say.
    checked = subprocess.run([muster, "validate", "--anywhere", "--quiet", path], text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if checked.returncode != 0:
        raise CantRun("it is refused: " + checked.stdout.split(": error: ")[1].splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        manifest, search = prepare(path, folder)
        # Devices that are not here are the frameworks' affair.
        line = [muster, "run", manifest, "--ignore-resources", "nvidia.com/gpu", "--timeout", f"{LIMIT_S}s"]
        done = subprocess.run(line, cwd=ROOT, env={**os.environ, "PATH": search}, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    if done.returncode != 0:
        return f"ended with {done.returncode}:\n{done.stdout[-4000:]}"
    return None if re.search(DONE, done.stdout) else f"no output says that the work is done:\n{done.stdout[-4000:]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("--only", default="", help="files whose name has this")
    options = parser.parse_args()
    files = [path for path in published() if options.only in path.name]
    if not files:
        parser.error(f"no such manifest in {CORPUS}/manifests; MUSTER_CORPUS says where they are")
    ran, failed = 0, []
    for path in files:
        begun = time.monotonic()
        try:
            why = run(options.muster.absolute(), path)
        except (CantRun, Missing) as reason:
            print(f"{path.name}: can't run here, {reason}", flush=True)
            continue
        ran += 1
        print(f"{path.name}: {f'FAILED, {why}' if why else 'succeeded'} after {time.monotonic() - begun:.1f} s", flush=True)
        if why:
            failed.append(path.name)
    print(f"{ran} of {len(files)} ran, {len(failed)} failed", *failed, sep="\n  ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
