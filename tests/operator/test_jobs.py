"""Jobs of every kind from their creation to their end."""

import itertools

import pytest

from conftest import PATIENCE, each_kind, job, told_of


@each_kind
def test_every_kind_runs_to_its_success(operator, stage, kind, version, replicas, pods):
    path = stage.post(job(kind, replicas=replicas, version=version, policy="OnFailure" if kind == "TFJob" else "Never"))
    stage.condition(path, "Created")
    stage.run_all(pods)
    assert sorted(stage.pods(len(pods))) == pods
    stage.condition(path, "Running")
    stage.end(0, *pods)
    done = stage.condition(path, "Succeeded")
    assert done["status"]["completionTime"]
    framework = {"TFJob": "tensorflow", "MXJob": "mxnet"}.get(kind, kind[:-3].lower())
    labels = f'{{framework="{framework}",job_namespace="{stage.namespace}"}}'
    operator.counts("training_operator_jobs_created_total" + labels, 1)
    operator.counts("training_operator_jobs_successful_total" + labels, 1)


def test_services_and_variables_are_as_upstream_has_them(operator, server, stage):
    stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}))
    pods = stage.pods(2)
    services = server.until_listed(stage.pods_path.replace("/pods", "/services"), lambda there: len(there) == 2)
    assert sorted(services) == ["demo-master-0", "demo-worker-0"]
    assert all(service["spec"]["clusterIP"] == "None" for service in services.values())
    variables = {each["name"]: each.get("value") for each in pods["demo-worker-0"]["spec"]["containers"][0]["env"]}
    assert variables["MASTER_ADDR"] == "demo-master-0" and variables["WORLD_SIZE"] == "2" and variables["RANK"] == "1"
    labels = pods["demo-worker-0"]["metadata"]["labels"]
    assert labels["training.kubeflow.org/job-name"] == "demo" and labels["training.kubeflow.org/replica-type"] == "worker"
    [owner] = pods["demo-worker-0"]["metadata"]["ownerReferences"]
    assert owner["kind"] == "PyTorchJob" and owner["controller"] and owner["blockOwnerDeletion"]


def test_a_retryable_exit_code_is_a_restart_and_another_is_the_end(operator, stage):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}, policy="ExitCode"))
    first = stage.pods(2)["demo-worker-0"]["metadata"]["uid"]
    stage.run("demo-master-0", "demo-worker-0")
    stage.condition(path, "Running")
    stage.end(137, "demo-worker-0")
    stage.server.until(f"{stage.pods_path}/demo-worker-0", lambda pod: pod and pod["metadata"]["uid"] != first)
    stage.run("demo-worker-0")
    stage.end(1, "demo-worker-0")
    failed = stage.condition(path, "Failed")
    assert failed["status"]["replicaStatuses"]["Worker"]["restarts"] == 1
    assert stage.told(path, "ExitedWithCode")


def test_suspended_and_resumed(operator, server, stage):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}, runPolicy={"suspend": True}))
    stage.condition(path, "Suspended")
    assert server.must("GET", stage.pods_path)["items"] == []
    server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    stage.pods(2)
    stage.run("demo-master-0", "demo-worker-0")
    stage.condition(path, "Running")
    server.merge(path, {"spec": {"runPolicy": {"suspend": True}}})
    stage.pods(0)
    stage.condition(path, "Suspended")


def test_a_deleted_job_takes_its_pods_along_without_a_garbage_collector(operator, server, stage):
    """There is no controller manager in this cluster: what goes is deleted by the operator."""
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 3}))
    stage.pods(4)
    server.must("DELETE", path, {"propagationPolicy": "Background"})
    stage.pods(0)
    server.until_listed(stage.pods_path.replace("/pods", "/services"), lambda there: not there)


def test_what_a_deleted_job_left_while_nobody_watched_goes_too(operator, server, stage, start):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}))
    stage.pods(2)
    operator.kill()
    server.must("DELETE", path, {"propagationPolicy": "Background"})
    start(f"--namespace={stage.namespace}")
    stage.pods(0)


