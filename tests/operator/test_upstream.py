"""What upstream's suites that need an API server hold, under the names that they have there. Which test holds which of theirs, those of
other files and of C++ included: docs/upstream-tests.md."""

import pytest

from conftest import each_kind, job, told_of

# ---- every kind ----


def conditions(now):
    return {each["type"]: each["status"] for each in now["status"]["conditions"]}


OF_REPLICAS = "?labelSelector=training.kubeflow.org%2Fjob-name%3Ddemo%2Ctraining.kubeflow.org%2Freplica-type"


def services(stage):
    return stage.pods_path.replace("/pods", "/services") + OF_REPLICAS


def made(kind, version, replicas, **policy):
    return job(kind, replicas=replicas, version=version, runPolicy=policy)


@each_kind
def test_shouldnt_create_resources_if_suspended(operator, stage, kind, version, replicas, pods):
    path = stage.post(made(kind, version, replicas, suspend=True))
    now = stage.condition(path, "Suspended")
    assert conditions(now) == {"Created": "True", "Suspended": "True"} and "startTime" not in now["status"]
    assert [stage.server.must("GET", path)["items"] for path in (stage.pods_path, services(stage))] == [[], []]
    stage.server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    stage.run_all(pods)
    assert sorted(stage.pods(len(pods))) == pods


@each_kind
def test_should_delete_resources_after_suspended_should_resume_after_unsuspended(operator, stage, kind, version, replicas, pods):
    path = stage.post(made(kind, version, replicas, suspend=False))
    stage.run_all(pods)
    now = stage.condition(path, "Running")
    assert conditions(now) == {"Created": "True", "Running": "True"} and now["status"]["startTime"]
    stage.server.merge(path, {"spec": {"runPolicy": {"suspend": True}}})
    now = stage.condition(path, "Suspended")
    assert conditions(now) == {"Created": "True", "Running": "False", "Suspended": "True"}
    stage.pods(0)
    stage.server.until_listed(services(stage), lambda there: not there)
    stage.server.until(path, lambda now: not any(each.get("active") for each in told_of(now).values()))
    stage.server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    stage.run_all(pods)
    now = stage.condition(path, "Running")
    assert conditions(now) == {"Created": "True", "Running": "True", "Suspended": "False"}


@each_kind
def test_should_not_reconcile_a_job_while_managed_by_external_controller(operator, stage, kind, version, replicas, pods):
    path = stage.post(made(kind, version, replicas, suspend=True, managedBy="kueue.x-k8s.io/multikueue"))
    stage.server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    # A job of the kind that comes later is looked at after it.
    later = {**made(kind, version, replicas, suspend=True), "metadata": {"name": "later"}}
    stage.condition(stage.post(later), "Suspended")
    assert "status" not in stage.server.must("GET", path)
    assert [stage.server.must("GET", path)["items"] for path in (stage.pods_path, services(stage))] == [[], []]


# ---- pkg/controller.v1/tensorflow ----

PHASES = {"P": "Pending", "R": "Running", "S": "Succeeded", "F": "Failed"}


def pods_of(phases):
    """{pod: phase}"""
    return {f"demo-{type_.lower()}-{index}": PHASES[letter] for type_, letters in phases.items() for index, letter in enumerate(letters)}


def count_of(letters):
    """What the status says of a type."""
    return {key: letters.count(letter) for key, letter in (("active", "R"), ("succeeded", "S"), ("failed", "F")) if letter in letters}


def counted(stage, path, phases):
    """The job, once it tells of its pods as they are."""
    return stage.server.until(path, lambda now: all(
        count_of(letters).items() <= told_of(now).get(type_, {}).items() for type_, letters in phases.items()))


def bring(stage, start, manifest, phases):
    """All at once, as upstream's tests set them: an operator that starts sees nothing between."""
    first = start(f"--namespace={stage.namespace}").works()
    path = stage.post(manifest)
    stage.pods(len(pods_of(phases)))
    first.stop()
    for pod, phase in pods_of(phases).items():
        if phase == "Running":
            stage.run(pod)
        elif phase != "Pending":
            stage.end(130 if phase == "Failed" else 0, pod)
    start(f"--namespace={stage.namespace}").works()
    return path


