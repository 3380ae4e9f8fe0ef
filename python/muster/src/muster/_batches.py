"""A global batch that stays the same at any world size."""

import contextlib
from typing import Any, ContextManager, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from ._sampler import ElasticSampler


class Micro(NamedTuple):
    """One forward and backward pass of this rank."""

    size: int  #: samples that count; 0 for a rank without samples in this pass: it passes one sample, with weight 0
    weight: float  #: their share of the global batch
    scale: float  #: factor for their mean loss if gradients are averaged over ranks: weight times world size
    last: bool  #: whether gradients are exchanged after this one

    def sync(self, model: Any) -> ContextManager[Any]:
        """A context for forward and backward: only the last micro-batch of a step exchanges gradients. `model` is a
        DistributedDataParallel, or anything with or without a method no_sync()."""
        if self.last or not hasattr(model, "no_sync"):
            return contextlib.nullcontext()
        return model.no_sync()  # type: ignore[no-any-return]


def share(start: int, stop: int, rank: int, ranks: int, micro_batch: int) -> List[range]:
    """The positions of an order that a rank takes of the batch [start, stop), a range for each of its micro-batches.

    Position i belongs to rank i % ranks. All ranks have the same number of micro-batches, of at most `micro_batch` positions, so that
    collective operations in a forward pass match; some ranges may be empty.
    """
    mine = range(start + (rank - start) % ranks, stop, ranks)
    largest = -(-(stop - start) // ranks)
    parts = -(-largest // micro_batch)
    return [mine[len(mine) * part // parts:len(mine) * (part + 1) // parts] for part in range(parts)]


class GlobalBatch:
    """Divides each global batch among the ranks, and weights their gradients.

    A batch is the next `global_batch` samples of the sampler's order: which samples it holds does not depend on the world's size, and
    neither does the gradient. Ranks take turns at its samples, so some have one more than others, and each passes its own
    in micro-batches of at most `micro_batch`. Gradients are exchanged once a step, with the last of them.

    DistributedDataParallel averages over ranks: with W ranks, and rank r passing micro-batches m of n samples each, a step's gradient is
    1/W * sum over r and m of scale * grad(mean loss of m). It equals that of one process which takes the mean loss of all B samples if
    scale = W * n / B, which is Micro.scale. (Where gradients are summed, use Micro.weight, n / B.)

        sampler = muster.ElasticSampler(dataset, seed=1)
        batches = muster.GlobalBatch(256, 16, sampler)
        loader = DataLoader(dataset, batch_sampler=batches)
        for epoch in range(sampler.epoch, EPOCHS):
            sampler.set_epoch(epoch)
            for step in batches.steps(loader):
                for micro, (x, y) in step:
                    with micro.sync(model):
                        (criterion(model(x), y) * micro.scale).backward()
                optimizer.step()
                optimizer.zero_grad()

    The last batch of an epoch may be smaller, and is weighted by its real size; drop_last omits it. The
    sampler's position moves after the last micro-batch of a step, so a checkpoint after optimizer.step() has the right one; one between
    the micro-batches and optimizer.step() would not.

    The criterion must be a mean over samples. What depends on which samples pass together (batch normalisation) or on a rank's random
    numbers (dropout) still differs from a single process. A rank without samples (a batch smaller than the
    world, or micro_batch 1 that does not divide) passes one sample of the batch with scale 0, since it has to take part in the exchange.
    """

    def __init__(self, global_batch: int, micro_batch: int, sampler: ElasticSampler, *, drop_last: bool = False) -> None:
        """Raises ValueError if a batch would be empty."""
        if global_batch < 1 or micro_batch < 1:
            raise ValueError(f"GlobalBatch({global_batch}, {micro_batch}): both must be 1 or more")
        if drop_last and sampler.size < global_batch:
            raise ValueError(f"GlobalBatch: {sampler.size} samples are less than one global batch of {global_batch}, and drop_last omits "
                             "it; nothing would be trained")
        self.global_batch = global_batch
        self.micro_batch = micro_batch
        self.sampler = sampler
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[List[int]]:
        """The indices of this rank's micro-batches, from the sampler's position to the end of its epoch: a loader's batch_sampler."""
        # Here and not in the generator, which starts later: a loader may start it in the middle of the first step.
        return self._indices(self.sampler.position, self.sampler.order())

    def __len__(self) -> int:
        """The number of these micro-batches."""
        ranks = self.sampler.num_replicas
        return sum(len(share(start, stop, 0, ranks, self.micro_batch)) for start, stop in self._bounds(self.sampler.position))

    def steps(self, loader: Optional[Iterable[Any]] = None) -> "Iterator[Step]":
        """The rest of the sampler's epoch, as one Step for each optimizer step. `loader` yields the data for each list of indices,
        in order; without a loader the lists themselves are yielded. Each Step must be iterated to its end.

        Raises ValueError for a DataLoader over anything but this; RuntimeError if it ends early, a step is not finished, or the
        sampler is moved meanwhile.
        """
        batch_sampler = getattr(loader, "batch_sampler", self)
        if batch_sampler is not self:
            raise ValueError("GlobalBatch.steps: this loader has batches of its own; make it with "
                             "DataLoader(dataset, batch_sampler=batches)")
        return self._steps(iter(self if loader is None else loader))

    def _bounds(self, position: int) -> Iterator[Tuple[int, int]]:
        size = self.sampler.size
        while position < size and not (self.drop_last and size - position < self.global_batch):
            stop = min(position + self.global_batch, size)
            yield position, stop
            position = stop

    def _indices(self, position: int, order: Any) -> Iterator[List[int]]:
        rank, ranks = self.sampler.rank, self.sampler.num_replicas
        for start, stop in self._bounds(position):
            for part in share(start, stop, rank, ranks, self.micro_batch):
                yield list(order.walk(part)) or [order[start]]

    def _steps(self, loaded: Iterator[Any]) -> "Iterator[Step]":
        epoch, position = self.sampler.epoch, self.sampler.position
        for start, stop in self._bounds(position):
            one = Step(self.sampler, epoch, start, stop, self.micro_batch, loaded)
            yield one
            if not one.through:
                raise RuntimeError("GlobalBatch: a step was left before its last micro-batch, so the ranks no longer agree; iterate over "
                                   "each step to its end")
            position = stop
        if position < self.sampler.size:
            self.sampler.commit(self.sampler.size - position)  # what drop_last omits


class Step:
    """One optimizer step: yields pairs of (Micro, item of the loader). Can be iterated once."""

    def __init__(self, sampler: ElasticSampler, epoch: int, start: int, stop: int, micro_batch: int, loaded: Iterator[Any]) -> None:
        self.size = stop - start  #: samples of all ranks
        self.through = False  #: all micro-batches are done, and the sampler's position is after them
        self._sampler, self._epoch, self._start = sampler, epoch, start
        self._parts = share(start, stop, sampler.rank, sampler.num_replicas, micro_batch)
        self._loaded = loaded

    def __iter__(self) -> Iterator[Tuple[Micro, Any]]:
        ranks = self._sampler.num_replicas
        for number, part in enumerate(self._parts, 1):
            try:
                batch = next(self._loaded)
            except StopIteration:
                raise RuntimeError("GlobalBatch: the loader ended before its epoch; make it with "
                                   "DataLoader(dataset, batch_sampler=batches), and iterate over each step once") from None
            weight = len(part) / self.size
            yield Micro(len(part), weight, weight * ranks, number == len(self._parts)), batch
        if (self._sampler.epoch, self._sampler.position) != (self._epoch, self._start):
            raise RuntimeError(f"GlobalBatch: the sampler was moved to epoch {self._sampler.epoch}, position {self._sampler.position} "
                               f"during the step at epoch {self._epoch}, position {self._start}; move it between epochs only")
        self._sampler.commit(self.size)
        self.through = True
