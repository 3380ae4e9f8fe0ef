"""Runs that stay: what is kept of `muster run`, and the verbs that find it, with real processes and nothing between them but files."""

import http.server
import json
import os
import signal
import subprocess
import threading

import pytest

from conftest import BINARY, NOBODY, ROOT, needs_root, pytorchjob
from test_verbs import Server

TWO_RANKS = pytorchjob("pair", "echo one-$RANK; sleep 0.1; echo two-$RANK",
                       workers=1, worker="echo one-$RANK; sleep 0.1; echo two-$RANK")
# Waits for a file, so that a test decides when it ends.
HELD = "echo begun-$RANK; until [ -e GO ]; do sleep 0.02; done; echo ended-$RANK"


@pytest.fixture
def runs(muster):
    """The folders of a test's own runs."""
    return muster.directory / "runs"


def record(folder):
    return json.loads((folder / "run.json").read_text())


def names(muster, *flags):
    return muster.run("ps", "-q", *flags).out.split()


def held_job(shared, name="held", workers=0):
    script = HELD.replace("GO", str(shared / "go"))
    return pytorchjob(name, script, workers=workers, worker=script)


def start_held(muster, shared, *flags, workers=0):
    manifest = muster.write("held.yaml", held_job(shared, workers=workers))
    started = muster.run("run", "-d", *flags, manifest)
    assert started.status == 0, started
    return started


def release(shared):
    (shared / "go").touch()


def test_a_run_leaves_a_folder(muster, runs):
    manifest = muster.write("pair.yaml", TWO_RANKS + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: hush-hush}\n")
    muster.environment.update(API_TOKEN="hush-hush", PLAIN="seen", PROXY="http://me:hush-hush@proxy:1")
    finished = muster.run("run", manifest)
    assert finished.status == 0, finished
    folder = runs / "pair-1"
    said = record(folder)
    assert said["command"] == ["run", str(manifest)] and said["directory"] == str(muster.cwd)
    assert said["subjects"] == [{"kind": "PyTorchJob", "namespace": "default", "name": "pair"}]
    assert (said["end"]["exitStatus"], said["end"]["result"]) == (0, "succeeded")
    assert said["end"]["bytes"] > 1000
    assert "name: pair" in (folder / "manifest.yaml").read_text()
    environment = (folder / "environment").read_text()
    assert "PLAIN=seen\n" in environment and "API_TOKEN=(not kept" in environment
    assert {job["metadata"]["name"] for job in json.loads((folder / "objects.json").read_text())["jobs"]} == {"pair"}
    # All that was shown, and by rank.
    assert (folder / "output.log").read_text() == finished.out
    logs = {path.parents[1].name.rsplit("_", 1)[0]: path.read_text() for path in (folder / "logs").rglob("0.log")}
    assert set(logs) == {"pair-master-0", "pair-worker-0"}
    assert "two-0" in logs["pair-master-0"] and "two-1" in logs["pair-worker-0"]
    # Only its user may read it, and no secret is in it.
    assert folder.stat().st_mode & 0o77 == 0 and runs.stat().st_mode & 0o77 == 0
    for path in folder.rglob("*"):
        assert path.is_dir() or b"hush-hush" not in path.read_bytes(), path


def test_a_run_without_the_terminal(muster, runs, shared):
    started = start_held(muster, shared, workers=1)
    assert "held-1 runs in the background" in started.out and "muster attach held-1" in started.out
    assert names(muster) == ["held-1"]
    row = muster.run("ps").out.splitlines()[1].split()
    assert row[:4] == ["held-1", "PyTorchJob", "here", "running"]
    # Both follow from the beginning to the end.
    attached = muster.start("attach", "held")
    attached.wait_for("begun-1")
    followed = muster.start("logs", "-f", "held")
    followed.wait_for("begun-1")
    one = muster.start("logs", "-f", "held", "--rank", "1")
    one.wait_for("begun-1")
    left = muster.start("attach", "held-1")
    left.wait_for("begun-0")
    left.interrupt()
    assert left.finish().status == -signal.SIGINT
    assert names(muster) == ["held-1"]
    release(shared)
    seen = attached.finish()
    assert seen.status == 0 and "PyTorchJob default/held succeeded" in seen.out, seen
    assert seen.out == (runs / "held-1" / "output.log").read_text()
    lines = sorted(followed.finish().out.splitlines())
    assert lines == ["held-master-0 | begun-0", "held-master-0 | ended-0", "held-worker-0 | begun-1", "held-worker-0 | ended-1"]
    assert one.finish().out.splitlines() == ["held-worker-0 | begun-1", "held-worker-0 | ended-1"]
    assert names(muster) == [] and names(muster, "-a") == ["held-1"]
    # And after the end.
    assert sorted(muster.run("logs", "held-1").out.splitlines()) == lines
    assert muster.run("logs", "held", "--rank", "1", "--tail", "1").out == "ended-1\n"
    assert muster.run("attach", "held-1").out == seen.out
    described = muster.run("describe", "held").out
    assert "Run:            held-1" in described and "held-worker-0   Succeeded" in described
    muster.wait_for_no_processes()


