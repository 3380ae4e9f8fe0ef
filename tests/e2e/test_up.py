"""`muster up` with real clients: what a person does with it first, and what stays after it."""

import fcntl
import json
import os
import pathlib
import pwd
import select
import shutil
import signal
import ssl
import stat
import subprocess
import urllib.error
import urllib.request

import pytest

from conftest import BINARY, ROOT

KUBECTL = shutil.which("kubectl")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="there is no kubectl here")


class Up:
    """One `muster up` with a state directory of its own."""

    def __init__(self, directory):
        self.directory = directory
        self.state = directory / "state"
        self.cwd = directory
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory)}

    def muster(self, *args, check=True, limit=60, **more):
        done = subprocess.run([BINARY, *args], env=self.environment, cwd=self.cwd, text=True,
                              capture_output=True, timeout=limit, check=False, **more)
        if check:
            assert done.returncode == 0, done
        return done

    def start(self, *args):
        return self.muster("up", "--state", str(self.state), "--listen", "127.0.0.1:0", "--detach", *args)

    def down(self, *args):
        return self.muster("down", "--state", str(self.state), *args)

    @property
    def kubeconfig(self):
        return self.state / "kubeconfig"

    def kubectl(self, *args, check=True, stdin=None):
        done = subprocess.run([KUBECTL, *args], env={**self.environment, "KUBECONFIG": str(self.kubeconfig)},
                              input=stdin, text=True, capture_output=True, timeout=60, check=False)
        if check:
            assert done.returncode == 0, done
        return done

    def address(self):
        return json.loads((self.state / "lock").read_text())["address"]

    def pid(self):
        return json.loads((self.state / "lock").read_text())["pid"]

    def kill(self):
        """SIGKILL, and waits for the end: until then the dying process holds the state directory."""
        process = os.pidfd_open(self.pid())
        signal.pidfd_send_signal(process, signal.SIGKILL)
        assert select.select([process], [], [], 30)[0]
        os.close(process)

    def send(self, method, path, body=None):
        """What was answered, as the admin is."""
        context = ssl.create_default_context(cafile=self.state / "ca.crt")
        request = urllib.request.Request(self.address() + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        request.add_header("Authorization", "Bearer " + (self.state / "admin.token").read_text())
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:
            return json.loads(answer.read())

    def kill_pods(self, *names):
        """With all that they run, as a machine that loses its power does."""
        for cmdline in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if cmdline.read_text().rstrip("\0") not in [f"muster-pod default/{name}" for name in names]:
                    continue
                process = os.pidfd_open(int(cmdline.parent.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
            signal.pidfd_send_signal(process, signal.SIGKILL)
            assert select.select([process], [], [], 30)[0]
            os.close(process)

    def get(self, path, token=None):
        """Status and text; token None: the admin's."""
        context = ssl.create_default_context(cafile=self.state / "ca.crt")
        request = urllib.request.Request(self.address() + path)
        token = (self.state / "admin.token").read_text() if token is None else token
        if token:
            request.add_header("Authorization", "Bearer " + token)
        try:
            with urllib.request.urlopen(request, context=context, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()


def is_running(pid):
    """A process that has ended and that nobody has asked about yet is not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def up(tmp_path):
    made = Up(tmp_path)
    yield made
    made.down("--kill")


def test_clients_on_other_machines_get_a_kubeconfig_that_names_this_one(up):
    said = up.muster("up", "--state", str(up.state), "--listen", "0.0.0.0:0", "--detach").stdout
    assert f"muster kubeconfig --state {up.state} --host HOST" in said
    host, port = "localhost", up.address().rpartition(":")[2]
    away = up.cwd / "away.kubeconfig"
    away.write_text(up.muster("kubeconfig", "--state", str(up.state), "--host", host).stdout)
    assert f"https://{host}:{port}" in away.read_text() and "127.0.0.1" not in away.read_text()
    # The certificate is good for that name, too.
    assert "default" in up.muster("get", "namespaces", "--kubeconfig", str(away)).stdout
    refused = up.muster("kubeconfig", "--state", str(up.state), "--host", "https://node0", check=False)
    assert refused.returncode == 2 and "--host wants a name or an address" in refused.stderr


def test_it_comes_up_says_where_and_goes_down(up):
    said = up.start().stdout
    assert up.address() in said and str(up.kubeconfig) in said
    status = up.muster("status", "--state", str(up.state))
    assert up.address() in status.stdout and str(up.pid()) in status.stdout
    assert up.muster("kubeconfig", "--state", str(up.state)).stdout == up.kubeconfig.read_text()
    again = up.muster("up", "--state", str(up.state), "--listen", "127.0.0.1:0", check=False)
    assert again.returncode == 1 and str(up.pid()) in again.stderr and "muster down" in again.stderr
    pid = up.pid()
    assert str(up.state) in up.down().stdout
    assert not is_running(pid)
    assert up.muster("status", "--state", str(up.state), check=False).returncode == 3
    assert "not up" in up.down().stdout


def test_what_it_keeps_is_for_its_user_alone(up):
    up.start()
    for path in [up.state, *up.state.iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_only_the_token_opens_it(up):
    up.start()
    assert up.get("/api/v1/namespaces/default")[0] == 200
    for token in ("wrong", "x" * 64):
        status, text = up.get("/api/v1/namespaces/default", token=token)
        assert status == 401 and json.loads(text)["reason"] == "Unauthorized"
    status, text = up.get("/api/v1/namespaces/default", token="")
    assert status == 403 and json.loads(text)["reason"] == "Forbidden"
    assert 'User "system:anonymous" cannot get resource "namespaces"' in json.loads(text)["message"]
    for path in ("/healthz", "/readyz", "/livez", "/version"):
        assert up.get(path, token="")[0] == 200


def test_nothing_of_whoever_starts_it_stays_open(up):
    """`flock FILE muster up --detach`: the lock is free when the command has returned."""
    path = up.directory / "lock"
    with open(path, "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        up.muster("up", "--state", str(up.state), "--listen", "127.0.0.1:0", "--detach", pass_fds=[held.fileno()])
    with open(path, "w", encoding="utf-8") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert up.get("/readyz")[0] == 200


def test_a_restart_keeps_the_kubeconfig_good_and_the_objects(up):
    up.start()
    first = up.kubeconfig.read_text()
    port = up.address().rsplit(":", 1)[1]
    before = json.loads(up.get("/api/v1/namespaces/kube-public")[1])
    up.down()
    up.muster("up", "--state", str(up.state), "--listen", "127.0.0.1:" + port, "--detach")
    assert up.kubeconfig.read_text() == first
    assert json.loads(up.get("/api/v1/namespaces/kube-public")[1]) == before


@needs_kubectl
def test_a_restart_finds_the_pods_that_are_its_own_or_nobodys(up):
    up.start()
    pods = "/api/v1/namespaces/default/pods"

    def create(name, spec, resources=None):
        main = {"name": "main", "image": "none", "command": ["sleep", "1000"], "resources": resources or {}}
        up.send("POST", pods, {"metadata": {"name": name}, "spec": {"containers": [main], **spec}})

    def phase(name):
        return json.loads(up.get(f"{pods}/{name}")[1]).get("status", {}).get("phase")

    create("foreign", {"nodeName": "elsewhere", "restartPolicy": "Never"})
    create("own", {})
    create("large", {}, {"requests": {"cpu": "100000"}})
    up.muster("wait", "pod/own", "--for=condition=Ready", "--timeout=60s", "--kubeconfig", str(up.kubeconfig))
    up.kill()
    up.start()
    # The node has to agree to the end of its own; of the one without a node only the scheduler knows.
    for name in ("own", "large"):
        up.send("DELETE", f"{pods}/{name}?gracePeriodSeconds=1")
    up.muster("wait", "pod/own", "pod/large", "--for=delete", "--timeout=60s", "--kubeconfig", str(up.kubeconfig))
    assert phase("foreign") == "Pending"


@needs_kubectl
def test_jobs_go_on_when_their_processes_are_gone_too(up):
    """What ran counts as killed, and the restart policy decides."""
    up.start()
    for name, policy in (("again", "OnFailure"), ("once", "Never")):
        script = f"echo begun >> {up.directory}/{name}; until [ -e {up.directory}/go ]; do sleep 0.05; done"
        up.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"restartPolicy": policy, "containers": [
                {"name": "main", "image": "local", "command": ["sh", "-c", script]}]}}))
        up.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=30s")
    up.kill()
    up.kill_pods("again", "once")
    (up.directory / "go").touch()
    up.start()
    up.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/again", "--timeout=30s")
    up.kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "pod/once", "--timeout=30s")
    again = json.loads(up.kubectl("get", "pod", "again", "-o", "json").stdout)["status"]["containerStatuses"][0]
    once = json.loads(up.kubectl("get", "pod", "once", "-o", "json").stdout)["status"]["containerStatuses"][0]
    assert again["restartCount"] == 1
    assert again["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert once["state"]["terminated"]["exitCode"] == 137
    assert (up.directory / "again").read_text() == "begun\n" * 2
    assert (up.directory / "once").read_text() == "begun\n"


@needs_kubectl
def test_kubectl_runs_a_job_to_its_end(up):
    up.start()
    manifest = json.dumps({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "hello"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "restartPolicy": "Never", "template": {
            "spec": {"containers": [{"name": "pytorch", "image": "local",
                                     "command": ["sh", "-c", "echo rank $RANK of $WORLD_SIZE"]}]}}}}}})
    assert "created" in up.kubectl("create", "-f", "-", stdin=manifest).stdout
    up.kubectl("wait", "--for=condition=Succeeded", "pytorchjob/hello", "--timeout=50s")
    assert "rank 0 of 1" in up.kubectl("logs", "hello-master-0").stdout
    listed = up.kubectl("get", "pods").stdout.split()
    assert listed[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"] and "Completed" in listed
    assert "Succeeded" in up.kubectl("get", "pytorchjobs").stdout
    assert "hello-master-0" in up.kubectl("describe", "pytorchjob", "hello").stdout
    assert "deleted" in up.kubectl("delete", "pytorchjob", "hello").stdout
    assert "not found" in up.kubectl("get", "pytorchjob", "hello", check=False).stderr


@needs_kubectl
def test_kubectl_applies_what_it_has_and_refuses_what_is_wrong(up):
    up.start()
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    assert "created" in up.kubectl("apply", "-f", "-", stdin=json.dumps(config)).stdout
    assert "unchanged" in up.kubectl("apply", "-f", "-", stdin=json.dumps(config)).stdout
    config["data"]["a"] = "2"
    assert "configured" in up.kubectl("apply", "-f", "-", stdin=json.dumps(config)).stdout
    assert up.kubectl("get", "cm", "c", "-o", "jsonpath={.data.a}").stdout == "2"
    up.kubectl("create", "configmap", "typed", "--from-literal=k=v")  # sends protobuf
    assert up.kubectl("get", "cm", "typed", "-o", "jsonpath={.data.k}").stdout == "v"
    wrong = up.kubectl("create", "-f", "-", check=False, stdin=json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "w"}, "dota": {}}))
    assert wrong.returncode == 1 and 'unknown field "dota"' in wrong.stderr
    explained = up.kubectl("explain", "pod.spec.containers.image").stdout
    assert "FIELD: image" in explained
    resources = up.kubectl("api-resources").stdout
    assert "pytorchjobs" in resources and "po " in resources


@needs_kubectl
def test_the_nodes_lease_says_that_it_is_there(up):
    up.start()
    node = up.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}").stdout
    up.kubectl("wait", "--for=create", "lease/" + node, "-n", "kube-node-lease", "--timeout=20s")
    described = up.kubectl("describe", "node", node).stdout.split("Lease:")[1].split()
    assert described[:2] == ["HolderIdentity:", node] and described[described.index("RenewTime:") + 1] != "<unset>"


@pytest.mark.skipif(os.geteuid() != 0, reason="a disk of a few megabytes is mounted as root")
def test_status_tells_that_a_full_disk_keeps_nothing(up):
    up.state.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,mode=0700", "muster-test", up.state], check=True)
    try:
        up.start()
        assert up.muster("status", "--state", str(up.state)).returncode == 0
        body = json.dumps({"metadata": {"generateName": "c-"}, "data": {"text": "x" * 800_000}}).encode()
        for _ in range(20):
            request = urllib.request.Request(up.address() + "/api/v1/namespaces/default/configmaps", body, {
                "Authorization": "Bearer " + (up.state / "admin.token").read_text(), "Content-Type": "application/json"})
            try:
                urllib.request.urlopen(request, context=ssl.create_default_context(cafile=up.state / "ca.crt"), timeout=30)
            except urllib.error.HTTPError as refused:
                assert refused.code == 503
                break
        else:
            raise AssertionError("16 MB fit into 6")
        status = up.muster("status", "--state", str(up.state), check=False)
        assert status.returncode == 1 and "keeps nothing new" in status.stderr and "full" in status.stderr, status
    finally:
        up.down("--kill")
        subprocess.run(["umount", up.state], check=True)


def test_merge_adds_a_context_to_an_existing_kubeconfig(up):
    theirs = up.directory / ".kube" / "config"
    theirs.parent.mkdir()
    theirs.write_text("apiVersion: v1\nkind: Config\ncontexts:\n- name: prod\n  context: {cluster: c, user: u}\n")
    up.start("--merge-kubeconfig")
    assert "prod" in theirs.read_text() and up.address() in theirs.read_text()
    up.down()
    theirs.write_text("not: a kubeconfig\n")
    refused = up.muster("up", "--state", str(up.state), "--listen", "127.0.0.1:0", "--detach",
                        "--merge-kubeconfig", check=False)
    assert refused.returncode == 1 and str(theirs) in refused.stderr
    assert theirs.read_text() == "not: a kubeconfig\n"


def test_merge_changes_what_a_link_leads_to(up):
    """People keep their dotfiles elsewhere; and empty entries of the list stand for nothing."""
    real, link = up.directory / "dotfiles", up.directory / "config"
    real.write_text("")
    link.symlink_to(real)
    up.environment["KUBECONFIG"] = f":{link}"
    up.start("--merge-kubeconfig")
    assert link.is_symlink() and "muster" in real.read_text()


def test_a_damaged_credential_is_named_with_the_remedy(up):
    up.start()
    up.down()
    for name, text in (("ca.crt", "garbage"), ("server.key", "garbage"), ("admin.crt", ""), ("sa.key", "x"),
                       ("admin.token", "two words")):
        before = (up.state / name).read_text()
        (up.state / name).write_text(text)
        refused = up.muster("up", "--state", str(up.state), "--listen", "127.0.0.1:0", "--detach", check=False)
        assert refused.returncode == 1
        assert str(up.state / name) in refused.stderr and "remove" in refused.stderr, refused
        (up.state / name).write_text(before)


def test_without_home_the_users_directory_is_looked_up(up):
    del up.environment["HOME"]
    said = up.muster("status", check=False)
    assert f"{pwd.getpwuid(os.getuid()).pw_dir}/.muster" in said.stdout + said.stderr


def test_the_readme_example_runs_in_the_foreground_until_it_is_interrupted(up):
    process = subprocess.Popen([BINARY, "up", "--state", str(up.state), "--listen", "127.0.0.1:0"],
                               env=up.environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert "muster is up at https://127.0.0.1:" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
