"""What these tests share: programs in processes of their own, with real torch where this Python has it."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent / "src"
HOOK = SOURCES / "muster" / "hook"
ROOT = HERE.parents[2]
sys.path.insert(0, str(SOURCES))

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None,
                                 reason=f"{sys.executable} has no torch (Debian's package is python3-torch)")

# What a launcher or an operator around these tests may have set.
FOREIGN = ("MUSTER_", "TORCHELASTIC_", "PET_", "PYTHON", "RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "MASTER_")


def environment(**more):
    """This process's, without what is told about worlds, and with one thread for each program."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **{name: str(value) for name, value in more.items()}}


def run(*words, timeout=120, cwd=None, **variables):
    """Runs this Python; PYTHONPATH has muster unless given otherwise."""
    variables.setdefault("PYTHONPATH", SOURCES)
    return subprocess.run([sys.executable, *map(str, words)], env=environment(**variables), cwd=cwd, timeout=timeout,
                          capture_output=True, text=True, check=False)


def good(finished):
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture
def bare_environment(monkeypatch):
    """No launcher around us."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    return monkeypatch


@pytest.fixture
def progress(tmp_path):
    """The file that an agent maps."""
    path = tmp_path / "progress"
    path.write_bytes(bytes(64))
    return path


def words_of(path):
    data = path.read_bytes()
    return [int.from_bytes(data[at:at + 8], "little") for at in (0, 8, 16)]