# One version of each resource, and the replicas that decide.
@pytest.mark.parametrize("kind, type_", [("PyTorchJob", "Master"), ("TFJob", "Worker"), ("XGBoostJob", "Master"), ("PaddleJob", "Worker"),
                                         ("JAXJob", "Worker"), ("MXJob", "Scheduler"), ("MPIJob", "Launcher")])
def test_ttl_deletes_a_finished_job(operator, server, stage, kind, type_):
    replicas = {"Scheduler": 1, "Server": 1, "Worker": 1} if kind == "MXJob" else {type_: 1}
    path = stage.post(job(kind, replicas=replicas, runPolicy={"ttlSecondsAfterFinished": 0}))
    names = list(stage.pods(sum(replicas.values())))
    stage.run(*names)
    stage.condition(path, "Running")
    # The others are deleted as soon as these have ended.
    stage.end(0, *(name for name in names if name.startswith(f"demo-{type_.lower()}")))
    server.until(path, lambda now: now is None)
    stage.pods(0)


def test_clean_pod_policy_all_removes_what_has_ended(operator, stage):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 1}, runPolicy={"cleanPodPolicy": "All"}))
    stage.pods(2)
    stage.run("demo-worker-0")
    stage.end(0, "demo-master-0")
    stage.condition(path, "Succeeded")
    stage.pods(0)


def test_a_deadline_fires_by_itself(operator, stage):
    path = stage.post(job("PyTorchJob", replicas={"Master": 1}, runPolicy={"activeDeadlineSeconds": 1}))
    failed = stage.condition(path, "Failed", patience=PATIENCE)
    assert "longer than specified deadline" in failed["status"]["conditions"][-1]["message"]


def test_scaled_by_the_scale_subresource(operator, server, stage):
    path = stage.post(job("PyTorchJob", replicas={"Worker": 2}, elasticPolicy={"minReplicas": 1, "maxReplicas": 4}, policy="OnFailure"))
    before = {name: pod["metadata"]["uid"] for name, pod in stage.pods(2).items()}
    server.merge(path + "/scale", {"spec": {"replicas": 4}})
    more = {name: pod["metadata"]["uid"] for name, pod in stage.pods(4).items()}
    assert {name: more[name] for name in before} == before
    server.merge(path + "/scale", {"spec": {"replicas": 1}})
    less = {name: pod["metadata"]["uid"] for name, pod in stage.pods(1).items()}
    assert less == {"demo-worker-0": before["demo-worker-0"]}


def test_scale_plans_are_executed_and_the_last_ten_stay(operator, server, stage):
    here = f"/apis/elastic.iml.github.io/v1alpha1/namespaces/{stage.namespace}"
    named = {"apiVersion": "elastic.iml.github.io/v1alpha1", "metadata": {"name": "demo"}}
    container = {"name": "main", "image": "train:1", "command": ["train"]}
    worker = {"replicas": 2, "template": {"spec": {"containers": [container]}}}
    server.must("POST", f"{here}/elasticjobs", {**named, "kind": "ElasticJob", "spec": {"replicaSpecs": {"worker": worker}}})
    before = {name: pod["metadata"]["uid"] for name, pod in stage.pods(3).items()}

    def plan(name, **spec):
        server.must("POST", f"{here}/scaleplans", {**named, "kind": "ScalePlan", "metadata": {"name": name}, "spec": {"ownerJob": "demo", **spec}})

    def ended(name):
        return server.until(f"{here}/scaleplans/{name}", lambda now: now and now.get("status", {}).get("phase") in ("Succeeded", "Failed"))["status"]

    plan("more", replicaResourceSpecs={"worker": {"replicas": 3}})
    assert ended("more")["phase"] == "Succeeded"
    assert {name: pod["metadata"]["uid"] for name, pod in stage.pods(4).items() if name in before} == before
    status = server.must("GET", f"{here}/elasticjobs/demo")["status"]
    assert status["plan"]["replicas"] == {"worker": {"replicas": 3, "insteadOf": 2}} and status["members"]["worker"]["ids"] == "0-2"
    plan("moved", migratePods=[{"type": "worker", "id": 0}])
    stage.pods(5)
    stage.run("demo-edljob-worker-3")
    assert ended("moved")["phase"] == "Succeeded" and "demo-edljob-worker-0" not in stage.pods(4)
    for number in range(10):
        plan(f"wrong-{number}", removePods=[{"type": "worker", "id": 99}])
        assert "the job has no worker with the id 99" in ended(f"wrong-{number}")["message"]
    left = server.until_listed(f"{here}/scaleplans", lambda there: len(there) == 11)
    assert "more" not in left and "moved" not in left and "demo-plan" in left, "the master's stays beside the ten"


