"""The operator on API servers of other minor versions than that of ./dev test: its own tests, and those of what is installed.

versions_drill.py MUSTER [MINOR...] [-- PYTEST OPTION...]. The versions are those of the folders tests/cluster/kubernetes-*; each is built
once. Where tests need Kubernetes' own controllers these are the ones of ./dev test.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLUSTER = ROOT / "tests" / "cluster"
sys.path.insert(0, str(CLUSTER))

from programs import OTHER_MINORS, BuildFailed, Missing, build  # noqa: E402

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
# The second asks a server that somebody else starts.
SUITES = ((*PYTEST, "tests/operator"),
          (sys.executable, CLUSTER / "cluster.py", "run", "--", *PYTEST, "tests/conformance/test_install.py"))


def on(minor, muster, more):
    """Whether all passes there."""
    with tempfile.TemporaryDirectory(prefix="muster-versions-") as place:
        pathlib.Path(place, "kube-apiserver").symlink_to(build(f"kube-apiserver-{minor}"))
        environment = {**os.environ, "KUBEBUILDER_ASSETS": place, "MUSTER_BIN": str(muster), "PYTHONDONTWRITEBYTECODE": "1"}
        good = True
        for suite in SUITES:
            print(f"---- Kubernetes {minor}: {suite[-1]}", flush=True)
            good &= subprocess.run([*map(str, suite), *more], cwd=ROOT, env=environment, check=False).returncode == 0
        return good


def main():
    arguments = sys.argv[1:]
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="./dev drill versions")
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("minors", nargs="*", metavar="MINOR", help=f"some of {', '.join(OTHER_MINORS)} (all)")
    options = parser.parse_args(arguments[:cut])
    unknown = set(options.minors) - set(OTHER_MINORS)
    if unknown:
        parser.error(f"there is no tests/cluster/kubernetes-{min(unknown)}")
    try:
        bad = [minor for minor in options.minors or OTHER_MINORS if not on(minor, options.muster.absolute(), arguments[cut + 1:])]
    except (Missing, BuildFailed) as why:
        print(f"versions: {why}", file=sys.stderr)
        return 1
    print(f"---- not all passed on {', '.join(bad)}" if bad else "---- all passed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
