"""`muster up --supervise`: a daemon that crashes is started again, and its pods run on meanwhile."""

import select
import signal
import subprocess

import pytest

from conftest import BINARY
from test_outlive import COUNT, create, get, main_status, pod, wait, wait_phase
from test_up import Up, is_running, needs_kubectl

pytestmark = needs_kubectl
LIMIT_S = 60


class Supervised(Up):
    """One in the foreground, as a service manager has it."""

    def __init__(self, directory):
        super().__init__(directory)
        self.process = None

    def start(self, *args, within=()):
        self.process = subprocess.Popen([*within, BINARY, "up", "--supervise", "--state", self.state, "--listen", "127.0.0.1:0", *args],
                                        env=self.environment, cwd=self.cwd, text=True, bufsize=1, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return self.line("muster is up at ")

    def line(self, beginning):
        """The next line of output that has it, whichever of its processes wrote it."""
        said = []
        while select.select([self.process.stdout], [], [], LIMIT_S)[0]:
            said.append(self.process.stdout.readline())
            if beginning in said[-1]:
                return said[-1]
            if not said[-1]:
                break
        pytest.fail(f"nothing with {beginning!r}: {said}")

    def ended(self):
        status = self.process.wait(LIMIT_S)
        self.process.stdout.close()
        self.process = None
        return status


@pytest.fixture
def up(tmp_path):
    made = Supervised(tmp_path)
    yield made
    made.down("--kill")
    if made.process is not None:
        made.ended()


@pytest.mark.parametrize("within", [(), ("env", "--ignore-signal=CHLD")], ids=["", "by who ignores its children"])
def test_after_a_crash_the_next_daemon_takes_over_what_runs(up, within):
    up.start(within=within)
    create(up, pod("counts", COUNT.format(go=up.directory / "go")))
    wait(up, "counts", "condition=Ready")
    before, first = get(up, "counts"), up.pid()
    for again in ("1 s", "2 s"):
        up.kill()
        assert again in up.line("the daemon was killed by SIGKILL")
        up.line("muster is up at ")
    assert up.pid() != first
    (up.directory / "go").touch()
    wait_phase(up, "counts", "Succeeded")
    after = main_status(up, "counts")
    assert after["containerID"] == before["status"]["containerStatuses"][0]["containerID"] and after["restartCount"] == 0
    lines = up.kubectl("logs", "counts").stdout.splitlines()
    assert lines == [f"line {i}" for i in range(1, len(lines))] + [f"last {len(lines) - 1}"]


@pytest.mark.parametrize("how", ["down", "down --keep-pods", "down --kill", "SIGINT", "SIGTERM"])
def test_whoever_ends_it_gets_all_of_it(up, how):
    up.start()
    create(up, pod("sleeps", "exec sleep 1000"))
    wait(up, "sleeps", "condition=Ready")
    daemon = up.pid()
    if how.startswith("down"):
        assert "muster is down" in up.down(*how.split()[1:]).stdout
    else:
        up.process.send_signal(getattr(signal, how))
    assert up.ended() == (-signal.SIGKILL if how == "down --kill" else 0)
    assert not is_running(daemon)
    left = up.down().stdout
    assert ("1 pod ended" in left) == (how in ("down --keep-pods", "SIGTERM")), left


def test_it_can_be_stopped_between_two_daemons(up):
    up.start()
    up.state.chmod(0o777)  # no daemon starts there
    up.kill()
    status = up.muster("status", "--state", str(up.state), check=False)
    assert status.returncode == 3 and f"its supervisor, process {up.process.pid}, starts it again" in status.stdout, status
    up.line("the daemon ended with exit status 1")
    up.state.chmod(0o700)
    assert "muster is down" in up.down().stdout
    assert up.ended() == 0


def test_a_first_start_that_fails_is_the_end(up):
    up.start()
    taken = up.address().rpartition(":")[2]
    other = Supervised(up.directory / "other")
    other.directory.mkdir()
    done = other.muster("up", "--supervise", "--state", str(other.state), "--listen", f"127.0.0.1:{taken}", check=False)
    assert done.returncode == 1 and taken in done.stderr, done
    again = up.muster("up", "--supervise", "--state", str(up.state), check=False)
    assert again.returncode == 1 and f"supervised already in {up.state} (process {up.process.pid})" in again.stderr, again


def test_a_later_start_that_fails_is_tried_again(up):
    up.start()
    first = up.pid()
    up.state.chmod(0o777)
    up.kill()
    up.line("other users may write to")
    up.line("the daemon ended with exit status 1")
    up.state.chmod(0o700)
    up.line("muster is up at ")
    assert up.pid() != first


def test_it_stays_in_the_foreground(up):
    refused = up.muster("up", "--supervise", "--detach", "--state", str(up.state), check=False)
    assert refused.returncode == 2 and "--detach excludes --supervise" in refused.stderr, refused
