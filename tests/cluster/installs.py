"""Controllers of others, installed on `muster up` from their own manifests, and a job of each.

Only what names an image is changed: a container's command is the program that was built here, its resources are what this
machine has, and as root nothing asks for another user. Their Deployments, and the batch Jobs that they make, run on `muster up`.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import NamedTuple

import yaml

from programs import build, module_folder

LIMIT_S = 180


class Controller(NamedTuple):
    program: str  # of programs.SOURCES
    overlay: str  # where its module has what is applied
    namespace: str
    deployment: str
    left_out: str = ""  # a line of the overlay, which gets another controller from elsewhere


TRAINING_OPERATOR, TRAINING_OPERATOR_BEFORE = (Controller(program, "manifests/overlays/standalone", "kubeflow", "training-operator")
                                               for program in ("training-operator", "training-operator-1.8"))
JOBSET, JOBSET_BEFORE = (Controller(program, "config/default", "jobset-system", "jobset-controller-manager")
                         for program in ("jobset", "jobset-0.10"))
TRAINER, TRAINER_BEFORE = (Controller(program, "manifests/overlays/manager", "kubeflow-system", "kubeflow-trainer-controller-manager",
                                      "third-party/jobset") for program in ("trainer", "trainer-2.1"))
MPI_OPERATOR, MPI_OPERATOR_BEFORE = (Controller(program, "manifests/overlays/standalone", "mpi-operator", "mpi-operator")
                                     for program in ("mpi-operator-0.8", "mpi-operator"))
KUEUE, KUEUE_BEFORE = (Controller(program, "config/default", "kueue-system", "kueue-controller-manager")
                       for program in ("kueue", "kueue-0.16"))


# ---- what is posted ----

def pod(container, command):
    return {"spec": {"restartPolicy": "Never", "containers": [{"name": container, "image": "none", "command": ["sh", "-c", command]}]}}


def pytorch_job(labels=None):
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "demo", "labels": labels or {}},
            "spec": {"pytorchReplicaSpecs": {
                name: {"replicas": replicas, "restartPolicy": "Never", "template": pod("pytorch", "test $WORLD_SIZE = 3")}
                for name, replicas in (("Master", 1), ("Worker", 2))}}}


def mpi_job(labels=None):
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "demo", "labels": labels or {}},
            "spec": {"runPolicy": {"cleanPodPolicy": "Running"}, "mpiReplicaSpecs": {
                "Launcher": {"replicas": 1, "template": pod("launcher", "grep demo-worker-1 /etc/mpi/hostfile")},
                "Worker": {"replicas": 2, "template": pod("worker", "sleep 600")}}}}


def job_set():
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "demo"}, "spec": {"replicatedJobs": [
        {"name": "workers", "replicas": 2, "template": {"spec": {
            "parallelism": 2, "completions": 2, "backoffLimit": 0, "template": pod("main", "test -n \"$JOB_COMPLETION_INDEX\"")}}}]}}


def train_job(labels=None):
    node = pod("node", "test $PET_NNODES = 2")
    return [{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime",
             "metadata": {"name": "small", "labels": {"trainer.kubeflow.org/framework": "torch"}},
             "spec": {"mlPolicy": {"numNodes": 2, "torch": {}}, "template": {"spec": {"replicatedJobs": [
                 {"name": "node", "template": {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                                               "spec": {"template": node}}}]}}}},
            {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "demo", "labels": labels or {}},
             "spec": {"runtimeRef": {"name": "small"}, "trainer": {"numNodes": 2}}}]


QUEUE = "research"
QUEUED = {"kueue.x-k8s.io/queue-name": QUEUE}


def too_large_a_job():
    """One that stays in that queue: it needs more pods than fit."""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "large", "labels": QUEUED},
            "spec": {"parallelism": 9, "completions": 9, "suspend": True, "template": pod("main", "true")}}


def queues(version="v1beta2"):
    """One queue with room for some pods."""
    api = {"apiVersion": f"kueue.x-k8s.io/{version}"}
    return [{**api, "kind": "ResourceFlavor", "metadata": {"name": "default"}},
            {**api, "kind": "ClusterQueue", "metadata": {"name": QUEUE}, "spec": {"namespaceSelector": {}, "resourceGroups": [
                {"coveredResources": ["pods"], "flavors": [{"name": "default", "resources": [{"name": "pods", "nominalQuota": 8}]}]}]}},
            {**api, "kind": "LocalQueue", "metadata": {"name": QUEUE, "namespace": "default"}, "spec": {"clusterQueue": QUEUE}}]


# ---- decisions ----

def for_this_machine(documents, program, root):
    """The manifests with the program in the place of an image."""
    for document in documents:
        if document["kind"] != "Deployment":
            continue
        spec = document["spec"]["template"]["spec"]
        for part in (spec, *spec["containers"]):
            if root:
                part.get("securityContext", {}).pop("runAsNonRoot", None)
        for container in spec["containers"]:
            container["command"] = [str(program)]
            container.pop("resources", None)
    return documents


# ---- a muster up with controllers on it ----

class Failed(Exception):
    """What did not come up, or a job that did not end well, with what is known of it."""


class Place:
    """A `muster up`."""

    def __init__(self, muster, *flags):
        self.muster, self.flags = muster, flags
        self.kubectl_program = build("kubectl")

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muster-foreign-")))
            state = self.root / "state"
            subprocess.run([self.muster, "up", *self.flags, "--state", state, "--listen", "127.0.0.1:0", "--detach"], check=True,
                           stdout=subprocess.DEVNULL, timeout=60)
            stack.callback(subprocess.run, [self.muster, "down", "--state", state], check=False, stdout=subprocess.DEVNULL)
            self.environment = {**os.environ, "KUBECONFIG": str(state / "kubeconfig")}
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def kubectl(self, *words, stdin=None):
        run = subprocess.run([self.kubectl_program, *map(str, words)], env=self.environment, input=stdin, text=True,
                             capture_output=True, check=False, timeout=2 * LIMIT_S)
        if run.returncode != 0:
            raise Failed(f"kubectl {' '.join(map(str, words))}: {(run.stderr or run.stdout).strip()[-1500:]}")
        return run.stdout

    def post(self, documents):
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=yaml.safe_dump_all(documents))

    def rendered(self, controller):
        overlay = module_folder(controller.program) / controller.overlay
        if controller.left_out:
            # A copy of all that it refers to, without that line.
            copied = self.root / f"{controller.program}-manifests"
            shutil.copytree(overlay.parents[1], copied)
            subprocess.run(["chmod", "-R", "u+w", copied], check=True)
            overlay = copied / overlay.parent.name / overlay.name
            file = overlay / "kustomization.yaml"
            file.write_text("".join(line for line in file.read_text().splitlines(True) if controller.left_out not in line))
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        return [document for document in yaml.load_all(self.kubectl("kustomize", overlay), loader) if document]

    def install(self, controller):
        self.post(for_this_machine(self.rendered(controller), build(controller.program), os.geteuid() == 0))
        self.kubectl("rollout", "status", f"deployment/{controller.deployment}", "-n", controller.namespace, f"--timeout={LIMIT_S}s")

    def sees_what_waits(self):
        """Kueue itself says, by its APIService, which job waits in the queue."""
        self.kubectl("wait", "--for=condition=Available", "apiservices", "--all", f"--timeout={LIMIT_S}s")
        self.post([too_large_a_job()])
        path = f"/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/{QUEUE}/pendingworkloads"
        for _ in range(500):  # there is no watch of them
            items = json.loads(self.kubectl("get", "--raw", path))["items"]
            if items:
                break
        if [item["localQueueName"] for item in items] != [QUEUE]:
            raise Failed(f"of the job that waits {path} says {items}")

    def ends(self, documents, resource, condition):
        """Posts a job and waits for its good end."""
        self.post(documents)
        try:
            self.kubectl("wait", f"--for=condition={condition}", resource, f"--timeout={LIMIT_S}s")
        except Failed as why:
            state = self.kubectl("get", resource, "-o", "yaml"), self.kubectl("get", "pods,jobs,events")
            raise Failed("\n".join((str(why), *state))) from None
