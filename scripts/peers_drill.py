"""Shows the faults of the launchers that muster-run stands in for: each on the launcher itself, and muster-run in the same scene.

peers_drill.py MUSTER_RUN [--kills N] [--only WORDS] [--write]. torchrun and DLRover are those of bench/elastic_peers.txt.
A row for each fault: what the peer did, what muster-run did. A peer that does not show its fault is said to, and is no
failure; exits 1 if muster-run shows one. With --write the rows are written to docs/elastic.md.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "elastic.md"
for folder in ("bench", "tests/elastic"):
    sys.path.insert(0, str(ROOT / folder))

import elastic_jobs as jobs  # noqa: E402
from measure import Failed  # noqa: E402
from page_table import PageTable  # noqa: E402
from silent_names import ADDRESSES, SilentNames, Unavailable  # noqa: E402

HEAD = "| Fault | Seen on | There | `muster-run` |\n|---|---|---|---|\n"
TABLE = PageTable("peers", HEAD, 1)

# torchrun takes 43 s to continue without a node; anything that takes twice as long is taken for never.
LIMIT_S = 90
# A worker's death, to the next step: two seconds where it comes.
KILL_LIMIT_S = 20

# One worker, which leaves a key behind and dies; the next attempt says whether it is the first to be here.
LEAVES = """
import os, signal, sys
import torch.distributed as dist
store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)
been = store.add("been here", 1)
if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    os.kill(os.getpid(), signal.SIGKILL)
print("for the first time" if been == 1 else "again", flush=True)
"""

# What a package that is not installed does, where it is.
ABSENT = 'raise ModuleNotFoundError("No module named \'kubernetes\'", name="kubernetes")\n'


class Seen:
    def __init__(self, fault, text):
        self.fault, self.text = fault, text


# ---- the launchers as they are called by hand ----


class Call:
    """How one of them is started with given words, in a folder of its own."""

    def __init__(self, kind, python, place):
        self.python, self.place = python, place
        self.words = {jobs.Torchrun: [python, "-m", "torch.distributed.run"],
                      jobs.DLRover: [python, "-m", "dlrover.trainer.torch.main"]}.get(kind, [jobs.muster_run()])

    def begin(self, *words, within=(), **environment):
        return subprocess.Popen([str(word) for word in (*within, *self.words, *words)], cwd=self.place, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                                env={**os.environ, "TMPDIR": str(self.place), "PYTHON_EXEC": str(self.python),
                                     **jobs.old_torchrun(self.python), **environment})

    def finish(self, process):
        """The exit status (None: it did not end) and what it said."""
        try:
            said, _ = process.communicate(timeout=LIMIT_S)
            return process.returncode, said
        except subprocess.TimeoutExpired:
            for pid in jobs.family_of(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
            return None, process.communicate()[0]


@contextlib.contextmanager
def calling(kind, python):
    with tempfile.TemporaryDirectory(prefix="mp-", ignore_cleanup_errors=True) as name:
        yield Call(kind, python, pathlib.Path(name))


# ---- the scenes ----


def restarts(kind, python, options):
    """Workers are killed, and the others have to find the new ones and not what the old ones have stored."""
    done = recovered = 0
    while done < options.kills:
        with contextlib.suppress(Failed), jobs.running(kind, python, 1, 2) as job:
            job.first_step()
            job.settle(set())
            while done < options.kills:
                done += 1
                if job.kill_worker(done % 2, KILL_LIMIT_S) is None:
                    break
                recovered += 1
    with calling(kind, python) as call:
        (call.place / "leaves.py").write_text(LEAVES)
        _, said = call.finish(call.begin("--standalone", "--max-restarts", 1, "leaves.py"))
    kept = "for the first time" not in said
    return Seen(recovered < done or kept,
                f"{recovered} of {done} deaths of a worker were survived; the store {'keeps' if kept else 'has nothing of'} "
                "what the attempt before stored")


def regrowth(kind, python, options):
    """A node is lost, the other continues; the node comes back."""
    del options
    with jobs.running(kind, python, 2, 1, size="1:2") as job:
        job.first_step()
        job.settle(set())
        old = jobs.pids_in(job.lines())
        job.lose(1)
        lost = time.monotonic()
        alone = job.wait_until(lambda lines: jobs.all_stepped(lines, 1, old), LIMIT_S)
        if alone is None:
            return Seen(True, "the other node did not continue alone")
        old, back = jobs.pids_in(job.lines()), time.monotonic()
        job.start(1)
        at = job.wait_until(lambda lines: jobs.all_stepped(lines, 2, old), LIMIT_S)
        dead = [node for node, agent in job.agents.items() if agent.poll() is not None]
        before = f"alone after {alone - lost:.1f} s; "
        if at is None:
            return Seen(True, before + (f"{len(dead)} of 2 agents ended" if dead else f"no step of both in {LIMIT_S} s"))
        return Seen(False, before + f"both {at - back:.1f} s after it came back")


def host(kind, python, options):
    """The node that the others meet at is lost."""
    del options
    with jobs.running(kind, python, 2, 1, size="1:2") as job:
        job.first_step()
        job.settle(set())
        old = jobs.pids_in(job.lines())
        job.lose(0)
        lost = time.monotonic()
        ended = None

        def alone(lines):
            nonlocal ended
            if ended is None and job.agents[1].poll() is not None:
                ended = time.monotonic() - lost
            return ended or jobs.all_stepped(lines, 1, old)

        at = job.wait_until(alone, LIMIT_S)
        if ended is not None:
            return Seen(True, f"the other agent ended too, after {ended:.1f} s")
        if at is None:
            return Seen(True, f"the other made no step in {LIMIT_S} s")
        return Seen(False, f"the other continues, {at - lost:.1f} s later")


def names(kind, python, options):
    """Two nodes whose addresses have no names; the program does nothing, so that all questions are the launcher's own."""
    del options
    with calling(kind, python) as call, contextlib.closing(SilentNames(call.place)) as silence:
        begin = time.monotonic()
        words = ["--nnodes", 2, "--rdzv-backend", "c10d", "--rdzv-endpoint", f"{ADDRESSES[0]}:29400", "--no-python"]
        # torchrun knows a machine by its name alone.
        agents = [call.begin(*words, "--rdzv-conf", f"is_host={number == 0}", "--local-addr", address, "true", within=silence.within)
                  for number, address in enumerate(ADDRESSES)]
        ends = [call.finish(agent)[0] for agent in agents]
        seconds, asked = time.monotonic() - begin, len(silence.questions())
    text = f"{asked} questions, two agents of a program that does nothing end after {seconds:.1f} s"
    return Seen(asked > 0 or ends != [0, 0], text if ends == [0, 0] else f"{asked} questions, the agents ended with {ends}")


