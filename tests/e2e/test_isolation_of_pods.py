"""What a pod may use and touch: limits, identity, files, volumes. As root and as an ordinary user.

What the machine can't enforce (no cgroup that is writable) is skipped, and said.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import pytest

from conftest import BINARY, may_make_user_namespaces

NOBODY = 65534
CONTROLLERS = ("memory", "cpu", "pids")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="both users are tested from root")


def pod(name, script, spec=None, **container):
    """A pod that runs a shell script. Kubernetes reads $$ in a command as one dollar."""
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                 "containers": [{"name": "main", "image": "local",
                                 "command": ["sh", "-c", script.replace("$$", "$$$$")], **container}],
                 **(spec or {})}}


def own_groups():
    """Controller -> the directory of this process's group in its version 1 tree."""
    mounts = {}
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        at = words.index("-")
        if words[at + 1] == "cgroup":
            for option in words[at + 3].split(","):
                mounts[option] = words[4]
    groups = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            if controller in CONTROLLERS and controller in mounts:
                groups[controller] = pathlib.Path(mounts[controller] + path.rstrip("/"))
    return groups


class Run:
    def __init__(self, status, text, final):
        self.status = status
        self.text = text
        self.final = final

    def __repr__(self):
        return f"exit {self.status}\n{self.text[-6000:]}"


