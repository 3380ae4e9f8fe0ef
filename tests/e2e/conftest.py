"""End-to-end tests: the real binary, real processes, no mocks.

MUSTER_BIN names the binary (default: the release build of this checkout).
"""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import textwrap
import time
import uuid

import pytest

from machine_files import unchanged_machine  # noqa: F401  (a fixture of every test)

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(
    os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))
# The static program that an operator's pods get, of the same build.
IN_PODS = BINARY.parents[1] / "pod_tools" / "muster-in-pods"

# Programs that tests start by themselves keep their runs here.
os.environ.setdefault("MUSTER_RUNS_DIR", str(ROOT / "build" / "runs"))

# No test may take longer: a hang is a failure with the output so far, not a stuck suite.
LIMIT_S = 120


class Finished:
    """A muster that has ended: exit status, standard output and error as text."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    @property
    def text(self):
        return self.out + self.err

    def __repr__(self):
        return f"exit {self.status}\n--- stdout\n{self.out[-6000:]}\n--- stderr\n{self.err[-6000:]}"


class Started:
    """A muster that runs, with its output in a file so that nothing can block on a full pipe."""

    def __init__(self, muster, args, stdin):
        self.out_path = muster.directory / f"out-{uuid.uuid4().hex}"
        self.err_path = muster.directory / f"err-{uuid.uuid4().hex}"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(
                [*muster.prefix, muster.binary, *args],
                stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                stdout=out, stderr=err, cwd=muster.cwd, env=muster.environment, **muster.identity)
        if stdin is not None:
            self.process.stdin.write(stdin.encode())
            self.process.stdin.close()

    def read(self):
        return (self.out_path.read_text(errors="replace") + self.err_path.read_text(errors="replace"))

    def wait_for(self, text, limit=60):
        """Returns when the output has the text; fails when the process ends without it."""
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            seen = self.read()
            if text in seen:
                return seen
            if self.process.poll() is not None and text not in self.read():
                pytest.fail(f"muster ended without printing {text!r}:\n{self.read()[-6000:]}")
            time.sleep(0.01)
        self.process.kill()
        pytest.fail(f"no {text!r} within {limit} s:\n{self.read()[-6000:]}")

    def finish(self, limit=LIMIT_S):
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            pytest.fail(f"muster did not end within {limit} s:\n{self.read()[-6000:]}")
        return Finished(self.process.returncode, self.out_path.read_text(errors="replace"),
                        self.err_path.read_text(errors="replace"))

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def kill(self):
        self.process.kill()


class Muster:
    """Runs the binary with an environment that marks every process that comes from this test."""

    def __init__(self, directory):
        self.directory = directory
        self.cwd = ROOT
        self.binary = BINARY
        self.prefix = []  # say, ["unshare", "-m"]
        self.identity = {}
        self.mark = f"muster-e2e-{uuid.uuid4().hex}"
        # What it keeps of its runs goes with the test.
        self.environment = dict(os.environ, MUSTER_E2E_MARK=self.mark, MUSTER_RUNS_DIR=str(directory / "runs"))

    def become(self, uid):
        """From now on muster runs as this ordinary user, with a directory and a copy of its own: what is root's
        need not be readable."""
        self.own = tempfile.TemporaryDirectory(dir="/var/tmp", prefix="muster-e2e-")
        self.directory = self.cwd = pathlib.Path(self.own.name)
        self.binary = shutil.copy(BINARY, self.directory / "muster")
        for path in (self.directory, self.binary):
            os.chown(path, uid, uid)
            os.chmod(path, 0o755)
        self.environment.update(HOME=str(self.directory), PATH="/usr/bin:/bin", TMPDIR="/tmp", MUSTER_RUNS_DIR="")
        self.identity = {"user": uid, "group": uid, "extra_groups": []}

    def start(self, *args, stdin=None):
        return Started(self, [str(arg) for arg in args], stdin)

    def run(self, *args, stdin=None, limit=LIMIT_S):
        return self.start(*args, stdin=stdin).finish(limit)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(textwrap.dedent(text))
        return path

    def processes(self):
        """What is alive with this test's mark: pid -> command line."""
        needle = f"MUSTER_E2E_MARK={self.mark}".encode()
        alive = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                    if state != "Z":
                        alive[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return alive

    def wait_for_no_processes(self, limit=10):
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            if not self.processes():
                return
            time.sleep(0.01)
        pytest.fail(f"left over after {limit} s: {self.processes()}")


@pytest.fixture
def shared():
    """A directory that pods and the test both see: a pod's /tmp, where tmp_path lies, is its own."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="e2e-") as path:
        yield pathlib.Path(path)


@pytest.fixture
def muster(tmp_path):
    made = Muster(tmp_path)
    yield made
    left = made.processes()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"the test left processes behind: {left}"


@pytest.fixture
def machine_network():
    """For pods on the machine's network, which musters refuse to share: one such test at a time, in however many processes the suite runs."""
    with open(f"/var/tmp/muster-e2e-network-{os.getuid()}", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


NOBODY = 65534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces as root: not root here")


def may_make_user_namespaces():
    return subprocess.run(["unshare", "-U", "true"], user=NOBODY, group=NOBODY, extra_groups=[],
                          capture_output=True, check=False).returncode == 0


@pytest.fixture(params=["root", "nobody"])
def user(request, muster):
    """The test runs twice: as root, and as an ordinary user in a user namespace of muster's own."""
    if os.geteuid() != 0:
        pytest.skip("namespaces as root: not root here")
    if request.param == "nobody":
        if not may_make_user_namespaces():
            pytest.skip("ordinary users may not make user namespaces here")
        muster.become(NOBODY)
    return request.param


def pytorchjob(name, master, workers=0, worker=None, *, restart_policy="Never",
               master_restart_policy=None, namespace=None):
    """A PyTorchJob whose replicas run shell scripts."""

    def replica(count, script, policy):
        # Kubernetes reads $$ in args as an escaped dollar sign.
        lines = script.strip("\n").replace("$$", "$$$$")
        body = textwrap.indent(textwrap.dedent(lines), " " * 14)
        return (f"      replicas: {count}\n"
                f"      restartPolicy: {policy}\n"
                "      template:\n        spec:\n"
                "          terminationGracePeriodSeconds: 2\n"
                "          containers:\n"
                "          - name: pytorch\n"
                "            image: local\n"
                "            command: [\"sh\", \"-c\"]\n"
                "            args:\n"
                "            - |\n" + body + "\n")

    text = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n" f"  name: {name}\n"
    if namespace:
        text += f"  namespace: {namespace}\n"
    text += "spec:\n  pytorchReplicaSpecs:\n"
    if master is not None:
        text += "    Master:\n" + replica(1, master, master_restart_policy or restart_policy)
    if workers:
        text += "    Worker:\n" + replica(workers, worker, restart_policy)
    return text
