"""Bad input of each kind: refused with file, line, column and field, before anything starts.

In a manifest here, § stands where the problem is to be shown.
"""

import re

import pytest

#       kind        version    the map of replicas      container
KINDS = {
    "PyTorchJob": ("v1", "pytorchReplicaSpecs", "pytorch"),
    "TFJob": ("v1", "tfReplicaSpecs", "tensorflow"),
    "MXJob": ("v1", "mxReplicaSpecs", "mxnet"),
    "XGBoostJob": ("v1", "xgbReplicaSpecs", "xgboost"),
    "PaddleJob": ("v1", "paddleReplicaSpecs", "paddle"),
    "JAXJob": ("v1", "jaxReplicaSpecs", "jax"),
    "MPIJob": ("v2beta1", "mpiReplicaSpecs", "mpi"),
    "ElasticJob": ("v1alpha1", "replicaSpecs", "main"),
}
GOOD = {"PyTorchJob": {"Master": 1, "Worker": 1}, "TFJob": {"Chief": 1, "PS": 1, "Worker": 2},
        "MXJob": {"Scheduler": 1, "Server": 1, "Worker": 1}, "XGBoostJob": {"Master": 1, "Worker": 1},
        "PaddleJob": {"Worker": 2}, "JAXJob": {"Worker": 2}, "MPIJob": {"Launcher": 1, "Worker": 2}, "ElasticJob": {"ps": 1, "worker": 2}}
GROUPS = {"ElasticJob": "elastic.iml.github.io"}


def manifest(kind, replicas=None, *, version=None, name="demo", spec="", container=None, ports="",
             type_mark=None, map_mark=""):
    """A job of one container a replica. `spec` are lines of the spec; the marks put § before a replica type or the map."""
    own_version, field, own_container = KINDS[kind]
    lines = [f"apiVersion: {GROUPS.get(kind, 'kubeflow.org')}/{version or own_version}", f"kind: {kind}", f"metadata: {{name: {name}}}", "spec:"]
    if kind == "MXJob" and "jobMode" not in spec:
        lines.append("  jobMode: MXTrain")
    lines += [f"  {line}" for line in spec.splitlines()]
    lines.append(f"  {map_mark}{field}:")
    for type_, count in (replicas or GOOD[kind]).items():
        lines += [f"    {'§' if type_ == type_mark else ''}{type_}:", f"      replicas: {count}", "      template:",
                  "        spec:", "          containers:",
                  f"          - {{name: {container or own_container}, image: x, command: [\"true\"]{ports}}}"]
    return "\n".join(lines) + "\n"


def plan(change, owner="  ownerJob: demo\n"):
    """A ScalePlan with these lines in its spec."""
    lines = "".join(f"  {line}\n" for line in change.splitlines())
    return f"apiVersion: elastic.iml.github.io/v1alpha1\nkind: ScalePlan\nmetadata: {{name: more}}\nspec:\n{owner}{lines}"


MASTER_OF_IMAGE = manifest("ElasticJob", {"dlrover-master": 1, "worker": 1}).replace(
    "{name: demo}", "{name: demo, annotations: {muster.dev/master: image}}").replace(
    'image: x, command: ["true"]}', "image: x}", 1).replace("- {name: main, image: x}", "- §{name: main, image: x}")

