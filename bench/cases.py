"""The figures that must hold. Each case measures one and returns a Figure."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import checkpoint_cases
import elastic_cases
import elastic_native_cases
import elastic_store_cases
import elasticjob_away_cases
import elasticjob_cases
import elasticjob_training_cases
import example_cases
import loop_cases
import manifest_cases
import mpi_cases
import operator_cases
import peer_cases
import policy_cases
import script_cases
import share_cases
import step_cases
import up_cases
from figure import Figure
from measure import ROOT, Failed, Job, Skipped, cpu_seconds, median, memory_bytes, processes_of, run_built, run_quietly, wait_for

EXAMPLE = ROOT / "examples" / "pytorch-digits.yaml"


# Replicas as in the example: one master, two workers. The script runs in each of them.
MANIFEST = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: bench, namespace: default}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template: &template
        spec:
          containers:
            - name: pytorch
              image: none
              command: ["/bin/sh", "-c", {script}]
    Worker:
      replicas: 2
      restartPolicy: Never
      template: *template
"""


@contextlib.contextmanager
def workplace():
    """A directory that pods see too: not below /tmp, of which each pod has its own."""
    parent = ROOT / "build" / "bench"
    parent.mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(tempfile.mkdtemp(dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write_job(directory, script):
    path = directory / "job.yaml"
    path.write_text(MANIFEST.format(script=json.dumps(script)))
    return path


def stamps(directory, name):
    """The times that the replicas left behind, one each, in seconds since the epoch."""
    found = [int(path.read_text()) / 1e9 for path in directory.glob(f"{name}.*") if path.read_text().strip()]
    if len(found) != 3:
        raise Failed(f"{len(found)} of 3 replicas left a time", directory / "log")
    return found


# The last thing that a replica does is to write the time, and the first one too: `date` replaces the shell.
STAMP = "exec date +%s%N > {directory}/{name}.$RANK"


def version(muster):
    seconds = [run_quietly([muster, "version"]) for _ in range(60)]
    if any(code for _, code in seconds):
        raise Failed("muster version failed")
    return [Figure("muster version, process start to exit", median(s for s, _ in seconds) * 1000, 15, "ms", "median of 60")]


def namespaces_work(muster):
    with workplace() as directory:
        job = write_job(directory, "true")
        return run_quietly([muster, "run", str(job), "--sandbox", "namespaces"])[1] == 0


def start_once(muster, sandbox):
    with workplace() as directory:
        manifest = write_job(directory, STAMP.format(directory=directory, name="started"))
        job = Job(muster, [manifest, "--sandbox", sandbox], directory)
        job.wait()
        return max(stamps(directory, "started")) - job.begin


def start(muster):
    figures = []
    for sandbox, limit, how in (("namespaces", 100, "with namespaces"), ("none", 60, "without")):
        if sandbox == "namespaces" and not namespaces_work(muster):
            print(f"start {how}: not measured, namespaces are not allowed here")
            continue
        seconds = median(start_once(muster, sandbox) for _ in range(15))
        figures.append(Figure(f"start of the binary to all three user processes running, {how}",
                              seconds * 1000, limit, "ms", "median of 15"))
    return figures


def exit_once(muster, directory):
    script = "sleep 0.3; " + STAMP.format(directory=directory, name="ended")
    manifest = write_job(directory, script)
    job = Job(muster, [manifest], directory)
    job.wait()
    return job.end - max(stamps(directory, "ended"))


def exit_(muster):
    seconds = []
    for _ in range(15):
        with workplace() as directory:
            seconds.append(exit_once(muster, directory))
    return [Figure("last user process's exit to exit of muster run", median(seconds) * 1000, 50, "ms", "median of 15")]


def idle(muster):
    window = 10
    with workplace() as directory:
        job = Job(muster, [write_job(directory, "exec sleep 60")], directory)
        try:
            time.sleep(2)
            pids = processes_of(muster, job.pid)
            before = sum(map(cpu_seconds, pids))
            begin = time.monotonic()
            time.sleep(window)
            if job.process.poll() is not None:
                raise Failed("muster run ended while its job slept", job.log)
            share = (sum(map(cpu_seconds, pids)) - before) / (time.monotonic() - begin) * 100
            own = memory_bytes(job.pid, "Rss")
            all_of_it = sum(memory_bytes(pid, "Pss") for pid in pids)
        finally:
            job.stop()
    # The stricter of two readings: the process itself, or it and the pods' inits together.
    megabytes = max(own, all_of_it) / 1e6
    return [
        Figure("idle muster run while the job sleeps, CPU", share, 0.5, "% of a core", f"{len(pids)} processes, {window} s"),
        Figure("idle muster run while the job sleeps, memory", megabytes, 30, "MB",
               f"{own / 1e6:.1f} MB resident, {all_of_it / 1e6:.1f} MB with the pods' inits"),
    ]


# A worker whose first connection is refused sleeps for a second before its next: whether it is depends on whose imports
# are done first, under muster and by hand alike, and a second is more than what is measured. So workers come in when
# the master listens.
PATIENT_WORKER = """
import os, runpy, socket, sys, time
sys.path[:0] = ["examples"]
import torch.nn.parallel, drawn_digits
while True:
    try:
        socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))).close()
        break
    except OSError:
        time.sleep(0.01)
runpy.run_path("examples/digits.py", run_name="__main__")
"""


def patient_example(directory):
    """The example with workers that wait for the master, as a file."""
    import copy

    import yaml

    job = yaml.safe_load(EXAMPLE.read_text())
    replicas = job["spec"]["pytorchReplicaSpecs"]
    replicas["Worker"] = copy.deepcopy(replicas["Worker"])  # the example shares one template
    replicas["Worker"]["template"]["spec"]["containers"][0]["command"] = ["python3", "-c", PATIENT_WORKER]
    path = pathlib.Path(directory) / "patient.yaml"
    path.write_text(yaml.safe_dump(job))
    return path


def pods_of(muster, manifest):
    """A job's pods as they would be created: [(argv, {name: value}, working directory)]."""
    import yaml

    shown = subprocess.run([muster, "run", manifest, "--dry-run"], capture_output=True, text=True, check=True, cwd=ROOT)
    pods = []
    for document in yaml.safe_load_all(shown.stdout):
        for item in (document or {}).get("items", [document]):
            if item and item.get("kind") == "Pod":
                container = item["spec"]["containers"][0]
                env = {e["name"]: e.get("value", "") for e in container.get("env", [])}
                pods.append((container.get("command", []) + container.get("args", []), env, container.get("workingDir", ROOT)))
    if len(pods) != 3:
        raise Failed(f"--dry-run shows {len(pods)} pods of the example, not 3")
    return pods


def by_hand(pods):
    """The same processes with the same variables, on loopback; seconds from the first start to the last end.

    Each in a session of its own, as in three terminals: the scheduler shares a busy machine by session.
    """
    port = str(20000 + os.getpid() % 20000)
    begin = time.perf_counter()
    started = []
    for argv, env, directory in pods:
        env = dict(env, MASTER_ADDR="127.0.0.1", PET_MASTER_ADDR="127.0.0.1", MASTER_PORT=port, PET_MASTER_PORT=port)
        started.append(subprocess.Popen(argv, env=dict(os.environ, **env), cwd=directory, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True))
    codes = [wait_for(process, 120) for process in started]
    seconds = time.perf_counter() - begin
    if codes != [0, 0, 0]:  # a status, or None after the limit
        raise Failed(f"by hand, the example's processes ended with {codes}")
    return seconds


def overhead(muster):
    ours, hand = [], []
    with workplace() as place:
        example = patient_example(place)
        pods = pods_of(muster, example)

        def under_muster():
            with workplace() as directory:
                ours.append(Job(muster, [example], directory, cwd=ROOT).wait())

        for index in range(8):
            # Interleaved, and each first in turn, so that a slow minute hits both alike.
            if index % 2:
                hand.append(by_hand(pods))
                under_muster()
            else:
                under_muster()
                hand.append(by_hand(pods))
    note = f"median of {len(ours)} interleaved runs each: {median(ours):.2f} s against {median(hand):.2f} s"
    return [Figure("overhead on the example against the same processes by hand", median(ours) - median(hand), 0.3, "s", note)]


def scale(*arguments):
    """The figures of one run of muster_scale_bench, by name: (value, note)."""
    return {line["what"]: (line["value"], line["note"]) for line in run_built("muster_scale_bench", *arguments)}


def best(name, *arguments):
    """The least of three runs: other work of the machine only adds."""
    value, note = min(scale(*arguments)[name] for _ in range(3))
    return value, f"best of 3; {note}"


def scale_one(muster):
    del muster
    return [Figure(f"a PyTorchJob of {replicas:,} replicas, submit to all Running", *limited(best("seconds", "one", replicas), limit, "s"))
            for replicas, limit in ((10_000, 5), (1_000, 0.5))]


def scale_tensorflow(muster):
    del muster
    figures = []
    for case, replicas in (("dense", 2_500), ("sparse", 10_000)):
        seconds, memory = scale(case, replicas).values()
        what = f"a TFJob of {replicas:,} replicas with {case} TF_CONFIG"
        figures += [Figure(f"{what}, submit to all Running", *limited(seconds, 10, "s")),
                    Figure(f"{what}, memory", memory[0] / 1e9, 3, "GB", memory[1])]
    return figures


def slower_by_number():
    """Time for each of 64,000 jobs against each of 2,000, with half of the short runs before a long one and half
    after it: a machine's speed drifts by a third, so the luckiest of a few short runs says little."""
    rounds = []
    for _ in range(3):
        short = [scale("many", 2_000)["seconds"][0] for _ in range(5)]
        long, note = scale("many", 64_000)["seconds"]
        short += [scale("many", 2_000)["seconds"][0] for _ in range(5)]
        few = sum(short) / len(short)
        rounds.append(((long / 64_000) / (few / 2_000), long, few, note))
    ratio, long, few, note = sorted(rounds)[1]
    return ratio, (f"median of 3 rounds, {min(rounds)[0]:.2f} to {max(rounds)[0]:.2f}: {long:.1f} s against {few:.2f} s, "
                   f"the mean of 10; {note}")


def scale_many(muster):
    del muster
    ratio, note = slower_by_number()
    return [
        Figure("10,000 jobs of one replica, submit to all Succeeded", *limited(best("seconds", "many", 10_000), 10, "s")),
        Figure("time for each of 64,000 such jobs against each of 2,000", ratio, 1.25, "times", note),
    ]


def scale_beside(muster):
    del muster
    return [Figure("a one-replica job's pod while 10,000 others are being made, from its submission",
                   *limited(best("milliseconds", "beside", 10_000), 50, "ms"))]


def scale_memory(muster):
    del muster
    found = scale("memory", 10_000)
    return [
        Figure("operator and caches, each tracked pod", *limited(found["bytes a pod"], 1536, "bytes")),
        Figure("operator and caches, each job", *limited(found["bytes a job"], 2048, "bytes")),
        Figure("operator and caches, each pod without a job", *limited(found["bytes a stranger"], 16, "bytes")),
        Figure("the API's store, each pod and its service", *limited(found["store bytes a pod"], 32_768, "bytes")),
    ]


def scale_decide(muster):
    del muster
    return [Figure("CPU to decide about one changed pod of 10,000", *limited(best("milliseconds", "decide", 10_000), 1, "ms"))]


def scale_simulation(muster):
    del muster
    return [
        Figure("100,000 simulated pods through their lives", *limited(scale("simulate", 100_000)["seconds"], 60, "s")),
        Figure("runs of one seed that differ", *limited(scale("hashes", 5_000)["differences"], 0, "of 2")),
    ]


def limited(measured, limit, unit):
    value, note = measured
    return value, limit, unit, note


def sandbox(case, count, user=None):
    """The figures of one run of muster_sandbox_bench: [(name, value)]; as another user from a copy that it may read."""
    program = ROOT / "build" / "release" / "src" / "runtime" / "muster_sandbox_bench"
    if not program.exists():
        raise Failed("muster_sandbox_bench is not built")
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="muster-bench-") as place:
        identity = {}
        if user is not None:
            os.chmod(place, 0o755)
            program = shutil.copy(program, place)
            identity = {"user": user, "group": user, "extra_groups": []}
        run = subprocess.run([program, case, str(count)], capture_output=True, text=True, check=False, cwd="/", **identity)
    if run.returncode != 0:
        raise Failed(f"muster_sandbox_bench {case} {count} ended with {run.returncode}\n{run.stderr[-2000:]}")
    return [(line["what"], line["value"]) for line in map(json.loads, run.stdout.splitlines())]


def least(case, count, runs=5, user=None):
    """The least of a few runs: other work of the machine only adds."""
    return min(dict(sandbox(case, count, user))["seconds"] for _ in range(runs))


def need_root():
    if os.geteuid() != 0:
        raise Skipped("pods in namespaces are measured as root")


NOBODY = 65534


def sandbox_start(muster):
    del muster
    need_root()
    users = ((None, "as root"), (NOBODY, "in a user namespace"))
    # The kernel clears a thousand networks away for many seconds after the pods' end, and what is made
    # meanwhile waits for it: so the few come first.
    few = [
        figure
        for user, how in users
        for figure in (
            Figure(f"sandbox of one pod, from decision to exec, {how}", least("start", 50, user=user) * 1000, 5, "ms",
                   "median of 50, best of 5"),
            Figure(f"64 pods, from decision to exec of all, {how}", least("start-together", 64, user=user), 0.3, "s", "best of 5"))
    ]
    return few + [Figure(f"1,000 pods of sleep, {how}", least("start-together", 1000, 2, user), 6, "s", "best of 2")
                  for user, how in users]


def sandbox_end(muster):
    del muster
    need_root()
    return [
        Figure("end of a pod with 50 processes, from SIGKILL to reaped", least("end", 50) * 1000, 20, "ms", "median of 15, best of 5"),
        Figure("end of 1,000 pods", least("end-together", 1000, 3), 1, "s", "best of 3"),
    ]


def first_connect(muster):
    del muster
    need_root()
    found = dict(sandbox("connect", 2000))
    return [Figure("a pod's first connect to another, the moment both run, longest of 2,000", found["longest"] * 1000, 5, "ms",
                   f"all reach each other; gone in {found['end']:.2f} s")]


def init_memory(muster):
    del muster
    need_root()
    return [Figure("private memory of a pod's init", dict(sandbox("memory", 20))["kilobytes"], 1000, "kB", "most of 20 pods")]


def pod_network(muster):
    del muster
    need_root()
    found = sandbox("network", 9)

    def of(name):
        return median(value for what, value in found if what == name)

    pods, loopback = of("pods rtt") * 1e6, of("loopback rtt") * 1e6
    fast, faster = of("pods bandwidth") / 1e9, of("loopback bandwidth") / 1e9
    return [
        Figure("round trip of a byte between two pods on one core, more than on loopback", pods - loopback, 30, "us",
               f"medians of 9 rounds in turns: {pods:.1f} against {loopback:.1f} us"),
        Figure("bandwidth of loopback against that between two pods, one stream", faster / fast, 1.25, "times",
               f"medians of 9 rounds in turns: {faster:.2f} against {fast:.2f} GB/s"),
    ]


MARK = f"MUSTER_BENCH_MARK={os.getpid()}"
MANY_SLEEPERS = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: many, namespace: default}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: {count}
      restartPolicy: Never
      template:
        spec:
          terminationGracePeriodSeconds: 0
          containers: [{{name: pytorch, image: none, command: [sleep, "1000"]}}]
