"""Another user of the same machine reads nothing of what Muster keeps, reaches no socket, and prepares no path for it.

Everything lies below a directory that all may enter, and is started with a umask that takes nothing away: only its own modes
protect it.
"""

import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

import pytest

from another_user import USER, as_other, assert_closed, assert_unreadable, assert_untouchable, below, needs_another_user, shell, tree
from attacked import BINARY, PODS, Daemon, pod

MUSTER_RUN = BINARY.parents[1] / "muster_run" / "muster-run"
LIMIT_S = 30

pytestmark = needs_another_user

# Tells that it runs, and waits until it may end.
WAITS = "echo secret-of-the-log; read line <{}/end"


@pytest.fixture
def place():
    """As /tmp is, with what belongs to its owner in `own`."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="muster-security-", dir="/var/tmp"))
    before = os.umask(0)
    (made / "own").mkdir(0o755)
    os.mkfifo(made / "own" / "end")
    made.chmod(0o1777)
    assert shell('echo x >"$1"/probe && cat "$1"/probe', made) == "x\n", "the way there is open"
    (made / "probe").unlink()
    yield made
    os.umask(before)
    shutil.rmtree(made)


@pytest.fixture
def daemon(place):
    made = Daemon(place)
    yield made
    if (made.state / "lock").exists():
        made.down("--kill", check=False)


class Program:
    """One that runs in the foreground, with its output in a file."""

    def __init__(self, place, *words, **environment):
        self.output = place / "own" / "output"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                list(map(str, words)), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=place / "own",
                env={"PATH": os.environ["PATH"], "HOME": str(place / "own"), "TMPDIR": str(place), **environment})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    @property
    def text(self):
        return self.output.read_text(errors="replace")

    def until(self, condition):
        deadline = time.monotonic() + LIMIT_S
        while not (found := condition()):
            assert self.process.poll() is None and time.monotonic() < deadline, self.text
            time.sleep(0.02)
        return found

    def wait(self):
        return self.process.wait(LIMIT_S)


def job(place, text):
    script = place / "own" / "job.sh"
    script.write_text(text)
    return ["--no-python", "/bin/sh", script]


def only(place, pattern):
    [found] = place.glob(pattern)
    return found


# ---- what is kept, where it listens, what runs ----

def test_a_daemon(daemon, place):
    daemon.up("--audit-log", place / "audit.log")
    daemon.must("POST", PODS, pod("p", "echo secret-of-the-log; exec sleep 1000"))
    daemon.wait_for(f"{PODS}/p", lambda found: found["status"].get("phase") == "Running")
    paths, sockets = below(daemon.state)
    assert {"admin.token", "admin.key", "ca.key", "kubeconfig"} <= {path.name for path in paths}
    # The sockets of this pod's init among them: whoever connects there has the pod.
    assert_unreadable(paths, [daemon.state, place / "audit.log"])
    assert_closed(sockets)
    assert_untouchable(tree(daemon.lock()["pid"]))
    # Not even where the directory itself were open.
    daemon.state.chmod(0o755)
    assert_unreadable(daemon.state.iterdir())
    daemon.state.chmod(0o700)
    assert daemon.ask("GET", PODS)[0] == 200


def test_a_run(place):
    manifest = place / "own" / "pod.json"
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", **pod("p", WAITS.format(place / "own"))}))
    with Program(place, BINARY, "run", manifest) as run:
        run.until(lambda: "secret-of-the-log" in run.text)
        state = only(place, "muster-run-*")
        paths, sockets = below(state)
        assert_unreadable(paths, [state])
        assert_closed(sockets)
        assert_untouchable(tree(run.process.pid))
        (place / "own" / "end").write_text("\n")
        assert run.wait() == 0, run.text


def test_an_elastic_job_of_one_machine(place):
    words = job(place, f"echo $MASTER_PORT >port; {WAITS.format(place / 'own')}; exit 3")
    with Program(place, MUSTER_RUN, "--standalone", "--tee", 3, "--log-dir", place / "logs", *words) as run:
        run.until(lambda: "secret-of-the-log" in run.text)
        own = only(place, f"muster-{os.geteuid()}-*")
        logs = only(place / "logs", "*_*")
        paths, sockets = below(own)
        assert "secret-of-the-log" in next(logs.rglob("stdout.log")).read_text()
        assert_unreadable(paths, [own, logs, *below(logs)[0]])
        assert_closed(sockets)
        assert_untouchable(tree(run.process.pid))
        assert asked_of_store(run, place) == b"\x01\x02\x03\x04", "its own user is answered"
        hello = torch_hello().hex()
        program = f"""
import socket
client = socket.create_connection(("127.0.0.1", {(place / 'own' / 'port').read_text()}), timeout=20)
try:
    client.sendall(bytes.fromhex("{hello}"))
    print(client.recv(100).hex())
except OSError:
    pass