def tfjob(phases, policy="Never", **more):
    return job("TFJob", replicas={type_: len(letters) for type_, letters in phases.items()}, policy=policy, **more)


ALL = {"successPolicy": "AllWorkers"}
STATUS = [
    ("Chief worker is succeeded", {"Chief": "S", "Worker": "S"}, "Succeeded", {}),
    ("Chief worker is running", {"Chief": "R", "Worker": "P"}, "Running", {}),
    ("Chief worker is failed", {"Chief": "F", "Worker": "P"}, "Failed", {}),
    ("(No chief worker) Worker is failed", {"Worker": "F"}, "Failed", {}),
    ("(No chief worker) Worker is succeeded", {"Worker": "S"}, "Succeeded", {}),
    ("(No chief worker) Worker is running", {"Worker": "R"}, "Running", {}),
    ("(No chief worker) 2 workers are succeeded, 2 workers are active", {"Worker": "RRSS", "PS": "RR"}, "Running", {}),
    ("(No chief worker) 2 workers are running, 2 workers are failed", {"Worker": "RRFF", "PS": "RR"}, "Failed", {}),
    ("(No chief worker) 2 workers are succeeded, 2 workers are failed", {"Worker": "FFSS", "PS": "RR"}, "Failed", {}),
    ("(No chief worker) worker-0 are succeeded, 3 workers are active", {"Worker": "SRRR", "PS": "RR"}, "Succeeded", {}),
    ("(No chief worker, successPolicy: AllWorkers) worker-0 are succeeded, 3 workers are active", {"Worker": "SRRR"}, "Running", ALL),
    ("(No chief worker, successPolicy: AllWorkers) 4 workers are succeeded", {"Worker": "SSSS"}, "Succeeded", ALL),
    ("(No chief worker, successPolicy: AllWorkers) worker-0 is succeeded, 2 workers are running, 1 worker is failed", {"Worker": "SRRF"},
     "Failed", ALL),
    # Differs: upstream has Running and Failed at once, and asks for Running alone.
    ("Chief is running, workers are failed", {"Chief": "R", "Worker": "FFFF", "PS": "RR"}, "Failed", {}),
    ("Chief is running, workers are succeeded", {"Chief": "R", "Worker": "SSSS", "PS": "RR"}, "Running", {}),
    ("Chief is running, a PS is failed", {"Chief": "R", "Worker": "SSSS", "PS": "RF"}, "Failed", {}),
    ("Chief is failed, workers are succeeded", {"Chief": "F", "Worker": "SSSS", "PS": "RR"}, "Failed", {}),
    ("Chief is succeeded, workers are failed", {"Chief": "S", "Worker": "FFFF", "PS": "RR"}, "Succeeded", {}),
]


@pytest.mark.parametrize("phases, wanted, more", [row[1:] for row in STATUS], ids=[row[0] for row in STATUS])
def test_status(stage, start, phases, wanted, more):
    path = bring(stage, start, tfjob(phases, **more), phases)
    now = stage.condition(path, wanted)
    if wanted != "Running":
        assert conditions(now).get("Running") != "True", "a job that has ended does not run"
        return
    # What else it would say it would say with the counts.
    assert conditions(counted(stage, path, phases)).keys() == {"Created", "Running"}


def test_chief_is_failed_and_restarting(stage, start):
    phases = {"Chief": "F", "Worker": "FFFF", "PS": "RR"}
    path = bring(stage, start, tfjob(phases, "ExitCode"), phases)
    assert conditions(stage.condition(path, "Restarting")).get("Failed") is None


