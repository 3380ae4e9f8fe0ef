"""muster simulate: jobs on simulated nodes, in virtual time."""

import json
import re

import pytest

from conftest import ROOT, pytorchjob

EXAMPLES = ROOT / "examples" / "simulations"


def job(muster, workers=2, **more):
    return muster.write("job.yaml", pytorchjob("demo", "true", workers, "true", **more))


def result(muster, *args):
    done = muster.run("simulate", *args, "--output", "json")
    return json.loads(done.out), done


def test_a_job_is_told_as_a_timeline_and_an_outcome(muster):
    done = muster.run("simulate", job(muster))
    assert done.status == 0, done
    lines = done.out.splitlines()
    assert re.search(r"0\.000s  user +pytorchjobs demo created", done.out), done
    assert re.search(r"pod demo-worker-1: Pending -> Running on node-\d\n", done.out), done
    assert re.search(r"pytorchjobs demo Succeeded", done.out), done
    assert re.match(r"muster: PyTorchJob default/demo Succeeded after \d+\.\d{3} s \(", lines[-2]), done
    assert re.fullmatch(r"muster: seed 1: \d+ changes, 3 pods, \d+ s of virtual time, hash [0-9a-f]{16}", lines[-1]), done
    times = [float(line.split("s ")[0]) for line in lines[:-2]]
    assert times == sorted(times), "virtual time goes on"


def test_what_it_lasts_is_told_to_the_instant(muster):
    """From the job's creation to its end; a status has whole seconds. The world lasts as long as was asked for."""
    shown, _ = result(muster, job(muster), "--duration", "2.5h")
    [made] = [line["atSeconds"] for line in shown["timeline"] if line["what"] == "pytorchjobs demo created"]
    [ended] = [line["atSeconds"] for line in shown["timeline"] if line["what"].startswith("pytorchjobs demo Succeeded")]
    assert shown["jobs"][0]["durationSeconds"] == pytest.approx(ended - made, abs=1e-9)
    assert shown["virtualSeconds"] == 9000
    assert "9000 s of virtual time" in muster.run("simulate", job(muster), "--duration", "2.5h").out
    endless = muster.write("endless.yaml", "pods: {runTime: 900h}\nfaultsUntil: 10m\n")
    shown, _ = result(muster, job(muster), "--faults", endless)
    assert shown["jobs"][0]["durationSeconds"] is None


def test_a_manifest_is_changed_by_flags_as_for_run(muster):
    shown, done = result(muster, job(muster), "-n", "team-a", "--replicas", "Worker=5", "--set", "spec.runPolicy.cleanPodPolicy=None",
                         "--env", "A=1")
    assert done.status == 0 and shown["pods"] == 6, done
    assert shown["jobs"][0]["namespace"] == "team-a" and shown["jobs"][0]["state"] == "Succeeded"
    told = [line["what"] for line in shown["timeline"]]
    assert "pytorchjobs team-a/demo created" in told and any(what.startswith("pod team-a/demo-worker-4: ") for what in told), told
    done = muster.run("simulate", job(muster), "--replicas", "Wroker=5")
    assert done.status == 2 and "no job has this replica type" in done.err, done
    typed = muster.write("typed.yaml", job(muster).read_text().replace("spec:", "spec:\n  runPolicyy: {}", 1))
    assert muster.run("simulate", typed).status == 0
    assert muster.run("simulate", typed, "--strict").status == 2


def test_a_namespace_of_the_manifest_is_there(muster):
    text = job(muster).read_text().replace("name: demo", "name: demo\n  namespace: team-b", 1)
    before = muster.write("before.yaml", text)
    assert result(muster, before)[0]["jobs"][0]["namespace"] == "team-b"
    after = muster.write("after.yaml", text + "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team-b}\n")
    assert result(muster, after)[0]["jobs"][0]["state"] == "Succeeded"


def test_many_seeds_end_with_a_distribution(muster):
    path = job(muster, restart_policy="OnFailure")
    done = muster.run("simulate", path, "--faults", "evictions", "--seeds", 30)
    lines = done.out.splitlines()
    assert lines[-1] == "30 passed, 0 failed", done
    assert re.match(r"muster: PyTorchJob default/demo: \d+ succeeded, \d+ failed", lines[-4]), done
    assert re.fullmatch(r"muster:   seconds   p50 \d+\.\d{3}, p90 \d+\.\d{3}, p99 \d+\.\d{3}, most \d+\.\d{3}", lines[-3]), done
    assert re.fullmatch(r"muster:   restarts  p50 \d+, p90 \d+, p99 \d+, most \d+", lines[-2]), done
    shown, again = result(muster, path, "--faults", "evictions", "--seeds", 30)
    assert again.status == done.status and shown["passed"] == 30 and shown["failed"] == 0
    assert [run["seed"] for run in shown["runs"]] == list(range(1, 31))
    alone, _ = result(muster, path, "--faults", "evictions", "--seed", 7)
    alone.pop("timeline")
    assert shown["runs"][6] == alone
    took = sorted(run["jobs"][0]["durationSeconds"] for run in shown["runs"])
    assert shown["jobs"][0]["durationSeconds"] == {"p50": took[14], "p90": took[26], "p99": took[29], "most": took[29]}


