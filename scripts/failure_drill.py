"""Kills each replica type of each framework's example once, and says what becomes of the job.

failure_drill.py MUSTER [--only WORDS] [--write]. One row for each case: the framework, the replica whose first process
gets SIGKILL while it trains, the restart policy of all replicas, the outcome, which were restarted, and the seconds
from the kill until the ranks had found each other again. With --write the rows of the cases that were run are written to
docs/failures.md; without it, one that ends otherwise than the page says is a failure.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "failures.md"
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import examples  # noqa: E402
from page_table import PageTable, cells  # noqa: E402
from programs import Missing  # noqa: E402

# A job that neither ends nor trains is given up; no case that ends takes a third of it on two cores of their own.
LIMIT_S = 180

HEAD = ("| Framework | Killed | Restart policy | Outcome | Restarted | Seconds to recover |\n"
        "|---|---|---|---|---|---|\n")
TABLE = PageTable("rows", HEAD, 3)

# ---- the cases ----


class Example:
    """A manifest with the words that tell that its ranks have found each other (`ready`, and how many of these lines
    there are) and that they train (`trains`), and the variables that make it train long enough to be disturbed."""

    def __init__(self, framework, manifest, ready, trains, longer):
        self.framework, self.manifest = framework, manifest
        self.ready, self.trains, self.longer = ready, trains, longer


READY = r"\d is ready"
EPOCH = r"epoch \d+ of"

EXAMPLES = {
    example.framework: example for example in (
        Example("PyTorch DDP", "pytorch-digits.yaml", (READY, 3), EPOCH, {"EPOCHS": "60"}),
        Example("torchrun", "pytorch-torchrun.yaml", (READY, 4), EPOCH, {"EPOCHS": "60"}),
        Example("torchrun, elastic", "pytorch-elastic.yaml", ("begins with epoch", 3), EPOCH, {"EPOCHS": "60"}),
        Example("Accelerate", "pytorch-accelerate.yaml", (READY, 2), EPOCH, {"EPOCHS": "40"}),
        Example("Lightning", "pytorch-lightning.yaml", (READY, 2), "All DDP processes registered", {"EPOCHS": "40"}),
        Example("DeepSpeed", "pytorch-deepspeed.yaml", (READY, 2), EPOCH, {"EPOCHS": "40"}),
        Example("TensorFlow, mirrored", "tensorflow-digits.yaml", (READY, 2), EPOCH, {}),
        Example("TensorFlow, servers", "tensorflow-servers.yaml", ("is ready", 5), None, {"STEPS": "800"}),
        Example("XGBoost", "xgboost-cancer.yaml", (READY, 3), None, {"ROUNDS": "200"}),
        Example("Paddle", "paddle-digits.yaml", (READY, 2), EPOCH, {}),
        Example("JAX", "jax-digits.yaml", ("is ready", 2), EPOCH, {}),
        Example("MXNet", "mxnet-digits.yaml", (READY, 2), EPOCH, {}),
        Example("Open MPI", "mpi-digits.yaml", (READY, 4), EPOCH, {"EPOCHS": "400"}),
        Example("MPICH", "mpich-digits.yaml", (READY, 4), EPOCH, {"EPOCHS": "400"}),
    )
}


class Case:
    def __init__(self, framework, replica, policy):
        self.example, self.replica, self.policy = EXAMPLES[framework], replica, policy

    @property
    def key(self):
        return (self.example.framework, self.replica, self.policy)


# "group" and "replica" are what the annotation muster.dev/restart says; without it the kind decides whether one failure
# restarts all replicas as one generation.
CASES = [
    Case(framework, replica, policy)
    for framework, replicas, policies in (
        ("PyTorch DDP", ("Master", "Worker"), ("Never", "OnFailure", "ExitCode", "OnFailure, group")),
        ("torchrun", ("Master", "Worker"), ("OnFailure",)),
        ("torchrun, elastic", ("Worker",), ("OnFailure", "ExitCode")),
        ("Accelerate", ("Worker",), ("Never", "OnFailure")),
        ("Lightning", ("Worker",), ("OnFailure",)),
        ("DeepSpeed", ("Worker",), ("OnFailure",)),
        ("TensorFlow, mirrored", ("Worker",), ("Never", "OnFailure", "OnFailure, group")),
        ("TensorFlow, servers", ("Chief", "PS", "Worker", "Evaluator"), ("OnFailure",)),
        ("XGBoost", ("Worker",), ("Never",)),
        ("XGBoost", ("Master", "Worker"), ("OnFailure", "OnFailure, replica")),
        ("Paddle", ("Worker",), ("OnFailure", "OnFailure, replica")),
        ("JAX", ("Worker",), ("OnFailure", "OnFailure, group")),
        ("MXNet", ("Scheduler", "Server", "Worker"), ("OnFailure", "OnFailure, replica")),
        ("Open MPI", ("Launcher", "Worker"), ("Never", "OnFailure", "OnFailure, replica")),
        ("MPICH", ("Launcher", "Worker"), ("OnFailure",)),
    )
    for policy in policies
    for replica in replicas
]

# ---- decisions ----


def replicas_of(job):
    return next(value for field, value in job["spec"].items() if field.endswith("ReplicaSpecs"))


def changed(job, policy):
    """The manifest with this restart policy everywhere."""
    restart, _, together = policy.partition(", ")
    for replica in replicas_of(job).values():
        replica["restartPolicy"] = restart
    if together:
        job["metadata"].setdefault("annotations", {})["muster.dev/restart"] = together
    return job


def victim(job, replica):
    """The last pod of the type: with more than one, a pod that the others do not meet at."""
    if replica == "Launcher":
        return f"{job['metadata']['name']}-launcher"
    count = replicas_of(job)[replica].get("replicas", 1)
    return f"{job['metadata']['name']}-{replica.lower()}-{count - 1}"


class Line:
    """What muster wrote, and when."""

    def __init__(self, at, text):
        self.at, self.text = at, text


def recovered_at(lines, killed, ready):
    """When every rank that there was said again that it is ready, counted from the first that says so after the kill."""
    pattern, _ = ready
    said = [line.at for line in lines if line.at > killed and " | " in line.text and re.search(pattern, line.text)]
    return said[-1] if said else None


def restarted(lines, killed, job):
    """The replica types of which a pod was restarted or made again after the kill."""
    found = set()
    for line in lines:
        match = re.match(r"muster: pod (\S+) (?:restarted|scheduled)", line.text)
        if match and line.at > killed:
            found.update(kind for kind in replicas_of(job) if match[1].startswith(f"{job['metadata']['name']}-{kind.lower()}"))
    return ", ".join(kind for kind in replicas_of(job) if kind in found) or "none"


class Row:
    def __init__(self, case, outcome, names, seconds):
        self.case, self.outcome, self.restarted, self.seconds = case, outcome, names, seconds

    @property
    def text(self):
        seconds = f"{self.seconds:.1f}" if self.seconds is not None else "–"
        return "| " + " | ".join([*self.case.key, self.outcome, self.restarted, seconds]) + " |\n"


def table(text):
    """The page's rows by (framework, replica, policy): their cells."""
    return {key: cells(line) for key, line in TABLE.rows(text).items()}