# name: (manifest, field, a part of the message)
CASES = {
    "TFJob: no chief and no worker": (
        manifest("TFJob", {"PS": 1}, map_mark="§"), "spec.tfReplicaSpecs.Worker", "no replica here can make the job succeed"),
    "TFJob: two chiefs": (manifest("TFJob", {"Chief": "§2", "Worker": 1}), "spec.tfReplicaSpecs.Chief.replicas", "must be 1"),
    "TFJob: a chief and a master": (manifest("TFJob", {"Chief": 1, "Master": 1}), "spec.tfReplicaSpecs", ""),
    "TFJob: unknown successPolicy": (manifest("TFJob", spec="successPolicy: §Some"), "spec.successPolicy", "AllWorkers"),
    "PyTorchJob: two masters": (
        manifest("PyTorchJob", {"Master": "§2"}), "spec.pytorchReplicaSpecs.Master.replicas", "must be 1"),
    "XGBoostJob: no master": (
        manifest("XGBoostJob", {"Worker": 1}, map_mark="§"), "spec.xgbReplicaSpecs.Master", "needs this replica type"),
    "MXJob: no scheduler and no worker": (
        manifest("MXJob", {"Server": 1}, map_mark="§"), "spec.mxReplicaSpecs", "no replica here can make the job succeed"),
    "MXJob: two schedulers": (
        manifest("MXJob", {"Scheduler": "§2", "Worker": 1}), "spec.mxReplicaSpecs.Scheduler.replicas", "must be 1"),
    "MXJob: unknown jobMode": (manifest("MXJob", spec="jobMode: §Train"), "spec.jobMode", "MXTrain"),
    "PaddleJob: minReplicas above maxReplicas": (
        manifest("PaddleJob", spec="elasticPolicy: {minReplicas: §3, maxReplicas: 2}"), "spec.elasticPolicy.minReplicas", "maxReplicas"),
    "JAXJob: a replica type of another kind": (
        manifest("JAXJob", {"Worker": 1, "Master": 1}, type_mark="Master"), "spec.jaxReplicaSpecs.Master", "Worker"),
    "MPIJob: slotsPerWorker 0": (manifest("MPIJob", spec="slotsPerWorker: §0"), "spec.slotsPerWorker", "1"),
    "MPIJob: two launchers": (
        manifest("MPIJob", {"Launcher": "§2", "Worker": 1}), "spec.mpiReplicaSpecs.Launcher.replicas", "must be 1"),
    "MPIJob: no launcher": (
        manifest("MPIJob", {"Worker": 1}, map_mark="§"), "spec.mpiReplicaSpecs.Launcher", "needs this replica type"),
    "MPIJob: unknown mpiImplementation": (
        manifest("MPIJob", spec="mpiImplementation: §LAM"), "spec.mpiImplementation", "OpenMPI"),
    "MPIJob: cleanPodPolicy in two places": (
        manifest("MPIJob", spec="cleanPodPolicy: §All\nrunPolicy: {cleanPodPolicy: None}"), "spec.cleanPodPolicy", "something else"),
    "MPIJob: backoffLimit in two places": (
        manifest("MPIJob", version="v1", spec="backoffLimit: §1\nrunPolicy: {backoffLimit: 2}"), "spec.backoffLimit", "something else"),
    "TFJob v1beta1: backoffLimit in two places": (
        manifest("TFJob", version="v1beta1", spec="backoffLimit: §1\nrunPolicy: {backoffLimit: 2}"), "spec.backoffLimit",
        "something else"),
    "PyTorchJob v1beta2: a bad cleanPodPolicy": (
        manifest("PyTorchJob", version="v1beta2", spec="cleanPodPolicy: §Some"), "spec.cleanPodPolicy", "Running"),
    "ElasticJob: unknown strategy": (
        manifest("ElasticJob", spec="distributionStrategy: §AllReduceStrategy"), "spec.distributionStrategy",
        'did you mean "AllreduceStrategy"?'),
    "ElasticJob: no replica specs": (
        "apiVersion: elastic.iml.github.io/v1alpha1\nkind: ElasticJob\nmetadata: {name: demo}\n§spec:\n  optimizeMode: manual\n",
        "spec.replicaSpecs", "there are no replicas; add "),
    "ElasticJob: empty replica specs": (
        "apiVersion: elastic.iml.github.io/v1alpha1\nkind: ElasticJob\nmetadata: {name: demo}\nspec:\n  replicaSpecs: §{}\n",
        "spec.replicaSpecs", "there are no replicas; add "),
    "ElasticJob: a replica type of another kind": (
        manifest("ElasticJob", {"worker": 1, "Launcher": 1}, type_mark="Launcher"), "spec.replicaSpecs.Launcher", "worker"),
    "ElasticJob: no worker": (
        manifest("ElasticJob", {"ps": 1}, map_mark="§"), "spec.replicaSpecs.worker", "add workers"),
    "ElasticJob: Local with two workers": (
        manifest("ElasticJob", {"worker": "§2"}, spec="distributionStrategy: Local"), "spec.replicaSpecs.worker.replicas",
        "one worker"),
    "ElasticJob: a fraction of 1.5": (
        manifest("ElasticJob", {"worker": '2\n      priority: §"1.5"'}), "spec.replicaSpecs.worker.priority", "at most 1"),
    "ElasticJob: criticalNodes out of range": (
        manifest("ElasticJob", {"worker": '2\n      criticalNodes: §"2:1"'}), "spec.replicaSpecs.worker.criticalNodes",
        "ranks are 0 to 1"),
    "ElasticJob: a limit that is no amount": (
        manifest("ElasticJob", spec="resourceLimits: {cpu: §many}"), "spec.resourceLimits.cpu", "is no amount"),
    "ElasticJob: two masters": (
        manifest("ElasticJob", {"dlrover-master": "§2", "worker": 1}), "spec.replicaSpecs.dlrover-master.replicas", "must be 1"),
    "ElasticJob: a master of the image without a command": (
        MASTER_OF_IMAGE, "spec.replicaSpecs.dlrover-master.template.spec.containers[0].command", "it has no command"),
    "ElasticJob: a name with which the pod of the master has more than 63 characters": (
        manifest("ElasticJob", name="§" + "a" * 36), "metadata.name", "shorten the name by 1"),
    "ElasticJob: requests above resourceLimits": (
        manifest("ElasticJob", spec="resourceLimits: {cpu: §1}", ports=", resources: {requests: {cpu: 2}}"), "spec.resourceLimits.cpu",
        "the pods request 6 together, and at most 1 are allowed"),
    "ScalePlan: of no job": (plan("replicaResourceSpecs: {worker: {replicas: 2}}", owner="").replace("spec:", "§spec:"), "spec.ownerJob",
                             "the name of the ElasticJob to change"),
    "ScalePlan: changes nothing": (plan("psHosts: [a]").replace("spec:", "§spec:"), "spec", "write replicaResourceSpecs"),
    "ScalePlan: the master": (plan("replicaResourceSpecs:\n  dlrover-master: §{replicas: 2}"),
                              "spec.replicaResourceSpecs.dlrover-master", "is not scaled; leave it out"),
    "ScalePlan: replicas below 0": (plan("replicaResourceSpecs: {worker: {replicas: §-1}}"),
                                    "spec.replicaResourceSpecs.worker.replicas", "0"),
    "ScalePlan: replicas of 1.5": (plan("replicaResourceSpecs: {worker: {replicas: §1.5}}"),
                                   "spec.replicaResourceSpecs.worker.replicas", "integer"),
    "ScalePlan: a resource that is no amount": (plan("replicaResourceSpecs: {worker: {resource: {cpu: §many}}}"),
                                                "spec.replicaResourceSpecs.worker.resource.cpu", "such as 500m, 2 or 1.5Gi"),
    "ScalePlan: two changes of one pod": (
        plan("removePods:\n- {name: demo-edljob-worker-1}\nmigratePods:\n- §{name: demo-edljob-worker-1}"), "spec.migratePods[0]",
        "keep one of the two"),
    "ScalePlan: a pod that is not named": (plan("removePods:\n- §{type: worker}"), "spec.removePods[0].name", "its name, or its type and id"),
    "ScalePlan: an id below 0": (plan("removePods: [{type: worker, id: §-1}]"), "spec.removePods[0].id", "0"),
    **{f"{kind}: wrong container name": (
        manifest(kind, container="main"), f"spec.{field}", f"\"{container}\"")
        for kind, (_, field, container) in KINDS.items() if kind not in ("MPIJob", "ElasticJob")},
    **{f"{kind}: a port out of range": (
        manifest(kind, ports=", ports: [{name: web, containerPort: §70000}]"), f"spec.{field}", "65535")
        for kind, (_, field, _) in KINDS.items()},
    **{f"{kind}: a name beyond 63 characters": (manifest(kind, name="§" + "a" * 64), "metadata.name", "63")
       for kind in KINDS},
    **{f"{kind}: managedBy somebody unknown": (
        manifest(kind, spec="runPolicy: {managedBy: §somebody}"), "spec.runPolicy.managedBy", "kubeflow.org/training-operator")
        for kind in KINDS},
}


