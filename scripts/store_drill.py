"""The store that muster-run serves, for real clients of one torch after the other.

store_drill.py MUSTER [--keep] [MINOR...] [-- PYTEST OPTION...]. The versions are those of tests/cluster/torch. Each takes several gigabytes
and is removed after its tests if it was not there before, but with --keep.
"""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from other_versions import play  # noqa: E402
from programs import OTHER_TORCHES, SOURCES, build, find  # noqa: E402

TESTS = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/e2e/test_store.py")


def on(minor, wanted, more):
    """Whether all passes there."""
    name = f"python-torch-{minor}"
    keep = wanted.keep or find(name)
    print(f"---- torch {minor}", flush=True)
    try:
        environment = {**os.environ, "MUSTER_BIN": str(wanted.muster.absolute()), "PYTHONDONTWRITEBYTECODE": "1",
                       "MUSTER_STORE_PYTHON": str(build(name))}
        return subprocess.run([*TESTS, *more], cwd=ROOT, env=environment, check=False).returncode == 0
    finally:
        if not keep:
            shutil.rmtree(SOURCES[name].home(), ignore_errors=True)


def options(parser):
    parser.add_argument("--keep", action="store_true", help="leave those that are fetched for the next time")


if __name__ == "__main__":
    sys.exit(play("store-versions", OTHER_TORCHES, "tests/cluster/torch/{}.txt", on, options))