"""
        assert as_other("/usr/bin/python3", "-c", program).strip() == ""
        (place / "own" / "end").write_text("\n")
        assert run.wait() == 1, run.text


def torch_hello():
    """VALIDATE with its number, and PING with a nonce, which comes back."""
    return b"\0" + struct.pack("<I", 0x3C85F7CE) + b"\x0d\x01\x02\x03\x04"


def asked_of_store(run, place):
    port = int(run.until((place / "own" / "port").read_text))
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(torch_hello())
        return client.recv(100)


def test_what_a_failed_job_leaves(place):
    failing = job(place, "echo '{\"message\": {\"message\": \"secret\"}}' >$TORCHELASTIC_ERROR_FILE; exit 3")
    with Program(place, MUSTER_RUN, "--standalone", *failing) as run:
        assert run.wait() == 1, run.text
    left = only(place, "muster_*")
    paths, _ = below(left)
    assert any("secret" in path.read_text() for path in paths if path.is_file()), run.text
    assert_unreadable(paths, [left])


# ---- what is prepared for it ----

@pytest.fixture
def victim(place):
    """A file of the owner that is not to change, and a directory where nothing is to appear."""
    directory = place / "own" / "private"
    directory.mkdir(0o755)
    (directory / "file").write_text("mine\n")
    yield directory
    assert (directory / "file").read_text() == "mine\n"
    assert [path.name for path in directory.iterdir()] == ["file"]


def test_the_directory_of_a_job(place, victim):
    """Its name is known once a job of this name has run. The attacker makes one with links to the owner's files, and links to the
    owner's directories."""
    words = [MUSTER_RUN, "--nnodes", "1:2", "--rdzv-id", "known", "--rdzv-backend", "c10d", "--rdzv-conf", "last_call_timeout=0",
             "--rdzv-endpoint", f"127.0.0.1:{free_port()}",
             *job(place, f"{WAITS.format(place / 'own')}")]
    name = None
    for _ in range(2):
        with Program(place, *words) as run:
            run.until(lambda: "secret-of-the-log" in run.text)  # noqa: B023
            found = [path for path in place.glob(f"muster-{os.geteuid()}-*") if path.lstat().st_uid == 0]
            assert len(found) == 1 and found[0].name not in ("A", "B"), found
            if name is None:
                name = found[0].name[:-6]
            (place / "own" / "end").write_text("\n")
            assert run.wait() == 0, run.text
        shell("""
            cd "$1" && mkdir -m 777 "$2AAAAAA" "$2AAAAAA/hook" && ln -s "$3" "$2BBBBBB"
            for file in store.port .muster-job master.record master.record.new hook/sitecustomize.py; do ln -s "$3/file" "$2AAAAAA/$file"; done
            """, place, name, victim)
    assert (place / f"{name}AAAAAA").stat().st_uid == USER, "it has tried"
    assert (place / f"{name}BBBBBB").is_symlink()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("prepared", ['mkdir -m 777 "$1"', 'ln -s "$2" "$1"', 'mkdir -m 777 "$1.d"; ln -s "$1.d" "$1"'],
                         ids=["a directory", "a link to the owner's", "a link to another's"])
def test_the_state_directory_of_a_daemon(daemon, victim, prepared):
    shell(prepared, daemon.state, victim)
    assert os.path.lexists(daemon.state)
    refused = daemon.up(check=False)
    assert refused.returncode == 1 and "belongs to another user" in refused.stderr, refused
    assert "--state" in refused.stderr, refused


def test_the_logs_of_a_run(place, victim):
    manifest = place / "own" / "pod.json"
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", **pod("p", "echo to-the-log")}))
    shell('mkdir -m 777 "$1"; ln -s "$2/file" "$1/default_p.log"', place / "logs", victim)
    with Program(place, BINARY, "run", manifest, "--logs", place / "logs") as run:
        assert run.wait() == 0, run.text
    kept = place / "logs" / "default_p.log"
    assert not kept.is_symlink() and kept.read_text() == "to-the-log\n" and kept.stat().st_uid == 0


@pytest.mark.parametrize("name, directory", [("muster-run", "known_*/attempt_0"), ("dlrover-run", "attempt_0")])
def test_the_logs_of_an_elastic_job(place, victim, name, directory):
    """DLRover's go to the directory itself, whose names are known."""
    program = place / "own" / name
    program.symlink_to(MUSTER_RUN)
    shell('mkdir -m 777 "$1" && cd "$1" && mkdir -m 777 attempt_0 attempt_0/0 && ln -s "$2/file" attempt_0/0/stdout.log', place / "logs",
          victim)
    with Program(place, program, "--nnodes", 1, "--rdzv-id", "known", "--redirects", 3, "--log-dir", place / "logs",
                 *job(place, "echo to-the-log")) as run:
        assert run.wait() == 0, run.text
    assert list((place / "logs").glob(directory)), "the attacker knew the names"
    assert "the log directory belongs to another user" in run.text, run.text


def test_the_logs_of_an_elastic_job_where_no_directory_can_be_made(place, victim):
    """The attacker has filled the disk, and knows the name of the job."""
    logs = place / "logs"
    logs.mkdir(0o1777)
    within = ["unshare", "--mount", "sh", "-c", """
        mount -t tmpfs -o nr_inodes=10,mode=1777 none "$0" || exit 77
        setpriv --reuid=65534 --clear-groups sh -c '
            cd "$0"; mkdir -p known/attempt_0/0; chmod -R 777 known; ln -s "$1" known/attempt_0/0/stdout.log; touch 1 2 3 4 5 6 7 8' "$0" "$1"
        shift
        exec "$@" """, logs, victim / "file"]
    with Program(place, *within, MUSTER_RUN, "--nnodes", 1, "--rdzv-id", "known", "--redirects", 3, "--log-dir", logs,
                 *job(place, "echo to-the-log")) as run:
        status = run.wait()
    if status == 77:
        pytest.skip("no small file system can be made here")
    assert status == 0 and "could not be made: output is lost until there is room" in run.text, run.text