def without_package(kind, python):
    """One node, where the undeclared package is not installed."""
    with calling(kind, python) as call:
        (call.place / "kubernetes").mkdir()
        (call.place / "kubernetes" / "__init__.py").write_text(ABSENT)
        (call.place / "says.py").write_text('print("it runs", flush=True)\n')
        begin = time.monotonic()
        status, said = call.finish(call.begin("--standalone", "--nnodes", 1, "--nproc-per-node", 1, "says.py", PYTHONPATH=str(call.place)))
        return status, said, time.monotonic() - begin


def package(kind, python, options):
    del options
    status, said, seconds = without_package(kind, python)
    if status == 0 and "it runs" in said:
        return Seen(False, f"runs, in {seconds:.1f} s")
    return Seen(True, f"the program is not started; ends with {status} after {seconds:.1f} s")


def fallback(kind, python, options):
    del options
    status, said, _ = without_package(kind, python)
    last = next((line for line in reversed(said.splitlines()) if line and not line.startswith(" ")), "")
    crashed = "Traceback" in said
    return Seen(crashed or status != 0, f"crashes: {last}" if crashed else "not needed" if status == 0 else last)


class Scene:
    def __init__(self, fault, kind, play):
        self.fault, self.kind, self.play = fault, kind, play


SCENES = [
    Scene("a restart reads what the attempt before has stored", jobs.Torchrun, restarts),
    Scene("a node that comes back kills those that continued", jobs.Torchrun, regrowth),
    Scene("the node that hosts the store takes all down", jobs.Torchrun, host),
    Scene("each connection waits for a name server", jobs.Torchrun, names),
    Scene("one node needs an undeclared package (`kubernetes`)", jobs.DLRover, package),
    Scene("without it, the fallback crashes", jobs.DLRover, fallback),
]

# ---- the page ----


class Row:
    def __init__(self, scene, where, there, here):
        self.scene, self.here = scene, here
        self.text = f"| {scene.fault} | {where} | {'' if there.fault else 'not seen: '}{there.text} | {here.text} |\n"


def page(text, rows):
    """The text with these rows in the place of those of the same faults, all in the order of the scenes."""
    return TABLE.with_rows(text, [row.text for row in rows], [(scene.fault,) for scene in SCENES])


def version(python, kind):
    package_name = "dlrover" if kind is jobs.DLRover else "torch"
    said = subprocess.run([python, "-c", f"from importlib.metadata import version; print(version({package_name!r}))"],
                          capture_output=True, text=True, check=True).stdout.strip()
    return f"{kind.title} {said}" if kind is jobs.DLRover else f"{kind.title} of torch {said}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster_run", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=16, help="of a worker, for the first fault")
    parser.add_argument("--only", default="", help="faults with these words")
    parser.add_argument("--write", action="store_true", help="write the rows to docs/elastic.md")
    options = parser.parse_args()
    chosen = [scene for scene in SCENES if options.only in scene.fault]
    if not chosen:
        parser.error(f"no fault has the words {options.only!r}; there are: " + "; ".join(scene.fault for scene in SCENES))
    os.environ["MUSTER"] = str(options.muster_run.absolute().parents[1] / "cli" / "muster")
    python, kinds = jobs.peers()
    rows = []
    print(HEAD, end="", flush=True)
    for scene in chosen:
        if scene.kind not in kinds:
            print(f"{scene.fault}: not played, {scene.kind.title} is not here", flush=True)
            continue
        try:
            row = Row(scene, version(python, scene.kind), scene.play(scene.kind, python, options), scene.play(jobs.Muster, python, options))
        except Unavailable as why:
            print(f"{scene.fault}: not played, {why}", flush=True)
            continue
        rows.append(row)
        print(row.text, end="", flush=True)
        if options.write:
            PAGE.write_text(page(PAGE.read_text(), [row]))
    wrong = [row.scene.fault for row in rows if row.here.fault]
    print(f"{len(rows)} faults played, {len(wrong)} seen on muster-run" + "".join(f"\n{fault}" for fault in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
