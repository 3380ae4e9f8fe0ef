"""Our own verbs against `muster up`, beside kubectl where both can say the same."""

import base64
import json
import pathlib
import re
import signal
import subprocess
import textwrap

import pytest

from conftest import BINARY
from test_up import Up, needs_kubectl

POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, labels: {app: demo}}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: local, command: [sh, -c, "SCRIPT"]}
"""


def pod(name, script="sleep 600"):
    return POD.replace("NAME", name).replace("SCRIPT", script)


class Server(Up):
    """A `muster up` that our verbs find by themselves, in the home of their user."""

    def __init__(self, directory):
        super().__init__(directory)
        self.state = directory / ".muster"

    def verb(self, *args, status=0, stdin=None, environment=None):
        done = subprocess.run([BINARY, *args], env={**self.environment, **(environment or {})}, input=stdin,
                              cwd=self.directory, text=True, capture_output=True, timeout=90, check=False)
        assert done.returncode == status, done
        return done

    def apply(self, text, *args, status=0):
        return self.verb("apply", "-f", "-", *args, stdin=text, status=status)

    def follow(self, *args):
        """A verb that goes on; its output is read line by line."""
        return subprocess.Popen([BINARY, *args], env=self.environment, cwd=self.directory, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("verbs"))
    made.start()
    yield made
    made.down("--kill")


def ended(process, how=signal.SIGINT):
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


@needs_kubectl
def test_get_shows_what_kubectl_shows(server):
    server.apply(pod("alike"))
    server.verb("wait", "pod/alike", "--for", "condition=Ready")
    ages = re.compile(r"\b\d+[smh](\d+s)?\b")
    for args in (["nodes"], ["nodes", "-o", "wide"], ["pods"], ["po", "-A"], ["pods", "--show-labels"],
                 ["namespaces"], ["pod/alike", "-o", "name"], ["pods", "alike", "-o", "jsonpath={.status.phase}"],
                 ["svc,pods"], ["pods", "-l", "app=demo", "--no-headers"], ["crd", "-o", "name"],
                 ["pod", "alike", "-o", "jsonpath={range .spec.containers[*]}{.name}{\"\\n\"}{end}"]):
        ours = ages.sub("AGE", server.verb("get", *args).stdout)
        theirs = ages.sub("AGE", server.kubectl("get", *args).stdout)
        assert [line.split() for line in ours.splitlines()] == [line.split() for line in theirs.splitlines()], args
    for args in (["pod", "alike"], ["nodes"]):
        ours = json.loads(server.verb("get", *args, "-o", "json").stdout)
        assert ours == json.loads(server.kubectl("get", *args, "-o", "json").stdout)
    server.verb("delete", "pod", "alike", "--force")


def test_what_is_not_there_is_told(server):
    missing = server.verb("get", "pod", "nobody", status=1)
    assert "muster get:" in missing.stderr and '"nobody" not found' in missing.stderr
    assert server.verb("get", "pod", "nobody", "--ignore-not-found").stderr == ""
    assert "did you mean pod?" in server.verb("get", "podz", status=1).stderr
    assert "No resources found in empty namespace" in server.verb("get", "pods", "-n", "empty").stderr


def test_get_watches(server):
    watch = server.follow("get", "pods", "-w", "-l", "watched=yes", "-o", "name")
    server.apply(pod("seen").replace("app: demo", "watched: 'yes'"))
    assert watch.stdout.readline() == "pod/seen\n"
    server.verb("delete", "pod/seen", "--force")
    status, out, err = ended(watch)
    assert status == 130 and out.splitlines()[-1] == "pod/seen" and err == ""


def test_apply_says_what_it_did(server):
    first = server.apply(pod("applied"))
    assert first.stdout == "pod/applied created\n"
    assert server.apply(pod("applied")).stdout == "pod/applied unchanged\n"
    labelled = pod("applied").replace("app: demo", "app: other")
    assert server.apply(labelled, "--dry-run").stdout == "pod/applied configured (dry run)\n"
    assert server.verb("get", "pod/applied", "-o", "jsonpath={.metadata.labels.app}").stdout == "demo"
    assert server.apply(labelled).stdout == "pod/applied configured\n"
    server.verb("delete", "pod", "applied", "--grace-period", "0", "--force")


def test_apply_checks_before_it_sends(server):
    (server.directory / "wrong.yaml").write_text(pod("a") + "---" + pod("b").replace("spec:", "spek:"))
    wrong = server.verb("apply", "-f", "wrong.yaml", status=2)
    assert re.search(r"^wrong\.yaml:\d+:\d+: error: ", wrong.stderr, re.M) and "nothing was applied" in wrong.stderr
    assert server.verb("get", "pod", "a", status=1).stdout == ""
    unknown = server.apply("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\n", status=1)
    assert "-:2:7: error: kind: the server has no Thing of example.com/v1" in unknown.stderr


@needs_kubectl
def test_apply_tells_conflicts_by_name(server):
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {key: VALUE}\n"
    server.kubectl("apply", "--server-side", "-f", "-", stdin=config.replace("VALUE", "theirs"))
    refused = server.apply(config.replace("VALUE", "ours"), status=1)
    assert "configmap/shared: others own fields" in refused.stderr
    assert ".data.key" in refused.stderr and '"kubectl"' in refused.stderr and "--force-conflicts" in refused.stderr
    server.apply(config.replace("VALUE", "ours"), "--force-conflicts")
    assert server.verb("get", "configmap/shared", "-o", "jsonpath={.data.key}").stdout == "ours"
    server.verb("delete", "configmap", "shared")


def test_wait_tells_at_once_of_a_container_that_fails_again_and_again(server):
    server.apply(pod("crashes", "exit 3").replace("restartPolicy: Never", "restartPolicy: OnFailure"))
    waiting = server.follow("wait", "pod/crashes", "--for", "jsonpath={.status.phase}=Succeeded", "--timeout", "1h")
    line = waiting.stderr.readline()
    assert "pod crashes, container main exited with code 3 and waits for its next start (CrashLoopBackOff" in line, line
    waiting.terminate()
    assert waiting.wait(timeout=30) == 143
    server.verb("delete", "pod/crashes", "--grace-period", "1")


def test_wait_tells_how_it_is_instead(server):
    server.apply(pod("waits"))
    assert "pod/waits condition met" in server.verb("wait", "pod/waits", "--for", "condition=Ready").stdout
    late = server.verb("wait", "pod/waits", "--for", "jsonpath={.status.phase}=Succeeded", "--timeout", "100ms",
                       status=1)
    assert "pod/waits: not within --timeout 0.1s: .status.phase is Running" in late.stderr
    gone = server.follow("wait", "pod/waits", "--for", "delete")
    assert "pod/waits deleted" in server.verb("delete", "pod/waits", "--grace-period", "1").stdout
    assert gone.wait(timeout=30) == 0
    assert "does not exist" in server.verb("wait", "pod/waits", "--for", "condition=Ready", status=1).stderr


def test_wait_ends_when_a_job_has_failed(server):
    server.apply(textwrap.dedent("""
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: fails}
        spec:
          pytorchReplicaSpecs:
            Master:
              restartPolicy: Never
              template:
                spec:
                  containers:
                  - {name: pytorch, image: local, command: ["false"]}
        """))
    failed = server.verb("wait", "pytorchjob/fails", "--for", "condition=Succeeded", "--timeout", "1m", status=1)
    assert "condition Failed is True" in failed.stderr and "will not change" in failed.stderr
    server.verb("delete", "pytorchjob", "fails")


def test_delete_waits_until_it_is_gone(server):
    for name in ("one", "two"):
        server.apply(pod(name))
    assert "which pods?" in server.verb("delete", "pods", status=1).stderr
    server.verb("wait", "pods", "-l", "app=demo", "--for", "condition=Ready")
    said = server.verb("delete", "pods", "-l", "app=demo", "--grace-period", "1").stdout
    assert sorted(said.splitlines()) == ["pod/one deleted", "pod/two deleted"]
    assert "No resources found" in server.verb("get", "pods").stderr
    assert "not found" in server.verb("delete", "pod", "one", status=1).stderr
    server.verb("delete", "pod", "one", "--ignore-not-found")


def test_delete_by_file_and_without_waiting(server):
    (server.directory / "pods.yaml").write_text(pod("left") + "---" + pod("right"))
    server.verb("apply", "-f", "pods.yaml")
    server.verb("delete", "-f", "pods.yaml", "--wait=false", "--grace-period=1")
    server.verb("wait", "pod/left", "pod/right", "--for=delete")


def test_other_kubeconfigs(server, tmp_path):
    own = server.state / "kubeconfig"
    text = own.read_text()
    server.verb("get", "nodes", "--kubeconfig", str(own))
    named = server.verb("get", "nodes", "--kubeconfig", "nowhere", status=1)
    assert "nowhere" in named.stderr
    # Several are merged: the first has the user, the second the rest.
    (tmp_path / "first").write_text("users: [{name: muster-admin, user: {token: wrong}}]\n")
    listed = {"KUBECONFIG": f"{tmp_path}/missing:{tmp_path}/first:{own}"}
    refused = server.verb("get", "nodes", environment=listed, status=1)
    assert "muster-admin" in refused.stderr and "first" not in refused.stderr
    unknown = server.verb("get", "nodes", "--context", "mustre", status=1)
    assert 'did you mean "muster"?' in unknown.stderr
    # Nobody to trust, and then anyone.
    certificate = re.search(r'certificate-authority-data: (\S+)', text).group(1)
    assert "BEGIN CERTIFICATE" in base64.b64decode(certificate.strip('"')).decode()
    insecure = text.replace(f"certificate-authority-data: {certificate}", "insecure-skip-tls-verify: true")
    (tmp_path / "insecure").write_text(insecure)
    server.verb("get", "nodes", "--kubeconfig", str(tmp_path / "insecure"))
    (tmp_path / "system").write_text(insecure.replace("insecure-skip-tls-verify: true", "tls-server-name: localhost"))
    assert "certificate" in server.verb("get", "nodes", "--kubeconfig", str(tmp_path / "system"), status=1).stderr


def test_an_exec_plugin_says_who_we_are(server, tmp_path):
    token = (server.state / "admin.token").read_text()
    plugin = tmp_path / "login"
    plugin.write_text("#!/bin/sh\necho '" + json.dumps({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}) + "'\n")
    plugin.chmod(0o700)
    text = (server.state / "kubeconfig").read_text()
    config = tmp_path / "config"
    config.write_text(re.sub(r"token: \S+", "exec: {command: ./login, "
                             "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}", text))
    assert "localhost" in server.verb("get", "nodes", "--kubeconfig", str(config)).stdout
    plugin.write_text("#!/bin/sh\nexit 7\n")
    assert "status 7" in server.verb("get", "nodes", "--kubeconfig", str(config), status=1).stderr


def test_a_server_that_is_away_is_told(tmp_path):
    away = Server(tmp_path)
    assert "'muster up' makes one" in away.verb("get", "pods", status=1).stderr
    away.start()
    away.down()
    told = away.verb("get", "pods", status=1).stderr
    assert "https://127.0.0.1" in told and "'muster status'" in told


JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: NAME}
spec:
  runPolicy: {cleanPodPolicy: None}
  pytorchReplicaSpecs:
    Master:
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: pytorch, image: local, command: [sh, -c, "MASTER"]}]}}
    Worker:
      replicas: 2
      restartPolicy: Never
      template: {spec: {containers: [{name: pytorch, image: local, command: [sh, -c, "WORKER"]}]}}
"""


