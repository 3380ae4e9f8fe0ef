"""`muster kill`, `pause` and `partition` of a job that `muster run` has."""

import tempfile

import pytest

from conftest import needs_root, pytorchjob

PATIENT = "echo begun; exec sleep 1000"


@pytest.fixture(autouse=True)
def runs(muster):
    """The verbs see each run below TMPDIR: this test's and no other's. Short, as sockets' names are."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="muster-e2e-") as directory:
        muster.environment["TMPDIR"] = directory
        yield


def begin(muster, manifest, *flags):
    """A run whose pods have begun."""
    run = muster.start("run", *flags, muster.write("job.yaml", manifest))
    run.wait_for("is running")
    return run


def test_a_killed_worker_is_started_again(muster, shared):
    # Once it was killed, the worker ends well, and the master with it.
    worker = f"if [ -e {shared}/first ]; then touch {shared}/second; exit 0; fi; touch {shared}/first; echo waits; exec sleep 1000"
    master = f"until [ -e {shared}/second ]; do sleep 0.05; done"
    run = begin(muster, pytorchjob("digits", master, 2, f"[ $RANK = 2 ] || exit 0; {worker}", restart_policy="OnFailure"))
    run.wait_for("digits-worker-1 | waits")
    killed = muster.run("kill", "digits", "worker-1")
    assert killed.status == 0 and "SIGKILL to digits-worker-1, process " in killed.out, killed
    ended = run.finish()
    assert ended.status == 0, ended
    assert "pod digits-worker-1 restarted (restart 1): it exited with code 137 (SIGKILL)" in ended.text, ended


def test_a_signal_of_choice_reaches_the_program(muster):
    run = begin(muster, pytorchjob("digits", "trap 'exit 7' TERM; echo ready; sleep 1000 & wait"))
    run.wait_for("| ready")
    # Its only replica needs no name.
    assert muster.run("kill", "digits", "--signal", "TERM").status == 0
    assert run.finish().status == 7


@pytest.mark.parametrize("words, told", [
    (["digit", "worker-0"], 'there is no job "digit" here; did you mean "digits"?'),
    (["digits", "worker-5"], 'job digits has no replica "worker-5"; it has: master-0, worker-0'),
    (["digits"], "job digits has several: say which of master-0, worker-0"),
    (["digits", "worker-0", "--rank", "1"], "no process of pod digits-worker-0 is a worker with a rank of its own"),
    (["digits", "worker-0", "-n", "other"], "no 'muster run' has a job here in namespace other"),
])
def test_what_is_not_there_is_named(muster, words, told):
    run = begin(muster, pytorchjob("digits", PATIENT, 1, PATIENT))
    run.wait_for("digits-worker-0 | begun")
    refused = muster.run("kill", *words)
    assert refused.status == 1 and told in refused.err, refused
    run.interrupt()
    assert run.finish().status == 130


def test_a_replica_that_has_ended_is_left_alone(muster):
    run = begin(muster, pytorchjob("digits", PATIENT, 1, "exit 0"))
    run.wait_for("pod digits-worker-0 finished")
    for verb in ("kill", "pause", "partition"):
        refused = muster.run(verb, "digits", "worker-0")
        assert refused.status == 1 and "worker-0 of job digits has ended (Succeeded)" in refused.err, refused
    run.interrupt()
    run.finish()


def test_without_a_run_and_on_a_cluster(muster):
    nobody = muster.run("kill", "digits", "worker-0")
    assert nobody.status == 1 and "no 'muster run' has a job here" in nobody.err, nobody
    cluster = muster.run("kill", "digits", "worker-0", "--context", "prod")
    assert cluster.status == 2 and "'kubectl exec POD -- kill'" in cluster.err, cluster


def test_a_paused_replica_goes_on_when_the_command_ends_however_it_does(muster, shared):
    worker = f"until [ -e {shared}/enough ]; do sleep 0.01; done"
    run = begin(muster, pytorchjob("digits", worker))
    pause = muster.start("pause", "digits")
    pause.wait_for("digits-master-0 is paused; Ctrl-C ends it")
    again = muster.run("pause", "digits", "--for", "1s")
    assert again.status == 1 and "is paused already" in again.err, again
    pause.kill()
    pause.finish()
    # A kill leaves no word; the run sees the end of the connection. What is paused anew was going on.
    short = muster.run("pause", "digits", "--for", "10ms")
    while short.status != 0:
        assert "is paused already" in short.err, short
        short = muster.run("pause", "digits", "--for", "10ms")
    assert "digits-master-0 is resumed" in short.out, short
    (shared / "enough").touch()
    assert run.finish().status == 0


@needs_root
def test_a_replica_that_is_cut_off_hears_nothing_until_it_is_connected_again(muster, shared):
    master = f"exec python3 -m http.server $MASTER_PORT --directory {shared}"
    fetch = ("python3 -c \"import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=60).status)\""
             " http://$MASTER_ADDR:$MASTER_PORT/")
    # One answer before it, and one that can't come before the end of the partition: nothing that is sent is refused.
    worker = (f"until {fetch} 2>/dev/null; do sleep 0.05; done; until [ -e {shared}/cut ]; do sleep 0.01; done; "
              f"echo asks; {fetch}; echo has asked")
    run = begin(muster, pytorchjob("digits", master, 1, worker))
    run.wait_for("digits-worker-0 | 200")
    partition = muster.start("partition", "digits", "master-0")
    partition.wait_for("digits-master-0 is cut off")
    (shared / "cut").touch()
    run.wait_for("digits-worker-0 | asks")
    assert "has asked" not in run.read()
    partition.interrupt()
    ended = partition.finish()
    assert ended.status == 0 and "is connected again" in ended.out, ended
    run.wait_for("digits-worker-0 | has asked")
    assert run.read().count("digits-worker-0 | 200") == 2, run.read()
    run.interrupt()
    run.finish()


@pytest.mark.usefixtures("machine_network")
def test_pods_without_networks_of_their_own_cannot_be_cut_off(muster):
    run = begin(muster, pytorchjob("digits", PATIENT), "--sandbox", "none")
    refused = muster.run("partition", "digits", "--for", "1s")
    assert refused.status == 1 and "none of them can be cut off" in refused.err, refused
    run.interrupt()
    run.finish()
