"""The torchruns that muster-run is held against: that of python3, and those of the newer torches that are here already.

Nothing is fetched: `./dev bench` and `./dev drill peers-faults` make the environment of one, `./dev drill store-versions --keep` the others.
"""

import re
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from programs import OTHER_TORCHES, SOURCES, Missing, find  # noqa: E402

NEWEST = max(OTHER_TORCHES, key=lambda minor: [int(number) for number in minor.split(".")])
MADE_BY = {"python-elastic-peers": "./dev drill peers-faults", f"python-torch-{NEWEST}": f"./dev drill store-versions {NEWEST} --keep"}


def torch_of(name):
    """The minor version that its requirements name."""
    return re.search(r"^torch==(\d+\.\d+)", SOURCES[name].requirements.read_text(), re.M)[1]


def installed(name):
    try:
        python = find(name)
    except Missing:
        return None
    return python and str(python)


def newer(name):
    python = installed(name)
    absent = pytest.mark.skipif(python is None, reason=f"torch {torch_of(name)} is not here; {MADE_BY[name]} fetches it")
    return pytest.param(python, marks=absent, id=f"torch {torch_of(name)}")


# Interpreters whose `-m torch.distributed.run` is a torchrun.
TORCHRUNS = [pytest.param("python3", id="torch of python3"), *map(newer, MADE_BY)]