"""


def traces_of_pods(muster):
    """What pods may leave: processes of this binary or with its mark, mounts, cgroups."""
    processes = set()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if os.path.samefile(entry / "exe", muster) or MARK.encode() in (entry / "environ").read_bytes():
                processes.add(entry.name)
    mounts = set(pathlib.Path("/proc/self/mountinfo").read_text().splitlines())
    groups = {path for path, _, _ in os.walk("/sys/fs/cgroup") if os.path.basename(path).startswith("muster-")}
    return processes | mounts | groups


def sandbox_2000(muster):
    need_root()
    count = 2000
    with workplace() as directory:
        manifest = directory / "job.yaml"
        manifest.write_text(MANY_SLEEPERS.format(count=count))
        before = traces_of_pods(muster)
        os.environ.update([MARK.split("=")])
        job = Job(muster, [manifest, "--sandbox", "namespaces"], directory)
        deadline = time.monotonic() + 120
        while f"{count} active" not in job.log.read_text():
            if time.monotonic() > deadline or job.process.poll() is not None:
                job.stop()
                raise Failed("2,000 pods do not run after two minutes", job.log)
            time.sleep(0.05)
        running = time.time() - job.begin
        while_running = len(traces_of_pods(muster) - before)
        begin = time.monotonic()
        job.stop()
        ending = time.monotonic() - begin
        os.environ.pop(MARK.split("=")[0])
        left = traces_of_pods(muster) - before
    if while_running < count:
        raise Failed(f"of {count} pods only {while_running} traces are seen while they run")
    return [Figure("2,000 pods of sleep: processes, mounts and cgroups left of them", len(left), 0, "",
                   f"{while_running:,} while they ran; all ran after {running:.1f} s, gone {ending:.1f} s after Ctrl-C")]


CASES = {
    "version": version,
    "start": start,
    "exit": exit_,
    "idle": idle,
    "overhead": overhead,
    "pod-network": pod_network,
    "sandbox-start": sandbox_start,
    "sandbox-end": sandbox_end,
    "first-connect": first_connect,
    "init-memory": init_memory,
    "sandbox-2000": sandbox_2000,
    "mpi-first-line": mpi_cases.first_line,
    **up_cases.CASES,
    **step_cases.CASES,
    **policy_cases.CASES,
    **script_cases.CASES,
    **share_cases.CASES,
    **peer_cases.CASES,
    **operator_cases.CASES,
    **example_cases.CASES,
    **manifest_cases.CASES,
    **elastic_cases.CASES,
    **elastic_native_cases.CASES,
    **checkpoint_cases.CASES,
    **elastic_store_cases.CASES,
    **elasticjob_cases.CASES,
    **elasticjob_training_cases.CASES,
    **elasticjob_away_cases.CASES,
    "scale-one": scale_one,
    "scale-tensorflow": scale_tensorflow,
    "scale-many": scale_many,
    "scale-beside": scale_beside,
    "scale-memory": scale_memory,
    "scale-decide": scale_decide,
    "scale-simulation": scale_simulation,
    **loop_cases.CASES,
}

BY_NAME_ONLY = loop_cases.BY_NAME_ONLY
