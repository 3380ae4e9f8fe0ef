"""The order in which an epoch's samples come: a permutation that depends on size, seed and epoch alone.

Its numbers come from SHAKE-128, so that every version of Python, on every machine, makes the same ones. Small sets are shuffled (Fisher
and Yates). Large ones are never held: sample i is found by a Feistel network over pairs (left, right) whose round functions are random
tables of about sqrt(size) entries; what falls beyond the size is sent through once more (M. Luby and C. Rackoff 1988; J. Black and
P. Rogaway 2002).
"""

import sys
from array import array
from math import isqrt
from typing import Iterator, List, Optional, Tuple

LARGEST_SHUFFLED = 1 << 16
ROUND_PAIRS = 4


class Order:
    """The permutation of range(size) for a seed and an epoch."""

    def __init__(self, size: int, seed: int, epoch: int, shuffle: bool = True) -> None:
        self.size = size
        self._shuffled: Optional[array[int]] = None
        self._rounds: List[Tuple[array[int], array[int]]] = []
        self._width = 1
        if not shuffle:
            return
        label = f"muster order 1 size {size} seed {seed} epoch {epoch}"
        if size <= LARGEST_SHUFFLED:
            self._shuffled = _shuffle(size, label)
            return
        # height * width >= size, by less than a row: hardly any sample is sent through twice.
        self._width = isqrt(size - 1) + 1
        height = -(-size // self._width)
        for number in range(ROUND_PAIRS):
            self._rounds.append((_table(f"{label} left {number}", self._width, height),
                                 _table(f"{label} right {number}", height, self._width)))

    def __getitem__(self, position: int) -> int:
        if not 0 <= position < self.size:
            raise IndexError(f"position {position} of {self.size}")
        return next(self.walk(range(position, position + 1)))

    def walk(self, positions: range) -> Iterator[int]:
        """The samples at these positions, each of which must be in range(size)."""
        if self._shuffled is not None:
            return map(self._shuffled.__getitem__, positions)
        if not self._rounds:
            return iter(positions)
        return self._walk(positions)

    def _walk(self, positions: range) -> Iterator[int]:
        size, width, rounds = self.size, self._width, self._rounds
        height = -(-size // width)
        for position in positions:
            while True:
                left, right = divmod(position, width)
                for for_left, for_right in rounds:
                    left = (left + for_left[right]) % height
                    right = (right + for_right[left]) % width
                position = left * width + right
                if position < size:
                    break
            yield position


def _words(label: str, count: int) -> "array[int]":
    import hashlib  # it takes milliseconds, which only shuffled orders should cost

    words = array("Q", hashlib.shake_128(label.encode()).digest(8 * count))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def _table(label: str, entries: int, below: int) -> "array[int]":
    return array("Q", [word % below for word in _words(label, entries)])


def _shuffle(size: int, label: str) -> "array[int]":
    items = array("L", range(size))
    words = _words(label, size)
    for last in range(size - 1, 0, -1):
        chosen = words[last] % (last + 1)
        items[last], items[chosen] = items[chosen], items[last]
    return items
