"""The parameter servers of a job, and the versions of their cluster."""

import os
from typing import Callable, NamedTuple, Tuple, TypeVar

from ._master import PATIENCE, Answered, master


class Cluster(NamedTuple):
    """The parameter servers in use."""

    ps: Tuple[str, ...]  #: their addresses, by rank
    version: int  #: rises with each change of who they are; upstream's GLOBAL
    complete: bool  #: each of them is there; else one has failed, and its successor is yet to come


Callback = TypeVar("Callback", bound=Callable[[Cluster, Cluster], object])


def cluster(timeout: float = PATIENCE) -> Cluster:
    """The parameter servers as the job's master sees them; waits until each has been there once. Raises TimeoutError, ConnectionError,
    and RuntimeError outside of a job with a master.

    A server is there when its program has called this, too: what it returns there is of no use to it.
    """
    return _cluster(master().cluster(timeout))


def on_ps_change(callback: Callback) -> Callback:
    """Calls callback(old, new) in a thread of this package for each cluster that follows the present one: when a server was replaced
    or moved, or their number is another. Usable as a decorator. An exception of the callback is printed."""
    master().listen(lambda before, after: callback(_cluster(before), _cluster(after)))
    return callback


def local_version() -> int:
    """The version that this task has said it works with (LOCAL); 0: none so far."""
    return _ask_version("local")


def set_local_version(version: int) -> None:
    """Says that this task works with that version of the cluster now."""
    _ask_version("local", version)


def restored_version() -> int:
    """The version at which this task has restored its checkpoint (RESTORED); -1: none so far."""
    return _ask_version("restored")


def set_restored_version(version: int) -> None:
    _ask_version("restored", version)


def version_of(kind: str, task_type: str, rank: int, timeout: float = PATIENCE) -> int:
    """Of any task; `kind`: "global", "local" or "restored"."""
    return int(master().ask("version", timeout, kind=kind, type=task_type, rank=rank)["number"])


def set_version_of(kind: str, task_type: str, rank: int, version: int, timeout: float = PATIENCE) -> int:
    """Returns what holds then: the global version never falls."""
    return int(master().ask("version", timeout, kind=kind, type=task_type, rank=rank, set=version)["number"])


def _ask_version(kind: str, version: int = -2) -> int:
    task, rank = os.environ.get("NODE_TYPE", "worker"), int(os.environ.get("NODE_RANK", "0"))
    return version_of(kind, task, rank) if version == -2 else set_version_of(kind, task, rank, version)


def _cluster(answered: Answered) -> Cluster:
    return Cluster(answered.servers, answered.version, answered.complete)