@pytest.mark.parametrize("workers, is_over", [("S", True), ("SR", True), ("RS", False), ("RR", False), ("P", False)])
def test_is_worker_0_completed(stage, start, workers, is_over):
    phases = {"Worker": workers, "PS": "R"}
    path = bring(stage, start, tfjob(phases), phases)
    if is_over:
        stage.condition(path, "Succeeded")
    else:
        assert "Succeeded" not in conditions(counted(stage, path, phases))


# The policy, whether worker 0 has succeeded, the types whose pods go. A parameter server never ends by itself.
CLEANED = [("All", False, []), ("Running", False, []), ("Running", True, ["PS"]), ("None", True, []), ("All", True, ["PS", "Worker"])]


@pytest.mark.parametrize("policy, has_ended, gone", CLEANED)
def test_delete_pods_and_services(operator, stage, policy, has_ended, gone):
    path = stage.post(job("TFJob", replicas={"PS": 2, "Worker": 4}, runPolicy={"cleanPodPolicy": policy}))
    pods = sorted(stage.pods(6))
    stage.run(*pods)
    stage.condition(path, "Running")
    if has_ended:
        stage.end(0, *(pod for pod in reversed(pods) if "worker" in pod))
        stage.condition(path, "Succeeded")
    else:  # a change that it looks at
        stage.end(0, "demo-worker-3")
        stage.server.until(path, lambda now: told_of(now).get("Worker", {}).get("succeeded") == 1)
    left = [pod for pod in pods if not any(f"-{type_.lower()}-" in pod for type_ in gone)]
    assert sorted(stage.pods(len(left))) == left


def test_active_deadline_seconds(operator, stage):
    """One that has none goes on when another fails by its own."""
    other = stage.post(job("TFJob", "other", replicas={"PS": 1, "Worker": 2}))
    path = stage.post(job("TFJob", replicas={"PS": 1, "Worker": 2}, runPolicy={"activeDeadlineSeconds": 2}))
    stage.run(*stage.pods(6))
    failed = stage.condition(path, "Failed")
    assert "longer than specified deadline" in failed["status"]["conditions"][-1]["message"]
    assert conditions(stage.server.must("GET", other)) == {"Created": "True", "Running": "True"}


def test_backoff_for_on_failure(operator, stage):
    """Restarts within pods count together."""
    path = stage.post(job("TFJob", replicas={"PS": 1, "Worker": 2}, policy="OnFailure", runPolicy={"backoffLimit": 4}))
    names = sorted(stage.pods(3))
    stage.run(*names)
    stage.condition(path, "Running")
    for name, restarts in (("demo-worker-0", 2), ("demo-worker-1", 2)):
        container = {**stage.container(name, {"running": {"startedAt": stage.now()}}), "restartCount": restarts}
        stage.status(name, {"containerStatuses": [container]})
    failed = stage.condition(path, "Failed")
    assert "backoff limit" in failed["status"]["conditions"][-1]["message"]


@pytest.mark.parametrize("code", [0, 1])
def test_ttl_seconds_after_finished(operator, stage, code):
    """With how it ended it has nothing to do, and one that has none stays."""
    kept = stage.post(job("TFJob", "kept", replicas={"Worker": 1}))
    path = stage.post(job("TFJob", replicas={"Worker": 1}, runPolicy={"ttlSecondsAfterFinished": 1}))
    names = stage.pods(2)
    stage.run(*names)
    stage.end(code, "kept-worker-0")
    stage.condition(kept, "Failed" if code else "Succeeded")
    stage.end(code, "demo-worker-0")
    stage.server.until(path, lambda now: now is None)
    assert stage.server.must("GET", kept)["status"]["completionTime"]


# ---- pkg/controller.v1/pytorch, paddlepaddle ----

