"""Attacks on `muster up` at random, side by side, while a client that behaves watches how long it waits.

attack_drill.py MUSTER [--minutes N | --rounds N] [--seed N] [--only WORDS]. The attacks are those of tests/security/attacks.py; a
round has each of them once, in random order, a few at a time. All the while a client with a token of its own creates, reads,
changes and deletes an object. The drill fails if the daemon ends, if an answer is wrong, if the memory of the daemon exceeds its
bound, if that client gets no answer in time, or if anything held the event loop for too long. A failure names the attack with
its seed: --only ATTACK --seed N repeats it.
"""

import argparse
import concurrent.futures
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests" / "security"
sys.path.insert(0, str(TESTS))

import attacks  # noqa: E402
import daemon  # noqa: E402
import holds  # noqa: E402

AT_A_TIME = 4
MEMORY = 1 << 30  # 256 MiB for bodies and answers, what is made of them, and what is stored
PATIENCE_S = 10.0  # of the client that behaves, on a machine whose cores the attackers take too
PAUSE_S = 0.05


class Bystander(threading.Thread):
    """A client that only wants its work done."""

    def __init__(self, up):
        super().__init__(daemon=True)
        self.up, self.waits, self.failures, self.ending = up, [], [], threading.Event()
        self.memory = 0

    def run(self):
        objects = "/api/v1/namespaces/default/configmaps"
        steps = [("POST", objects, b'{"metadata":{"name":"mine"},"data":{"k":"1"}}', 201), ("GET", f"{objects}/mine", b"", 200),
                 ("PATCH", f"{objects}/mine", b'{"data":{"k":"2"}}', 200), ("DELETE", f"{objects}/mine", b"", 200)]
        while not self.ending.is_set() and not self.failures:
            for method, target, body, right in steps:
                kind = attacks.MERGE if method == "PATCH" else attacks.JSON
                begin = time.monotonic()
                try:
                    status, answer = self.up.ask(method, target, self.up.admin(), f"Content-Type: {kind}", body=body)
                    self.memory = max(self.memory, self.up.memory("VmHWM"))
                except (OSError, AssertionError, ValueError) as failure:
                    self.failures.append(f"{method} {target}: {failure!r}")
                    return
                self.waits.append(time.monotonic() - begin)
                if status != right:
                    self.failures.append(f"{method} {target} was answered {status}: {answer[:500]!r}")
                    return
            self.ending.wait(PAUSE_S)

    def problems(self):
        found = list(self.failures)
        if self.waits and max(self.waits) > PATIENCE_S:
            found.append(f"a client that behaves waited for {max(self.waits):.1f} s")
        if self.memory > MEMORY:
            found.append(f"the daemon had {self.memory >> 20} MiB")
        return found

    def summary(self):
        waits = sorted(self.waits)
        if not waits:
            return "no request of a client that behaves was answered"
        share = [waits[min(len(waits) - 1, int(len(waits) * part))] * 1000 for part in (0.5, 0.99)]
        return (f"a client that behaves waited for {share[0]:.0f} ms (median), {share[1]:.0f} ms (99 of 100), "
                f"{waits[-1] * 1000:.0f} ms (longest) in {len(waits)} requests; at most {self.memory >> 20} MiB of memory")


def played(field, attack, seed):
    """What was wrong, or None."""
    try:
        attacks.play(field, attack, seed)
    except (AssertionError, OSError, ValueError) as failure:
        return f"{attack.__name__} (--only {attack.__name__} --seed {seed}): {failure!r}"
    return None


def one_round(field, chosen, rng, seed):
    """Each attack once; with one attack the seed is its own."""
    order = rng.sample(chosen, len(chosen))
    seeds = [seed if len(chosen) == 1 else rng.randrange(1 << 32) for _ in order]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        return [wrong for wrong in pool.map(lambda each: played(field, *each), zip(order, seeds, strict=True)) if wrong]


def drill(options, up):
    chosen = [attack for attack in attacks.ATTACKS if not options.only or options.only in attack.__name__]
    if not chosen:
        return [f"no attack is named {options.only}; there are {', '.join(attack.__name__ for attack in attacks.ATTACKS)}"]
    up.start()
    pid = up.pid()
    field = attacks.Field(up)
    bystander = Bystander(up)
    bystander.start()
    rng, begin, rounds, wrong = random.Random(options.seed), time.monotonic(), 0, []
    while not wrong and (rounds < options.rounds if options.rounds else time.monotonic() - begin < options.minutes * 60):
        wrong = one_round(field, chosen, rng, options.seed) + bystander.problems()
        rounds += 1
    bystander.ending.set()
    bystander.join(60)
    wrong += [each for each in bystander.problems() if each not in wrong]
    if up.pid() != pid or not pathlib.Path(f"/proc/{pid}").exists():
        wrong.append("the daemon has ended: " + (up.state / "muster.log").read_text(errors="replace")[-2000:])
    hold = holds.of(up.state)
    if hold.ms > holds.LIMIT_MS:
        wrong.append(f"the event loop was held for {hold}")
    print(f"{rounds} rounds of {len(chosen)} attacks (seed {options.seed}) in {time.monotonic() - begin:.0f} s; {bystander.summary()}")
    for each in sorted(holds.logged(up.state), reverse=True)[:10]:
        print(f"held: {each}")
    print(f"the longest hold of the loop: {hold}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster", type=pathlib.Path)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=10)
    length.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", help="a part of the names of attacks")
    options = parser.parse_args()
    daemon.BINARY = options.muster.absolute()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="muster-attacks-", dir="/var/tmp"))
    up = daemon.Target(directory)
    try:
        wrong = drill(options, up)
    finally:
        up.muster("down", "--state", str(up.state), "--kill", check=False)
        shutil.rmtree(directory, ignore_errors=True)
    print(*(wrong or ["the daemon serves"]), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
