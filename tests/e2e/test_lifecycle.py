"""What a job's end looks like from outside: exit status, verdict, and nothing left over."""

import json
import os
import re
import signal

import pytest

from conftest import ROOT, pytorchjob


def final_job(finished, name):
    """The job from `--output json`."""
    objects = json.loads(finished.out)
    items = objects.get("items", [objects])
    return next(o for o in items if o["metadata"]["name"] == name and o["kind"] == "PyTorchJob")


def conditions(job):
    return {c["type"]: c["status"] for c in job["status"]["conditions"]}


def test_the_example_trains_a_real_model(muster):
    finished = muster.run("run", ROOT / "examples" / "pytorch-digits.yaml")
    assert finished.status == 0, finished
    accuracy = re.search(r"accuracy[^0-9]*(0\.\d+|1\.0+)", finished.text)
    assert accuracy, finished
    assert float(accuracy.group(1)) > 0.95
    assert "Succeeded" in finished.text


def test_a_master_that_exits_1_fails_the_job_with_its_code_and_last_words(muster):
    path = muster.write("job.yaml", pytorchjob("fails", "echo the last words; exit 1"))
    finished = muster.run("run", path)
    assert finished.status == 1, finished
    assert "fails-master-0" in finished.text
    assert "the last words" in finished.text
    assert "Failed" in finished.text


def test_the_exit_status_is_the_failing_containers_code(muster):
    path = muster.write("job.yaml", pytorchjob("code", "exit 42"))
    assert muster.run("run", path).status == 42


# Its first life ends by SIGKILL; its second tells the master, which waits for that, so that the job
# can't end before it.
KILLED_WORKER = """
if [ -e "$MARKS/again" ]; then echo "second life"; echo x > "$MARKS/told"; exit 0; fi
touch "$MARKS/again"
kill -KILL $$
"""


@pytest.mark.parametrize("ended_by", ["itself", "Ctrl-C"])
def test_pods_that_the_manifest_keeps_finish_after_their_job(muster, shared, ended_by):
    os.mkfifo(shared / "go")
    text = pytorchjob("keeps", "echo the job is done", 1, 'read x < "$MARKS/go"; echo "told $x"')
    text = text.replace("spec:\n", "spec:\n  runPolicy: {cleanPodPolicy: None}\n", 1)
    started = muster.start("run", muster.write("job.yaml", text), "--env", f"MARKS={shared}")
    started.wait_for("muster: waiting for keeps-worker-0: cleanPodPolicy: None")
    if ended_by == "itself":
        (shared / "go").write_text("late\n")
        finished = started.finish()
        assert finished.status == 0, finished
        assert "keeps-worker-0 | told late" in finished.text
    else:
        started.interrupt()
        finished = started.finish()
        assert finished.status == 130, finished
    assert "PyTorchJob default/keeps succeeded" in finished.text


@pytest.mark.parametrize("policy", ["Always", "OnFailure", "ExitCode"])
def test_a_worker_killed_by_sigkill_comes_back(muster, shared, policy):
    os.mkfifo(shared / "told")
    text = pytorchjob("killed", 'read x < "$MARKS/told"', 1, KILLED_WORKER, restart_policy=policy,
                      master_restart_policy="Never")
    finished = muster.run("run", muster.write("job.yaml", text), "--env", f"MARKS={shared}",
                          "--output", "json", limit=60)
    assert finished.status == 0, finished
    job = final_job(finished, "killed")
    assert conditions(job)["Succeeded"] == "True", finished
    assert job["status"]["completionTime"], finished
    assert "second life" in finished.text


def test_a_worker_killed_by_sigkill_that_must_not_restart_fails_the_job(muster, shared):
    text = pytorchjob("killed", "sleep 1000", 1, KILLED_WORKER, restart_policy="Never")
    finished = muster.run("run", muster.write("job.yaml", text), "--env", f"MARKS={shared}",
                          "--output", "json", limit=60)
    assert finished.status == 137, finished
    job = final_job(finished, "killed")
    assert conditions(job)["Failed"] == "True", finished
    assert job["status"]["completionTime"], finished
    assert "137" in finished.err and "SIGKILL" in finished.err, finished
    assert "killed-worker-0" in finished.err


