"""The store that muster-run serves, for real clients of one torch after the other.

store_drill.py MUSTER [--keep] [MINOR...] [-- PYTEST OPTION...]. The versions are those of tests/cluster/torch. Each takes several gigabytes
and is removed after its tests if it was not there before, but with --keep.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import OTHER_TORCHES, SOURCES, BuildFailed, Missing, build, find  # noqa: E402

TESTS = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_store.py")


def on(minor, keep, environment, more):
    """Whether all passes there."""
    name = f"python-torch-{minor}"
    keep = keep or find(name)
    print(f"---- torch {minor}", flush=True)
    try:
        run = subprocess.run([*TESTS, *more], cwd=ROOT, env={**environment, "MUSTER_STORE_PYTHON": str(build(name))}, check=False)
        return run.returncode == 0
    finally:
        if not keep:
            shutil.rmtree(SOURCES[name].home(), ignore_errors=True)


def main():
    arguments = sys.argv[1:]
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="./dev drill store-versions")
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("minors", nargs="*", metavar="MINOR", help=f"some of {', '.join(OTHER_TORCHES)} (all)")
    parser.add_argument("--keep", action="store_true", help="leave those that are fetched for the next time")
    options = parser.parse_args(arguments[:cut])
    unknown = set(options.minors) - set(OTHER_TORCHES)
    if unknown:
        parser.error(f"there is no tests/cluster/torch/{min(unknown)}.txt")
    environment = {**os.environ, "MUSTER_BIN": str(options.muster.absolute()), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        bad = [minor for minor in options.minors or OTHER_TORCHES if not on(minor, options.keep, environment, arguments[cut + 1:])]
    except (Missing, BuildFailed) as why:
        print(f"store-versions: {why}", file=sys.stderr)
        return 1
    print(f"---- not all passed with torch {', '.join(bad)}" if bad else "---- all passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
