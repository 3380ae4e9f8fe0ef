"""./dev bench elastic-*: what it makes of the times that it reads."""

import json
import os
import subprocess
import sys

import pytest

from test_docs import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import bench  # noqa: E402
import cases  # noqa: E402
import elastic_cases  # noqa: E402
import elastic_jobs  # noqa: E402
import elastic_native_cases  # noqa: E402
import measure  # noqa: E402
from figure import Figure  # noqa: E402


def step(rank, world, pid, at):
    return {"what": "step", "rank": rank, "world": world, "pid": pid, "at": at}


def test_each_benchmark_is_there_by_name():
    for name in ("launch", "recovery", "node", "death", "world", "agent", "store", "takeover"):
        assert f"elastic-{name}" in cases.CASES


def test_a_line_that_is_half_written_is_left_for_later():
    whole = json.dumps(step(0, 2, 7, 1.5))
    assert elastic_jobs.parse(whole + "\n" + whole[:-9]) == [step(0, 2, 7, 1.5)]


@pytest.mark.parametrize("lines,at", [
    ([], None),
    ([step(0, 2, 11, 5.0)], None),
    ([step(0, 2, 11, 5.0), step(1, 2, 12, 6.0), step(0, 2, 11, 7.0)], 6.0),
    # Processes that were there before, and worlds of another size, do not count.
    ([step(0, 2, 1, 5.0), step(1, 2, 2, 5.0)], None),
    ([step(0, 2, 11, 5.0), step(1, 2, 2, 5.5)], None),
    ([step(0, 1, 11, 5.0)], None),
    ([{**step(0, 2, 11, 4.0), "what": "started"}, step(0, 2, 11, 5.0), step(1, 2, 12, 4.5)], 5.0)])
def test_the_next_step_is_that_of_the_last_rank(lines, at):
    assert elastic_jobs.all_stepped(lines, 2, {1, 2}) == at


def test_each_round_is_compared_with_what_ran_beside_it():
    # The machine became slower; what was added did not.
    assert elastic_cases.beyond([1.1, 5.1, 9.2], [1.0, 5.0, 9.0]) == pytest.approx(0.1)


def test_each_attempt_by_hand_has_a_store_of_its_own(tmp_path, monkeypatch):
    job = elastic_jobs.ByHand.__new__(elastic_jobs.ByHand)
    job.python, job.said, job.nodes, job.agents = "python3", tmp_path / "said", 2, {}
    job.ports = [7003, 7002]
    job.port = 7001
    begun = []
    monkeypatch.setattr(job, "start", lambda rank: begun.append(job.agent(rank)[1]), raising=False)
    for world in (2, 1):
        job.again(world)
    assert [(told["RANK"], told["WORLD_SIZE"], told["MASTER_PORT"]) for told in begun] == [
        ("0", "2", "7002"), ("1", "2", "7002"), ("0", "1", "7003")]
    assert len({told["TORCHELASTIC_RESTART_COUNT"] for told in begun}) == 2


def test_only_what_sleeps_is_ready():
    assert elastic_jobs.used_by(2**22 + 1) is None, "there is no such process"
    assert elastic_jobs.used_by(os.getpid()) is None, "we run while we look"
    with subprocess.Popen(["sleep", "1000"]) as sleeps:
        while elastic_jobs.used_by(sleeps.pid) is None:
            pass
        sleeps.kill()


def test_tries_that_came_to_nothing_are_told():
    assert elastic_cases.told("torchrun", [2.0, None, 1.0, None]) == "torchrun 1.00/1.50/2.00 s, 2 of 4 never"
    assert elastic_cases.told("by hand", [2.0]) == "by hand 2.00/2.00/2.00 s"
    assert elastic_cases.told("DLRover", [None]) == "DLRover none, 1 of 1 never"


def kind(name, title=""):
    return type(name, (), {"title": title or name})


def test_each_kind_comes_first_in_turn():
    order = []
    times = elastic_cases.in_turns([kind("a"), kind("b")], 3, lambda one: order.append(one.title) or [len(order)])
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert times == {"a": [1, 4, 5], "b": [2, 3, 6]}


def test_a_peer_that_fails_is_a_try_and_ours_is_an_end(capsys):
    def fails(_):
        raise measure.Failed("it does not start")
    assert elastic_cases.in_turns([elastic_jobs.Torchrun], 2, fails) == {"torchrun": [None, None]}
    assert "it does not start" in capsys.readouterr().out
    with pytest.raises(measure.Failed):
        elastic_cases.in_turns([elastic_jobs.Muster], 1, fails)


def test_what_the_worker_bench_prints():
    assert elastic_native_cases.words_and_values("shims 2\ndeath_to_agent_ms_median 0.250\n") == {
        "shims": 2, "death_to_agent_ms_median": 0.25}


def test_rounds_can_be_fewer(monkeypatch):
    monkeypatch.delenv("MUSTER_BENCH_ROUNDS", raising=False)
    assert measure.rounds(7) == 7
    monkeypatch.setenv("MUSTER_BENCH_ROUNDS", "2")
    assert measure.rounds(7) == 2


@pytest.mark.parametrize("value,text", [(0.123456, "0.123"), (99.4, "99.4"), (1234.5, "1234")])
def test_a_value_as_it_is_shown(value, text):
    assert bench.show(value) == text
    assert Figure("", value, value, "").holds