def test_foreign_jobs_are_left_alone(operator, server, stage):
    foreign = stage.post(job("PyTorchJob", name="foreign", replicas={"Master": 1}, runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"}))
    stage.post(job("PyTorchJob", name="ours", replicas={"Master": 1}))
    assert list(stage.pods(1)) == ["ours-master-0"]
    assert "status" not in server.must("GET", foreign)


def test_nothing_is_written_when_nothing_happens(operator, server, stage, start):
    """Started again with jobs that run: not one write."""
    path = stage.post(job("PyTorchJob", replicas={"Master": 1, "Worker": 2}))
    names = list(stage.pods(3))
    stage.run(*names)
    stage.condition(path, "Running")
    server.until(path, lambda now: told_of(now).get("Worker", {}).get("active") == 2)
    assert operator.stop() == 0

    def versions():
        """Of the job and of all that is about it."""
        listed = itertools.chain.from_iterable(server.must("GET", stage.pods_path.replace("/pods", f"/{each}"))["items"]
                                               for each in ("pods", "services", "events"))
        return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in (server.must("GET", path), *listed)
                if each["metadata"]["name"].startswith("demo")}
    before = versions()
    assert len(before) > 7
    again = start(f"--namespace={stage.namespace}").works()
    # A job that comes later is looked at after those that are there.
    stage.post(job("PyTorchJob", name="later", replicas={"Master": 1}))
    stage.pods(4)
    stage.run("later-master-0")
    stage.condition(stage.jobs_path("pytorchjobs") + "/later", "Running")
    assert versions() == before
    pods = [value for name, value in again.metrics().items() if name.startswith("muster_api_requests_total") and 'resource="pods"' in name
            and 'verb="create"' in name]
    assert sum(pods) == 1


def test_pods_and_services_that_nobody_controls_are_adopted(server, operator, stage):
    labels = {"training.kubeflow.org/operator-name": "pytorchjob-controller", "training.kubeflow.org/job-name": "demo",
              "training.kubeflow.org/replica-type": "master", "training.kubeflow.org/replica-index": "0"}
    pod = server.must("POST", stage.pods_path, {"metadata": {"name": "demo-master-0", "labels": labels},
                                                "spec": {"containers": [{"name": "pytorch", "image": "i"}]}})
    services = stage.pods_path.replace("/pods", "/services")
    server.must("POST", services, {"metadata": {"name": "demo-master-0", "labels": labels},
                                   "spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 23456}]}})
    stage.post(job("PyTorchJob", replicas={"Master": 1}))
    for path in (stage.pods_path, services):
        adopted = server.until(f"{path}/demo-master-0", lambda now: now and now["metadata"].get("ownerReferences"))
        assert adopted["metadata"]["ownerReferences"][0]["name"] == "demo"
    assert server.must("GET", f"{stage.pods_path}/demo-master-0")["metadata"]["uid"] == pod["metadata"]["uid"]


RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
# What stands beside an MPIJob, and a place in it that the operator keeps.
KEPT = [("v1", f"{RBAC}/{{}}/roles/demo-launcher", {"rules": []}, "rules"),
        ("v2beta1", "/api/v1/namespaces/{}/services/demo", {"spec": {"selector": {"app": "other"}}}, "spec")]


@pytest.mark.parametrize("version, where, change, kept", KEPT, ids=[each[1].split("/")[-2] for each in KEPT])
def test_what_stands_beside_a_job_is_put_right(server, operator, stage, version, where, change, kept):
    stage.post(job("MPIJob", replicas={"Launcher": 1, "Worker": 1}, version=version))
    path = where.format(stage.namespace)
    made = server.until(path, lambda now: now)
    server.merge(path, change)
    server.until(path, lambda now: now[kept] == made[kept])
    operator.has_asked("update", where.split("/")[-2])


LABELLED = [("v1", "/api/v1/namespaces/{}/serviceaccounts/demo-launcher"), ("v1", RBAC + "/{}/roles/demo-launcher"),
            ("v1", RBAC + "/{}/rolebindings/demo-launcher"), ("v1", "/api/v1/namespaces/{}/configmaps/demo-config"),
            ("v2beta1", "/api/v1/namespaces/{}/secrets/demo-ssh")]


@pytest.mark.parametrize("version, where", LABELLED, ids=[each[1].split("/")[-2] for each in LABELLED])
def test_a_label_that_somebody_took_away_comes_back(server, operator, stage, version, where):
    stage.post(job("MPIJob", replicas={"Launcher": 1, "Worker": 1}, version=version))
    path = where.format(stage.namespace)
    made = server.until(path, lambda now: now)
    server.merge(path, {"metadata": {"labels": {"training.kubeflow.org/job-name": None}}})
    server.until(path, lambda now: now["metadata"]["labels"] == made["metadata"]["labels"])
    operator.has_asked("update", where.split("/")[-2])


@pytest.mark.parametrize("version, where, body", [
    ("v1", "/api/v1/namespaces/{}/serviceaccounts", {"metadata": {"name": "demo-launcher"}}),
    ("v1", RBAC + "/{}/roles", {"metadata": {"name": "demo-launcher"}, "rules": []}),
    ("v2beta1", "/api/v1/namespaces/{}/services", {"metadata": {"name": "demo"}, "spec": {"clusterIP": "None", "ports": [{"port": 1}]}}),
], ids=["serviceaccounts", "roles", "services"])
def test_what_somebody_else_has_is_left_alone_and_told(server, operator, stage, version, where, body):
    theirs = server.must("POST", where.format(stage.namespace), body)
    path = stage.post(job("MPIJob", replicas={"Launcher": 1, "Worker": 1}, version=version))
    told = stage.told(path, "ErrResourceExists")
    assert body["metadata"]["name"] in told["message"]
    now = server.must("GET", f"{where.format(stage.namespace)}/{body['metadata']['name']}")
    assert now["metadata"]["resourceVersion"] == theirs["metadata"]["resourceVersion"]


def test_a_batch_job_that_an_mpi_operator_left_goes_before_the_launcher_is_made(server, operator, stage):
    path = stage.post(job("MPIJob", replicas={"Launcher": 1, "Worker": 1}, version="v2beta1", runPolicy={"suspend": True}))
    owner = stage.condition(path, "Suspended")
    jobs = f"/apis/batch/v1/namespaces/{stage.namespace}/jobs"
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "demo", "uid": owner["metadata"]["uid"], "controller": True}
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "mpi", "image": "train:1"}]}}
    server.must("POST", jobs, {"metadata": {"name": "demo-launcher", "ownerReferences": [reference]},
                                "spec": {"suspend": True, "template": template}})
    server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    stage.run(*stage.pods(1))
    going = server.until(f"{jobs}/demo-launcher", lambda now: "deletionTimestamp" in now["metadata"])
    # Kubernetes' collector, which is not here, takes this away once the pods are gone.
    assert going["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert stage.pods(1).keys() == {"demo-worker-0"}
    server.merge(f"{jobs}/demo-launcher", {"metadata": {"finalizers": None}})
    assert stage.pods(2).keys() == {"demo-launcher", "demo-worker-0"}
    operator.has_asked("delete", "jobs")