def places(text):
    """The text without its marks, and the line and column of each."""
    found = [(text[:at].count("\n") + 1, at - text.rfind("\n", 0, at)) for at in
             (match.start() for match in re.finditer("§", text))]
    lines, seen = [], {}
    for line, column in found:
        seen[line] = seen.get(line, 0) + 1
        lines.append((line, column - seen[line] + 1))
    return text.replace("§", ""), lines


@pytest.mark.parametrize("case", CASES)
def test_bad_input(muster, case):
    marked, field, wanted = CASES[case]
    text, marks = places(marked)
    path = muster.directory / "bad.yaml"
    path.write_text(text)
    finished = muster.run("validate", "--anywhere", path)
    assert finished.status == 2, finished
    errors = [line for line in finished.err.splitlines() if ": error: " in line]
    shown = [re.match(re.escape(str(path)) + r":(\d+):(\d+): error: (\S+): (.*)", line) for line in errors]
    assert errors and all(shown), finished
    about = [match for match in shown if match[3].startswith(field) and wanted in match[4]]
    assert about, finished
    for place in marks:
        assert place in [(int(match[1]), int(match[2])) for match in about], finished


@pytest.mark.parametrize("kind", KINDS)
def test_the_manifest_without_the_mistake_is_good(muster, kind):
    finished = muster.run("validate", "--anywhere", muster.write("good.yaml", manifest(kind)))
    assert finished.status == 0, finished


def test_a_job_of_another_controller_is_left_to_it(muster):
    for controller, said in (("kueue.x-k8s.io/multikueue", True), ("kubeflow.org/mpi-operator", False)):
        path = muster.write("theirs.yaml", manifest("MPIJob", spec=f"runPolicy: {{managedBy: {controller}}}"))
        finished = muster.run("validate", "--anywhere", path)
        assert finished.status == 0, finished
        assert (f"spec.runPolicy.managedBy: {controller} manages this job" in finished.err) is said, finished
    other = muster.write("other.yaml", manifest("JAXJob", spec="runPolicy: {managedBy: kubeflow.org/mpi-operator}"))
    assert muster.run("validate", "--anywhere", other).status == 2
