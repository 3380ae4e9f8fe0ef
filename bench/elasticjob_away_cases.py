"""ElasticJobs whose master, operator and API go: what workers notice, and how soon all is right when these are back."""

import itertools
import pathlib
import random
import sys
import tempfile
import time

from figure import Figure
from measure import ROOT, Failed

sys.path.insert(0, str(ROOT / "scripts"))

from elasticjob_stage import API, MASTER, OPERATOR, WORKER, WORKERS, Stage  # noqa: E402
from training_steps import Stuck  # noqa: E402

AWAY_S = 60
AT_ONCE = 3  # stages, whose minutes pass together; they come back one by one
STEP_PAUSE_S = 0.1


class Scene:
    """A stage with two jobs: one stays whole, and of the other a worker dies while all are away."""

    def __init__(self, muster, place, order):
        self.order, self.stage = order, Stage(muster, place, True, STEP_PAUSE_S)

    def begin(self):
        self.stage.begin(2)
        self.whole, self.hurt = self.stage.jobs

    def strike(self):
        """One after the other without a pause, so that no platform has made another master before the last one is gone."""
        self.workers = self.stage.workers()
        self.masters = {job: job.masters() for job in self.stage.jobs}
        for part in self.order:
            if part == MASTER:
                for job in self.stage.jobs:
                    job.kill(MASTER, random)
            else:
                self.stage.kill(part)
        self.hurt.kill(WORKER, random)
        self.struck = time.monotonic()
        # At once, as a kubelet does with a container: it waits for the API all the time.
        self.stage.start_operator()

    def come_back(self):
        """When what was right, in seconds after the API answered; all that is waited for is asked for by turns."""
        time.sleep(max(0.0, self.struck + AWAY_S - time.monotonic()))
        self.stage.start_server()
        back = time.monotonic()
        marks = {job: job.steps.mark() for job in self.stage.jobs}
        waits = {
            "master": lambda: self.whole.masters() - self.masters[self.whole],
            "whole": lambda: (self.whole.has_master_in_charge(self.masters[self.whole])
                              and self.whole.steps.all_stepped(marks[self.whole])),
            "started": lambda: len(now := self.hurt.workers()) == WORKERS and not now & self.workers[self.hurt],
            "hurt": lambda: self.hurt.steps.all_stepped(marks[self.hurt])}
        moments = {}

        def look():
            for what in [each for each in waits if each not in moments]:
                if waits[what]():
                    moments[what] = time.monotonic() - back
            return len(moments) == len(waits)

        self.stage.until(look, "the right worlds")
        return moments

    def disturbed(self):
        """Workers of the whole job that are gone."""
        return len(self.workers[self.whole] - self.stage.workers()[self.whole])


def play(muster, orders, place):
    """(moments, workers that were disturbed) of each order."""
    scenes = [Scene(muster, pathlib.Path(tempfile.mkdtemp(dir=place)), order) for order in orders]
    try:
        for scene in scenes:
            scene.begin()
        for scene in scenes:
            scene.strike()
        return [(scene.come_back(), scene.disturbed()) for scene in scenes]
    except Stuck as why:
        raise Failed(str(why)) from None
    finally:
        for scene in scenes:
            scene.stage.close()


def elasticjob_away(muster):
    """Master, operator and API are killed in each of their orders, and the API, with its node, is away for a minute."""
    orders = list(itertools.permutations((MASTER, OPERATOR, API)))
    found = []
    with tempfile.TemporaryDirectory(prefix="muster-bench-", dir="/var/tmp") as place:
        for begin in range(0, len(orders), AT_ONCE):
            found += play(pathlib.Path(muster), orders[begin:begin + AT_ONCE], place)

    def of(what):
        return [moments[what] for moments, _ in found]

    def listed(seconds):
        return ", ".join(f"{each:.2f}" for each in seconds) + " s"

    charge = [whole - master for whole, master in zip(of("whole"), of("master"), strict=True)]
    return [
        Figure(f"master, operator and API killed, in each of {len(orders)} orders, API away for {AWAY_S} s: workers disturbed",
               sum(lost for _, lost in found), 0, "", f"of {len(orders)} jobs"),
        Figure("the same: from when all are back to the right world", max(of("whole")), 3, "s", f"the most of {listed(of('whole'))}"),
        Figure("the same: from the start of the next master until it is in charge", max(charge), 5, "s", f"the most of {listed(charge)}"),
        Figure("the same, and a worker killed meanwhile: from when all are back until its job's processes have started",
               max(of("started")), 3, "s", f"the most of {listed(of('started'))}; two starts of torch later its first step: {listed(of('hurt'))}")]


CASES = {"elasticjob-away": elasticjob_away}