class User:
    """Runs muster as root or as nobody, who has groups of their own where they can be given."""

    def __init__(self, name):
        self.uid = 0 if name == "root" else NOBODY
        # A pod's own /tmp would hide it.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="muster-e2e-", dir="/var/tmp"))
        self.groups = {}
        self.mark = f"muster-e2e-{uuid.uuid4().hex}"
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.directory),
                            "TMPDIR": str(self.directory), "MUSTER_E2E_MARK": self.mark}
        self.binary = BINARY
        if self.uid:
            self.binary = self.directory / "muster"
            shutil.copy(BINARY, self.binary)
            for controller, group in own_groups().items():
                mine = group / f"muster-e2e-{os.getpid()}"
                try:
                    mine.mkdir()
                    for entry in (mine, mine / "cgroup.procs", mine / "tasks"):
                        os.chown(entry, NOBODY, NOBODY)
                    self.groups[controller] = mine
                except OSError:
                    pass
            os.chown(self.directory, NOBODY, NOBODY)
        else:
            self.groups = own_groups()
        self.directory.chmod(0o755)

    @property
    def limits_are_enforced(self):
        return set(self.groups) >= set(CONTROLLERS) and all(
            os.access(group, os.W_OK) for group in self.groups.values())

    def enter(self):
        if self.uid:
            for group in self.groups.values():
                (group / "cgroup.procs").write_text(str(os.getpid()))
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    def run(self, *objects, args=(), limit=100):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        documents = "\n---\n".join(json.dumps(item) for item in json.loads(text)["items"])
        with open(self.directory / "out", "wb") as out, open(self.directory / "err", "wb") as err:
            process = subprocess.Popen([self.binary, "run", "-", "--output", "json", *args],
                                       stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=self.directory,
                                       env=self.environment, preexec_fn=self.enter)
            process.stdin.write(documents.encode())
            process.stdin.close()
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                pytest.fail("muster did not end:\n" + (self.directory / "err").read_text())
        out = (self.directory / "out").read_text()
        return Run(status, (self.directory / "err").read_text(), json.loads(out) if out else None)

    def processes(self):
        needle = f"MUSTER_E2E_MARK={self.mark}".encode()
        alive = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    alive.append(entry.name)
            except OSError:
                continue
        return alive

    def leftovers(self):
        """Groups and state directories of ours that are still there, and processes."""
        left = [str(path) for group in self.groups.values() for path in group.glob("muster-*")
                if "e2e" not in path.name and not path.name.startswith("muster-up-") and path.is_dir()
                and self.is_free(path)]  # what a `muster up` leaves is for the next one
        left += [str(path) for path in self.directory.glob("muster-run-*")]
        return left + self.processes()

    @staticmethod
    def is_free(group):
        """Nobody's: other programs of this machine may be running a muster, too."""
        import fcntl
        try:
            descriptor = os.open(group, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def close(self):
        for pid in self.processes():
            os.kill(int(pid), signal.SIGKILL)
        if self.uid:
            for group in self.groups.values():
                group.rmdir()
        shutil.rmtree(self.directory, ignore_errors=True)


@pytest.fixture(params=["root", "nobody"])
def user(request):
    made = User(request.param)
    others = set(made.leftovers())  # what somebody else was killed with stays until a `muster clean`
    yield made
    deadline = time.monotonic() + 10
    while set(made.leftovers()) - others and time.monotonic() < deadline:
        time.sleep(0.02)
    left = set(made.leftovers()) - others
    made.close()
    assert not left, f"left behind: {left}"


def need_limits(user):
    if not user.limits_are_enforced:
        pytest.skip("no cgroup of version 1 can be written here")


def need_namespaces(user):
    if user.uid and not may_make_user_namespaces():
        pytest.skip("ordinary users may not make user namespaces here, as in a chroot")


def terminated(run, name):
    for item in run.final["items"]:
        if item["kind"] == "Pod" and item["metadata"]["name"] == name:
            return item["status"]["containerStatuses"][0]["state"]["terminated"]
    raise AssertionError(f"no pod {name} in {run.final}")


def test_memory_beyond_the_limit_is_an_oom_kill_and_kill_9_is_not(user):
    need_limits(user)
    limit = {"limits": {"memory": "48Mi"}}
    run = user.run(pod("greedy", "exec python3 -c 'print(len(bytearray(128 << 20)))'", resources=limit),
                   pod("killed", "kill -9 $$", resources=limit))
    assert run.status == 137, run
    assert terminated(run, "greedy")["reason"] == "OOMKilled", run
    assert terminated(run, "greedy")["exitCode"] == 137
    assert terminated(run, "killed")["reason"] == "Error", run
    assert terminated(run, "killed")["exitCode"] == 137
    assert "NotEnforced" not in run.text


def test_a_kill_for_memory_that_the_container_survives_is_told(user):
    need_limits(user)
    run = user.run(pod("survives", "python3 -c 'print(len(bytearray(128 << 20)))'; echo still here",
                       resources={"limits": {"memory": "48Mi"}}))
    assert run.status == 0, run
    assert terminated(run, "survives")["reason"] == "Completed", run
    assert "still here" in run.text
    assert "pod survives: OOMKilling: The kernel killed processes of container" in run.text, run
    assert re.search(r"  out of memory: pod survives, container \S+ \(its limit is 48Mi\)", run.text), run


def test_cpu_beyond_the_limit_is_held_back(user):
    need_limits(user)
    stat = "/sys/fs/cgroup/cpu$(grep -E '^[0-9]+:cpu(,[a-z]+)?:' /proc/self/cgroup | cut -d: -f3)/cpu.stat"
    run = user.run(pod("slow", f"until [ $(awk '/nr_throttled/ {{print $2}}' {stat}) -ge 3 ]; do :; done; "
                               "echo held back", resources={"limits": {"cpu": "100m"}}))
    assert run.status == 0, run
    assert "held back" in run.text


def test_limits_that_cant_be_enforced_are_named_once_with_the_remedy(user):
    if user.uid == 0:
        pytest.skip("root's are enforced")
    groups, user.groups = user.groups, {}
    run = user.run(pod("asks", "true", resources={"limits": {"memory": "48Mi", "cpu": "1"}}),
                   pod("silent", "true"))
    user.groups = groups
    assert run.status == 0, run
    assert run.text.count("systemd-run --user --scope -p Delegate=yes") == 1, run
    assert "spec.containers[0].resources.limits.memory" in run.text


def test_a_fork_bomb_ends_with_its_pod_and_harms_nobody(user):
    need_limits(user)  # Without a cgroup the bomb is as big as the machine.
    need_namespaces(user)  # And without a PID namespace what is left of it goes on.
    # Who can't fork any more says so to the first process, which then ends amid all of them.
    bomb = ("trap 'exit 7' TERM; first=$$\n"
            "bomb() { trap \"kill -TERM $first\" EXIT; bomb & bomb & wait; }\n"
            "sleep 1000 & (bomb 2>/dev/null &)\nwait; wait")
    run = user.run(pod("bomb", bomb), pod("neighbour", "for i in 1 2 3 4 5; do sleep 1; /bin/true || exit 9; done"))
    assert terminated(run, "neighbour")["exitCode"] == 0, run
    assert terminated(run, "bomb")["exitCode"] == 7, run
    assert subprocess.run(["/bin/true"], check=False).returncode == 0


def test_a_full_tmp_is_an_error_and_not_a_hang(user):
    need_namespaces(user)
    small = user.directory / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size=16m,mode=0700,uid={user.uid},gid={user.uid}", "small",
                    small], check=True)
    user.environment["TMPDIR"] = str(small)
    try:
        run = user.run(pod("fills", "dd if=/dev/zero of=/tmp/big bs=1M count=64 && exit 0; rm /tmp/big; echo after"))
        assert run.status == 0, run
        assert "No space left on device" in run.text
        assert "after" in run.text
    finally:
        subprocess.run(["umount", small], check=True)


