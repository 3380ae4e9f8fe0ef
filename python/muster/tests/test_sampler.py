import random

import pytest

from conftest import good, needs_torch, run
from muster import ElasticSampler


def ranks(size, world, state=None, **options):
    samplers = [ElasticSampler(size, world, rank, **options) for rank in range(world)]
    for sampler in samplers:
        if state is not None:
            sampler.load_state_dict(state)
    return samplers


def taken(samplers, each=None):
    """What all ranks take together, in the order of positions, `each` of every rank at most."""
    columns = [list(sampler)[:each] for sampler in samplers]
    start = samplers[0].position
    # Position p belongs to rank p % world: the first to take is that of the start.
    columns = columns[start % len(columns):] + columns[:start % len(columns)]
    return [column[row] for row in range(max(map(len, columns))) for column in columns if row < len(column)]


@pytest.mark.parametrize("world", [1, 2, 3, 4, 7, 16])
@pytest.mark.parametrize("size", [1, 10, 97, 100])
def test_an_epoch_holds_every_sample(size, world):
    order = list(ElasticSampler(size, 1, 0, seed=5))
    assert sorted(order) == list(range(size))
    assert taken(ranks(size, world, seed=5, even=False)) == order
    padded = taken(ranks(size, world, seed=5))
    assert padded == (order * world)[:-(-size // world) * world]
    dropped = ranks(size, world, seed=5, drop_last=True)
    assert (taken(dropped) if size >= world else []) == order[:size // world * world]
    for options in ({}, {"drop_last": True}):
        assert len({len(sampler) for sampler in ranks(size, world, **options)}) == 1
    for sampler in ranks(size, world) + ranks(size, world, even=False) + dropped:
        assert len(list(sampler)) == len(sampler)


@pytest.mark.parametrize("seed", range(200))
def test_worlds_that_change_take_each_sample_once(seed):
    """Conformance: the union of what was committed is the dataset, under restarts at any size that lose what was not committed."""
    chance = random.Random(seed)
    size = chance.randrange(1, 400)
    order = list(ElasticSampler(size, 1, 0, seed=seed))
    state, seen = None, []
    while state is None or state["epoch"] == 0:
        world = chance.randrange(1, 9)
        samplers = ranks(size, world, state, seed=seed, even=False)
        streams = [iter(sampler) for sampler in samplers]
        for stream in streams:  # a loader that draws ahead and then dies
            for _ in range(chance.randrange(4)):
                next(stream, None)
        rows = chance.randrange(1, 6)
        here = taken(samplers, rows)
        whole = here[:rows * world] if len(here) >= rows * world else here
        seen += whole
        for sampler in samplers:
            sampler.commit(len(whole))
        states = [sampler.state_dict() for sampler in samplers]
        assert all(other == states[0] for other in states)
        state = states[0]
    assert seen == order
    assert state["position"] == 0


def test_drawing_ahead_commits_nothing():
    sampler = ElasticSampler(100, 2, 0)
    stream = iter(sampler)
    for _ in range(30):
        next(stream)
    assert sampler.position == 0
    sampler.commit(20)
    assert sampler.position == 20 and len(sampler) == 40


def test_an_epoch_ends_when_its_end_is_committed():
    sampler = ElasticSampler(10, 2, 0)
    sampler.commit(9)
    assert (sampler.epoch, sampler.position) == (0, 9)
    sampler.commit(5)
    assert (sampler.epoch, sampler.position) == (1, 0)
    dropping = ElasticSampler(10, 4, 0, drop_last=True)
    dropping.commit(8)
    assert (dropping.epoch, dropping.position) == (1, 0)


def test_the_usual_loop_goes_on_in_mid_epoch():
    def epochs(sampler, committed):
        for epoch in range(sampler.epoch, 3):
            sampler.set_epoch(epoch)
            for index in sampler:
                yield sampler, epoch, index
                if committed:
                    sampler.commit(1)

    whole = [(epoch, index) for _, epoch, index in epochs(ElasticSampler(10, 1, 0), True)]
    assert whole == [(epoch, index) for _, epoch, index in epochs(ElasticSampler(10, 1, 0), False)]
    for stop in (0, 4, 9, 10, 15, 29):
        before, sampler = [], None
        for sampler, epoch, index in epochs(ElasticSampler(10, 1, 0), True):  # noqa: B007 (asked after the loop)
            if len(before) == stop:
                break
            before.append((epoch, index))
        another = ElasticSampler(10, 1, 0)
        another.load_state_dict(sampler.state_dict())
        assert before + [(epoch, index) for _, epoch, index in epochs(another, True)] == whole


def test_who_never_calls_set_epoch():
    idle = ElasticSampler(10, 1, 0)
    assert list(idle) == list(idle)  # as DistributedSampler
    busy = ElasticSampler(10, 1, 0)
    first = list(busy)
    busy.commit(8)  # its loader left out the rest
    second = list(busy)
    assert second != first and sorted(second) == list(range(10)) and busy.epoch == 1


def test_set_epoch_goes_to_its_begin_and_back():
    sampler = ElasticSampler(10, 1, 0)
    zero = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != zero
    sampler.commit(3)
    sampler.set_epoch(0)
    assert sampler.position == 0 and list(sampler) == zero


@pytest.mark.parametrize("change, named", [
    ({"size": 11}, "size 11"), ({"seed": 1}, "seed 1"), ({"shuffle": False}, "shuffle False"), ({"version": 2}, "version 2"),
    ({"position": 10}, "position 10"), ({"position": -1}, "position -1"),
])
def test_a_state_of_another_order_is_refused(change, named):
    sampler = ElasticSampler(10, 1, 0)
    with pytest.raises(ValueError, match=named):
        sampler.load_state_dict({**sampler.state_dict(), **change})
    assert (sampler.epoch, sampler.position) == (0, 0)


@pytest.mark.parametrize("arguments, options", [
    ((0, 1, 0), {}), (([], 1, 0), {}), ((10, 2, 2), {}), ((10, 2, -1), {}), ((10, 1, 0), {"drop_last": True, "even": False}),
])
def test_nonsense_is_refused(arguments, options):
    with pytest.raises(ValueError, match="ElasticSampler"):
        ElasticSampler(*arguments, **options)


def test_nothing_can_be_taken_back():
    with pytest.raises(ValueError, match="taken back"):
        ElasticSampler(10, 1, 0).commit(-1)


def test_rank_and_size_are_those_of_the_world(bare_environment):
    bare_environment.setenv("RANK", "2")
    bare_environment.setenv("WORLD_SIZE", "5")
    sampler = ElasticSampler(range(10))
    assert (sampler.rank, sampler.num_replicas, sampler.size) == (2, 5, 10)


@needs_torch
def test_in_the_place_of_torchs_sampler():
    """The same lengths and the same coverage, under a DataLoader with workers of its own."""
    good(run("-c", """
import muster, torch
from torch.utils.data import DataLoader, DistributedSampler
data = torch.arange(103)
for drop in (False, True):
    for rank in range(4):
        ours = muster.ElasticSampler(data, 4, rank, True, 1, drop)
        theirs = DistributedSampler(data, 4, rank, True, 1, drop)
        assert len(ours) == len(theirs) == len(list(ours)), (drop, rank)
        for workers in (0, 2):
            batches = list(DataLoader(data, batch_size=5, sampler=ours, num_workers=workers))
            assert torch.cat(batches).tolist() == list(ours)
"""))
