import re
import time

import pytest

from conftest import good, run, words_of

STEP = "import muster, os, sys\n"


def test_a_step_and_its_time_are_in_the_file(progress):
    before = time.monotonic_ns()
    good(run("-c", STEP + "muster.step(); muster.step(300)", MUSTER_PROGRESS=progress))
    count, at, source = words_of(progress)
    assert (count, source) == (301, 2)
    assert before < at < time.monotonic_ns()


def test_without_muster_nothing_happens():
    assert run("-c", STEP + "muster.step()").stderr == ""


def test_steps_are_not_taken_back(progress):
    assert "can't be taken back" in run("-c", STEP + "muster.step(-1)", MUSTER_PROGRESS=progress).stderr


@pytest.mark.parametrize("make, why", [(lambda path: path.unlink(), "No such file"), (lambda path: path.write_bytes(b"short"), "mmap")])
def test_a_file_that_can_not_be_mapped_is_told_once(progress, make, why):
    make(progress)
    said = run("-c", STEP + "muster.step(); muster.step(); print('trains')", MUSTER_PROGRESS=progress)
    assert said.stdout == "trains\n" and said.returncode == 0
    assert said.stderr.count("muster: this worker can't report its progress") == 1 and why in said.stderr and str(progress) in said.stderr


def test_children_of_a_worker_do_not_speak_for_it(progress):
    good(run("-c", STEP + "muster.step(5)\nif os.fork() == 0:\n    muster.step(1000)\n    os._exit(0)\nos.wait()\nmuster.step()",
             MUSTER_PROGRESS=progress))
    assert words_of(progress)[0] == 6


def test_who_forks_before_the_first_step_leaves_it_to_the_children(progress):
    good(run("-c", STEP + "if os.fork() == 0:\n    muster.step(7)\n    os._exit(0)\nos.wait()", MUSTER_PROGRESS=progress))
    assert words_of(progress)[0] == 7


def test_a_step_is_cheap(progress):
    """Not a limit on this machine's speed, but a system call, or a look at the environment, in each step would show."""
    said = good(run("-c", STEP + """
import timeit
muster.step()
nothing = min(timeit.repeat("hash(1)", number=20000, repeat=20))
step = min(timeit.repeat("step()", globals={"step": muster.step}, number=20000, repeat=20))
getpid = min(timeit.repeat("stat('/')", setup="from os import stat", number=20000, repeat=5))
print(step / nothing, step / getpid, step / 20000 * 1e9)
""", MUSTER_PROGRESS=progress))
    to_nothing, to_a_call, nanoseconds = map(float, said.split())
    print(f"muster.step(): {nanoseconds:.0f} ns")
    assert to_a_call < 0.7, said


def test_importing_muster_imports_little():
    loaded = good(run("-S", "-c", "import sys; before = set(sys.modules); import muster; print(*sorted(set(sys.modules) - before))"))
    assert not re.search(r"\b(torch|numpy|json|dataclasses|inspect|hashlib|socket|mmap|asyncio)\b", loaded), loaded
