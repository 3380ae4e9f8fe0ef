"""`muster step`: one step of a pipeline, as cube-studio's templates start it, against a `muster up`. Each item of the checklist for a
launcher has a test of its own; those that no server is needed for are unit tests (src/cli/internal/step)."""

import contextlib
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
import yaml

from conftest import BINARY, ROOT
from test_up import Up

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import Missing, build  # noqa: E402

JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"


class Pipeline(Up):
    """A server, and steps on it."""

    def variables(self, run="run-1", task="1", **more):
        return {**self.environment, "KUBECONFIG": str(self.kubeconfig), "KFJ_RUN_ID": run, "KFJ_TASK_ID": task,
                "KFJ_PIPELINE_NAME": "mnist_demo", "KFJ_PIPELINE_ID": "7", "KFJ_NAMESPACE": "default", "KFJ_CREATOR": "ann",
                "KFJ_RUNNER": "ben", "KFJ_TASK_NAME": "train", "KFJ_TASK_IMAGES": "local", "KFJ_TASK_RESOURCE_GPU": "0", **more}

    def begin(self, command, *args, kind="pytorch", workers=1, **variables):
        told = ["--working_dir", str(self.directory), "--command", command, "--num_worker", str(workers)]
        return subprocess.Popen([BINARY, "step", kind, *told, *args], env=self.variables(**variables), cwd=self.directory, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    @staticmethod
    def end_of(process, status):
        """Its lines on standard output and on standard error."""
        out, err = process.communicate(timeout=120)
        assert process.returncode == status, (process.returncode, out, err)
        return out.splitlines(), err.splitlines()

    def jobs(self):
        return {job["metadata"]["name"]: job for job in self.send("GET", JOBS)["items"]}

    def pods(self):
        return [pod["metadata"]["name"] for pod in self.send("GET", "/api/v1/namespaces/default/pods")["items"]]


def run(pipeline, command, *args, status=0, **more):
    return pipeline.end_of(pipeline.begin(command, *args, **more), status)


def read_until(process, wanted):
    """The lines up to the one that has `wanted`."""
    said = []
    for line in process.stdout:
        said.append(line)
        if wanted in line:
            return said
    raise AssertionError((said, process.stderr.read()))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    made = Pipeline(tmp_path_factory.mktemp("pipeline"))
    made.start()
    yield made
    made.down("--kill")


def test_it_ends_as_its_job_does_and_shows_each_rank(pipeline):
    # The end of the master ends the job, and with it what has not spoken yet.
    together = "touch said.$RANK; while [ $(ls said.* | wc -l) -lt 3 ]; do sleep 0.1; done"
    out, err = run(pipeline, f'echo "rank $RANK of $WORLD_SIZE"; {together}', workers=3, run="ends")
    assert err == []
    assert {"[master-0] rank 0 of 3", "[worker-0] rank 1 of 3", "[worker-1] rank 2 of 3"} <= set(out)
    [job] = [job for name, job in pipeline.jobs().items() if job["metadata"]["labels"]["run-id"] == "ends"]
    assert job["metadata"]["labels"] == {"run-id": "ends", "run-username": "ben", "pipeline-username": "ann", "pipeline-id": "7",
                                         "pipeline-name": "mnist_demo", "task-id": "1", "task-name": "train"}
    assert job["spec"]["runPolicy"]["cleanPodPolicy"] == "Running"
    assert re.fullmatch(r"pytorchjob-mnist-demo-[0-9a-f]{8}", job["metadata"]["name"])


def test_a_failure_is_summed_up(pipeline):
    out, _ = run(pipeline, 'echo "before the end"; [ $RANK = 1 ] && exit 7; sleep 60', workers=2, status=1, run="fails")
    [job] = [name for name, job in pipeline.jobs().items() if job["metadata"]["labels"]["run-id"] == "fails"]
    assert f"muster:   first to fail: pod {job}-worker-0, container pytorch exited with code 7" in out
    assert out[out.index("muster:   its last lines:") + 1] == "muster:     | before the end"
    assert out[-1] == "muster: exit code 1: the job failed"


def test_a_command_with_quotes_newlines_and_dollars_arrives_as_written(pipeline):
    command = "x='a  b'\nprintf '%s|' \"it's $x\" '$HOME' \"$(echo c)\" [d] \\\\ '`' '$$'; echo\n"
    out, _ = run(pipeline, command, run="quotes")
    assert r"[master-0] it's a  b|$HOME|c|[d]|\|`|$$|" in out


def test_what_is_wrong_is_told_with_its_variable_and_nothing_is_created(pipeline):
    out, err = run(pipeline, "true", status=2, run="wrong", KFJ_TASK_RESOURCE_GPU="0.5", KFJ_TASK_NODE_SELECTOR="gpu", KFJ_TASK_VOLUME_MOUNT="x")
    assert out == []
    assert [line.split(": ")[1] for line in err] == ["KFJ_TASK_RESOURCE_GPU", "KFJ_TASK_VOLUME_MOUNT", "KFJ_TASK_NODE_SELECTOR"]
    assert not [job for job in pipeline.jobs().values() if job["metadata"]["labels"]["run-id"] == "wrong"]


def test_two_steps_of_one_run_leave_each_other_alone(pipeline):
    first = pipeline.begin("echo up; while [ ! -e together ]; do sleep 0.1; done", run="shared", task="1")
    read_until(first, "] up")
    second = pipeline.begin("echo up; while [ ! -e together ]; do sleep 0.1; done", run="shared", task="2")
    read_until(second, "] up")
    (pipeline.directory / "together").touch()
    pipeline.end_of(first, 0)
    pipeline.end_of(second, 0)


def test_a_step_that_is_tried_again_replaces_its_job_and_waits_for_its_pods(pipeline):
    first = pipeline.begin("echo up; sleep 600", run="again")
    read_until(first, "] up")
    [before] = [job for job in pipeline.jobs().values() if job["metadata"]["labels"]["run-id"] == "again"]
    out, _ = run(pipeline, "echo second", run="again")
    [after] = [job for job in pipeline.jobs().values() if job["metadata"]["labels"]["run-id"] == "again"]
    assert after["metadata"]["name"] == before["metadata"]["name"] and after["metadata"]["uid"] != before["metadata"]["uid"]
    assert f"muster: PyTorchJob {before['metadata']['name']} is of an earlier try of this step: deleting it" in out
    said, _ = pipeline.end_of(first, 3)
    assert said[-1] == "muster: exit code 3: the job was deleted by someone else"


@pytest.mark.parametrize("which, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stop_deletes_the_job_and_waits_for_its_pods(pipeline, which, code):
    step = pipeline.begin("echo up; sleep 600", workers=2, run=f"stop-{code}")
    said = read_until(step, "] up")
    step.send_signal(which)
    pipeline.end_of(step, code)
    [name] = {re.search(r"pytorchjob-mnist-demo-[0-9a-f]{8}", line)[0] for line in said if "pytorchjob" in line}
    assert name not in pipeline.jobs()
    assert not [pod for pod in pipeline.pods() if pod.startswith(name)]


def test_a_stop_has_a_bound(pipeline):
    step = pipeline.begin("trap '' TERM; echo up; while true; do sleep 0.1; done", "--stop-timeout", "1s", run="bound")
    read_until(step, "] up")
    step.send_signal(signal.SIGTERM)
    out, _ = pipeline.end_of(step, 143)
    assert any("pods that are not gone yet: " in line for line in out)


def test_a_job_that_somebody_deletes_is_told_apart(pipeline):
    step = pipeline.begin("echo up; sleep 600", run="lost")
    read_until(step, "] up")
    [name] = [name for name, job in pipeline.jobs().items() if job["metadata"]["labels"]["run-id"] == "lost"]
    pipeline.send("DELETE", f"{JOBS}/{name}")
    pipeline.end_of(step, 3)


def test_the_time_that_is_up_and_the_jobs_own_deadline_have_one_code(pipeline):
    run(pipeline, "sleep 600", "--timeout", "1s", status=124, run="late")
    run(pipeline, "sleep 600", "--deadline", "1", status=124, run="deadline")


def test_a_job_that_can_not_run_is_told_and_ends(pipeline):
    out, _ = run(pipeline, "true", "--stuck-after", "2s", status=5, run="stuck", KFJ_TASK_RESOURCE_GPU="1000", KFJ_TASK_NODE_SELECTOR="")
    [line] = [line for line in out if "is stuck: " in line]
    assert "1 of 1 pods have no node: " in line
    assert out[-1].startswith("muster: exit code 5: ")
    assert not [job for job in pipeline.jobs().values() if job["metadata"]["labels"]["run-id"] == "stuck"]


def test_a_job_that_writes_nothing_is_told_and_ends(pipeline):
    out, _ = run(pipeline, "sleep 600", "--silent-after", "2s", status=5, run="silent")
    assert any("is stuck: no pod has written a line for " in line for line in out)


def test_at_the_end_the_job_stays_or_goes(pipeline):
    def left(name):
        return [job for job in pipeline.jobs().values() if job["metadata"]["labels"]["run-id"] == name]

    run(pipeline, "true", run="stays")
    run(pipeline, "true", "--at-end", "delete", run="goes")
    run(pipeline, "false", "--at-end", "delete-succeeded", status=1, run="failed")
    assert left("stays") and left("failed") and not left("goes")


def test_a_server_that_is_away_has_a_code_of_its_own(pipeline, tmp_path):
    away = tmp_path / "kubeconfig"
    away.write_text(re.sub(r"https://127\.0\.0\.1:\d+", "https://127.0.0.1:1", pipeline.kubeconfig.read_text()))
    _, err = run(pipeline, "true", "--kubeconfig", str(away), "--replace-timeout", "1s", status=4, run="away")
    assert any("the server is https://127.0.0.1:1" in line for line in err)


def test_a_dry_run_prints_the_job(pipeline):
    out, _ = run(pipeline, "true", "--dry-run", run="dry")
    (pipeline.directory / "job.yaml").write_text("\n".join(out) + "\n")
    assert pipeline.muster("validate", "--anywhere", "job.yaml").returncode == 0


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")
@pytest.mark.parametrize("kind", ["horovod", "mpi"])
def test_ranks_of_mpi_are_started_with_the_command_as_written(pipeline, kind):
    said = "echo \"it's rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE\"; [ \"a  b\" = 'a  b' ]"
    out, _ = run(pipeline, said, kind=kind, workers=2, run=f"ranks-{kind}")
    assert {"[launcher] it's rank 0 of 2", "[launcher] it's rank 1 of 2"} <= set(out)


@pytest.mark.parametrize("kind", ["tf", "mxnet", "paddle", "jax", "xgboost", "deepspeed"])
def test_each_other_kind_runs_its_command(pipeline, kind):
    out, _ = run(pipeline, "echo here; sleep 0.3", kind=kind, workers=2, run=f"kind-{kind}")
    assert any(line in out for line in ("[worker-0] here", "[master-0] here"))


EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "pipelines"


def test_the_step_of_the_workflow_in_the_examples_is_one(pipeline):
    [template] = [each for each in yaml.safe_load((EXAMPLES / "argo.yaml").read_text())["spec"]["templates"] if "container" in each]
    container = template["container"]
    assert container["command"][0] == "muster"
    (pipeline.directory / "argo-job.yaml").write_text(pipeline.muster(*container["command"][1:], *container["args"], "--dry-run").stdout)
    pipeline.muster("validate", "--anywhere", "--strict", "argo-job.yaml")


def test_the_account_in_the_examples_may_do_what_a_step_does(pipeline, tmp_path):
    pipeline.muster("apply", "--kubeconfig", str(pipeline.kubeconfig), "-f", str(EXAMPLES / "account.yaml"))
    token = pipeline.send("POST", "/api/v1/namespaces/default/serviceaccounts/muster-step/token",
                          {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
    config = yaml.safe_load(pipeline.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    limited = tmp_path / "kubeconfig"
    limited.write_text(yaml.safe_dump(config))
    out, err = run(pipeline, "echo mine", "--at-end", "delete", run="account", KUBECONFIG=str(limited))
    assert err == [] and "[master-0] mine" in out
    out, err = run(pipeline, "echo mine", status=2, run="elsewhere", kind="tf", KUBECONFIG=str(limited), KFJ_NAMESPACE="kube-system", KFJ_RUN_ID="")
    assert any("forbidden" in line for line in err)


def test_it_is_quick(pipeline):
    """Not a measurement: upstream's launcher sleeps for 30 s before it looks."""
    begun = time.monotonic()
    run(pipeline, "true", run="quick")
    assert time.monotonic() - begun < 20


def test_the_server_may_be_killed_and_started_again_in_the_middle(tmp_path):
    made = Pipeline(tmp_path)
    made.start()
    try:
        port = made.address().rsplit(":", 1)[1]
        step = made.begin("for i in $(seq 60); do echo line $i; sleep 0.1; done", run="middle", workers=1)
        read_until(step, "line 5")
        made.kill()
        made.muster("up", "--state", str(made.state), "--listen", f"127.0.0.1:{port}", "--detach")
        out, err = step.communicate(timeout=120)
        # The pods of a killed server are gone with it, or are taken over: the step ends as its job does.
        assert step.returncode in (0, 1), (step.returncode, out, err)
        assert json.dumps(out).count("exit code") <= 1
    finally:
        made.down("--kill")


# ---- metrics ----

@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    """A real Pushgateway: where it is, and what it has of a run."""
    try:
        program = build("prometheus-pushgateway")
    except Missing as why:
        pytest.skip(str(why))
    log = tmp_path_factory.mktemp("gateway") / "log"
    with open(log, "wb") as written:
        process = subprocess.Popen([program, "--web.listen-address=127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=written, stderr=written)
    try:
        yield listening_at(process, log)
    finally:
        process.kill()
        process.wait()


def listening_at(process, log):
    """The URL of a server that tells its port in no other way."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"127\.0\.0\.1:[1-9]\d*", log.read_text()):
            return f"http://{found[0]}"
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def metrics_of(gateway, run):
    """{name with its own labels: value} of a run, and the labels of its group."""
    with urllib.request.urlopen(f"{gateway}/api/v1/metrics", timeout=10) as answer:
        groups = [group for group in json.load(answer)["data"] if group["labels"].get("run_id") == run]
    if not groups:
        return {}, {}
    [group] = groups
    found = {}
    for name, family in group.items():
        for metric in family["metrics"] if name.startswith("muster_step_") else []:
            own = {key: value for key, value in metric.get("labels", {}).items() if key not in (*group["labels"], "instance")}
            found[name.removeprefix("muster_step_") + "".join(f",{key}={value}" for key, value in sorted(own.items()))] = float(metric["value"])
    return found, group["labels"]


def test_a_step_pushes_the_state_and_the_times_of_its_job(pipeline, gateway):
    step = pipeline.begin('echo up; while [ ! -e pushed ]; do sleep 0.1; done; exit 3', "--push-metrics", gateway, "--restart-policy", "Never",
                          run="pushes", task="8")
    read_until(step, "] up")
    deadline = time.monotonic() + 30
    while not (running := metrics_of(gateway, "pushes")[0]).get("job_state,state=Running") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running["job_state,state=Running"] == 1 and running["job_state,state=Failed"] == 0 and "exit_code" not in running
    (pipeline.directory / "pushed").touch()
    pipeline.end_of(step, 1)
    ended, labels = metrics_of(gateway, "pushes")
    assert labels == {"job": "muster_step", "namespace": "default", "run_id": "pushes", "task_id": "8"}
    assert ended["job_state,state=Failed"] == 1 and ended["job_state,state=Running"] == 0
    assert ended["exit_code"] == 1 and ended["restarts"] == 0
    assert 0 < ended["wait_seconds"] < 30 and 0 < ended["run_seconds"] < 60
    [job] = [name for name, job in pipeline.jobs().items() if job["metadata"]["labels"]["run-id"] == "pushes"]
    about = f"info,component={job},kind=PyTorchJob,pipeline_id=7,pipeline_name=mnist_demo,task_name=train,username=ben"
    assert ended[about] == 1, ended


@pytest.mark.parametrize("answer", ["no one", "silence", "refused"])
def test_a_gateway_that_can_not_be_reached_changes_nothing(pipeline, answer):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        if answer == "no one":
            listener.close()
        if answer == "refused":
            threading.Thread(target=refuse_all, args=(listener,), daemon=True).start()
        begun = time.monotonic()
        out, _ = run(pipeline, "true", run=f"gateway-{answer}".replace(" ", "-"), MUSTER_STEP_PUSH_METRICS=f"http://127.0.0.1:{port}")
        # The bound of the last push, on a busy machine.
        assert time.monotonic() - begun < 30
        told = [line for line in out if "metrics can't be pushed" in line]
        assert len(told) == 1 and told[0].startswith(f"muster: metrics can't be pushed to http://127.0.0.1:{port}, which changes nothing"), out


def refuse_all(listener):
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            client.recv(65536)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\nConnection: close\r\n\r\nno \x1b[31m!\n")
            client.close()
