"""Kills the parts of ElasticJobs that train under `muster up`, at random moments: who is no victim must not notice.

elasticjob_drill.py MUSTER [ROUNDS] [--operator within|apart] [--training torch|keys] [--seed N] [--only WORDS] [--away SECONDS]. Real PyTorch
over gloo, or plain Python over the keys of its world, which starts sooner; two workers a job, several jobs at once. ROUNDS (200) rounds of
each kind, and at least one of each order in which a kind kills; first with the operator within `muster up`, then with a `muster operator`
apart. What a platform would start again (`muster up`, the operator) comes back after up to SECONDS (2). A round has passed when the next
master is in charge of its world, the operator works, each rank of each job has made a step, and no process is another one but those of a
job that lost a worker. At the end all jobs succeed, every step has the loss of an undisturbed run, and no process is left. Exits 1 with what
was not so.
"""

import argparse
import collections
import itertools
import math
import pathlib
import random
import signal
import statistics
import sys
import tempfile
import time
from typing import NamedTuple

from elasticjob_stage import AGENT, API, GONE_WITHIN_S, MASTER, MASTER_POD, OPERATOR, SERVER, WORKER, WORKERS, Stage
from processes import become_subreaper, command_line, reap
from training_steps import PROGRAMS, Stuck, differences, undisturbed

JOBS_AT_ONCE = 4
STEP_PAUSE_S = 0.04

# {where the operator is: {kind: its ways}}. A way is what is killed, in this order; the ways of a kind take turns.
KINDS = {
    "within": {
        MASTER: [(MASTER,)],
        MASTER_POD: [(MASTER_POD,)],
        SERVER: [(SERVER,)],
        "the master and the server": list(itertools.permutations((MASTER, SERVER))),
        WORKER: [(WORKER,)],
        AGENT: [(AGENT,)],
        "a worker while the master is away": [(MASTER, WORKER)],
    },
    "apart": {
        OPERATOR: [(OPERATOR,)],
        API: [(API,)],
        "master, operator and API": list(itertools.permutations((MASTER, OPERATOR, API))),
        "a worker while all are away": [(OPERATOR, API, MASTER, WORKER), (API, OPERATOR, MASTER, WORKER)],
    },
}


class Round(NamedTuple):
    kind: str
    way: tuple

    def can_hit(self, job):
        return all(job.may_lose(part) for part in self.way)

    @property
    def restarts_workers(self):
        """Of the job that is hit. Otherwise no worker may be another process."""
        return WORKER in self.way or AGENT in self.way

    @property
    def has_other_master(self):
        return MASTER in self.way or MASTER_POD in self.way


class Outcome(NamedTuple):
    seconds: float  # from when all that was killed is there again
    made_again: int  # steps of the job that was hit


def rounds_of(kinds, count):
    """So many rounds of each kind, and at least one of each way."""
    return [Round(kind, way) for kind, ways in kinds.items()
            for way in itertools.islice(itertools.cycle(ways), max(count, len(ways)))]


def jobs_for(rounds):
    """How many jobs these rounds need at once, as each loses its master once and each of its agents once."""
    masters = sum(each.has_other_master for each in rounds)
    agents = sum(AGENT in each.way for each in rounds)
    return min(JOBS_AT_ONCE, max(1, masters, math.ceil(agents / WORKERS)))


def take_round(rounds, jobs):
    """The next of the rounds that can hit a job, with these; None: there is none."""
    for number, each in enumerate(rounds):
        if hit := [job for job in jobs if each.can_hit(job)]:
            return rounds.pop(number), hit
    return None


# ---- a round

def strike(stage, job, way, rng, away):
    for part, following in itertools.pairwise((*way, None)):
        (stage.kill(part) if part in (SERVER, API, OPERATOR) else job.kill(part, rng))
        # A worker dies before the platform has another master.
        if following not in (None, WORKER):
            time.sleep(rng.uniform(0, away / 10))


def bring_back(stage, way, rng, away):
    """Starts what no platform is left for, each after a time of its own. Returns when the server answers."""
    begun = time.monotonic()
    starts = [(rng.uniform(0, away), start) for part, start in (
        (OPERATOR, stage.start_operator), (API, stage.start_server), (SERVER, stage.start_server)) if part in way]
    for after, start in sorted(starts, key=lambda each: each[0]):
        time.sleep(max(0.0, begun + after - time.monotonic()))
        start()


def play_round(stage, job, each, rng, away):
    time.sleep(rng.uniform(0, 0.3))
    workers, masters, begin = stage.workers(), job.masters(), len(job.steps.read())
    strike(stage, job, each.way, rng, away)
    bring_back(stage, each.way, rng, away)
    back = time.monotonic()
    if each.restarts_workers:
        stage.until(lambda: (now := job.workers()) and not now & workers[job], "other workers")
    if each.has_other_master:
        stage.until(lambda: job.has_master_in_charge(masters), "the next master in charge")
    if OPERATOR in each.way:
        stage.until(stage.operator_is_ready, "an operator that is ready")
    marks = {one: one.steps.mark() for one in stage.jobs}
    for one, mark in marks.items():
        stage.until(lambda one=one, mark=mark: one.steps.all_stepped(mark), f"a step of all of {one.name}")
    seconds = time.monotonic() - back
    others = [one.name for one, now in stage.workers().items()
              if now != workers[one] and not (each.restarts_workers and one is job)]
    if others:
        raise Stuck(f"workers are other processes: those of {', '.join(others)}")
    return Outcome(seconds, job.steps.made_again(begin))