def test_the_exit_status_of_many_seeds_is_the_worst(muster):
    some = muster.write("some.yaml", "pods: {runTime: 10s, exits: {0: 0.7, 1: 0.3}}\nfaultsUntil: 10m\n")
    shown, done = result(muster, job(muster, restart_policy="Never"), "--faults", some, "--seeds", 20)
    [told] = shown["jobs"]
    assert told["succeeded"] > 0 and told["failed"] > 0 and told["succeeded"] + told["failed"] == 20
    assert done.status == 1 and shown["passed"] == 20, "the rules were kept"
    assert muster.run("simulate", "limits", "--seeds", 2).status == 0, "in a scenario jobs fail on purpose"


def test_the_names_of_faults_are_listed(muster):
    done = muster.run("simulate", "--faults", "help")
    assert done.status == 0 and done.err == "", done
    assert "node-death     Nodes die and come back, or are given up.\n" in done.out, done
    assert not re.search(r"^elastic ", done.out, re.M), "agents alone have faults of their own"


def test_equal_seeds_give_equal_runs_and_others_others(muster):
    path = job(muster)
    first, again, other = (result(muster, path, "--seed", seed, "--faults", "evictions")[0] for seed in (5, 5, 6))
    assert first == again
    assert first["hash"] != other["hash"]


def test_json_has_jobs_timeline_and_what_was_broken(muster):
    shown, done = result(muster, job(muster), "--seed", 3)
    assert done.status == 0, done
    assert shown["seed"] == 3 and shown["violations"] == [] and shown["pods"] == 3
    assert shown["jobs"][0]["name"] == "demo" and shown["jobs"][0]["state"] == "Succeeded"
    assert shown["jobs"][0]["completionTime"]
    assert {"atSeconds", "who", "what"} == set(shown["timeline"][0])


def test_the_trace_tells_every_change_and_fault(muster):
    path = job(muster)
    short, _ = result(muster, path, "--faults", "lossy-api")
    long, _ = result(muster, path, "--faults", "lossy-api", "--trace")
    assert short["hash"] == long["hash"], "watching changes nothing"
    assert len(long["timeline"]) > len(short["timeline"])
    assert any(line["who"] == "fault" for line in long["timeline"])


def test_faults_come_from_a_file_too(muster):
    faults = muster.write("faults.yaml", """\
        description: every container is killed
        faultsUntil: 1h
        pods: {runTime: 10m}
        nodeFaults: {crash: {every: 1m}}
        """)
    shown, _ = result(muster, job(muster, restart_policy="OnFailure"), "--faults", faults)
    assert shown["jobs"][0]["restarts"] > 0, shown
    assert any("is killed" in line["what"] for line in shown["timeline"])


def test_the_exit_status_says_how_the_jobs_ended(muster):
    fails = muster.write("fails.yaml", "pods: {runTime: 10s, exits: {1: 1}}\nfaultsUntil: 10m\n")
    assert muster.run("simulate", job(muster), "--faults", fails).status == 1
    endless = muster.write("endless.yaml", "pods: {runTime: 900h}\nfaultsUntil: 10m\n")
    done = muster.run("simulate", job(muster), "--faults", endless)
    assert done.status == 124 and "demo Running" in done.out, done


def test_a_scenario_of_our_own_by_name(muster):
    done = muster.run("simulate", "calm", "--seeds", "3")
    assert done.status == 0 and done.out == "3 passed, 0 failed\n", done


@pytest.mark.parametrize("args", [
    ["rehearsal.yaml"], ["rehearsal.yaml", "--faults", "node-death"],
    ["rehearsal.yaml", "--faults", EXAMPLES / "spot-nodes.yaml", "--nodes", "20"],
    ["busy-afternoon.yaml", "--seed", "5"]], ids=lambda args: " ".join(str(arg).split("/")[-1] for arg in args))
def test_the_examples_play(muster, args):
    done = muster.run("simulate", EXAMPLES / args[0], *args[1:])
    assert done.status == 0, done


BAD = {
    "a manifest": ("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: x}\nspec:\n  pytorchReplicaSpecs:\n"
                   "    Master:\n      replicas: [1]\n", ["job.yaml:7:17: error: spec.pytorchReplicaSpecs.Master.replicas"]),
    "a scenario": ("nodes: 0\njobs:\n- workrs: 3\n",
                   ["job.yaml:1:8: error: nodes: must be", "job.yaml:3:3: error: jobs[0].workrs: no such field; did you mean workers?"]),
    "not YAML": ("jobs: [\n", ["job.yaml:"]),
    "no job": ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", ["there is no job in it"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_with_its_place(muster, name):
    text, wanted = BAD[name]
    done = muster.run("simulate", muster.write("job.yaml", text))
    assert done.status == 2 and done.out == "", done
    for each in wanted:
        assert each in done.err, done


@pytest.mark.parametrize("args, wanted", [
    (["nowhere.yaml"], "nowhere.yaml"),
    (["choas"], "did you mean chaos?"),
    (["calm", "--faults", "evictoins"], "did you mean evictions?"),
    (["calm", "--faults", "zzz"], "there are: calm, chaos,"),
    (["calm", "--faults", "zzz.yaml"], "zzz.yaml: error: cannot be read: No such file or directory"),
    (["calm", "--replicas", "Worker=2"], "--replicas is for manifests"),
    (["calm", "--nodes", "0"], "--nodes wants a number from 1 to 100000"),
    (["calm", "--seeds", "0"], "--seeds wants a number above 0"),
    (["calm", "--duration", "soon"], "--duration wants a duration"),
    (["calm", "--output", "xml"], "--output wants text or json"),
    ([], "name a manifest"),
])
def test_wrong_flags_say_what_they_want(muster, args, wanted):
    done = muster.run("simulate", *args)
    assert done.status == 2 and wanted in done.err, done