def job(name, master, worker):
    return JOB.replace("NAME", name).replace("MASTER", master).replace("WORKER", worker)


def test_logs_of_a_job_are_one_in_the_order_of_time(server):
    # A line is stamped when it is read from the container, so a turn comes only once the line
    # before it was seen in the log; the master's is the last, as the job ends with it.
    turn = server.directory / "turn"
    wait = f"until [ -e {turn}.$RANK ]; do sleep 0.02; done; echo rank $RANK"
    server.apply(job("turns", wait, wait))
    order = ["turns-worker-1 | rank 2", "turns-worker-0 | rank 1", "turns-master-0 | rank 0"]
    follow = server.follow("logs", "turns", "-f")
    for line in order:
        pathlib.Path(f"{turn}.{line[-1]}").touch()
        assert follow.stdout.readline() == line + "\n"
    assert follow.communicate(timeout=60) == ("", "")
    server.verb("wait", "pytorchjob/turns", "--for", "condition=Succeeded", "--timeout", "1m")
    assert server.verb("logs", "turns").stdout.splitlines() == order
    assert server.verb("logs", "pytorchjob/turns", "--rank", "2").stdout == "turns-worker-1 | rank 2\n"
    assert server.verb("logs", "turns", "--replica", "Master").stdout == "turns-master-0 | rank 0\n"
    assert server.verb("logs", "pod/turns-worker-0").stdout == "rank 1\n"
    stamped = server.verb("logs", "pod/turns-worker-0", "--timestamps").stdout
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z rank 1\n", stamped)
    assert "no pod has rank 9" in server.verb("logs", "turns", "--rank", "9", status=1).stderr
    assert 'no job and no pod "nobody"' in server.verb("logs", "nobody", status=1).stderr
    server.verb("delete", "pytorchjob", "turns")


