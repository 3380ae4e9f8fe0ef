import pytest

import muster
from muster import Generation, World
from muster._world import world_of

TORCHRUN = {"RANK": "5", "WORLD_SIZE": "6", "LOCAL_RANK": "3", "LOCAL_WORLD_SIZE": "4", "GROUP_RANK": "1", "GROUP_WORLD_SIZE": "2",
            "TORCHELASTIC_RESTART_COUNT": "2", "TORCHELASTIC_RUN_ID": "job"}


@pytest.mark.parametrize("variables, expected", [
    ({}, World(0, 1, 0, 1, 0, 1, Generation(0, 0), 0, "")),
    (TORCHRUN, World(5, 6, 3, 4, 1, 2, Generation(0, 2), 2, "job")),
    ({**TORCHRUN, "MUSTER_GENERATION": "3.17"}, World(5, 6, 3, 4, 1, 2, Generation(3, 17), 2, "job")),
    # An operator that starts one process in each pod.
    ({"RANK": "2", "WORLD_SIZE": "3"}, World(2, 3, 0, 1, 2, 3, Generation(0, 0), 0, "")),
    # A launcher that does not number nodes.
    ({"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}, World(5, 8, 1, 4, 1, 2, Generation(0, 0), 0, "")),
    # Empty is as good as unset: templates leave such.
    ({"LOCAL_RANK": "", "MUSTER_GENERATION": ""}, World(0, 1, 0, 1, 0, 1, Generation(0, 0), 0, "")),
])
def test_what_the_environment_tells(variables, expected):
    assert world_of(variables) == expected


@pytest.mark.parametrize("variables, named", [
    ({"RANK": "0"}, "WORLD_SIZE is not"),
    ({"WORLD_SIZE": "2"}, "RANK is not"),
    ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2 is not below WORLD_SIZE=2"),
    ({"RANK": "-1", "WORLD_SIZE": "2"}, "RANK='-1'"),
    ({"RANK": "\u0661", "WORLD_SIZE": "2"}, "whole number"),
    ({"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "4"}, "more than WORLD_SIZE=2"),
    ({"MUSTER_GENERATION": "7"}, "EPOCH.NUMBER"),
    ({"MUSTER_GENERATION": "1.x"}, "EPOCH.NUMBER"),
])
def test_contradictions_are_named(variables, named):
    with pytest.raises(ValueError, match=named.replace(".", r"\.")):
        world_of(variables)


def test_a_world_can_be_compared_and_not_changed():
    here = world_of(TORCHRUN)
    with pytest.raises(AttributeError):
        here.rank = 0
    assert Generation(1, 9) < Generation(2, 0)


@pytest.mark.parametrize("before, size, called", [
    (None, 4, []),          # the first start, or a launcher that does not tell
    ("4", 4, []),           # somebody was replaced
    ("2", 4, [(2, 4)]),
    ("8", 4, [(8, 4)]),
])
def test_a_resize_is_told_at_once(bare_environment, before, size, called):
    bare_environment.setenv("RANK", "1")
    bare_environment.setenv("WORLD_SIZE", str(size))
    if before is not None:
        bare_environment.setenv("MUSTER_PREVIOUS_WORLD_SIZE", before)
    heard = []

    @muster.on_resize
    def resized(old, new):
        heard.append((old, new))

    assert heard == called
    assert callable(resized)


def test_what_a_callback_raises_is_the_callers(bare_environment):
    bare_environment.setenv("MUSTER_PREVIOUS_WORLD_SIZE", "2")
    with pytest.raises(ZeroDivisionError):
        muster.on_resize(lambda old, new: old // 0)