def test_private_files_and_their_cap(user):
    need_namespaces(user)
    data = user.directory / "input"
    data.write_text("machine\n")
    os.chown(data, user.uid, user.uid)
    run = user.run(pod("own", "cat input; echo pod >input; cat input; "
                              "dd if=/dev/zero of=big bs=64k count=64; rm big; echo done"),
                   args=["--files", "private", "--files-limit", "2Mi"])
    assert run.status == 0, run
    assert "machine" in run.text and "pod" in run.text and "No space left on device" in run.text
    assert data.read_text() == "machine\n"


def test_a_working_directory_per_pod_is_kept_with_the_logs(user):
    need_namespaces(user)
    logs = user.directory / "logs"
    script = "for i in 1 2 3; do echo $HOSTNAME >>result; done; cat result"
    run = user.run(pod("a", script), pod("b", script), args=["--workdir", "per-pod", "--logs", str(logs)])
    assert run.status == 0, run
    assert not (user.directory / "result").exists()
    for name in "ab":
        kept = list(logs.rglob("result"))
        assert f"{name}\n" * 3 in [path.read_text() for path in kept], (kept, run)


def test_identity_and_a_read_only_root(user):
    need_namespaces(user)
    context = {"runAsUser": user.uid or 1234, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
               "capabilities": {"drop": ["ALL"]}}
    run = user.run(pod("frozen", "id -u; touch /var/tmp/x /etc/x $PWD/x; touch /tmp/x /dev/shm/x && echo tmp; "
                                 "grep -E 'CapEff|NoNewPrivs' /proc/self/status", securityContext=context))
    assert run.status == 0, run
    assert str(user.uid or 1234) in run.text
    assert run.text.count("Read-only file system") == 3, run
    assert "tmp" in run.text and "CapEff:\t0000000000000000" in run.text and "NoNewPrivs:\t1" in run.text
    refused = user.run(pod("other", "true", securityContext={"runAsUser": 4321}))
    if user.uid:
        assert "securityContext.runAsUser (an ordinary user can run pods only as itself)" in refused.text
    else:
        assert "NotEnforced" not in refused.text


def test_projected_volumes_and_sub_paths(user):
    need_namespaces(user)
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"rate": "0.1"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token"}, "stringData": {"token": "hunter2"}},
        pod("reads",
            "cat /muster-all/conf/rate /muster-all/token /muster-all/labels; echo; stat -Lc %a /muster-all/token; "
            "touch /muster-sub/mark && ls /muster-whole/reads",
            spec={"volumes": [
                {"name": "all", "projected": {"defaultMode": 0o440, "sources": [
                    {"configMap": {"name": "settings", "items": [{"key": "rate", "path": "conf/rate"}]}},
                    {"secret": {"name": "token"}},
                    {"downwardAPI": {"items": [
                        {"path": "labels", "fieldRef": {"fieldPath": "metadata.name"}}]}}]}},
                {"name": "memory", "emptyDir": {"medium": "Memory"}}]},
            env=[{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            volumeMounts=[{"name": "all", "mountPath": "/muster-all"},
                          {"name": "memory", "mountPath": "/muster-whole"},
                          {"name": "memory", "mountPath": "/muster-sub", "subPathExpr": "$(POD)"}])]
    run = user.run(*objects)
    assert run.status == 0, run
    for text in ("0.1hunter2reads", "440", "mark"):
        assert text in run.text, (text, run)
    assert not os.path.exists("/muster-all")