def test_stop_ends_a_run_and_what_it_started(muster, runs, shared):
    start_held(muster, shared)
    muster.start("logs", "-f", "held").wait_for("begun-0")
    stopped = muster.run("stop", "held")
    assert stopped.status == 0 and stopped.out == "held-1 has ended\n", stopped
    muster.wait_for_no_processes()
    said = record(runs / "held-1")["end"]
    assert (said["result"], said["exitStatus"]) == ("interrupted", 143)
    assert "has ended already" in muster.run("stop", "held").err
    refused = muster.run("attach", "held")
    assert refused.status == 143


def test_a_stop_that_takes_too_long_says_what_it_waits_for(muster, runs, shared):
    job = pytorchjob("deaf", "trap '' TERM; echo begun; while :; do sleep 0.05; done").replace(
        "terminationGracePeriodSeconds: 2", "terminationGracePeriodSeconds: 600")
    assert muster.run("run", "-d", muster.write("deaf.yaml", job)).status == 0
    muster.start("logs", "-f", "deaf").wait_for("begun")
    late = muster.run("stop", "deaf", "--timeout", "100ms")
    assert late.status == 1 and "it waits for its processes" in late.err, late
    assert "deaf-1 runs" in muster.run("rm", "deaf-1").err
    assert muster.run("stop", "deaf", "--force").status == 0
    muster.wait_for_no_processes()


def test_why_says_what_decided(muster, runs):
    manifest = muster.write("bad.yaml", pytorchjob("bad", "echo the last words; exit 7"))
    finished = muster.run("run", manifest)
    assert finished.status == 7
    why = muster.run("why", "bad").out
    assert "PyTorchJob default/bad failed" in why and "exited with code 7" in why and "the last words" in why
    row = muster.run("ps", "-a", "-o", "json")
    assert [(one["name"], one["state"], one["exitStatus"]) for one in json.loads(row.out)] == [("bad-1", "failed", 7)]


def test_what_is_refused_leaves_nothing(muster, runs):
    job = pytorchjob("never", "true").replace("image: local", "image: local\n            resources: {limits: {example.com/none: 1}}")
    refused = muster.run("run", muster.write("w.yaml", job))
    assert refused.status == 2 and "example.com/none" in refused.err and names(muster, "-a") == [], refused


def test_earlier_attempts_are_kept(muster, runs, shared):
    again = f"echo try; test -e {shared}/second && exit 0; touch {shared}/second; exit 1"
    assert muster.run("run", muster.write("a.yaml", pytorchjob("again", again, restart_policy="OnFailure"))).status == 0
    first = muster.run("logs", "again", "--attempt", "0")
    assert first.out == "try\n", first
    assert muster.run("logs", "again", "--previous").out == "try\n"
    missing = muster.run("logs", "again", "--attempt", "5")
    assert missing.status == 1 and "the last one is 1" in missing.err


def test_one_that_was_killed_is_lost_and_its_logs_are_not(muster, runs, shared):
    start_held(muster, shared)
    muster.start("logs", "-f", "held").wait_for("begun-0")
    attached = muster.start("attach", "held")
    attached.wait_for("begun-0")
    os.kill(record(runs / "held-1")["pid"], signal.SIGKILL)
    ended = attached.finish()
    assert ended.status == 1 and "its process was killed" in ended.err, ended
    muster.wait_for_no_processes()
    assert "lost" in muster.run("ps", "-a").out and names(muster) == []
    assert "was killed" in muster.run("why", "held").out
    assert muster.run("logs", "held").out == "begun-0\n"
    assert muster.run("rm", "held-1").out == "held-1 removed\n" and names(muster, "-a") == []


def test_rerun_types_the_line_again(muster, runs):
    manifest = muster.write("a.yaml", pytorchjob("a", "echo \"$0 $WORD\""))
    assert muster.run("run", manifest, "--env", "WORD=it's a word").status == 0
    printed = muster.run("rerun", "a-1", "--print").out
    assert printed == f"muster run {manifest} --env 'WORD=it'\\''s a word'\n", printed
    muster.cwd = "/"
    again = muster.run("rerun", "a")
    assert again.status == 0 and "it's a word" in again.out, again
    assert names(muster, "-a") == ["a-2", "a-1"]
    assert record(runs / "a-2")["directory"] == str(ROOT)


