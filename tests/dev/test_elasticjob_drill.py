"""./dev drill elasticjob: which rounds are played, on how many jobs, and which of them a job has left."""

import pathlib
import subprocess
import sys

import pytest

from test_docs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import elasticjob_drill as drill  # noqa: E402
from elasticjob_stage import AGENT, API, MASTER, MASTER_POD, OPERATOR, WORKER  # noqa: E402
from training_steps import Steps, write_program  # noqa: E402


class Job:
    """One that has lost some of its pods already."""

    def __init__(self, *lost):
        self.lost = lost

    def may_lose(self, part):
        return part not in self.lost


def rounds(*ways):
    return [drill.Round(" and ".join(way), way) for way in ways]


def test_each_way_of_a_kind_has_its_turn():
    kinds = {"one": [(WORKER,)], "two": [(MASTER, API), (API, MASTER)]}
    assert [each.way for each in drill.rounds_of(kinds, 1)] == [(WORKER,), (MASTER, API), (API, MASTER)]
    assert [each.way for each in drill.rounds_of(kinds, 3)] == [(WORKER,)] * 3 + [(MASTER, API), (API, MASTER), (MASTER, API)]


def test_master_operator_and_api_go_in_each_of_their_orders():
    ways = [each.way for each in drill.rounds_of(drill.KINDS["apart"], 1) if set(each.way) == {MASTER, OPERATOR, API}]
    assert len(ways) == len(set(ways)) == 6


@pytest.mark.parametrize("ways, jobs", [
    ([(WORKER,), (API,)], 1),
    ([(MASTER,), (MASTER_POD,), (WORKER,)], 2),
    ([(AGENT,)] * 3, 2),
    ([(MASTER,)] * 50, drill.JOBS_AT_ONCE)])
def test_there_are_as_many_jobs_as_pods_go(ways, jobs):
    assert drill.jobs_for(rounds(*ways)) == jobs


def test_a_round_hits_a_job_that_still_has_what_is_killed():
    fresh, without = Job(), Job(MASTER)
    left = rounds((API, MASTER), (WORKER,))
    assert drill.take_round(left, [without])[0].way == (WORKER,)
    assert drill.take_round(left, [without]) is None
    assert drill.take_round(left, [without, fresh]) == (rounds((API, MASTER))[0], [fresh])
    assert left == [] and drill.take_round(left, [fresh]) is None


@pytest.mark.parametrize("way, restarts, other", [
    ((MASTER,), False, True), ((MASTER_POD,), False, True), ((OPERATOR, API), False, False),
    ((WORKER,), True, False), ((AGENT,), True, False), ((API, MASTER, WORKER), True, True)])
def test_who_may_notice(way, restarts, other):
    each, = rounds(way)
    assert (each.restarts_workers, each.has_other_master) == (restarts, other)


@pytest.mark.parametrize("told, begin, again", [
    ("0.0 1.0 0.1 1.1", 2, 0),
    ("0.0 1.0 0.1 1.1 0.1 1.1 0.2 1.2", 4, 1),
    # One rank had told the last step, and the other had not.
    ("0.0 1.0 0.1 0.1 1.1", 3, 1),
    ("0.0 1.0 0.1 1.1 0.0 1.0 0.1 1.1", 4, 2)])
def test_steps_that_are_made_again_are_counted_once_for_all_ranks(tmp_path, told, begin, again):
    (tmp_path / "told").write_text("".join(
        '{"rank": %s, "step": %s, "world": 2}\n' % tuple(each.split(".")) for each in told.split()))
    steps = Steps(pathlib.Path(tmp_path), 2)
    try:
        assert steps.made_again(begin) == again
    finally:
        steps.close()


def test_what_a_job_trains_with_finds_our_package_beside_it(tmp_path):
    """Wherever the checkout is: pods have a /tmp of their own."""
    script = write_program("    import muster\n    print(muster.__file__)\n", tmp_path)
    said = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, env={}).stdout
    assert said == f"{tmp_path}/muster/__init__.py\n"
