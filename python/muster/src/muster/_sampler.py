"""Which samples this rank takes, at any world size and from any position of an epoch."""

import sys
from typing import Any, Dict, Iterator, Optional, Sized, Tuple, Union

from ._order import Order
from ._world import world


class ElasticSampler:
    """Replaces torch's DistributedSampler: an iterable of this rank's indices, which can continue in mid-epoch in a world of
    another size.

    The order of an epoch depends only on size, seed and epoch. Position i of it belongs to the rank i % world size, so what all
    ranks together have taken is always the range from 0 to a **position**, in samples of the whole world. Only commit() moves that position; drawing
    indices does not, because a loader draws ahead. Save state_dict() with the model, and load it before iterating.

    The rest of an epoch may not be a multiple of the world size:
    - by default the first samples of the epoch's order are taken again at its end, so that all ranks get equally many (at most world
      size - 1 samples come twice, and all come at least once);
    - drop_last=True omits the remainder (at most world size - 1 samples);
    - even=False gives every sample exactly once, and some ranks one less. DistributedDataParallel hangs on that, unless it runs under
      torch's Join; GlobalBatch is not affected, because it divides each batch itself.

    An epoch is over when its end is committed: then `epoch` has advanced and `position` is 0, which is what a checkpoint at that point
    holds. So `for epoch in range(sampler.epoch, epochs)` continues correctly, before or after an epoch's end.

    num_replicas and rank are those of torch.distributed if that has been initialised, and of muster.world() otherwise.
    """

    def __init__(self, dataset: Union[int, Sized], num_replicas: Optional[int] = None, rank: Optional[int] = None,
                 shuffle: bool = True, seed: int = 0, drop_last: bool = False, *, even: bool = True) -> None:
        """`dataset`: anything with a length, or that length. Raises ValueError for inconsistent values."""
        self.size = dataset if isinstance(dataset, int) else len(dataset)
        if self.size < 1:
            raise ValueError("ElasticSampler: the dataset is empty; there is nothing to take samples from")
        if drop_last and not even:
            raise ValueError("ElasticSampler: even=False leaves nothing to drop; give drop_last or even=False, not both")
        if num_replicas is None or rank is None:
            known = _place()
            num_replicas = known[1] if num_replicas is None else num_replicas
            rank = known[0] if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"ElasticSampler: rank {rank} is not one of {num_replicas}")
        self.num_replicas = num_replicas
        self.rank = rank
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.even = even
        self._epoch = 0
        self._position = 0
        self._order: Optional[Order] = None
        self._ran_from: Optional[int] = None  # where an iteration began that reached the end of this epoch

    @property
    def epoch(self) -> int:
        """The epoch that the next sample belongs to."""
        return self._epoch

    @property
    def position(self) -> int:
        """How many samples of this epoch all ranks together have committed."""
        return self._position

    def __iter__(self) -> Iterator[int]:
        # A caller that commits, has taken the whole epoch, and never calls set_epoch, wants the next one.
        if self._ran_from is not None and self._position > self._ran_from:
            self._begin(self._epoch + 1)
        return self._indices(self._epoch, self._position, self._mine(), self.order())

    def __len__(self) -> int:
        """How many indices are left for this rank in this epoch."""
        return len(self._mine())

    def set_epoch(self, epoch: int) -> None:
        """Goes to the beginning of that epoch. Does nothing if it is the current one, which may have been loaded in its middle."""
        if epoch != self._epoch:
            self._begin(epoch)

    def commit(self, samples: int) -> None:
        """Records that all ranks together have finished that many more samples: after an optimizer step, the batch of all ranks.
        Reaching the end of the epoch ends it. Call it with the same value on every rank."""
        if samples < 0:
            raise ValueError(f"ElasticSampler.commit({samples}): samples can't be taken back")
        self._position += samples
        left = self.size - self._position
        if left <= 0 or (self.drop_last and left < self.num_replicas):
            self._begin(self._epoch + 1)

    def state_dict(self) -> Dict[str, Any]:
        """The position of all ranks together; the same on every rank, and valid for a world of any size."""
        return {"version": 1, "epoch": self._epoch, "position": self._position, "size": self.size, "seed": self.seed,
                "shuffle": self.shuffle}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Restores the position of a state_dict(). Raises ValueError if it belongs to another order of samples, where the position would
        mean nothing: another size of the dataset, another seed, or other shuffling."""
        if state.get("version") != 1:
            raise ValueError(f"ElasticSampler: this state has version {state.get('version')!r}, and only version 1 is known; "
                             "was it saved by a newer muster, or by another sampler?")
        for name in ("size", "seed", "shuffle"):
            if state[name] != getattr(self, name):
                raise ValueError(f"ElasticSampler: the state was saved with {name} {state[name]!r}, and this sampler has "
                                 f"{getattr(self, name)!r}; use the saved value, or begin an epoch with set_epoch instead")
        if not 0 <= state["position"] < self.size:
            raise ValueError(f"ElasticSampler: the state's position {state['position']} is not in an epoch of {self.size} samples")
        self._begin(state["epoch"])
        self._position = state["position"]

    def order(self) -> Order:
        """The order of the current epoch."""
        if self._order is None:
            self._order = Order(self.size, self.seed, self._epoch, self.shuffle)
        return self._order

    def _begin(self, epoch: int) -> None:
        self._epoch = epoch
        self._position = 0
        self._order = None
        self._ran_from = None

    def _mine(self) -> range:
        """The positions of this rank from here to the end; some may be beyond the end."""
        left = self.size - self._position
        if self.drop_last:
            left -= left % self.num_replicas
        elif self.even:
            left += -left % self.num_replicas
        first = self._position + (self.rank - self._position) % self.num_replicas
        return range(first, self._position + left, self.num_replicas)

    def _indices(self, epoch: int, begun: int, positions: range, order: Order) -> Iterator[int]:
        inside = len(range(positions.start, min(positions.stop, self.size), positions.step))
        yield from order.walk(positions[:inside])
        for beyond in positions[inside:]:
            yield order[beyond % self.size]
        if epoch == self._epoch:
            self._ran_from = begun


def _place() -> Tuple[int, int]:
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    here = world()
    return here.rank, here.size
