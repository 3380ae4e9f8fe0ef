"""Test suites and controllers of others on `muster up`: docs/foreign-controllers.md.

foreign_drill.py MUSTER [--only WORDS]. Each suite is asked of `muster up --api-only`, of etcd with kube-apiserver, and of what it
starts itself from the folder of `muster envtest`, one after the other; each controller is installed from its own manifests on
`muster up`, and gets a job. A row of Markdown for each. Exits 1 if something fails here; what can't be built is said to be left out.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import installs  # noqa: E402
import suites  # noqa: E402
from cluster import Cluster  # noqa: E402
from programs import SOURCES, BuildFailed, Missing, build  # noqa: E402

PEER = "kube-apiserver"


def version(program):
    return f"{re.sub('-[0-9.]+$', '', program)} {SOURCES[program].version.removeprefix('v')}"


# ---- suites ----

def on_muster(muster, suite, place):
    state = place / "state"
    try:
        return suites.finish(suites.begin(suite, suites.on_cluster(suites.api_alone(muster, state)), place), place)
    finally:
        subprocess.run([muster, "down", "--state", state], check=False, stdout=subprocess.DEVNULL)


def on_peer(suite, place):
    with Cluster(place / "cluster", bare=True) as cluster:
        return suites.finish(suites.begin(suite, suites.on_cluster(cluster.kubeconfig), place), place)


def on_assets(muster, suite, place):
    assets = suites.our_assets(muster, place / "assets")
    outcome = suites.finish(suites.begin(suite, suites.on_assets(assets), place), place)
    left = "".join(f"\n--- FAIL: {path} is left" for path in suites.left_behind(place))
    return outcome._replace(said=outcome.said + left)


def suite_row(suite, here, there, started):
    return (f"| {suite.name}, {SOURCES[suite.program].version} | {here.passed} of {suite.cases} in {here.seconds:.0f} s "
            f"| {there.passed} of {suite.cases} in {there.seconds:.0f} s | {started.passed} of {suite.cases} in {started.seconds:.0f} s |")


def play_suite(muster, suite):
    build(suite.program)
    outcomes = []
    for run in (lambda place: on_muster(muster, suite, place), lambda place: on_peer(suite, place),
                lambda place: on_assets(muster, suite, place)):
        with tempfile.TemporaryDirectory(prefix="muster-suite-") as place:
            outcomes.append(run(pathlib.Path(place)))
    here, there, started = outcomes
    print(suite_row(suite, here, there, started), flush=True)
    failed = suites.failures_of(here.said) + suites.failures_of(started.said)
    print("".join(f"  {line}\n" for line in failed), end="", flush=True)
    return here.passed == started.passed == suite.cases and not failed


# ---- controllers ----

class Scene:
    """Controllers on one `muster up`, and a job that has to end well."""

    def __init__(self, name, controllers, job, resource, condition="Succeeded", flags=("--without-operator",), before=()):
        self.name, self.controllers, self.job, self.resource = name, controllers, job, resource
        self.condition, self.flags, self.before = condition, flags, before

    def play(self, muster):
        try:
            for controller in self.controllers:
                build(controller.program)
            began = time.monotonic()
            with installs.Place(muster, *self.flags) as place:
                for controller in self.controllers:
                    place.install(controller)
                if self.before:
                    place.post(self.before)
                place.ends(self.job, self.resource, self.condition)
                if self.before:
                    place.sees_what_waits()
        except installs.Failed as why:
            print(f"| {self.name} | failed | – | – |\n{why}", flush=True)
            return False
        print(f"| {self.name} | {self.condition} after {time.monotonic() - began:.0f} s | – | – |", flush=True)
        return True


def trainers(jobset, trainer):
    return Scene(f"{version(trainer.program)} with {version(jobset.program)}: TrainJob", (jobset, trainer), installs.train_job(),
                 "trainjob/demo", "Complete")


SCENES = [
    *(Scene(f"{version(each.program)}: PyTorchJob", (each,), [installs.pytorch_job()], "pytorchjob/demo")
      for each in (installs.TRAINING_OPERATOR, installs.TRAINING_OPERATOR_BEFORE)),
    *(Scene(f"{version(each.program)}: MPIJob", (each,), [installs.mpi_job()], "mpijob/demo")
      for each in (installs.MPI_OPERATOR, installs.MPI_OPERATOR_BEFORE)),
    *(Scene(f"{version(each.program)}: JobSet", (each,), [installs.job_set()], "jobset/demo", "Completed")
      for each in (installs.JOBSET, installs.JOBSET_BEFORE)),
    trainers(installs.JOBSET, installs.TRAINER),
    trainers(installs.JOBSET, installs.TRAINER_BEFORE),
    *(Scene(f"{version(kueue.program)}: PyTorchJob of {version(operator.program)}", (operator, kueue),
            [installs.pytorch_job(installs.QUEUED)], "pytorchjob/demo", before=installs.queues())
      for kueue, operator in ((installs.KUEUE, installs.TRAINING_OPERATOR), (installs.KUEUE_BEFORE, installs.TRAINING_OPERATOR_BEFORE))),
    Scene(f"{version('kueue')}: PyTorchJob of our operator", (installs.KUEUE,), [installs.pytorch_job(installs.QUEUED)],
          "pytorchjob/demo", flags=(), before=installs.queues()),
    Scene(f"{version('kueue')}: MPIJob of {version('mpi-operator-0.8')}", (installs.MPI_OPERATOR, installs.KUEUE),
          [installs.mpi_job(installs.QUEUED)], "mpijob/demo", before=installs.queues()),
    Scene(f"{version('kueue')}: TrainJob of {version('trainer')}", (installs.JOBSET, installs.TRAINER, installs.KUEUE),
          installs.train_job(installs.QUEUED), "trainjob/demo", "Complete", before=installs.queues()),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("--only", default="", help="suites and controllers with these words")
    options = parser.parse_args()
    muster = options.muster.absolute()
    plays = [(suite.name, lambda suite=suite: play_suite(muster, suite)) for suite in suites.SUITES]
    plays += [(scene.name, lambda scene=scene: scene.play(muster)) for scene in SCENES]
    chosen = [(name, play) for name, play in plays if options.only in name]
    if not chosen:
        parser.error(f"nothing has the words {options.only!r}; there are: " + "; ".join(name for name, _ in plays))
    print(f"| What | `muster up` | {PEER} {SOURCES[PEER].version} | `muster envtest` |\n|---|---|---|---|", flush=True)
    wrong = []
    for name, play in chosen:
        try:
            if not play():
                wrong.append(name)
        except (Missing, BuildFailed) as why:
            print(f"{name}: left out, {why}", flush=True)
    print(f"{len(chosen)} played, {len(wrong)} failed" + "".join(f"\n{name}" for name in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