def test_a_manifest_of_standard_input_is_rerun(muster, runs):
    assert muster.run("run", "-", stdin=pytorchjob("piped", "echo through")).status == 0
    again = muster.run("rerun", "piped")
    assert again.status == 0 and "through" in again.out, again
    secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n"
    assert muster.run("run", "-", stdin=pytorchjob("closed", "true") + secret).status == 0
    refused = muster.run("rerun", "closed")
    assert refused.status == 1 and "a Secret, which was not kept" in refused.err


def test_diff_says_in_what_two_runs_differ(muster, runs):
    manifest = muster.write("a.yaml", pytorchjob("a", "exit ${STATUS:-0}"))
    muster.run("run", manifest)
    muster.environment["EXTRA"] = "one"
    muster.run("run", manifest, "--env", "STATUS=3")
    said = json.loads(muster.run("diff", "a-1", "a-2", "-o", "json").out)
    found = {(one["section"], one["what"]): (one["before"], one["after"]) for one in said}
    assert found[("result", "")] == ("succeeded", "failed") and found[("result", "exit status")] == ("0", "3")
    assert found[("environment", "EXTRA")] == ("", "one")
    where = [what for section, what in found if section == "manifest"]
    assert where and all("containers[0].env[0]" in what for what in where), where
    text = muster.run("diff", "a-1", "a-2").out
    assert "result\n  succeeded -> failed\n" in text and "environment\n  EXTRA: - -> one\n" in text


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 200)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def hook():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    server.got, server.answers = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_the_end_is_told(muster, runs, hook):
    manifest = muster.write("bad.yaml", pytorchjob("bad", "echo oh no; exit 7"))
    hook.answers = [503]
    finished = muster.run("run", "--notify", f"http://127.0.0.1:{hook.server_port}/services/T/B?x=1", manifest)
    assert finished.status == 7 and "--notify" not in finished.out, finished
    # Once more, as the first try was answered with 503.
    assert len(hook.got) == 2 and hook.got[0] == hook.got[1]
    path, kind, body = hook.got[0]
    assert (path, kind) == ("/services/T/B?x=1", "application/json")
    assert body["text"].startswith("bad-1 failed on ") and "exited with code 7" in body["text"] and "oh no" in body["text"]
    assert (body["run"], body["result"], body["exitStatus"]) == ("bad-1", "failed", 7)
    hook.answers = [404]
    refused = muster.run("run", "--notify", f"http://127.0.0.1:{hook.server_port}/gone", manifest)
    assert refused.status == 7 and "--notify: 127.0.0.1 answered 404" in refused.out and len(hook.got) == 3


def test_a_command_is_told(muster, runs):
    manifest = muster.write("a.yaml", pytorchjob("a", "true"))
    to = muster.directory / "told"
    finished = muster.run("run", "--notify", f'cat > {to}; echo "$MUSTER_RUN $MUSTER_RESULT $MUSTER_EXIT_STATUS" >> {to}', manifest)
    assert finished.status == 0, finished
    body, line = to.read_text().rsplit("}", 1)
    assert json.loads(body + "}")["result"] == "succeeded" and line == "a-1 succeeded 0\n"
    failed = muster.run("run", "--notify", "exit 4", manifest)
    assert failed.status == 0 and "--notify: the command ended with status 4" in failed.out


@needs_root
def test_a_folder_that_can_not_be_made_stops_nothing(muster, runs, tmp_path):
    manifest = muster.write("a.yaml", pytorchjob("a", "echo it ran"))
    small = tmp_path / "small"
    small.mkdir()
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    os.chown(other, NOBODY, NOBODY)
    # The mount is seen by these musters alone.
    muster.prefix = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=1m,mode=700 tmpfs {small} && exec "$@"', "sh"]
    for place, why in [(other, "another user's"), ("/proc/self/nothing", "No such file"), (small, "MiB are free"), (manifest, "not a directory")]:
        muster.environment["MUSTER_RUNS_DIR"] = str(place)
        finished = muster.run("run", manifest)
        assert finished.status == 0 and "it ran" in finished.out, finished
        assert "this run is not kept" in finished.out and why in finished.out, finished
        refused = muster.run("run", "-d", manifest)
        assert refused.status == 1 and why in refused.err and "MUSTER_RUNS_DIR" in refused.err, refused
    silent = muster.run("run", "--no-record", manifest)
    assert silent.status == 0 and "not kept" not in silent.out


def test_what_is_wrong_is_said_before_it_goes_into_the_background(muster, runs):
    refused = muster.run("run", "-d", muster.write("bad.yaml", "kind: PyTorchJob\n"))
    assert refused.status == 2 and "bad.yaml:1" in refused.err, refused
    assert names(muster, "-a") == []
    unknown = muster.run("logs", "nothing")
    assert unknown.status == 1 and ("there is no run" in unknown.err or "no job" in unknown.err), unknown


