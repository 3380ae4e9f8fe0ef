"""A training job whose every step has one loss, whoever makes it and however often, and what its workers tell of their steps."""

import json
import os
import pathlib
import shutil
import subprocess
import textwrap

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python" / "muster" / "src" / "muster"

# A batch belongs to a step, not to a rank or a world, and all state is in the checkpoint: so a step has one loss, whichever rank makes
# it and however often. A step needs everybody, and is told by everybody.
TRAIN = """
    import json, os, sys, time
    import torch, torch.distributed as dist
    place, steps, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    told = os.open(os.path.join(place, "told"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    checkpoint, finish = os.path.join(place, "checkpoint"), os.path.join(place, "finish")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world, samples = dist.get_rank(), dist.get_world_size(), 16
    # The step, then the weights.
    state = torch.zeros(5, dtype=torch.float64)
    if rank == 0 and os.path.exists(checkpoint):
        state = torch.load(checkpoint)
    dist.broadcast(state, 0)
    while True:
        step, weights = int(state[0]), state[1:]
        generator = torch.Generator().manual_seed(step)
        inputs = torch.rand(samples, 4, generator=generator, dtype=torch.float64)
        wanted = inputs @ torch.tensor([1.0, -2.0, 3.0, 0.5], dtype=torch.float64)
        wanted += 0.1 * torch.randn(samples, generator=generator, dtype=torch.float64)
        mine = slice(rank, None, world)
        wrong = inputs[mine] @ weights - wanted[mine]
        # Gradient and loss of this rank's part, and whether it is time to end.
        part = torch.cat([inputs[mine].T @ wrong, (wrong ** 2).sum().reshape(1), torch.zeros(1, dtype=torch.float64)])
        part[-1] = float(rank == 0 and (os.path.exists(finish) or step + 1 == steps))
        dist.all_reduce(part)
        state = torch.cat([state[:1] + 1, weights - 0.05 / samples * part[:4]])
        line = {"step": step, "rank": rank, "world": world, "pid": os.getpid(), "at": time.monotonic(), "loss": float(part[4]) / samples}
        os.write(told, (json.dumps(line) + "\\n").encode())
        if rank == 0:
            torch.save(state, checkpoint + ".new")
            os.replace(checkpoint + ".new", checkpoint)
        if part[-1]:
            break
        time.sleep(pause)
    dist.destroy_process_group()
"""
# The same shape without torch, whose import is most of what a restart takes: gradients go through the keys of the world.
TRAIN_WITH_KEYS = """
    import json, os, random, sys, time
    import muster
    place, steps, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    told = os.open(os.path.join(place, "told"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    checkpoint, finish = os.path.join(place, "checkpoint"), os.path.join(place, "finish")
    here, keys = muster.world(), muster.keys()
    rank, world, samples = here.rank, here.size, 16

    def sum_of_all(step, part):
        names = [f"{step}/{each}" for each in range(world)]
        keys.set(names[rank], json.dumps(part).encode())
        keys.wait_for(*names)
        keys.delete(f"{step - 1}/{rank}")  # whoever has come to this step has read it
        return [sum(column) for column in zip(*(json.loads(keys.get(name)) for name in names))]

    # The step, then the weights.
    state = [0, 0.0, 0.0, 0.0, 0.0]
    if rank == 0:
        if os.path.exists(checkpoint):
            with open(checkpoint) as file:
                state = json.load(file)
        keys.set("state", json.dumps(state).encode())
    keys.wait_for("state")
    state = json.loads(keys.get("state"))
    while True:
        step, weights = state[0], state[1:]
        drawn = random.Random(step)
        # Gradient and loss of this rank's part, and whether it is time to end.
        part = [0.0] * 6
        for number in range(samples):
            inputs = [drawn.random() for _ in weights]
            wanted = inputs[0] - 2 * inputs[1] + 3 * inputs[2] + 0.5 * inputs[3] + drawn.gauss(0, 0.1)
            if number % world != rank:
                continue
            wrong = sum(a * b for a, b in zip(inputs, weights)) - wanted
            part = [a + b for a, b in zip(part, [*(wrong * each for each in inputs), wrong ** 2, 0.0])]
        part[-1] = float(rank == 0 and (os.path.exists(finish) or step + 1 == steps))
        part = sum_of_all(step, part)
        state = [step + 1, *(weight - 0.05 / samples * gradient for weight, gradient in zip(weights, part))]
        line = {"step": step, "rank": rank, "world": world, "pid": os.getpid(), "at": time.monotonic(), "loss": part[4] / samples}
        os.write(told, (json.dumps(line) + "\\n").encode())
        if rank == 0:
            with open(checkpoint + ".new", "w") as file:
                json.dump(state, file)
            os.replace(checkpoint + ".new", checkpoint)
        if part[-1]:
            break
        time.sleep(pause)
"""
PROGRAMS = {"torch": TRAIN, "keys": TRAIN_WITH_KEYS}
# Of sums in another order, as in a world of another size.
SAME_LOSS = 1e-9


