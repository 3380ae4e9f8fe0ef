"""The world of this process, according to the environment set by its launcher."""

import os
from typing import Callable, Mapping, NamedTuple, Optional, Tuple, TypeVar

Callback = TypeVar("Callback", bound=Callable[[int, int], object])


class Generation(NamedTuple):
    """Which world of its job this one is. Later ones are greater."""

    epoch: int  #: identifies the master process that made it; 0 under a launcher without a master
    number: int  #: rises during the life of the job; the restart count under a launcher that does not provide it


class World(NamedTuple):
    """The world of this process. It never changes: a new world has new processes."""

    rank: int
    size: int
    local_rank: int  #: among the workers of this node
    local_size: int
    group_rank: int  #: of this node
    group_size: int  #: nodes
    generation: Generation
    restart_count: int
    run_id: str  #: of the job; empty if it has no name


def world() -> World:
    """The world of this process: from the variables of muster-run, torchrun, or an operator that sets only RANK and WORLD_SIZE
    (then each process is a node of its own). Without any of these, a world of one.

    Raises ValueError, with the variable's name, if they contradict each other or are not numbers.
    """
    return world_of(os.environ)


def world_of(environment: Mapping[str, str]) -> World:
    """world() of another environment."""
    named = [name for name in ("RANK", "WORLD_SIZE") if name in environment]
    if len(named) == 1:
        other = "WORLD_SIZE" if named == ["RANK"] else "RANK"
        raise ValueError(f"{named[0]} is in the environment and {other} is not; set both, or neither for a world of one")
    rank, size = _place(environment, "RANK", "WORLD_SIZE", 0, 1)
    local_rank, local_size = _place(environment, "LOCAL_RANK", "LOCAL_WORLD_SIZE", 0, 1)
    alone = local_size == 1
    group_rank, group_size = _place(environment, "GROUP_RANK", "GROUP_WORLD_SIZE", rank if alone else rank // local_size,
                                    size if alone else -(-size // local_size))
    if local_size > size:
        raise ValueError(f"LOCAL_WORLD_SIZE={local_size} is more than WORLD_SIZE={size}")
    restarts = _number(environment, "TORCHELASTIC_RESTART_COUNT", 0)
    return World(rank, size, local_rank, local_size, group_rank, group_size, _generation(environment, restarts), restarts,
                 environment.get("TORCHELASTIC_RUN_ID", ""))


def on_resize(callback: Callback) -> Callback:
    """Calls callback(old_size, new_size) now, if the job's world before this one had another size. Usable as a decorator.

    A world never changes while its processes live: a job that grows or shrinks restarts all of them. So a callback runs, if at all,
    before on_resize returns, in every rank of the new world, once for each time it is registered. It is not called at the job's
    first start, nor if a worker or a node was replaced and the size stayed the same. `old_size` is that of the last world that ran, however
    it ended; several changes without a world in between count as one. Exceptions of the callback are passed on.

    It depends on MUSTER_PREVIOUS_WORLD_SIZE, which muster-run sets; under torchrun, which does not, it never calls.
    """
    before = _number(os.environ, "MUSTER_PREVIOUS_WORLD_SIZE", 0)
    now = world().size
    if before and before != now:
        callback(before, now)
    return callback


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "")
    if text == "":
        return default
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{name}={text!r} in the environment is not a whole number of zero or more")
    return int(text)


def _place(environment: Mapping[str, str], rank_name: str, size_name: str, rank: int, size: int) -> Tuple[int, int]:
    rank, size = _number(environment, rank_name, rank), _number(environment, size_name, size)
    if rank >= size:
        raise ValueError(f"{rank_name}={rank} is not below {size_name}={size}; these variables contradict each other")
    return rank, size


def _generation(environment: Mapping[str, str], restarts: int) -> Generation:
    text: Optional[str] = environment.get("MUSTER_GENERATION")
    if not text:
        return Generation(0, restarts)
    epoch, dot, number = text.partition(".")
    if not (dot and text.isascii() and epoch.isdigit() and number.isdigit()):
        raise ValueError(f"MUSTER_GENERATION={text!r} in the environment is not of the form EPOCH.NUMBER")
    return Generation(int(epoch), int(number))