def test_logs_follow_what_comes_and_restarts_until_the_job_ends(server):
    # The master fails once; nobody ends before the log is followed.
    go = server.directory / "go"
    wait = f"until [ -e {go} ]; do sleep 0.02; done"
    master = f"echo begun; {wait}; [ -e {go}.again ] || {{ touch {go}.again; exit 1; }}; echo done"
    server.apply(job("follows", master, f"{wait}; echo worked"))
    follow = server.follow("logs", "follows", "-f")
    assert follow.stdout.readline() == "follows-master-0 | begun\n"
    go.touch()
    out, err = follow.communicate(timeout=60)
    assert follow.returncode == 0 and err == ""
    assert sorted(out.splitlines()) == ["follows-master-0 | begun", "follows-master-0 | done",
                                        "follows-worker-0 | worked", "follows-worker-1 | worked"]
    assert server.verb("logs", "follows", "--rank", "0", "--previous").stdout == "follows-master-0 | begun\n"
    assert server.verb("logs", "follows", "--rank", "0", "--tail", "1").stdout == "follows-master-0 | done\n"
    server.verb("delete", "pytorchjob", "follows")


def test_logs_stay_when_pods_and_jobs_are_gone(server):
    # The job ends with its master, and the workers with it: they have to be done by then.
    done = server.directory / "said"
    server.apply(job("gone", f"until [ -e {done}.1 ] && [ -e {done}.2 ]; do sleep 0.02; done; echo first",
                     f"echo other; touch {done}.$RANK").replace("None", "All"))
    server.verb("wait", "pytorchjob/gone", "--for", "condition=Succeeded", "--timeout", "1m")
    server.verb("wait", "pod", "-l", "training.kubeflow.org/job-name=gone", "--for", "delete", "--timeout", "1m")
    lines = ["gone-master-0 | first", "gone-worker-0 | other", "gone-worker-1 | other"]
    assert sorted(server.verb("logs", "gone").stdout.splitlines()) == lines
    assert server.verb("logs", "gone", "--rank", "2").stdout == "gone-worker-1 | other\n"
    assert sorted(server.verb("logs", "gone", "-f").stdout.splitlines()) == lines
    server.verb("delete", "pytorchjob", "gone")
    # A daemon that is killed takes no log with it, nor one that ends.
    server.kill()
    server.start()
    assert sorted(server.verb("logs", "pytorchjob/gone").stdout.splitlines()) == lines
    assert server.verb("logs", "pod/gone-worker-0").stdout == "other\n"
    server.down("--kill")
    server.start()
    assert server.verb("logs", "gone", "--replica", "master").stdout == "gone-master-0 | first\n"
    # Another job of that name has nothing to do with them.
    server.apply(job("gone", "echo again", "exit 0"))
    server.verb("wait", "pytorchjob/gone", "--for", "condition=Succeeded", "--timeout", "1m")
    assert server.verb("logs", "gone").stdout == "gone-master-0 | again\n"
    server.verb("delete", "pytorchjob", "gone")


