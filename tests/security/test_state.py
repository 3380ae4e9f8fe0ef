"""What a daemon keeps, and what happens when somebody takes it away or looks like it."""

import http.server
import json
import os
import pathlib
import pty
import shutil
import subprocess
import threading

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
    # What is needed to ask lies in that directory, too.
    pid, connection = daemon.lock()["pid"], daemon.connection()
    fields = {"Authorization": "Bearer " + daemon.admin(), "Content-Type": "application/json"}
    daemon.must("POST", MAPS, {"metadata": {"name": "before"}})
    aside = daemon.directory / "aside"
    daemon.state.rename(aside)
    try:
        connection.request("POST", MAPS, '{"metadata":{"name":"after"}}', fields)
        answer = connection.getresponse()
        assert answer.status == 503, answer.read()
        answer.read()
        connection.request("GET", f"{MAPS}/before", headers=fields)
        assert b'"before"' in connection.getresponse().read()
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
    assert daemon.read(f"{PODS}/said/log?sinceSeconds=9223372036854775807", "*/*") == "something\n"


# What would set a terminal's title, clear it, and turn its writing around.
HOSTILE = "\x1b]0;title\x07\x1b[2J\u009b2J\u202e"


def on_terminal(daemon, *args, status=0, stderr=None):
    """What the command writes to a terminal."""
    reader, terminal = pty.openpty()
    with subprocess.Popen([BINARY, *map(str, args)], env=daemon.environment, cwd=daemon.directory, stdin=subprocess.DEVNULL,
                          stdout=terminal, stderr=stderr or terminal) as process:
        os.close(terminal)
        text = b""
        try:
            while piece := os.read(reader, 65536):
                text += piece
        except OSError:  # the other side is closed
            pass
        finally:
            os.close(reader)
        assert process.wait(60) == status, text
    return text


def assert_harmless(text, words):
    assert b"\x1b" not in text and b"\x07" not in text, (words, text)
    assert b"\xc2\x9b" not in text and "\u202e".encode() not in text, (words, text)
    assert b"title" in text, (words, text)


def test_no_terminal_obeys_what_others_wrote(daemon):
    daemon.up()
    kubeconfig = ("--kubeconfig", daemon.state / "kubeconfig")
    script = r"printf '\033[31mred\033[0m\033]0;title\007\033[2J\n'"
    made = daemon.must("POST", PODS, pod("coloured", script))
    daemon.must("POST", "/api/v1/namespaces/default/events", {
        "metadata": {"name": "hostile"}, "type": "Warning", "reason": "Odd", "message": HOSTILE,
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "coloured", "uid": made["metadata"]["uid"]}})
    daemon.wait_for(f"{PODS}/coloured", lambda found: found["status"].get("phase") == "Succeeded")
    for words in (("get", "events"), ("events",), ("describe", "pod/coloured"), ("get", "events", "-o", "yaml"),
                  ("get", "events", "-o", "jsonpath={.items[*].message}")):
        assert_harmless(on_terminal(daemon, *words, *kubeconfig), words)
    exact = daemon.muster("get", "event/hostile", "-o", "jsonpath={.message}", *kubeconfig)
    assert exact.stdout.strip("\n") == HOSTILE, exact
    log = on_terminal(daemon, "logs", "pod/coloured", *kubeconfig)
    assert log.replace(b"\r", b"") == b"\x1b[31mred\x1b[0m\n", log
    raw = on_terminal(daemon, "logs", "pod/coloured", "--raw", *kubeconfig)
    assert b"\x1b]0;title\x07\x1b[2J" in raw, raw


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_no_terminal_obeys_the_manifest_of_a_run(daemon, form, more):
    made = pod("hostile", "exit 0")
    made["metadata"]["annotations"] = {"note": HOSTILE}
    (daemon.directory / "pod.json").write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", **made}))
    words = ("run", "pod.json", "--output", form, *more)
    assert_harmless(on_terminal(daemon, *words, stderr=subprocess.DEVNULL), words)
    data = daemon.muster(*words).stdout
    assert "\u202e" in data and "\\u202e" not in data, "a program gets it as it is"
    if form == "json":
        [item] = json.loads(data)["items"]
        assert item["metadata"]["annotations"]["note"] == HOSTILE, data


class OddJobs(http.server.BaseHTTPRequestHandler):
    """An API whose jobs have names and fields that ours would refuse."""

    def do_GET(self):
        job = {"metadata": {"name": HOSTILE, "namespace": "default"}, "spec": {"pytorchReplicaSpecs": {HOSTILE: {"replicas": 1}}}}
        jobs = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJobList", "metadata": {"resourceVersion": "1"},
                "items": [job] if "/pytorchjobs" in self.path else []}
        body = json.dumps(jobs).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def test_no_terminal_obeys_the_jobs_of_another_cluster(daemon):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), OddJobs) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "odd", "users": [{"name": "odd", "user": {}}],
                  "clusters": [{"name": "odd", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                  "contexts": [{"name": "odd", "context": {"cluster": "odd", "user": "odd"}}]}
        (daemon.directory / "odd.json").write_text(json.dumps(config))
        words = ("migrate", "check", "--kubeconfig", "odd.json")
        try:
            text = on_terminal(daemon, *words, status=3)
            assert_harmless(text, words)
            assert b"1 job: 1 would notice" in text, text
        finally:
            server.shutdown()


def test_the_log_of_a_daemon_is_private(daemon):
    daemon.up()
    log = daemon.state / "muster.log"
    assert pathlib.Path(log).stat().st_mode & 0o777 == 0o600