class Stuck(Exception):
    pass


class Steps:
    """What the workers of a job of so many ranks told, as it comes."""

    def __init__(self, place, ranks):
        (place / "told").touch()
        self.told, self.ranks = open(place / "told", "rb"), ranks  # noqa: SIM115 (as long as the job)
        self.rest, self.lines = b"", []

    def close(self):
        self.told.close()

    def read(self):
        """All lines so far."""
        *lines, self.rest = (self.rest + self.told.read()).split(b"\n")
        self.lines.extend(map(json.loads, lines))
        return self.lines

    def last_step(self):
        return max((line["step"] for line in self.read()), default=-1)

    def mark(self):
        """What is to be stepped beyond: one step may have had all parts when somebody died, and that behind it had not."""
        return self.last_step() + 1, len(self.lines)

    def stepped(self, mark):
        """When the ranks that are left made a step beyond it."""
        step, begin = mark
        return next((line["at"] for line in self.read()[begin:] if line["step"] > step), None)

    def all_stepped(self, mark):
        step, begin = mark
        return {line["rank"] for line in self.read()[begin:]
                if line["world"] == self.ranks and line["step"] > step} == set(range(self.ranks))

    def made_again(self, begin):
        """How many steps ranks have told since that line which they had told before it: what a restart has cost."""
        lines = self.read()
        last = {line["rank"]: line["step"] for line in lines[:begin]}
        return len({line["step"] for line in lines[begin:] if line["step"] <= last.get(line["rank"], -1)})

    def pids(self):
        """Of each rank, in the newest step of the whole job that it told."""
        return {line["rank"]: line["pid"] for line in self.read() if line["world"] == self.ranks}


def write_program(program, place):
    """The script, with our package beside it: each pod has a /tmp of its own, and the checkout may lie below that of the machine."""
    shutil.copytree(PACKAGE, place / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    script = place / "train.py"
    script.write_text(textwrap.dedent(program))
    return script


def undisturbed(muster_run, steps, place, program=TRAIN):
    """The loss of each step."""
    script = write_program(program, place)
    subprocess.run([muster_run, "--standalone", script, place, str(steps), "0"], cwd=place, check=True, stdin=subprocess.DEVNULL,
                   env=dict(os.environ, OMP_NUM_THREADS="1"))
    return {line["step"]: line["loss"] for line in map(json.loads, (place / "told").read_text().splitlines())}


def differences(lines, losses):
    """Where a job was not as the undisturbed one: steps that were not made, and losses."""
    made = {line["step"] for line in lines}
    missing = sorted(set(range(max(made, default=-1) + 1)) - made)
    found = [f"step {step} was never made" for step in missing]
    return found + [f"step {line['step']}, rank {line['rank']} of {line['world']}: loss {line['loss']}, undisturbed {losses[line['step']]}"
                    for line in lines if abs(line["loss"] - losses[line["step"]]) > SAME_LOSS * max(1.0, abs(losses[line["step"]]))]