def test_logs_of_an_attempt_are_those_of_the_pod_that_made_it(server):
    # The first worker asks for another try once: its pod is made again, and no container restarts.
    turn = server.directory / "attempt"
    worker = (f"echo rank $RANK; [ $RANK = 2 ] && exit; [ -e {turn}.1 ] && {{ echo again; touch {turn}.done; exit; }}; "
              f"touch {turn}.1; exit 130")
    master = f"until [ -e {turn}.done ]; do sleep 0.02; done; echo done"
    server.apply(job("replaced", master, worker).replace("Never", "ExitCode"))
    server.verb("wait", "pytorchjob/replaced", "--for", "condition=Succeeded", "--timeout", "1m")

    def check():
        first = ["replaced-worker-0 | rank 1", "replaced-worker-1 | rank 2"]
        assert server.verb("logs", "replaced", "-p").stdout.splitlines() == first[:1]
        assert sorted(server.verb("logs", "replaced", "--attempt", "0", "--replica", "worker").stdout.splitlines()) == first
        assert server.verb("logs", "replaced", "--attempt", "1").stdout.splitlines() == [first[0], "replaced-worker-0 | again"]
        assert "there is no attempt 2: the last one is 1" in server.verb("logs", "replaced", "--attempt", "2", status=1).stderr
        assert "nothing ran before" in server.verb("logs", "replaced", "-p", "--rank", "0", status=1).stderr
        assert server.verb("logs", "replaced", "--rank", "0").stdout == "replaced-master-0 | done\n"
        assert server.verb("logs", "pod/replaced-worker-0", "-p").stdout == "rank 1\n"

    check()
    assert "--attempt wants a number" in server.verb("logs", "replaced", "--attempt=-1", status=2).stderr
    assert "do not go together" in server.verb("logs", "replaced", "--attempt", "0", "-f", status=2).stderr
    # A daemon that begins again has not run these pods itself.
    server.down("--kill")
    server.start()
    check()
    assert server.verb("logs", "pod/replaced-master-0").stdout == "done\n"
    # Nor is anything else left of a job that is deleted.
    server.verb("delete", "pytorchjob", "replaced")
    server.verb("wait", "pod", "-l", "training.kubeflow.org/job-name=replaced", "--for", "delete", "--timeout", "1m")
    check()


