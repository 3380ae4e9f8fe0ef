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
    assert re.search(r"pod demo-worker-1: Pending -> Running", done.out), done
    assert re.search(r"pytorchjobs demo Succeeded", done.out), done
    assert lines[-2].startswith("muster: PyTorchJob default/demo Succeeded"), done
    assert re.fullmatch(r"muster: seed 1: \d+ changes, 3 pods, \d+ s of virtual time, hash [0-9a-f]{16}", lines[-1]), done
    times = [float(line.split("s ")[0]) for line in lines[:-2]]
    assert times == sorted(times), "virtual time goes on"


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
    (["calm", "--nodes", "0"], "--nodes wants a number from 1 to 100000"),
    (["calm", "--seeds", "0"], "--seeds wants a number above 0"),
    (["calm", "--duration", "soon"], "--duration wants a duration"),
    (["calm", "--output", "xml"], "--output wants text or json"),
    ([], "name a manifest"),
])
def test_wrong_flags_say_what_they_want(muster, args, wanted):
    done = muster.run("simulate", *args)
    assert done.status == 2 and wanted in done.err, done
