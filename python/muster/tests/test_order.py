import collections
import itertools

import pytest

from conftest import good, run
from muster._order import LARGEST_SHUFFLED, Order

LARGE = LARGEST_SHUFFLED + 1


@pytest.mark.parametrize("size", [1, 2, 3, 10, 1000, LARGEST_SHUFFLED, LARGE, 70_000, 256 * 257, 100_003])
def test_each_sample_comes_once(size):
    assert sorted(Order(size, 3, 1).walk(range(size))) == list(range(size))


def test_the_order_is_the_same_everywhere_and_for_ever():
    """A resumed epoch would hold other samples, were this to change."""
    assert list(Order(10, 0, 0).walk(range(10))) == [4, 7, 9, 0, 1, 3, 8, 2, 5, 6]
    assert list(Order(10_000_000, 42, 7).walk(range(6))) == [5454409, 9454534, 9388255, 721824, 6545267, 6080467]


@pytest.mark.parametrize("size", [100, LARGE])
def test_seeds_and_epochs_give_other_orders(size):
    first = [tuple(Order(size, seed, epoch).walk(range(20))) for seed, epoch in itertools.product((0, 1, -1, 12), (0, 1, 2, 11))]
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("size", [1000, LARGE, 10 ** 12])
def test_part_of_a_walk_is_that_part(size):
    order = Order(size, 1, 2)
    assert list(order.walk(range(5, 100, 3))) == [order[position] for position in range(5, 100, 3)]


def test_without_shuffling_it_is_the_range():
    assert list(Order(10 ** 9, 1, 2, shuffle=False).walk(range(7, 20, 5))) == [7, 12, 17]


@pytest.mark.parametrize("position", [-1, 10])
def test_what_is_not_there_is_refused(position):
    with pytest.raises(IndexError):
        Order(10, 0, 0)[position]


def test_small_orders_are_all_equally_likely():
    seen = collections.Counter(tuple(Order(4, seed, 0).walk(range(4))) for seed in range(24 * 100))
    # Chi-square with 23 degrees of freedom: 49.7 is passed by chance once in a thousand, and the seeds are fixed.
    assert len(seen) == 24 and sum((count - 100) ** 2 / 100 for count in seen.values()) < 49.7


def test_large_orders_look_random():
    size, cells = LARGE, 64
    for seed in range(3):
        walked = list(Order(size, seed, 0).walk(range(size)))
        # From where to where: a table of cells, chi-square with about 63 * 63 degrees of freedom.
        table = collections.Counter((position * cells // size, sample * cells // size) for position, sample in enumerate(walked))
        mean = size / cells ** 2
        spread = sum((table[place] - mean) ** 2 / mean for place in itertools.product(range(cells), repeat=2))
        assert abs(spread - 63 * 63) < 4 * (2 * 63 * 63) ** 0.5, spread
        # Neighbours: the steps between them, and how often they fall.
        steps = collections.Counter((after - before) % size * cells // size for before, after in zip(walked, walked[1:]))
        mean = (size - 1) / cells
        assert sum((steps[cell] - mean) ** 2 / mean for cell in range(cells)) < 110  # 63 degrees of freedom, one in ten thousand
        fixed = sum(position == sample for position, sample in enumerate(walked))
        assert fixed < 10


def test_ten_million_samples_cost_little_memory():
    peak = good(run("-c", """
import resource
from muster._order import Order
import hashlib
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
order = Order(10 ** 7, 1, 2)
for _ in order.walk(range(0, 10 ** 7, 997)): pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""))
    assert int(peak) < 4096  # KiB; a list of them takes 400 MB
