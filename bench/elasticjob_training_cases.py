"""ElasticJobs that train on this machine: to the first step, and what a change of the number of workers costs."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from elastic_jobs import SCRIPT, all_stepped, parse
from figure import Figure
from measure import Failed, median, rounds, wait_for
from peer_cases import program
from up_cases import Up

FIRST_ROUNDS = 7
SCALE_ROUNDS = 3
PATIENCE = 90

TEMPLATE = """
            spec:
              containers:
                - name: {container}
                  image: none
                  command: [/bin/sh, -c, "{launcher} --nnodes={nodes} --nproc_per_node=1 --max_restarts=1000 {script} {said}"]
"""
ELASTIC_JOB = """
apiVersion: elastic.iml.github.io/v1alpha1
kind: ElasticJob
metadata: {{name: bench, namespace: default}}
spec:
  distributionStrategy: AllreduceStrategy
  replicaSpecs:
    worker:
      replicas: {workers}
      template:
        {template}
"""
PYTORCH_JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: bench, namespace: default}}
spec:
  pytorchReplicaSpecs:
    Master:
      restartPolicy: OnFailure
      template: &template
        {template}
    Worker:
      replicas: {others}
      restartPolicy: OnFailure
      template: *template
"""


def manifest(job, container, launcher, workers, nodes, said):
    template = TEMPLATE.format(container=container, launcher=launcher, nodes=nodes, script=SCRIPT, said=said).strip()
    return job.format(workers=workers, others=workers - 1, template=template)


def environment():
    """Debian's Python has PyTorch; one thread a worker, as by every launcher that the others are compared with."""
    return {**os.environ, "PATH": f"/usr/bin:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}


def lines_of(said):
    return parse(said.read_text()) if said.exists() else []


def wait_until(said, seen, what, log=None):
    """What `seen` makes of the lines, once that is something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if (found := seen(lines_of(said))) is not None:
            return found
        time.sleep(0.01)
    raise Failed(f"no {what} within {PATIENCE} s", log)


@contextlib.contextmanager
def workplace():
    """Not below /tmp, of which each pod has its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="muster-bench-") as directory:
        yield pathlib.Path(directory)


def stop(process):
    """As Ctrl-C does, which ends its pods too."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    if wait_for(process, 30) is None:
        process.kill()
        process.wait()


def first_step(muster, text, workers):
    """Seconds from `muster run` to the first step of all ranks."""
    with workplace() as directory:
        job, said, log = directory / "job.yaml", directory / "said", directory / "log"
        job.write_text(text(said))
        begin = time.monotonic()
        with open(log, "wb") as output:
            process = subprocess.Popen([muster, "run", "-q", job], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       cwd=directory, env=environment())
        try:
            return wait_until(said, lambda lines: all_stepped(lines, workers, set()), "first step", log) - begin
        finally:
            stop(process)


def elasticjob_first_step(muster):
    """Three workers of an ElasticJob and of a PyTorchJob that is elastic, in turns."""
    workers = 3
    kinds = {
        "ElasticJob": lambda said: manifest(ELASTIC_JOB, "main", "dlrover-run", workers, "$NODE_NUM", said),
        "PyTorchJob": lambda said: manifest(PYTORCH_JOB, "pytorch", "torchrun", workers, str(workers), said).replace(
            "namespace: default}", 'namespace: default, annotations: {muster.dev/elastic: "true"}}')}
    seconds = {kind: [] for kind in kinds}
    for _ in range(rounds(FIRST_ROUNDS)):
        for kind, text in kinds.items():
            seconds[kind].append(first_step(muster, text, workers))
    medians = {kind: median(values) for kind, values in seconds.items()}
    return [Figure(f"muster run of an ElasticJob of {workers} workers: to the first step, beyond an elastic PyTorchJob",
                   medians["ElasticJob"] - medians["PyTorchJob"], 0.2, "s",
                   f"medians of {len(seconds['ElasticJob'])}: {medians['ElasticJob']:.2f} s against {medians['PyTorchJob']:.2f} s")]


def first_steps(lines, workers, since):
    """When each rank of a world of that size made its first step after that moment, once all have: {rank: time}."""
    first = {}
    for line in lines:
        if line["what"] == "step" and line["world"] == workers and line["at"] > since:
            first.setdefault(line["rank"], line["at"])
    return first if len(first) == workers else None


def without_a_step(said, workers, scale):
    """(seconds from the last step of the world before to the first one of all of the next, and of these what its slowest worker took
    from its start to its first step)."""
    since = time.monotonic()
    scale()
    first = wait_until(said, lambda lines: first_steps(lines, workers, since), f"step of {workers} workers")
    lines = lines_of(said)
    slowest = max(first, key=first.get)
    begun = max(line["at"] for line in lines
                if line["what"] == "started" and line["rank"] == slowest and line["world"] == workers and line["at"] < first[slowest])
    last = max(line["at"] for line in lines if line["what"] == "step" and line["world"] != workers)
    return first[slowest] - last, first[slowest] - max(begun, last)


def elasticjob_scale(muster):
    """`kubectl scale` of a training job under `muster up`, from 2 workers to 4 and back."""
    beyond = {"2 to 4": [], "4 to 2": []}
    gaps = {"2 to 4": [], "4 to 2": []}
    kubectl_program = program("kubectl")
    with workplace() as directory:
        job, said = directory / "job.yaml", directory / "said"
        job.write_text(manifest(ELASTIC_JOB, "main", "dlrover-run", 2, "$NODE_NUM", said))
        up = Up(muster, directory, cwd=directory, env=environment())
        try:
            def kubectl(*words):
                done = subprocess.run([kubectl_program, "--kubeconfig", up.kubeconfig, *words], capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise Failed(f"kubectl {words[0]}: {done.stderr[-500:]}")

            kubectl("apply", "-f", str(job))
            wait_until(said, lambda lines: all_stepped(lines, 2, set()), "first step")
            for _ in range(rounds(SCALE_ROUNDS)):
                for way, workers in (("2 to 4", 4), ("4 to 2", 2)):
                    time.sleep(1)
                    gap, restart = without_a_step(said, workers,
                                                  lambda: kubectl("scale", "elasticjob/bench", f"--replicas={workers}"))  # noqa: B023
                    gaps[way].append(gap)
                    beyond[way].append(gap - restart)
        finally:
            up.stop()
    return [Figure(f"kubectl scale of a job that trains, {way} workers: without a step, beyond the restart of its processes",
                   median(beyond[way]), 0.3, "s",
                   f"median of {len(gaps[way])}; without a step {', '.join(f'{gap:.2f}' for gap in gaps[way])} s") for way in beyond]


CASES = {"elasticjob-first-step": elasticjob_first_step, "elasticjob-scale": elasticjob_scale}
