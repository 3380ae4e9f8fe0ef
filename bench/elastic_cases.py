"""The figures of elastic jobs with a real program: by hand, by torchrun, by DLRover and by muster-run, in turns."""

import functools
import json
import os
import signal
import subprocess
import time

from elastic_jobs import SCRIPT, ByHand, DLRover, Muster, Torchrun, WarmMuster, all_stepped, muster_run, peers, pids_in, running
from figure import Figure
from measure import Failed, median, rounds

# A peer that does not recover is waited for so long, and no longer.
RECOVERY_LIMIT_S = 60
# What they take to notice that a node is gone, and more.
NODE_LIMIT_S = 100


# ---- what is made of the times

def beyond(ours, hand):
    """The median of what each round took more than the same by hand right beside it."""
    return median(one - other for one, other in zip(ours, hand))


def spread(seconds):
    """Least, middle and most, for people."""
    if not seconds:
        return "none"
    return "/".join(f"{value:.2f}" for value in (min(seconds), median(seconds), max(seconds))) + " s"


def told(name, tries):
    """A way's times for people; None are tries that came to nothing."""
    good = [value for value in tries if value is not None]
    lost = len(tries) - len(good)
    return f"{name} {spread(good)}" + (f", {lost} of {len(tries)} never" if lost else "")


def note(times, count):
    return f"least/median/most of {count} in turns: " + "; ".join(told(name, tries) for name, tries in times.items())


def in_turns(kinds, count, measure):
    """{title: [what measure(kind) gave]}; each comes first in turn, so that a slow minute hits all alike. A peer that
    fails is said so, and counts as a try that came to nothing."""
    times = {kind.title: [] for kind in kinds}
    for turn in range(count):
        for kind in [*kinds[turn % len(kinds):], *kinds[:turn % len(kinds)]]:
            try:
                times[kind.title] += measure(kind)
            except Failed as why:
                if kind not in (Torchrun, DLRover):
                    raise
                print(f"elastic: {why}", flush=True)
                times[kind.title].append(None)
    return times


# ---- launch

def launch(muster):
    del muster
    python, others = peers()
    count = rounds(7)

    def once(kind):
        with running(kind, python, 1, 2) as job:
            return [job.first_step()]

    times = in_turns([ByHand, Muster, *others], count, once)
    return [Figure("launch to first step, 1 node x 2 workers, beyond by hand", beyond(times["muster-run"], times["by hand"]), 0.1,
                   "s", note(times, count))]


# ---- a worker's death

def recoveries(kind, python, nodes, workers, kills):
    """Seconds from each of some kills to the next step of all."""
    found = []
    with running(kind, python, nodes, workers) as job:
        job.first_step()
        job.settle(set())
        for kill in range(kills):
            job.get_ready()
            found.append(job.kill_worker((kill + 1) % (nodes * workers), RECOVERY_LIMIT_S))
            if found[-1] is None:
                break  # it does not come back to life
    return found


def warm_works(python):
    """Whether --warm does something in this muster-run."""
    plan = subprocess.run([muster_run(), "--standalone", *WarmMuster.more, "--print-plan", SCRIPT], check=True, capture_output=True,
                          env={**os.environ, "PYTHON_EXEC": str(python)})
    return not any("--warm" in notice["text"] for notice in json.loads(plan.stdout)["notices"])


def recovery_of(python, kinds, nodes, workers, what, limit):
    kills = 3
    times = in_turns(kinds, rounds(3), functools.partial(recoveries, python=python, nodes=nodes, workers=workers, kills=kills))
    ours = times["muster-run"]
    lost = ours.count(None)
    good = [value for value in ours if value is not None]
    figures = [Figure(f"worker's death to next step, {what}, beyond by hand", median(good) - median(times["by hand"]), limit, "s",
                      note(times, len(ours)))] if good else []
    return [*figures, Figure(f"the same: kills that were not recovered from, of {len(ours)}", lost, 0, "")], times