def test_when_creating_the_pytorchjob_should_get_the_corresponding_resources_successfully(operator, stage):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}, policy="ExitCode"))
    for name, pod in stage.pods(2).items():
        service = stage.server.until(f"{stage.pods_path.replace('/pods', '/services')}/{name}", lambda now: now)
        variables = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}
        assert pod["spec"]["containers"][0]["ports"] == [{"containerPort": 23456, "name": "pytorchjob-port", "protocol": "TCP"}]
        assert variables["MASTER_ADDR"] == "demo-master-0" and variables["MASTER_PORT"] == "23456"
        assert [port["port"] for port in service["spec"]["ports"]] == [23456]
        assert all(owner["name"] == "demo" and owner["controller"] for each in (pod, service) for owner in each["metadata"]["ownerReferences"])
    before = stage.pods(2)["demo-master-0"]["metadata"]["uid"]
    stage.run("demo-master-0", "demo-worker-0")
    stage.condition(path, "Running")
    stage.end(130, "demo-master-0")
    stage.server.until(f"{stage.pods_path}/demo-master-0", lambda pod: pod and pod["metadata"]["uid"] != before)
    assert conditions(stage.condition(path, "Restarting")).keys() == {"Created", "Restarting"}
    stage.run("demo-master-0")
    assert conditions(stage.condition(path, "Running")).keys() == {"Created", "Running"}
    stage.end(0, "demo-master-0")
    done = stage.condition(path, "Succeeded")
    assert done["status"]["replicaStatuses"]["Master"]["succeeded"] == 1


def test_paddle_should_get_the_corresponding_resources_successfully(operator, stage):
    path = stage.post(job("PaddleJob", replicas={"Master": 1, "Worker": 2}))
    pods = stage.pods(3)
    variables = {each["name"]: each.get("value") for each in pods["demo-master-0"]["spec"]["containers"][0]["env"]}
    assert variables["PADDLE_MASTER"] == "$(POD_IP_DUMMY):36543"
    stage.end(0, "demo-master-0")
    done = stage.condition(path, "Succeeded")
    assert done["status"]["replicaStatuses"]["Master"]["succeeded"] == 1


def test_should_delete_hpa_once_the_pytorchjob_is_suspended(operator, stage):
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    path = stage.post(job("PyTorchJob", replicas={"Worker": 2}, policy="OnFailure", elasticPolicy={
        "minReplicas": 1, "maxReplicas": 4, "metrics": [metric]}))
    autoscaler = f"/apis/autoscaling/v2/namespaces/{stage.namespace}/horizontalpodautoscalers/demo"
    stage.server.until(autoscaler, lambda now: now)
    stage.server.merge(path, {"spec": {"runPolicy": {"suspend": True}}})
    stage.server.until(autoscaler, lambda now: now is None)
    stage.server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    stage.server.until(autoscaler, lambda now: now)


# ---- MPI: pkg/controller.v1/mpi, and test/integration of the mpi-operator ----

MPI = {"Launcher": 1, "Worker": 2}
WORKERS = ["demo-worker-0", "demo-worker-1"]
VERSIONS = pytest.mark.parametrize("version", ["v1", "v2beta1"])


def launched(stage, manifest):
    path = stage.post(manifest)
    stage.run_all(["demo-launcher", *WORKERS])
    stage.condition(path, "Running")
    return path


@VERSIONS
def test_mpijob_with_succeeded_launcher_pod(operator, stage, version):
    path = launched(stage, job("MPIJob", replicas=MPI, version=version, runPolicy={"cleanPodPolicy": "Running"}))
    stage.end(0, "demo-launcher")
    done = stage.condition(path, "Succeeded")
    assert done["status"]["replicaStatuses"]["Launcher"]["succeeded"] == 1
    assert list(stage.pods(1)) == ["demo-launcher"]


def test_mpijob_with_failed_launcher_pod(operator, stage):
    path = launched(stage, job("MPIJob", replicas=MPI))
    stage.end(1, "demo-launcher")
    assert stage.condition(path, "Failed")["status"]["replicaStatuses"]["Launcher"]["failed"] == 1