def test_a_log_that_is_followed_ends_by_ctrl_c(server):
    server.apply(pod("talks", "echo hello; sleep 600"))
    follow = server.follow("logs", "pod/talks", "-f")
    assert follow.stdout.readline() == "hello\n"
    assert ended(follow) == (130, "", "")
    server.verb("delete", "pod/talks", "--force")


def test_describe_tells_what_people_ask(server):
    server.apply(job("broken", "sleep 600", "exit 3"))
    server.verb("wait", "pytorchjob/broken", "--for", "condition=Failed", "--timeout", "1m")
    text = server.verb("describe", "pytorchjob", "broken").stdout
    assert re.search(r"^First to fail: +pod broken-worker-\d, container pytorch exited with code 3", text, re.M)
    assert re.search(r"^  Failed +True ", text, re.M) and re.search(r"^  Worker +\d", text, re.M)
    assert re.search(r"^Events:\n  LAST SEEN ", text, re.M)
    assert "exited with code 3" in server.verb("describe", "pods", "-l", "training.kubeflow.org/job-name=broken").stdout
    assert re.search(r"^  cpu +\d+ +\d+", server.verb("describe", "nodes").stdout, re.M)
    events = server.verb("events", "--for", "pytorchjob/broken").stdout
    assert "LAST SEEN" in events and "JobFailed" in events and "OBJECT" not in events
    assert "pod/broken-worker-" in server.verb("events", "-A").stdout
    by_both = [re.sub(r"\b(\d+m)?\d+s\b", "AGE", server.verb("describe", *name).stdout) for name in (["broken"], ["pytorchjob", "broken"])]
    assert by_both[0] == by_both[1]
    assert server.verb("describe", "broken-master-0").stdout.startswith("Name:           broken-master-0\n")
    assert "no job and no pod \"nobody\"" in server.verb("describe", "nobody", status=1).stderr
    by_name = server.verb("events", "broken").stdout
    assert "JobFailed" in by_name and "OBJECT" not in by_name
    server.verb("delete", "pytorchjob", "broken")


