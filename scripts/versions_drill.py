"""The operator on API servers of other minor versions than that of ./dev test: its own tests, and those of what is installed.

versions_drill.py MUSTER [MINOR...] [-- PYTEST OPTION...]. The versions are those of the folders tests/cluster/kubernetes-*; each is built
once. Where tests need Kubernetes' own controllers these are the ones of ./dev test.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLUSTER = ROOT / "tests" / "cluster"
sys.path.insert(0, str(CLUSTER))

from other_versions import play  # noqa: E402
from programs import OTHER_MINORS, build  # noqa: E402

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
# The second asks a server that somebody else starts.
SUITES = ((*PYTEST, "tests/operator"),
          (sys.executable, CLUSTER / "cluster.py", "run", "--", *PYTEST, "tests/conformance/test_install.py"))


def on(minor, wanted, more):
    """Whether all passes there."""
    with tempfile.TemporaryDirectory(prefix="muster-versions-") as place:
        pathlib.Path(place, "kube-apiserver").symlink_to(build(f"kube-apiserver-{minor}"))
        environment = {**os.environ, "KUBEBUILDER_ASSETS": place, "MUSTER_BIN": str(wanted.muster.absolute()),
                       "PYTHONDONTWRITEBYTECODE": "1"}
        good = True
        for suite in SUITES:
            print(f"---- Kubernetes {minor}: {suite[-1]}", flush=True)
            good &= subprocess.run([*map(str, suite), *more], cwd=ROOT, env=environment, check=False).returncode == 0
        return good


if __name__ == "__main__":
    sys.exit(play("versions", OTHER_MINORS, "tests/cluster/kubernetes-{}", on))