def test_two_that_start_at_once_get_two_folders(muster, runs):
    manifest = muster.write("a.yaml", pytorchjob("a", "true"))
    started = [muster.start("run", manifest) for _ in range(4)]
    assert [one.finish().status for one in started] == [0] * 4
    assert sorted(names(muster, "-a")) == ["a-1", "a-2", "a-3", "a-4"]


def test_only_so_many_are_kept(muster, runs):
    manifest = muster.write("a.yaml", pytorchjob("a", "true"))
    assert muster.run("run", manifest).status == 0
    # Older ones, as a hundred runs would have left them.
    for number in range(2, 120):
        folder = runs / f"old-{number}"
        folder.mkdir(mode=0o700)
        said = record(runs / "a-1") | {"name": folder.name, "started": f"2020-01-01T00:{number // 60:02}:{number % 60:02}Z"}
        (folder / "run.json").write_text(json.dumps(said))
    (runs / ".new-1").mkdir()
    assert muster.run("run", manifest).status == 0
    kept = {path.name for path in runs.iterdir()}
    assert len(kept) == 100 and {"a-1", "a-2", "old-119"} <= kept and "old-2" not in kept


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    made.environment["MUSTER_RUNS_DIR"] = str(tmp_path / "runs")
    made.start()
    yield made
    made.down("--kill")


def test_a_script_runs_on_muster_up(server):
    (server.directory / "work").mkdir()
    (server.directory / "work" / "train.sh").write_text("#!/bin/sh\npwd; echo rank $RANK\n")
    (server.directory / "work" / "train.sh").chmod(0o755)
    done = subprocess.run([BINARY, "run", "--up", "--workers", "2", "./train.sh"], env=server.environment, cwd=server.directory / "work",
                          text=True, capture_output=True, timeout=90, check=False)
    assert done.returncode == 0, done
    assert f"train-master-0 | {server.directory}/work" in done.stdout and "train-worker-0 | rank 1" in done.stdout, done
    assert server.verb("get", "pytorchjob", "train", "-o", "name").stdout == "pytorchjob.kubeflow.org/train\n"
    assert {row["where"] for row in json.loads(server.verb("ps", "-a", "-o", "json").stdout)} == {"muster up", "context muster"}
    assert "--fit is about the machine, and --up runs the job on a server" in server.verb("run", "--up", "--fit", "scale", "x.yaml", status=2).stderr
    server.down()
    assert "no 'muster up' of yours runs" in server.verb("run", "--up", "./train.sh", status=1).stderr


def test_the_verbs_know_jobs_of_a_server(server):
    server.apply(pytorchjob("good", "echo fine"))
    server.apply(pytorchjob("bad", "echo last; exit 9"))
    server.apply(pytorchjob("long", "echo begun; exec sleep 1000"))
    server.verb("wait", "pytorchjob/good", "--for", "condition=Succeeded")
    server.verb("wait", "pytorchjob/bad", "--for", "condition=Failed")
    rows = json.loads(server.verb("ps", "-a", "-o", "json").stdout)
    assert {row["name"]: row["state"] for row in rows if row["name"] != "long"} == {"good": "succeeded", "bad": "failed"}
    assert [row["name"] for row in json.loads(server.verb("ps", "-o", "json").stdout)] == ["long"]
    assert "exited with code 9" in server.verb("why", "bad").stdout
    assert server.verb("attach", "pytorchjob/good").stdout == "good-master-0 | fine\n"
    assert server.verb("attach", "bad", status=1).stdout == "bad-master-0 | last\n"
    assert "pytorchjob.kubeflow.org/long suspended" in server.verb("stop", "long").stdout
    server.verb("wait", "pytorchjob/long", "--for", "condition=Suspended")
    assert "is suspended" in server.verb("why", "long").stdout
    assert "long continues" in server.verb("rerun", "long").stdout
    server.verb("wait", "pytorchjob/long", "--for", "condition=Running")
    uid = ("get", "pytorchjob/good", "-o", "jsonpath={.metadata.uid}")
    before = server.verb(*uid).stdout
    assert "good created again" in server.verb("rerun", "good").stdout
    server.verb("wait", "pytorchjob/good", "--for", "condition=Succeeded")
    assert server.verb(*uid).stdout != before
    refused = server.verb("rerun", "long", status=1).stderr
    assert "has not ended" in refused
    assert "deleted" in server.verb("rm", "long", "bad").stdout
    # The name of a job is the server's while it has one; then it is that of the run.
    server.verb("run", "-", stdin=pytorchjob("good", "echo a run"))
    assert server.verb("logs", "good").stdout == "good-master-0 | fine\n"
    assert server.verb("logs", "good-1").stdout == "a run\n"
    server.verb("delete", "pytorchjob/good")
    assert server.verb("logs", "good").stdout == "a run\n"
    assert "no run and no job" in server.verb("why", "nothing", status=1).stderr
