"""The integration suites of other operators, as they are published, against a server that is there already, or one that they start
themselves with envtest.

A suite finds its files by paths from its package's folder, so it is started in a folder that looks like it: the module's own
manifests are links, and what its Makefile would copy beside them is there, too.
"""

import json
import os
import pathlib
import re
import subprocess
import time
from typing import NamedTuple

from programs import MPI_OPERATORS, TRAINING_OPERATOR_SUITES, build, module_folder

SCHEDULER_PLUGINS = "sigs.k8s.io/scheduler-plugins"
# A suite that waits for what never comes takes minutes for each case.
LIMIT_S = 600

# Volcano itself is no Go module that could be had: a definition that takes whatever the real one takes.
VOLCANO_GROUPS = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "podgroups.scheduling.volcano.sh"},
    "spec": {"group": "scheduling.volcano.sh", "scope": "Namespaced",
             "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
             "versions": [{"name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
                 "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


class Suite(NamedTuple):
    name: str
    package: str  # its folder in the module
    cases: int

    @property
    def program(self):
        return f"{self.name}-suite"


TRAINING_OPERATOR_CASES = {"pytorch": 7, "tensorflow": 29, "xgboost": 3, "paddlepaddle": 4, "jax": 2, "mpi": 18}
SUITES = [*(Suite(f"training-operator-{package}", f"pkg/controller.v1/{package}", TRAINING_OPERATOR_CASES[package])
            for package in TRAINING_OPERATOR_SUITES),
          *(Suite(name, "test/integration", 7) for name in MPI_OPERATORS)]


class Outcome(NamedTuple):
    passed: int
    seconds: float
    said: str


# ---- decisions ----

def count_passed(said):
    """How many cases passed, from what a suite says: Ginkgo counts its own, which are one test of Go's."""
    ginkgo = re.search(r"^(?:SUCCESS!|FAIL!) -- (\d+) Passed ", said, re.M)
    return int(ginkgo[1]) if ginkgo else len(re.findall(r"^--- PASS: ", said, re.M))


def failures_of(said):
    """The lines that name what failed."""
    return [line.strip() for line in said.splitlines() if re.match(r"\s*(\[FAIL\]|--- FAIL: )", line)]


# ---- running one ----

def api_alone(muster, state):
    """The kubeconfig of a `muster up --api-only`, which runs until it is told `down`."""
    subprocess.run([muster, "up", "--api-only", "--state", state, "--listen", "127.0.0.1:0", "--detach"], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    return state / "kubeconfig"


def on_cluster(kubeconfig):
    """What a suite has to find in its environment to take the server of this kubeconfig."""
    return {"USE_EXISTING_CLUSTER": "true", "KUBECONFIG": str(kubeconfig)}


def on_assets(folder):
    """The same to start the etcd and the kube-apiserver in this folder."""
    return {"KUBEBUILDER_ASSETS": str(folder)}


def our_assets(muster, folder):
    """A folder with links to Muster, as a user makes it."""
    return subprocess.run([muster, "envtest", folder, "--print", "path"], check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout.strip()


def left_behind(place):
    """What a suite that was begun in `place` has left there: directories of envtest, and programs that run from it."""
    running = [link for link in pathlib.Path("/proc").glob("[0-9]*/cmdline") if str(place).encode() in read_if_there(link)]
    return [str(path) for path in [*(place / "tmp").glob("k8s_test_framework_*"), *running]]


def read_if_there(file):
    try:
        return file.read_bytes()
    except OSError:  # the process has ended
        return b""


def folder_of(suite, place):
    """Makes the folder that the suite is started in, below `place`."""
    (place / "manifests").symlink_to(module_folder(suite.program) / "manifests")
    if suite.name.startswith("mpi-operator"):
        needed = place / "dep-crds"
        needed.mkdir()
        (needed / "scheduler-plugins").symlink_to(module_folder(suite.program, SCHEDULER_PLUGINS) / "manifests" / "coscheduling")
        (needed / "volcano-scheduler").mkdir()
        (needed / "volcano-scheduler" / "podgroups.yaml").write_text(json.dumps(VOLCANO_GROUPS))
    made = place / suite.package
    made.mkdir(parents=True)
    return made


def begin(suite, server, place):
    """The suite as a process; `server` is that of on_cluster() or on_assets(). finish() waits for it."""
    ginkgo = ["-ginkgo.no-color"] if suite.name.startswith("training-operator") else []
    return begin_program(build(suite.program), server, place, folder_of(suite, place), ginkgo)


def begin_program(program, server, place, folder, more=()):
    environment = {name: value for name, value in os.environ.items() if name != "KUBEBUILDER_ASSETS"}
    # envtest notes the ports that it has given away, and leaves them.
    (place / "tmp").mkdir()
    environment |= {**server, "TMPDIR": str(place / "tmp"), "XDG_CACHE_HOME": str(place / "cache")}
    with open(place / "said", "wb") as said:
        return subprocess.Popen([program, "-test.v", f"-test.timeout={LIMIT_S}s", *more], cwd=folder,
                                env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said), time.monotonic()


def finish(begun, place):
    process, at = begun
    process.wait()
    said = pathlib.Path(place, "said").read_text(errors="replace")
    return Outcome(count_passed(said), time.monotonic() - at, said)