def recovery(muster):
    del muster
    python, others = peers()
    here, times = recovery_of(python, [ByHand, Muster, *others], 1, 2, "1 node x 2 workers", 0.1)
    if warm_works(python):
        warm = recoveries(WarmMuster, python, 1, 2, rounds(3) * 3)
        good = [value for value in warm if value is not None]
        here += [Figure("worker's death to next step, 1 node, with a warm spare", median(good), 0.8, "s", told("muster-run", warm)),
                 Figure(f"the same: kills that were not recovered from, of {len(warm)}", warm.count(None), 0, "")]
    else:
        print("elastic-recovery: --warm not measured, it has no effect yet", flush=True)
    # "As on one node, and 0.1 s": there by hand and 0.1 s.
    there, _ = recovery_of(python, [ByHand, Muster, *others], 2, 1, "2 nodes x 1 worker", 0.2)
    return here + there


# ---- a node

def stepped_with(job, world, begin, old, limit):
    at = job.wait_until(lambda lines: all_stepped([line for line in lines if line["at"] > begin], world, old), limit)
    return None if at is None else at - begin


def lose_and_return(kind, python, how, limit=NODE_LIMIT_S):
    """Two nodes of which the second is lost and comes back: seconds to stepping with one, and again with two."""
    with running(kind, python, 2, 1, "1:2") as job:
        job.first_step()
        job.settle(set())
        begin = time.monotonic()
        stays = [line["pid"] for line in job.lines() if line["what"] == "step" and line["rank"] == 0][-1]
        gone = pids_in(job.lines()) - {stays}
        job.lose(1, how)
        # The one that is left may continue in the same process, or restart.
        alone = stepped_with(job, 1, begin, gone, limit)
        if alone is None:
            return None, None
        if how != signal.SIGKILL:
            job.lose(1)
        old, begin = pids_in(job.lines()), time.monotonic()
        job.start(1)
        return alone, stepped_with(job, 2, begin, old, limit)


def by_hand_alone_and_back(python):
    with running(ByHand, python, 1, 2) as job:
        job.first_step()
        job.settle(set())
        return job.resize(1), job.resize(2)


def node(muster):
    del muster
    python, others = peers()
    count = rounds(3)
    hand, broken, silent = [], [], []
    for _ in range(count):
        hand.append(by_hand_alone_and_back(python))
        broken.append(lose_and_return(Muster, python, signal.SIGKILL))
        silent.append(lose_and_return(Muster, python, signal.SIGSTOP))
    # They take a minute each: once is enough to see what they do.
    said = []
    for kind in others:
        try:
            alone, back = lose_and_return(kind, python, signal.SIGKILL)
            said.append(f"{kind.title} alone {told('after', [alone])}, with two again {told('after', [back])}")
        except Failed as why:
            said.append(f"{kind.title} failed")
            print(f"elastic-node: {why}", flush=True)
    alone, back = zip(*hand)
    figures = []
    for what, tries, limit in (("its connection broken", broken, 0.2), ("silent, with the heartbeat of 5 s", silent, 5.2)):
        good = [one for one, _ in tries if one is not None]
        if good:
            figures.append(Figure(f"node gone, {what}, --nnodes 1:2: to stepping with one, beyond by hand", median(good) - median(alone),
                                  limit, "s", f"muster-run {spread(good)}; by hand {spread(alone)}; " + "; ".join(said)))
        figures.append(Figure(f"the same: did not continue alone, of {count}", count - len(good), 0, ""))
    again = [other for _, other in broken + silent]
    good = [value for value in again if value is not None]
    if good:
        figures.append(Figure("the node comes back: to stepping with two, beyond by hand", median(good) - median(back), 0.2, "s",
                              f"muster-run {spread(good)}; by hand {spread(back)}"))
    figures.append(Figure(f"the same: not come back, of {len(again)}", len(again) - len(good), 0, ""))
    return figures


CASES = {"elastic-launch": launch, "elastic-recovery": recovery, "elastic-node": node}