# ---- all of them

class Drill:
    def __init__(self, options, rng, place):
        self.options, self.rng, self.place = options, rng, place
        self.program = PROGRAMS[options.training]
        self.outcomes = {}  # of rounds that passed, by kind
        self.killed = collections.Counter()  # parts, in these
        self.asked, self.wrong, self.told, self.stages = 0, [], [], 0

    def play(self, where):
        """All rounds that are asked for with the operator there."""
        kinds = {kind: ways for kind, ways in KINDS[where].items() if self.options.only in kind}
        rounds = rounds_of(kinds, self.options.rounds)
        self.asked += len(rounds)
        self.outcomes.update({kind: [] for kind in kinds})
        self.rng.shuffle(rounds)
        while rounds:
            place = self.place / f"stage{self.stages}"
            place.mkdir()
            self.stages += 1
            before = len(rounds)
            bad = self.play_stage(Stage(self.options.muster, place, where == "apart", STEP_PAUSE_S, self.program), rounds)
            self.wrong += bad
            print(*bad, sep="\n", end="\n" if bad else "", flush=True)
            if len(rounds) == before:
                break  # nothing works

    def play_stage(self, stage, rounds):
        """Takes rounds that can be played on one stage; what went wrong. A stage on which one does not pass is given up."""
        wrong, played = [], []
        try:
            stage.begin(jobs_for(rounds))
            while chosen := take_round(rounds, stage.jobs):
                each, jobs = chosen
                job = self.rng.choice(jobs)
                played.append(f"{', '.join(each.way)} ({job.name})")
                self.outcomes[each.kind].append(play_round(stage, job, each, self.rng, self.options.away))
                self.killed.update(each.way)
            for job in stage.jobs:
                (job.place / "finish").touch()
            for job in stage.jobs:
                job.finish()
        except Stuck as why:
            logs = [stage.call("logs", f"elasticjob/{job.name}", "--tail", "12", may_fail=True) for job in stage.jobs]
            wrong.append("\n".join([f"{'; '.join(played[-4:])}: {why}", *map(stage.tail, ("server", "operator")), *logs]))
        finally:
            stage.close()
            wrong += [f"process {pid} was left: {command_line(pid)}" for pid in reap(GONE_WITHIN_S)]
        self.told += [job.steps.lines for job in stage.jobs]
        return wrong

    def compare(self):
        """(how many steps the longest job made, where losses differ from those of an undisturbed run)"""
        steps = 1 + max((line["step"] for lines in self.told for line in lines), default=0)
        (place := self.place / "undisturbed").mkdir()
        losses = undisturbed(str(self.place / "stage0" / "bin" / "muster-run"), steps, place, self.program)
        return steps, [text for lines in self.told for text in differences(lines, losses)]

    def tell(self, steps, differ):
        print(*differ[:20], sep="\n", end="\n" if differ else "")
        for kind, found in self.outcomes.items():
            seconds = [each.seconds for each in found]
            print(f"{kind}: {len(found)} recovered" + (
                f", after median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s; "
                f"at most {max(each.made_again for each in found)} steps made again" if found else ""))
        print("killed: " + ", ".join(f"{part} {times} times" for part, times in sorted(self.killed.items())))
        print(f"{sum(map(len, self.outcomes.values()))} of {self.asked} rounds recovered, {len(self.wrong)} went wrong, "
              f"{steps} steps, {len(differ)} with another loss than undisturbed")


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("rounds", type=int, nargs="?", default=200, help="of each kind")
    parser.add_argument("--operator", choices=KINDS, help="where it is; default: both, one after the other")
    parser.add_argument("--training", choices=PROGRAMS, default="torch")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="kinds with these words")
    parser.add_argument("--away", type=float, default=2.0, help="for how many seconds at most server, API and operator are away")
    options = parser.parse_args()
    options.operator = [options.operator] if options.operator else list(KINDS)
    if not any(options.only in kind for where in options.operator for kind in KINDS[where]):
        parser.error(f"nothing has the words {options.only!r}; there are: " + "; ".join(kind for kinds in KINDS.values() for kind in kinds))
    return options


def main():
    options = read_options()
    become_subreaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="muster-drill-", dir="/var/tmp") as name:
        drill = Drill(options, random.Random(options.seed), pathlib.Path(name))
        for where in options.operator:
            drill.play(where)
        steps, differ = drill.compare()
    drill.tell(steps, differ)
    return 1 if drill.wrong or differ else 0


if __name__ == "__main__":
    sys.exit(main())