def page(text, rows):
    """The text with these rows in the place of those of the same cases, all in the order of the cases."""
    return TABLE.with_rows(text, [row.text for row in rows], [case.key for case in CASES])


def disagreements(text, rows):
    """How these cases differ from the page; seconds and new cases don't count."""
    told = table(text)
    return [f"{' '.join(row.case.key)}: {row.outcome}, and the page says {told[row.case.key][3]}"
            for row in rows if row.case.key in told and told[row.case.key][3] != row.outcome]


# ---- one case ----


class Run:
    """A `muster run` and what it says, line by line as it comes."""

    def __init__(self, muster, manifest, variables, environment):
        mark = uuid.uuid4().hex
        self.mark = f"MUSTER_DRILL_MARK={mark}"
        environment = {**environment, **variables, "MUSTER_DRILL_MARK": mark}
        self.lines = []
        self.arrived = threading.Condition()
        self.ended = False
        self.process = subprocess.Popen([muster, "run", manifest], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for text in self.process.stdout:
            with self.arrived:
                self.lines.append(Line(time.monotonic(), text.rstrip("\n")))
                self.arrived.notify_all()
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def count(self, pattern):
        return sum(" | " in line.text and re.search(pattern, line.text) is not None for line in self.lines)

    def wait_for(self, pattern, count):
        with self.arrived:
            there = self.arrived.wait_for(lambda: self.ended or self.count(pattern) >= count, LIMIT_S)
            if not there or self.count(pattern) < count:
                raise SystemExit(f"the job did not say {pattern!r} {count} times:\n{self.tail()}")

    def tail(self):
        return "\n".join(line.text for line in self.lines[-40:])

    def kill(self, pod):
        """SIGKILL for the first process of the pod's container."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if self.mark.encode() in variables and f"HOSTNAME={pod}".encode() in variables:
                found.append(int(entry.name))
        if not found:
            raise SystemExit(f"{pod} has no process to kill:\n{self.tail()}")
        os.kill(min(found), signal.SIGKILL)
        return time.monotonic()

    def finish(self):
        """The exit status, or None of a job that was given up."""
        with self.arrived:
            ended = self.arrived.wait_for(lambda: self.ended, LIMIT_S)
        if not ended:
            self.process.send_signal(signal.SIGINT)
        self.reader.join()
        status = self.process.wait()
        return status if ended else None


def rehearse(muster, case):
    """The row of a case; raises Missing where its framework can't be had."""
    example = case.example
    environment = examples.environment_for(example.manifest)
    shutil.rmtree(examples.TRACES.get(example.manifest, "/nonexistent"), ignore_errors=True)
    job = changed(yaml.safe_load(examples.manifest(example.manifest).read_text()), case.policy)
    with tempfile.TemporaryDirectory() as place:
        manifest = pathlib.Path(place) / example.manifest
        manifest.write_text(yaml.safe_dump(job))
        run = Run(str(muster), str(manifest), example.longer, environment)
        try:
            run.wait_for(*example.ready)
            if example.trains:
                run.wait_for(example.trains, 1)
            killed = run.kill(victim(job, case.replica))
            status = run.finish()
        except BaseException:
            run.process.send_signal(signal.SIGINT)
            run.finish()
            raise
    recovered = recovered_at(run.lines, killed, example.ready)
    outcome = {0: "Succeeded", None: "hangs"}.get(status, "Failed")
    if os.environ.get("MUSTER_DRILL_LOG"):
        print(run.tail(), flush=True)
    return Row(case, outcome, restarted(run.lines, killed, job),
               recovered - killed if recovered and outcome == "Succeeded" else None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases whose row has these words")
    parser.add_argument("--write", action="store_true", help="write the rows to docs/failures.md")
    options = parser.parse_args()
    chosen = [case for case in CASES if options.only.lower() in " ".join(case.key).lower()]
    if not chosen:
        parser.error(f"no case has the words {options.only!r}; there are: " + "; ".join(" ".join(case.key) for case in CASES))
    rows = []
    print(HEAD, end="", flush=True)
    for case in chosen:
        try:
            row = rehearse(options.muster.absolute(), case)
        except Missing as why:
            print(f"{' '.join(case.key)}: not rehearsed, {why}", flush=True)
            continue
        rows.append(row)
        print(row.text, end="", flush=True)
        if options.write:
            PAGE.write_text(page(PAGE.read_text(), [row]))
    hanging = [row for row in rows if row.outcome == "hangs"]
    print(f"{len(rows)} replicas killed, {len(hanging)} jobs did not end within {LIMIT_S} s")
    wrong = disagreements(PAGE.read_text(), rows)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
