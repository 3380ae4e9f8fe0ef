"""The steps of docs/migrate.md with jobs of the real training-operator v1.9 and mpi-operator: no pod is touched, statuses go on to their ends."""

import contextlib
import subprocess

import pytest
import yaml

import peers
from conftest import ACCOUNT, BINARY, FIELDS, BuildFailed, Missing, Operator, Server, Stage, cluster, job, told_of
from programs import build, module_folder

PEER = "training-operator"
NAMESPACE = "ml"


def sleepers():
    """Its workers have no command, as in most manifests: upstream has them sleep until the launcher calls."""
    made = job("MPIJob", "sleepers", {"Launcher": 1, "Worker": 2})
    template = made["spec"][FIELDS["MPIJob"]]["Worker"]["template"]
    template["spec"] = {"containers": [{"name": "mpi", "image": "train:1"}]}
    return made


# They run when the operators change. One of each kind that upstream serves.
RUNNING = {"torch": job("PyTorchJob", "torch", {"Master": 1, "Worker": 2}, policy="OnFailure"),
           "tensor": job("TFJob", "tensor", {"Chief": 1, "PS": 1, "Worker": 1}),
           "boost": job("XGBoostJob", "boost", {"Master": 1, "Worker": 1}),
           "paddle": job("PaddleJob", "paddle", {"Worker": 2}),
           "jax": job("JAXJob", "jax", {"Worker": 2}),
           "mpi": job("MPIJob", "mpi", {"Launcher": 1, "Worker": 2}),
           "sleepers": sleepers()}
# They run too, and something happens to them before ours starts.
HIT = {name: job("PyTorchJob", name, {"Master": 1, "Worker": 2}, policy="ExitCode")
       for name in ("killed", "crashed", "ended", "deleted", "restarting")}
WAITING = job("PyTorchJob", "waiting", {"Master": 1, "Worker": 1})
SUCCEEDED = job("TFJob", "succeeded", {"Worker": 2}, runPolicy={"cleanPodPolicy": "None"})
FAILED = job("PyTorchJob", "failed", {"Master": 1, "Worker": 1}, runPolicy={"cleanPodPolicy": "None"})
SUSPENDED = job("JAXJob", "suspended", {"Worker": 2}, runPolicy={"suspend": True})


def path_of(stage, manifest):
    version = manifest["apiVersion"].split("/")[1]
    return f"{stage.jobs_path(manifest['kind'].lower() + 's', version)}/{manifest['metadata']['name']}"


def size(manifest):
    return {type_: spec["replicas"] for type_, spec in manifest["spec"][FIELDS[manifest["kind"]]].items()}


def pods_of(stage, name):
    listed = stage.server.must("GET", f"{stage.pods_path}?labelSelector=training.kubeflow.org%2Fjob-name%3D{name}")
    return {pod["metadata"]["name"]: pod for pod in listed["items"]}


def await_pods(stage, manifest):
    """The names of its pods, once all are there."""
    name, count = manifest["metadata"]["name"], sum(size(manifest).values())
    selector = f"?labelSelector=training.kubeflow.org%2Fjob-name%3D{name}"
    return sorted(stage.server.until_listed(stage.pods_path + selector, lambda there: len(there) == count))


def counted(manifest, field):
    """That each type has all of its replicas in this field of the status."""
    return lambda now: all(told_of(now).get(type_, {}).get(field) == count for type_, count in size(manifest).items())


def bring_to_running(stage, manifest):
    stage.run(*await_pods(stage, manifest))
    stage.condition(path_of(stage, manifest), "Running")
    stage.server.until(path_of(stage, manifest), counted(manifest, "active"))


def bring_to_end(stage, manifest, code, condition):
    bring_to_running(stage, manifest)
    stage.end(code, *pods_of(stage, manifest["metadata"]["name"]))
    stage.condition(path_of(stage, manifest), condition)


