"""`--warm`: workers of real PyTorch that begin again in their warm spares."""

import json
import os
import pathlib
import signal

import pytest

from conftest import alive, children

HERE = ["--standalone", "--nproc-per-node", "2", "--max-restarts", "3"]

# As conftest's, and with an optimizer, whose first step teaches what is imported. "imported": torch was there before the script asked.
WORKER = """
    import os, sys
    imported = "torch" in sys.modules
    import json, time
    import torch, torch.distributed as dist
    steps, file = int(sys.argv[1]), sys.argv[2]
    def tell(what, **more):
        line = {"what": what, "rank": int(os.environ["RANK"]), "attempt": int(os.environ["TORCHELASTIC_RESTART_COUNT"]),
                "pid": os.getpid(), "imported": imported, **more}
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, (json.dumps(line) + "\\n").encode())
        os.close(fd)
    tell("started")
    dist.init_process_group("gloo")
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        (weight ** 2).sum().backward()
        dist.all_reduce(weight.grad)
        optimizer.step()
        tell("step", step=step)
        if os.environ.get("FAILS") and os.environ["TORCHELASTIC_RESTART_COUNT"] == "1" and step == 2:
            raise ValueError("no such column")
        time.sleep(0.05)
    tell("done")
    dist.destroy_process_group()
"""


def below(pid):
    found = children(pid)
    return found + [one for child in found for one in below(child)]


def is_spare(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except FileNotFoundError:
        return False
    return any(word.endswith(b"/zygote.py") for word in words)


SEEN = {}


def waits(pid):
    """Whether it has imported: it has torch's memory, and used no processor when it was looked at ten times."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    used = (fields[11], fields[12])
    before, times = SEEN.get(pid, (None, 0))
    SEEN[pid] = (used, times + 1 if used == before and fields[0] == "S" else 0)
    return SEEN[pid][1] >= 10 and int(fields[21]) * os.sysconf("SC_PAGESIZE") > 80 << 20


class Warm:
    """A job of such workers, and what its spares are."""

    def __init__(self, job, *words, **environment):
        self.job, self.script = job, job.write("warm.py", WORKER)
        self.agent = job.start(*HERE, *words, script=self.script, steps=10_000,
                               environment={"XDG_CACHE_HOME": str(job.place / "cache"), **environment})

    def spares(self):
        workers = {line["pid"] for line in self.job.lines("started")}
        return [pid for pid in below(self.agent.process.pid) if is_spare(pid) and pid not in workers]

    def ready(self, count=2):
        """Returns the spares when there are so many, and all have imported."""
        # A list: each is looked at, also after one that does not wait.
        return self.job.until(lambda: len(self.spares()) == count and all([waits(pid) for pid in self.spares()])  # noqa: C419
                              and self.spares())

    def steps(self, attempt):
        return self.job.until(lambda: len({line["rank"] for line in self.job.lines("step", attempt=attempt)}) == 2
                              and self.job.lines("started", attempt=attempt))

    def kill(self, rank, attempt):
        os.kill(self.job.lines("started", rank=rank, attempt=attempt)[0]["pid"], signal.SIGKILL)

    def end(self):
        pids = below(self.agent.process.pid)
        self.agent.send(signal.SIGTERM)
        assert self.agent.wait() == 128 + signal.SIGTERM, self.agent.text
        assert not any(map(alive, pids)), "no process is left"
        assert list(self.job.scratch.iterdir()) == [], "nothing is left behind"


@pytest.mark.parametrize("flag", ["--warm", "--warm=torch,torch.distributed"])
def test_a_killed_worker_and_its_peer_begin_in_their_spares(job, flag):
    warm = Warm(job, flag)
    assert {line["imported"] for line in warm.steps(0)} == {False}
    for attempt in range(1, 4):
        spares = warm.ready()
        warm.kill(attempt % 2, attempt - 1)
        begun = warm.steps(attempt)
        assert {line["pid"] for line in begun} == set(spares)
        assert {line["imported"] for line in begun} == {True}
    warm.end()
    assert "cold" not in warm.agent.text, warm.agent.text


def test_a_spare_that_dies_is_replaced(job):
    warm = Warm(job, "--warm")
    warm.steps(0)
    lost, kept = warm.ready()
    os.kill(lost, signal.SIGKILL)
    job.until(lambda: len(warm.spares()) == 2 and lost not in warm.spares())
    spares = warm.ready()
    assert kept in spares
    warm.kill(0, 0)
    assert {line["pid"] for line in warm.steps(1)} == set(spares)
    warm.end()


def test_a_module_that_looks_at_its_rank_makes_all_starts_cold_and_that_is_said_once(job):
    job.write("ranked.py", "import os\nRANK = os.environ.get('RANK')\n")
    warm = Warm(job, "--warm=torch,ranked", PYTHONPATH=str(job.place))
    warm.steps(0)
    job.until(lambda: "reads RANK" in warm.agent.text)
    job.until(lambda: not warm.spares())
    warm.kill(1, 0)
    assert {line["imported"] for line in warm.steps(1)} == {False}
    warm.end()
    assert warm.agent.text.count("cold") == 1, warm.agent.text


def test_an_error_in_a_warm_worker_is_told_as_ever(job):
    # One restart: the workers that fail are the first that begin in spares.
    warm = Warm(job, "--warm", "--max-restarts", "1", FAILS="1")
    warm.steps(0)
    warm.ready()
    warm.kill(0, 0)
    assert {line["imported"] for line in warm.steps(1)} == {True}
    assert warm.agent.wait() == 1
    assert "ValueError: no such column" in warm.agent.text and "warm.py" in warm.agent.text, warm.agent.text
    assert "zygote" not in warm.agent.text, warm.agent.text


def test_what_one_run_has_learnt_is_known_to_the_next(job):
    warm = Warm(job, "--warm")
    warm.steps(0)
    warm.end()
    [learnt] = (job.place / "cache" / "muster" / "warm").iterdir()
    assert learnt.name.startswith("warm-") and "torch" in json.loads(learnt.read_text())["modules"]


def test_a_killed_agent_takes_its_spares_with_it(job):
    warm = Warm(job, "--warm")
    warm.steps(0)
    warm.ready()
    pids = below(warm.agent.process.pid)
    warm.agent.process.kill()
    warm.agent.process.wait()
    job.until(lambda: not any(map(alive, pids)), seconds=10)