def test_ctrl_c_deletes_the_job_and_waits_for_its_processes(muster):
    path = muster.write("job.yaml", pytorchjob("endless", "echo up; sleep 1000", 2, "echo up; sleep 1000"))
    running = muster.start("run", path)
    for pod in ("endless-master-0", "endless-worker-0", "endless-worker-1"):
        running.wait_for(f"{pod}")
    running.wait_for("up")
    running.interrupt()
    finished = running.finish(30)
    assert finished.status == 130, finished
    assert not muster.processes()


def test_a_second_ctrl_c_kills_what_ignores_the_first(muster):
    stubborn = "trap '' TERM INT; echo stubborn; while :; do sleep 1000; done"
    text = pytorchjob("stubborn", stubborn).replace("terminationGracePeriodSeconds: 2",
                                                    "terminationGracePeriodSeconds: 600")
    running = muster.start("run", muster.write("job.yaml", text))
    running.wait_for("stubborn\n")
    running.interrupt()
    running.wait_for("again")  # the hint: press Ctrl-C again to kill
    running.interrupt()
    finished = running.finish(20)
    assert finished.status == 130, finished
    assert not muster.processes()


def test_kill_9_of_muster_leaves_no_process(muster):
    daemon = "(setsid sleep 1000 &) ; echo up; sleep 1000"
    path = muster.write("job.yaml", pytorchjob("orphans", daemon, 3, daemon))
    running = muster.start("run", path)
    running.wait_for("up")
    assert len(muster.processes()) > 4
    running.kill()
    muster.wait_for_no_processes()


@pytest.mark.usefixtures("machine_network")
def test_kill_9_of_muster_leaves_no_process_without_namespaces(muster):
    daemon = "(setsid sleep 1000 &) ; echo up; sleep 1000"
    path = muster.write("job.yaml", pytorchjob("orphans", daemon, 1, daemon))
    running = muster.start("run", path, "--sandbox", "none")
    running.wait_for("up")
    running.kill()
    muster.wait_for_no_processes()


def test_64_replicas_of_sleep(muster):
    path = muster.write("job.yaml", pytorchjob("many", "sleep 3", 63, "sleep 2"))
    finished = muster.run("run", path, "--output", "json", limit=60)
    assert finished.status == 0, finished
    assert conditions(final_job(finished, "many"))["Succeeded"] == "True"


def test_a_timeout_ends_the_job_with_124(muster):
    path = muster.write("job.yaml", pytorchjob("slow", "echo up; sleep 1000"))
    finished = muster.run("run", path, "--timeout", "1s", limit=30)
    assert finished.status == 124, finished
    assert "the time is up" in finished.text


def test_no_state_directory_is_left(muster, tmp_path):
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    muster.environment["TMPDIR"] = str(scratch)
    assert muster.run("run", muster.write("job.yaml", pytorchjob("tidy", "true"))).status == 0
    assert list(scratch.iterdir()) == []


def test_nothing_is_left_of_a_muster_that_was_interrupted(muster, tmp_path):
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    muster.environment["TMPDIR"] = str(scratch)
    running = muster.start("run", muster.write("job.yaml", pytorchjob("tidy", "echo up; sleep 1000")))
    running.wait_for("up")
    running.interrupt()
    assert running.finish(30).status == 130
    assert list(scratch.iterdir()) == []


def test_the_machine_is_as_before(muster):
    def links():
        return sorted(os.listdir("/sys/class/net"))

    def mounts():
        return len(open("/proc/self/mounts").readlines())

    before = links(), mounts()
    assert muster.run("run", muster.write("job.yaml", pytorchjob("clean", "true", 3, "true"))).status == 0
    assert (links(), mounts()) == before


def test_a_signalled_container_is_named_by_its_signal(muster):
    path = muster.write("job.yaml", pytorchjob("segv", "kill -SEGV $$"))
    finished = muster.run("run", path)
    assert finished.status == 128 + signal.SIGSEGV
    assert "SIGSEGV" in finished.text