def leave_in_the_middle_of_a_restart(stage):
    """Upstream has deleted the pod that failed, and it is not gone yet: its node holds it."""
    held = f"{stage.pods_path}/restarting-worker-0"
    stage.server.merge(held, {"metadata": {"finalizers": ["example.com/node"]}})
    stage.end(137, "restarting-worker-0")
    stage.server.until(held, lambda pod: "deletionTimestamp" in pod["metadata"])
    # Each pass of upstream's UpdateJobStatus visits the types in another order, and the last one decides: Running by the
    # master, or Restarting by the worker. What changes at the pod leads to one pass more.
    for passes in range(60):
        stage.server.merge(held, {"metadata": {"annotations": {"example.com/passes": str(passes)}}})
        with contextlib.suppress(AssertionError):
            return stage.condition(f"{stage.jobs_path('pytorchjobs')}/restarting", "Restarting", patience=1)
    raise AssertionError("upstream never said Restarting")


@contextlib.contextmanager
def ground(place, peer=None):
    """A server with a namespace for the jobs: an empty one, or with a peer and Kubernetes' own controllers at work. What can't be had is
    skipped."""
    try:
        with Server(place, bare=peer is None, peer=peer) as server:
            server.must("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            yield Stage(server, NAMESPACE)
    except Missing as why:
        pytest.skip(str(why))
    except (cluster.Failed, BuildFailed) as why:
        pytest.fail(str(why))


def make_room(server, peer):
    """What upstream's operator needs before it starts."""
    server.programs[peer] = build(peer)
    peers.prepare(peer, server)


def begin(server, peer):
    server.start(peer)
    server.wait_for(peer)


def end(server, peer):
    server.processes[peer].terminate()
    server.processes[peer].wait()


def definitions_of(peer):
    return peers.definitions_in(path.read_text() for path in peers.definition_files(peer, module_folder(peer)))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A server with upstream's definitions, and upstream's operator at work."""
    with ground(tmp_path_factory.mktemp("takeover") / "cluster") as stage:
        stage.server.define(definitions_of(PEER))
        make_room(stage.server, PEER)
        begin(stage.server, PEER)
        yield stage


def there(stage, plural, group="/api/v1"):
    return {each["metadata"]["name"]: each for each in stage.server.must("GET", f"{group}/namespaces/{NAMESPACE}/{plural}")["items"]}


class Left:
    """What upstream's operator left when it ended, by name."""

    def __init__(self, stage, manifests):
        self.jobs = {each["metadata"]["name"]: stage.server.must("GET", path_of(stage, each)) for each in manifests}
        self.pods, self.services, self.configs = (there(stage, plural) for plural in ("pods", "services", "configmaps"))


@pytest.fixture(scope="module")
def left(theirs):
    manifests = [*RUNNING.values(), *HIT.values(), WAITING, SUCCEEDED, FAILED, SUSPENDED]
    for each in manifests:
        theirs.post(each)
    for each in (*RUNNING.values(), *HIT.values()):
        bring_to_running(theirs, each)
    bring_to_end(theirs, SUCCEEDED, 0, "Succeeded")
    bring_to_end(theirs, FAILED, 1, "Failed")
    await_pods(theirs, WAITING)
    theirs.condition(path_of(theirs, WAITING), "Created")
    theirs.condition(path_of(theirs, SUSPENDED), "Suspended")
    leave_in_the_middle_of_a_restart(theirs)
    end(theirs.server, PEER)
    return Left(theirs, manifests)


@pytest.fixture(scope="module")
def meanwhile(theirs, left):
    """Nobody looks after jobs now."""
    theirs.end(137, "killed-worker-1")
    theirs.end(1, "crashed-worker-1")
    theirs.end(0, *pods_of(theirs, "ended"))
    theirs.server.must("DELETE", path_of(theirs, HIT["deleted"]), {"propagationPolicy": "Background"})


def check(server, status=0):
    """The lines of `muster migrate check`."""
    done = subprocess.run([BINARY, "migrate", "check", "--kubeconfig", server.kubeconfig, "-A"], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout.splitlines()


def apply(server, text):
    applied = subprocess.run([build("kubectl"), "--kubeconfig", server.kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", "-"],
                             input=text, capture_output=True, text=True, check=False)
    assert applied.returncode == 0, applied.stdout + applied.stderr


def install(server):
    """Arguments and environment of the Deployment."""
    apply(server, subprocess.run([BINARY, "manifests", "--mpi"], capture_output=True, text=True, check=True).stdout)
    container = server.must("GET", "/apis/apps/v1/namespaces/kubeflow/deployments/muster-operator")["spec"]["template"]["spec"]["containers"][0]
    fields = {"metadata.name": "muster-operator-0", "metadata.namespace": "kubeflow"}
    environment = {each["name"]: each.get("value") or fields[each["valueFrom"]["fieldRef"]["fieldPath"]] for each in container["env"]}
    return container["args"][1:], environment


def account(server):
    config = yaml.safe_load(server.kubeconfig.read_text())
    config["users"][0]["user"].update({"as": ACCOUNT})
    path = server.state / "operator.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@contextlib.contextmanager
def installed(server, directory):
    """Our operator, as it is installed."""
    arguments, environment = install(server)
    operator = Operator(account(server), directory, *arguments, environment=environment)
    operator.account = ACCOUNT
    try:
        yield operator.works()
    finally:
        operator.kill()
        print(operator.log.read_text()[-6000:])


@pytest.fixture(scope="module")
def ours(theirs, left, meanwhile, tmp_path_factory):
    """Our operator, once it has looked at every job that was there."""
    said = check(theirs.server, 3)
    assert said[-1].startswith(f"{len(left.jobs) - 1} jobs: 1 would notice the change at once")
    [advice] = [line for line in said if "at once:" in line]
    assert f"'kubectl annotate mpijob -n {NAMESPACE} sleepers muster.dev/remote-shell=kubexec'" in advice
    theirs.server.merge(path_of(theirs, RUNNING["sleepers"]), {"metadata": {"annotations": {"muster.dev/remote-shell": "kubexec"}}})
    assert " 0 would notice the change at once" in check(theirs.server)[-1]
    with installed(theirs.server, tmp_path_factory.mktemp("ours")) as operator:
        # Jobs that come later are looked at after those of their kind that are there.
        for name, each in RUNNING.items():
            theirs.condition(theirs.post(job(each["kind"], f"later-{name}", size(each), runPolicy={"suspend": True})), "Suspended")
        yield operator


def versions(objects):
    return {name: (each["metadata"]["uid"], each["metadata"]["resourceVersion"]) for name, each in objects.items()}


def of_job(objects, name):
    return {each: found for each, found in objects.items() if found["metadata"]["labels"].get("training.kubeflow.org/job-name") == name}


def kept(left, stage, name):
    """The job's pods: the same, and neither to them nor to their services has anybody written."""
    now = pods_of(stage, name)
    assert versions(now) == versions(of_job(left.pods, name))
    before = of_job(left.services, name)
    assert versions({each: found for each, found in there(stage, "services").items() if each in before}) == versions(before)
    return now


def conditions(job_now):
    return {each["type"]: each["status"] for each in job_now["status"]["conditions"]}


@pytest.mark.parametrize("name", RUNNING)
def test_a_job_that_runs_goes_on_with_its_pods_to_its_success(ours, left, theirs, name):
    path, before = path_of(theirs, RUNNING[name]), left.jobs[name]["status"]
    pods = kept(left, theirs, name)
    now = theirs.server.must("GET", path)["status"]
    assert (now["startTime"], now["conditions"]) == (before["startTime"], before["conditions"])
    assert counted(RUNNING[name], "active")({"status": now})
    theirs.end(0, *pods)
    done = theirs.condition(path, "Succeeded")
    assert done["status"]["completionTime"] and done["status"]["startTime"] == before["startTime"]
    assert conditions(done)["Running"] == "False" and "Failed" not in conditions(done)
    assert not any(each.get("restarts") for each in done["status"]["replicaStatuses"].values())


def mounted(pod):
    """(ConfigMap, key)"""
    return [(volume["configMap"]["name"], item["key"]) for volume in pod["spec"].get("volumes", []) if "configMap" in volume
            for item in volume["configMap"]["items"]]


@pytest.mark.parametrize("name", ["mpi", "sleepers"])
def test_what_pods_of_an_mpijob_mount_stays_what_they_know(ours, left, theirs, name):
    wanted = [each for pod in of_job(left.pods, name).values() for each in mounted(pod)]
    assert (f"{name}-config", "kubexec.sh") in wanted and (f"{name}-config", "hostfile") in wanted
    now = there(theirs, "configmaps")
    assert [each for each in wanted if each[1] not in now[each[0]]["data"]] == []
    assert now[f"{name}-config"]["data"]["hostfile"] == left.configs[f"{name}-config"]["data"]["hostfile"]


@pytest.mark.parametrize("place", ["/api/v1/namespaces/ml/serviceaccounts", "/apis/rbac.authorization.k8s.io/v1/namespaces/ml/roles",
                                   "/apis/rbac.authorization.k8s.io/v1/namespaces/ml/rolebindings"])
def test_what_stands_beside_an_mpijob_gets_the_label_that_we_look_for(ours, theirs, place):
    theirs.server.until(f"{place}/mpi-launcher", lambda now: now["metadata"]["labels"].get("training.kubeflow.org/job-name") == "mpi")


def test_a_job_whose_pods_wait_runs_when_they_do(ours, left, theirs):
    path = path_of(theirs, WAITING)
    pods = kept(left, theirs, "waiting")
    assert theirs.server.must("GET", path)["status"]["conditions"] == left.jobs["waiting"]["status"]["conditions"]
    theirs.run(*pods)
    theirs.condition(path, "Running")


@pytest.mark.parametrize("manifest", [SUCCEEDED, FAILED], ids=["succeeded", "failed"])
def test_a_finished_job_is_not_written_to(ours, left, theirs, manifest):
    name = manifest["metadata"]["name"]
    assert theirs.server.must("GET", path_of(theirs, manifest)) == left.jobs[name]
    assert kept(left, theirs, name)


def test_a_suspended_job_stays_so_until_it_is_resumed(ours, left, theirs):
    path = path_of(theirs, SUSPENDED)
    assert theirs.server.must("GET", path) == left.jobs["suspended"]
    assert not pods_of(theirs, "suspended")
    theirs.server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    bring_to_running(theirs, SUSPENDED)
    assert conditions(theirs.server.must("GET", path))["Suspended"] == "False"


def replaced(stage, left, pod):
    """The job's other pods are those of before, and this one is another."""
    stage.server.until(f"{stage.pods_path}/{pod}", lambda now: now and now["metadata"]["uid"] != left.pods[pod]["metadata"]["uid"])
    others = {name: each for name, each in pods_of(stage, pod.split("-")[0]).items() if name != pod}
    assert len(others) == 2 and versions(others) == versions({name: left.pods[name] for name in others})


def test_a_pod_that_was_killed_meanwhile_is_replaced_and_no_other(ours, left, theirs):
    replaced(theirs, left, "killed-worker-1")
    theirs.run("killed-worker-1")
    theirs.server.until(path_of(theirs, HIT["killed"]), lambda now: counted(HIT["killed"], "active")(now) and conditions(now)["Running"] == "True")
    assert theirs.server.must("GET", path_of(theirs, HIT["killed"]))["status"]["replicaStatuses"]["Worker"]["restarts"] == 1


def test_a_restart_that_had_begun_goes_on(ours, left, theirs):
    pod = f"{theirs.pods_path}/restarting-worker-0"
    assert theirs.server.must("GET", pod)["metadata"]["uid"] == left.pods["restarting-worker-0"]["metadata"]["uid"]
    theirs.server.merge(pod, {"metadata": {"finalizers": None}})
    replaced(theirs, left, "restarting-worker-0")
    theirs.run("restarting-worker-0")
    theirs.server.until(path_of(theirs, HIT["restarting"]), lambda now: counted(HIT["restarting"], "active")(now) and
                        conditions(now)["Running"] == "True" and conditions(now).get("Restarting") != "True")


def test_a_pod_that_crashed_for_good_meanwhile_fails_its_job(ours, left, theirs):
    failed = theirs.condition(path_of(theirs, HIT["crashed"]), "Failed")
    assert failed["status"]["replicaStatuses"]["Worker"]["failed"] == 1 and conditions(failed)["Running"] == "False"
    assert pods_of(theirs, "crashed").keys() == {"crashed-master-0", "crashed-worker-0", "crashed-worker-1"}
    assert {pod["metadata"]["uid"] for pod in pods_of(theirs, "crashed").values()} <= {pod["metadata"]["uid"] for pod in left.pods.values()}


def test_a_job_whose_pods_ended_meanwhile_succeeds(ours, left, theirs):
    done = theirs.condition(path_of(theirs, HIT["ended"]), "Succeeded")
    assert done["status"]["completionTime"] and done["status"]["startTime"] == left.jobs["ended"]["status"]["startTime"]
    assert counted(HIT["ended"], "succeeded")(done)


def test_a_job_that_was_deleted_meanwhile_takes_its_pods_along(ours, left, theirs):
    selector = "?labelSelector=training.kubeflow.org%2Fjob-name%3Ddeleted"
    assert "deleted-master-0" in left.pods and "deleted-master-0" in left.services
    for path in (theirs.pods_path, theirs.pods_path.replace("/pods", "/services")):
        theirs.server.until_listed(path + selector, lambda there: not there)


# MPIJobs of v1 are not among them: their launchers are reached in another way.
BACK = {name: each for name, each in RUNNING.items() if each["kind"] != "MPIJob"}


def test_jobs_that_ours_started_go_on_under_theirs(tmp_path):
    """The way back."""
    with ground(tmp_path / "cluster") as stage:
        server = stage.server
        make_room(server, PEER)
        with installed(server, tmp_path) as operator:
            for each in BACK.values():
                stage.post(each)
            for each in BACK.values():
                bring_to_running(stage, each)
            assert operator.stop() == 0
        left = Left(stage, BACK.values())
        # Ours of MPIJobs stays: it stores the version that theirs does not have.
        apply(server, yaml.safe_dump_all(each for each in definitions_of(PEER) if each["spec"]["names"]["kind"] != "MPIJob"))
        begin(server, PEER)
        for name, each in BACK.items():
            stage.end(0, *of_job(left.pods, name))
            done = stage.condition(path_of(stage, each), "Succeeded")
            assert done["status"]["startTime"] == left.jobs[name]["status"]["startTime"]
            assert {pod: now["metadata"]["uid"] for pod, now in pods_of(stage, name).items()} == {
                pod: before["metadata"]["uid"] for pod, before in of_job(left.pods, name).items()}


def second(name, workers=1, policy="Never", **more):
    return job("MPIJob", name, {"Launcher": 1, "Worker": workers}, policy=policy, version="v2beta1", **more)


def second_sleepers():
    made = second("sleepers")
    del made["spec"][FIELDS["MPIJob"]]["Worker"]["template"]["spec"]["containers"][0]["command"]
    return made


# With the mpi-operator a launcher is a batch Job, and its pod that Job's.
SECOND_RUNNING = {"ring": second("ring"), "sleepers": second_sleepers(), "both": second("both", 2, runLauncherAsWorker=True)}
RETRYING = second("retrying", runPolicy={"backoffLimit": 3})
SECOND_SUCCEEDED, SECOND_FAILED = second("succeeded"), second("failed", runPolicy={"backoffLimit": 0})
ASLEEP = second("asleep", runPolicy={"suspend": True})


def batch_jobs(stage):
    return there(stage, "jobs", "/apis/batch/v1")


def launchers(stage, name):
    """Those of its pods that are launchers and did not fail."""
    return {pod: each for pod, each in pods_of(stage, name).items()
            if each["metadata"]["labels"]["training.kubeflow.org/job-role"] == "launcher" and each["status"]["phase"] != "Failed"}


class SecondLeft(Left):
    """What the mpi-operator left when it ended."""

    def __init__(self, stage, manifests):
        super().__init__(stage, manifests)
        self.batch_jobs = batch_jobs(stage)


def end_launcher(stage, manifest, code, condition):
    bring_to_running(stage, manifest)
    stage.end(code, *launchers(stage, manifest["metadata"]["name"]))
    stage.condition(path_of(stage, manifest), condition)


@pytest.fixture(scope="module")
def second_left(tmp_path_factory):
    """(stage, what the mpi-operator left): it has ended. The controller of batch Jobs goes on."""
    manifests = [*SECOND_RUNNING.values(), RETRYING, SECOND_SUCCEEDED, SECOND_FAILED, ASLEEP]
    with ground(tmp_path_factory.mktemp("second") / "cluster", "mpi-operator") as stage:
        for each in manifests:
            stage.post(each)
        for each in (*SECOND_RUNNING.values(), RETRYING):
            bring_to_running(stage, each)
        end_launcher(stage, SECOND_SUCCEEDED, 0, "Succeeded")
        end_launcher(stage, SECOND_FAILED, 1, "Failed")
        stage.condition(path_of(stage, ASLEEP), "Suspended")
        end(stage.server, "mpi-operator")
        # Its Job makes another in a while.
        stage.end(1, *launchers(stage, "retrying"))
        yield stage, SecondLeft(stage, manifests)


@pytest.fixture(scope="module")
def second_ours(second_left, tmp_path_factory):
    """Our operator, once it has looked at every job that was there."""
    stage, left = second_left
    said = check(stage.server, 3)
    assert said[-1].startswith(f"{len(left.jobs)} jobs: 1 would notice the change at once")
    assert len([line for line in said if "its launcher's pod continues as the MPIJob's own" in line]) == len(SECOND_RUNNING) + 1
    [advice] = [line for line in said if "at once:" in line]
    assert f"'kubectl annotate mpijob -n {NAMESPACE} sleepers muster.dev/remote-shell=ssh'" in advice
    stage.server.merge(path_of(stage, SECOND_RUNNING["sleepers"]), {"metadata": {"annotations": {"muster.dev/remote-shell": "ssh"}}})
    assert " 0 would notice the change at once" in check(stage.server)[-1]
    with installed(stage.server, tmp_path_factory.mktemp("ours")) as operator:
        stage.condition(stage.post(second("later", runPolicy={"suspend": True})), "Suspended")
        yield operator


def controller_of(pod):
    return [(each["kind"], each["name"]) for each in pod["metadata"].get("ownerReferences", []) if each.get("controller")]


def writers(objects):
    """Who wrote to them what, and when, and whether they were told to go. Not the scheduler, which says in its own time that there is no node."""
    def of_one(metadata):
        return metadata["uid"], metadata.get("deletionTimestamp"), [by for by in metadata["managedFields"] if by["manager"] != "kube-scheduler"]
    return {name: of_one(each["metadata"]) for name, each in objects.items()}


def taken_over(stage, name):
    """Its pods by name, once the launcher is the MPIJob's own and none of the batch Job's."""
    def ours(pods):
        of_launcher = [pod for pod in pods.values() if pod["metadata"]["labels"]["training.kubeflow.org/job-role"] == "launcher"]
        return of_launcher and all(controller_of(pod) == [("MPIJob", name)] and not pod["metadata"].get("finalizers") for pod in of_launcher)
    stage.server.until_listed(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", lambda now: f"{name}-launcher" not in now)
    return stage.server.until_listed(f"{stage.pods_path}?labelSelector=training.kubeflow.org%2Fjob-name%3D{name}", ours)


@pytest.mark.parametrize("name", SECOND_RUNNING)
def test_an_mpijob_of_the_mpi_operator_goes_on_with_its_pods_to_its_success(second_ours, second_left, name):
    stage, left = second_left
    assert f"{name}-launcher" in left.batch_jobs
    before, path = of_job(left.pods, name), path_of(stage, SECOND_RUNNING[name])
    now = taken_over(stage, name)
    assert {pod: each["metadata"]["uid"] for pod, each in now.items()} == {pod: each["metadata"]["uid"] for pod, each in before.items()}
    assert all(now[pod]["spec"] == before[pod]["spec"] for pod in before)
    of_workers = {pod: each for pod, each in before.items() if pod.startswith(f"{name}-worker-")}
    assert writers({pod: now[pod] for pod in of_workers}) == writers(of_workers)
    stage.server.until(path, counted(SECOND_RUNNING[name], "active"))
    status = stage.server.must("GET", path)["status"]
    assert (status["startTime"], status["conditions"]) == (left.jobs[name]["status"]["startTime"], left.jobs[name]["status"]["conditions"])
    known, config = left.configs[f"{name}-config"]["data"], there(stage, "configmaps")[f"{name}-config"]["data"]
    assert {key: config[key] for key in known} == known
    stage.end(0, *launchers(stage, name))
    done = stage.condition(path, "Succeeded")
    assert done["status"]["startTime"] == left.jobs[name]["status"]["startTime"] and conditions(done)["Running"] == "False"
    assert not any(each.get("restarts") for each in done["status"]["replicaStatuses"].values())
    stage.server.must("DELETE", path, {"propagationPolicy": "Background"})
    stage.server.until_listed(f"{stage.pods_path}?labelSelector=training.kubeflow.org%2Fjob-name%3D{name}", lambda now: not now)


def test_a_launcher_whose_batch_job_was_to_try_again_is_tried_again_by_ours(second_ours, second_left):
    stage, left = second_left
    taken_over(stage, "retrying")
    pods = f"{stage.pods_path}?labelSelector=training.kubeflow.org%2Fjob-name%3Dretrying"
    stage.server.until_listed(pods, lambda now: len(now) == 2 and all(each["status"]["phase"] in ("Pending", "Running") for each in now.values()))
    [again] = launchers(stage, "retrying")
    stage.run(again)
    path = path_of(stage, RETRYING)
    stage.server.until(path, counted(RETRYING, "active"))
    assert pods_of(stage, "retrying")["retrying-worker-0"]["metadata"]["uid"] == left.pods["retrying-worker-0"]["metadata"]["uid"]
    stage.end(0, again)
    stage.condition(path, "Succeeded")


@pytest.mark.parametrize("manifest", [SECOND_SUCCEEDED, SECOND_FAILED], ids=["succeeded", "failed"])
def test_a_finished_mpijob_of_the_mpi_operator_is_not_written_to(second_ours, second_left, manifest):
    stage, left = second_left
    name = manifest["metadata"]["name"]
    now = stage.server.must("GET", path_of(stage, manifest))
    # Defaults of another definition change what is read, not what is there.
    assert (now["metadata"]["resourceVersion"], now["status"]) == (left.jobs[name]["metadata"]["resourceVersion"], left.jobs[name]["status"])
    assert writers(pods_of(stage, name)) == writers(of_job(left.pods, name))
    assert versions(batch_jobs(stage))[f"{name}-launcher"] == versions(left.batch_jobs)[f"{name}-launcher"]


def test_a_suspended_mpijob_of_the_mpi_operator_is_resumed_without_its_batch_job(second_ours, second_left):
    stage, left = second_left
    path = path_of(stage, ASLEEP)
    assert "asleep-launcher" in left.batch_jobs and not pods_of(stage, "asleep")
    stage.server.merge(path, {"spec": {"runPolicy": {"suspend": False}}})
    stage.server.until(f"{stage.pods_path}/asleep-worker-0", lambda now: now)
    stage.run("asleep-worker-0")
    stage.server.until(f"{stage.pods_path}/asleep-launcher", lambda now: now)
    assert "asleep-launcher" not in batch_jobs(stage)
    stage.run("asleep-launcher")
    stage.condition(path, "Running")
    stage.end(0, "asleep-launcher")
    stage.condition(path, "Succeeded")