def test_mpijob_failure(operator, stage):
    """Of v2beta1: its launcher is tried again, as a Job's pod."""
    path = launched(stage, job("MPIJob", replicas=MPI, version="v2beta1", runPolicy={"backoffLimit": 2}))
    first = stage.pods(3)["demo-launcher"]["metadata"]["uid"]
    stage.end(1, "demo-launcher")
    stage.server.until(f"{stage.pods_path}/demo-launcher", lambda pod: pod and pod["metadata"]["uid"] != first)
    stage.run("demo-launcher")
    stage.condition(path, "Running")
    stage.end(1, "demo-launcher")
    assert stage.condition(path, "Failed")["status"]["replicaStatuses"]["Launcher"]["failed"] == 1


@VERSIONS
def test_mpijob_wait_workers(operator, stage, version):
    """The launcher comes when all workers are ready; v2beta1 has to ask for that."""
    more = {"launcherCreationPolicy": "WaitForWorkersReady"} if version == "v2beta1" else {}
    path = stage.post(job("MPIJob", replicas=MPI, version=version, **more))
    assert sorted(stage.pods(2)) == WORKERS
    stage.run("demo-worker-0")
    stage.server.until(path, lambda now: told_of(now).get("Worker", {}).get("active") == 1)
    assert sorted(stage.pods(2)) == WORKERS
    stage.run("demo-worker-1")
    stage.run(*stage.pods(3).keys() - {*WORKERS})
    now = stage.condition(path, "Running")
    assert now["status"]["replicaStatuses"]["Launcher"]["active"] == 1


def test_mpijob_succeeds_with_predefined_service_account(operator, stage):
    manifest = job("MPIJob", replicas=MPI)
    manifest["spec"]["mpiReplicaSpecs"]["Launcher"]["template"] = {
        "spec": {"serviceAccountName": "theirs", "containers": [{"name": "mpi", "image": "train:1"}]}}
    path = launched(stage, manifest)
    assert stage.pods(3)["demo-launcher"]["spec"]["serviceAccountName"] == "theirs"
    listed = stage.server.must("GET", stage.pods_path.replace("/pods", "/serviceaccounts"))["items"]
    assert [each["metadata"]["name"] for each in listed] == []
    stage.end(0, "demo-launcher")
    stage.condition(path, "Succeeded")


RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
CONTAINERS = {"containers": [{"name": "c", "image": "i"}]}
# What upstream calls "not controlled by itself" or "by us".
FOREIGN = [("v1", "/api/v1/namespaces/{}/pods", "demo-worker-0", {"spec": CONTAINERS}, "FailedCreatePod"),
           ("v2beta1", "/api/v1/namespaces/{}/pods", "demo-launcher", {"spec": CONTAINERS}, "FailedCreatePod"),
           ("v1", "/api/v1/namespaces/{}/configmaps", "demo-config", {"data": {"a": "b"}}, "ErrResourceExists"),
           ("v1", RBAC + "/{}/rolebindings", "demo-launcher", {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}},
            "ErrResourceExists"),
           ("v2beta1", "/api/v1/namespaces/{}/configmaps", "demo-config", {"data": {"a": "b"}}, "ErrResourceExists"),
           ("v2beta1", "/api/v1/namespaces/{}/secrets", "demo-ssh", {"data": {}}, "ErrResourceExists")]


@pytest.mark.parametrize("version, where, name, body, reason", FOREIGN, ids=[f"{row[0]}-{row[1].split('/')[-1]}" for row in FOREIGN])
def test_mpijob_with_what_is_not_controlled_by_itself(operator, stage, version, where, name, body, reason):
    place = where.format(stage.namespace)
    theirs = stage.server.must("POST", place, {"metadata": {"name": name}, **body})
    path = stage.post(job("MPIJob", replicas=MPI, version=version))
    if name == "demo-launcher" and "pods" in place:  # it comes when the workers run
        stage.pods(3)
        stage.run(*WORKERS)
    assert f"{name} already exists" in stage.told(path, reason)["message"]
    assert stage.server.must("GET", f"{place}/{name}") == theirs
    stage.server.must("DELETE", f"{place}/{name}", {"gracePeriodSeconds": 0})
    stage.server.until(f"{place}/{name}", lambda now: now and now["metadata"].get("ownerReferences"))
