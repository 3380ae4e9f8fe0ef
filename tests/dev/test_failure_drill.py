"""./dev drill failures: what it decides, and that its page has a row for each of its cases."""

import sys

import pytest
import yaml

from test_docs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import failure_drill as drill  # noqa: E402

JOB = """
metadata: {name: j}
spec:
  xReplicaSpecs:
    Master: {replicas: 1}
    Worker: {replicas: 3}
"""


def job():
    return yaml.safe_load(JOB)


def test_the_page_has_a_row_for_each_case_and_no_other():
    rows = drill.table(drill.PAGE.read_text())
    assert sorted(rows) == sorted(case.key for case in drill.CASES)
    assert {cells[3] for cells in rows.values()} <= {"Succeeded", "Failed", "hangs"}


def test_each_example_that_trains_is_disturbed():
    trained = set(drill.examples.EXAMPLES)
    assert all(drill.examples.manifest(name).exists() for name in trained)
    # torch.distributed.launch is torchrun, the Trainer is Accelerate, and Open MPI is the same by ssh.
    assert trained - {example.manifest for example in drill.EXAMPLES.values()} == {
        "pytorch-launch.yaml", "pytorch-transformers.yaml", "mpi-ssh-digits.yaml"}


@pytest.mark.parametrize("framework", drill.EXAMPLES)
def test_each_replica_type_of_each_example_is_killed(framework):
    example = drill.EXAMPLES[framework]
    types = drill.replicas_of(yaml.safe_load(drill.examples.manifest(example.manifest).read_text()))
    killed = {case.replica for case in drill.CASES if case.example is example}
    # The libraries on top of PyTorch are as DDP is: of them one worker is enough.
    spared = {"Accelerate": {"Master"}, "Lightning": {"Master"}, "DeepSpeed": {"Master"}}
    assert killed == set(types) - spared.get(framework, set())


@pytest.mark.parametrize("policy, restart, annotations", [
    ("Never", "Never", {}), ("OnFailure, group", "OnFailure", {"muster.dev/restart": "group"})])
def test_a_policy_is_that_of_all_replicas(policy, restart, annotations):
    changed = drill.changed(job(), policy)
    assert {replica["restartPolicy"] for replica in drill.replicas_of(changed).values()} == {restart}
    assert changed["metadata"].get("annotations", {}) == annotations


def test_the_last_replica_is_killed():
    assert drill.victim(job(), "Worker") == "j-worker-2"
    assert drill.victim(job(), "Master") == "j-master-0"
    only = {"metadata": {"name": "j"}, "spec": {"mpiReplicaSpecs": {"Launcher": {}}}}
    assert drill.victim(only, "Launcher") == "j-launcher", "the only one has no number"


LINES = [drill.Line(at, text) for at, text in (
    (1, "j-master-0 | rank 0 is ready"), (2, "j-worker-2 | rank 2 is ready"),
    (5, "muster: pod j-worker-2 restarted (restart 1): it exited with code 137 (SIGKILL)"),
    (6, "j-worker-2 | rank 2 is ready"), (7, "muster: rank 9 is ready, says nobody"), (8, "j-master-0 | rank 0 is ready"))]


def test_recovery_ends_with_the_last_rank_that_is_ready_again():
    assert drill.recovered_at(LINES, 4, (r"\d is ready", 2)) == 8
    assert drill.recovered_at(LINES, 9, (r"\d is ready", 2)) is None


def test_which_were_restarted():
    assert drill.restarted(LINES, 4, job()) == "Worker"
    assert drill.restarted(LINES, 5.5, job()) == "none"
    again = [*LINES, drill.Line(9, "muster: pod j-master-0 scheduled")]
    assert drill.restarted(again, 4, job()) == "Master, Worker"


def test_rows_take_the_place_of_those_of_the_same_case():
    first, second = drill.CASES[:2]
    text = f"before\n{drill.TABLE.begin}{drill.TABLE.end}after\n"
    text = drill.page(text, [drill.Row(second, "Failed", "none", None)])
    text = drill.page(text, [drill.Row(first, "Succeeded", "Worker", 1.25), drill.Row(second, "hangs", "Worker", None)])
    assert text.startswith("before\n") and text.endswith(drill.TABLE.end + "after\n")
    rows = drill.table(text)
    assert list(rows) == [first.key, second.key]
    assert rows[first.key][3:] == ["Succeeded", "Worker", "1.2"]
    assert rows[second.key][3:] == ["hangs", "Worker", "–"]


def test_an_outcome_that_the_page_does_not_have_is_told():
    first, second = drill.CASES[:2]
    text = drill.page(f"{drill.TABLE.begin}{drill.TABLE.end}", [drill.Row(first, "Succeeded", "Worker", 1)])
    same, unknown = drill.Row(first, "Succeeded", "none", 9), drill.Row(second, "Failed", "none", None)
    assert drill.disagreements(text, [same, unknown]) == []
    assert drill.disagreements(text, [drill.Row(first, "hangs", "Worker", None)]) == [
        f"{' '.join(first.key)}: hangs, and the page says Succeeded"]
