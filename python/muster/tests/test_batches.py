import itertools

import pytest

from muster import ElasticSampler, GlobalBatch
from muster._batches import share

CASES = list(itertools.product([(0, 10), (7, 17), (30, 33), (5, 6), (0, 64)], [1, 2, 3, 4, 7, 11], [1, 2, 3, 100]))


@pytest.mark.parametrize("bounds, world, micro", CASES)
def test_a_batch_is_shared_out_whole(bounds, world, micro):
    shares = [share(*bounds, rank, world, micro) for rank in range(world)]
    assert sorted(position for parts in shares for part in parts for position in part) == list(range(*bounds))
    assert len({len(parts) for parts in shares}) == 1  # of passes
    sizes = [sum(map(len, parts)) for parts in shares]
    assert max(sizes) - min(sizes) <= 1
    assert max(len(part) for parts in shares for part in parts) <= micro
    # No more passes than the largest share needs.
    assert len(shares[0]) == -(-max(sizes) // micro)


@pytest.mark.parametrize("world", [1, 2, 3, 4, 12])
@pytest.mark.parametrize("drop", [False, True])
def test_weights_and_positions(world, drop):
    samplers = [ElasticSampler(103, world, rank, seed=3) for rank in range(world)]
    order = list(ElasticSampler(103, 1, 0, seed=3))
    batches = [GlobalBatch(10, 2, sampler, drop_last=drop) for sampler in samplers]
    lengths = [len(each) for each in batches]
    streams = [each.steps() for each in batches]
    seen, passes = [], 0
    for number, steps in enumerate(zip(*streams)):
        passed = [list(step) for step in steps]
        passes += len(passed[0])
        assert all(step.size == steps[0].size for step in steps)
        assert sum(micro.weight for micros in passed for micro, _ in micros) == pytest.approx(1)
        assert sum(micro.scale for micros in passed for micro, _ in micros) == pytest.approx(world)
        for micros in passed:
            assert [micro.last for micro, _ in micros] == [False] * (len(micros) - 1) + [True]
            for micro, indices in micros:
                assert len(indices) == max(micro.size, 1) and micro.weight == micro.size / steps[0].size
        batch = sorted(index for micros in passed for micro, indices in micros if micro.size for index in indices)
        assert batch == sorted(order[10 * number:10 * number + 10])
        seen += batch
        expected = {"epoch": 0, "position": 10 * (number + 1)} if number < 10 else {"epoch": 1, "position": 0}
        for sampler in samplers:
            assert {name: sampler.state_dict()[name] for name in expected} == expected
    assert len(seen) == (100 if drop else 103)
    assert lengths == [passes] * world
    assert {(sampler.epoch, sampler.position) for sampler in [*samplers]} <= {(1, 0), (0, 100)}
    assert [next(stream, None) for stream in streams] == [None] * world
    assert {(sampler.epoch, sampler.position) for sampler in samplers} == {(1, 0)}


def test_a_rank_without_samples_passes_one_that_counts_nothing():
    step = next(GlobalBatch(2, 1, ElasticSampler(2, 3, 2, shuffle=False)).steps())
    ((micro, indices),) = step
    assert (micro.size, micro.weight, micro.scale, micro.last, indices) == (0, 0, 0, True, [0])


def test_only_the_last_micro_batch_exchanges_gradients():
    entered = []

    class Model:
        def no_sync(self):
            entered.append(True)
            return memoryview(b"")  # some context

    step = next(GlobalBatch(6, 2, ElasticSampler(6, 1, 0)).steps())
    for micro, _ in step:
        with micro.sync(Model()):
            pass
        with micro.sync(object()):
            pass
    assert len(entered) == 2


def test_a_step_must_be_gone_through():
    steps = GlobalBatch(4, 1, ElasticSampler(8, 1, 0)).steps()
    for _ in next(steps):
        break
    with pytest.raises(RuntimeError, match="left before its last"):
        next(steps)


def test_a_loader_that_ends_early_is_named():
    with pytest.raises(RuntimeError, match="loader ended before"):
        for step in GlobalBatch(4, 2, ElasticSampler(8, 1, 0)).steps([1, 2, 3]):
            list(step)


def test_a_loader_with_batches_of_its_own_is_refused():
    class Loader:
        batch_sampler = object()

    with pytest.raises(ValueError, match="batch_sampler=batches"):
        GlobalBatch(4, 2, ElasticSampler(8, 1, 0)).steps(Loader())


def test_a_sampler_that_others_move_is_noticed():
    sampler = ElasticSampler(8, 1, 0)
    with pytest.raises(RuntimeError, match="moved"):
        for step in GlobalBatch(4, 2, sampler).steps():
            for _ in step:
                sampler.set_epoch(5)


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0)])
def test_empty_batches_are_refused(sizes):
    with pytest.raises(ValueError, match="1 or more"):
        GlobalBatch(*sizes, ElasticSampler(8, 1, 0))


def test_nothing_to_train_is_told():
    with pytest.raises(ValueError, match="nothing would be trained"):
        GlobalBatch(9, 1, ElasticSampler(8, 1, 0), drop_last=True)
