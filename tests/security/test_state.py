"""What a daemon keeps, and what happens when somebody takes it away or looks like it."""

import os
import pathlib
import pty
import shutil
import subprocess

import pytest

from attacked import BINARY, PODS, Daemon, pod

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def daemon(tmp_path):
    made = Daemon(tmp_path)
    yield made
    made.down("--kill", check=False)


def test_nothing_is_acknowledged_that_a_deleted_directory_would_hold(daemon):
    daemon.up()
    pid, address, token = daemon.lock()["pid"], daemon.lock()["address"], daemon.admin()
    daemon.must("POST", MAPS, {"metadata": {"name": "before"}})
    aside = daemon.directory / "aside"
    daemon.state.rename(aside)
    try:
        done = subprocess.run(["curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}", "-H", f"Authorization: Bearer {token}",
                               "-H", "Content-Type: application/json", "-d", '{"metadata":{"name":"after"}}', address + MAPS],
                              text=True, capture_output=True, timeout=30, check=True)
        assert done.stdout == "503", done
        read = subprocess.run(["curl", "-sk", "-H", f"Authorization: Bearer {token}", f"{address}{MAPS}/before"],
                              text=True, capture_output=True, timeout=30, check=True)
        assert '"before"' in read.stdout, read
    finally:
        os.kill(pid, 9)
        aside.rename(daemon.state)


def test_a_kill_between_a_key_and_its_certificate_keeps_no_daemon_from_starting(daemon):
    daemon.up()
    daemon.down()
    # The key of the next pair is there, its certificate is not.
    shutil.copy(daemon.state / "admin.key", daemon.state / "server.key")
    daemon.up()
    daemon.must("GET", MAPS)


def test_what_only_looks_like_a_runs_directory_is_not_cleaned(daemon):
    for name in ("muster-run-results", "muster-run-0123456789abcdef"):
        (daemon.directory / name).mkdir()
        (daemon.directory / name / "results").write_text("mine")
    said = daemon.muster("clean")
    assert "muster-run-" not in said.stdout, said
    assert (daemon.directory / "muster-run-results" / "results").read_text() == "mine"
    assert (daemon.directory / "muster-run-0123456789abcdef" / "results").read_text() == "mine"


def test_a_log_since_ever_is_the_whole_log(daemon):
    daemon.up()
    daemon.must("POST", PODS, pod("said", "echo something"))
    daemon.wait_for(f"{PODS}/said", lambda found: found["status"].get("phase") == "Succeeded")
    log = subprocess.run(["curl", "-sk", "-H", f"Authorization: Bearer {daemon.admin()}",
                          f"{daemon.lock()['address']}{PODS}/said/log?sinceSeconds=9223372036854775807"],
                         text=True, capture_output=True, timeout=30, check=True)
    assert log.stdout == "something\n", log


def on_terminal(daemon, *args):
    """What the command writes to a terminal."""
    reader, terminal = pty.openpty()
    with subprocess.Popen([BINARY, *map(str, args)], env=daemon.environment, cwd=daemon.directory, stdin=subprocess.DEVNULL,
                          stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        text = b""
        try:
            while piece := os.read(reader, 65536):
                text += piece
        except OSError:  # the other side is closed
            pass
        finally:
            os.close(reader)
        assert process.wait(60) == 0, text
    return text


def test_no_terminal_obeys_what_others_wrote(daemon):
    daemon.up()
    kubeconfig = ("--kubeconfig", daemon.state / "kubeconfig")
    hostile = "\x1b]0;title\x07\x1b[2J\u009b2J\u202e"
    script = r"printf '\033[31mred\033[0m\033]0;title\007\033[2J\n'"
    made = daemon.must("POST", PODS, pod("coloured", script))
    daemon.must("POST", "/api/v1/namespaces/default/events", {
        "metadata": {"name": "hostile"}, "type": "Warning", "reason": "Odd", "message": hostile,
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "coloured", "uid": made["metadata"]["uid"]}})
    daemon.wait_for(f"{PODS}/coloured", lambda found: found["status"].get("phase") == "Succeeded")
    for words in (("get", "events"), ("events",), ("describe", "pod/coloured"), ("get", "events", "-o", "yaml"),
                  ("get", "events", "-o", "jsonpath={.items[*].message}")):
        text = on_terminal(daemon, *words, *kubeconfig)
        assert b"\x1b" not in text and b"\x07" not in text, (words, text)
        assert b"\xc2\x9b" not in text and "\u202e".encode() not in text, (words, text)
        assert b"title" in text, (words, text)
    exact = daemon.muster("get", "event/hostile", "-o", "jsonpath={.message}", *kubeconfig)
    assert exact.stdout.strip("\n") == hostile, exact
    log = on_terminal(daemon, "logs", "pod/coloured", *kubeconfig)
    assert log.replace(b"\r", b"") == b"\x1b[31mred\x1b[0m\n", log
    raw = on_terminal(daemon, "logs", "pod/coloured", "--raw", *kubeconfig)
    assert b"\x1b]0;title\x07\x1b[2J" in raw, raw


def test_the_log_of_a_daemon_is_private(daemon):
    daemon.up()
    log = daemon.state / "muster.log"
    assert pathlib.Path(log).stat().st_mode & 0o777 == 0o600
