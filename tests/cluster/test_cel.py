"""Expressions of CEL evaluated by us and by cel-go, as kube-apiserver has it: `./dev drill cel` asks more of them."""

import pathlib

import pytest

import cel_comparison
import programs

OURS = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "src" / "cel" / "cel_lines"
COUNT = 2000


@pytest.fixture(scope="module")
def theirs():
    found = programs.find("cel-go")
    if not found:
        pytest.skip("cel-go was not built here")
    return found


@pytest.mark.parametrize("seed", range(1, 6))
def test_expressions_at_random(theirs, seed):
    assert cel_comparison.differences(OURS, theirs, seed, COUNT) == []