def test_logs_of_what_never_started_say_why(server):
    server.apply(pod("waits").replace("image: local", "image: local, envFrom: [{secretRef: {name: later}}]"))
    server.verb("wait", "pod/waits", "--for", "jsonpath={.status.containerStatuses[0].state.waiting.reason}="
                "CreateContainerConfigError", "--timeout", "1m")
    told = server.verb("logs", "waits", status=1).stderr
    assert "pod waits has not started: CreateContainerConfigError" in told and "later" in told
    server.verb("delete", "pod", "waits", "--force")
    broken = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "nothing"}, "spec": {
        "restartPolicy": "Never", "containers": [{"name": "main", "image": "x", "command": ["/no/such/program"]}]}})
    server.apply(broken)
    server.verb("wait", "pod/nothing", "--for", "jsonpath={.status.phase}=Failed", "--timeout", "1m")
    for follow in ([], ["-f"]):
        told = server.verb("logs", "nothing", *follow, status=1).stderr
        assert "pod nothing has not started: the program" in told
    server.apply(pod("silent", "true"))
    server.verb("wait", "pod/silent", "--for", "jsonpath={.status.phase}=Succeeded", "--timeout", "1m")
    assert server.verb("logs", "silent").stderr == ""
    server.verb("delete", "pod", "nothing", "silent")


def test_apply_wants_a_name(server):
    text = pod("x").replace("name: x", "generateName: x-")
    assert "generateName means a new object each time" in server.apply(text, status=2).stderr


def test_events_watch(server):
    watch = server.follow("events", "-w", "-n", "quiet")
    assert watch.stdout.readline().startswith("LAST SEEN")
    server.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: quiet}\n")
    server.apply(json.dumps({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "made", "namespace": "quiet"}, "type": "Normal",
        "reason": "Made", "message": "by hand", "involvedObject": {"kind": "Pod", "name": "x", "namespace": "quiet"}}))
    assert watch.stdout.readline().split()[1:] == ["Normal", "Made", "pod/x", "by", "hand"]
    assert ended(watch)[0] == 130


def test_top_shows_use_or_says_that_nobody_knows(server):
    groups = json.loads(server.get("/apis")[1])["groups"]
    if "metrics.k8s.io" in [group["name"] for group in groups]:
        assert server.verb("top", "nodes").stdout.split()[:2] == ["NAME", "CPU(cores)"]
    else:
        assert "does not serve metrics.k8s.io" in server.verb("top", "nodes", status=1).stderr
