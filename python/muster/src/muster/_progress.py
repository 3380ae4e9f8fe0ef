"""Steps that the agent of this worker sees."""

import os
import sys
from typing import Callable

from .hook._muster_hook import EXACT, progress_writer

_count = 0


def step(n: int = 1) -> None:
    """Says that `n` steps of training are done; call it once after each optimizer step, from one thread.

    It costs a fraction of a microsecond: the count and the time are stored in a page that the agent reads (the 64 bytes of the file
    MUSTER_PROGRESS). Without Muster it does nothing. The count begins with this process, and it takes the place of what the hook on
    torch's optimizers counted. A process that was forked from one that has counted already says nothing, so that a worker's
    children don't speak for it; one that was forked before counts by itself.

    Raises ValueError when n is negative.
    """
    global _count
    if n < 0:
        raise ValueError(f"muster.step({n}): steps can't be taken back")
    _count += n
    _tell(_count)


def _nobody(count: int) -> None:
    del count


def _first(count: int) -> None:
    """Looks who listens, at the first step: what is imported in a warm spare does not yet know its worker."""
    global _tell
    _tell = _nobody
    path = os.environ.get("MUSTER_PROGRESS")
    if not path:
        return
    hook = sys.modules.get("_muster_hook")  # under that name only where a launcher put it
    if hook is not None:
        hook.stop_counting()
    try:
        _tell = progress_writer(path, EXACT)
    except (OSError, ValueError) as error:
        print(f"muster: nobody sees this worker's progress, as {path} (MUSTER_PROGRESS) can't be mapped: {error}. "
              "Training goes on; a check for hangs may take it for hung", file=sys.stderr, flush=True)
        return
    os.register_at_fork(after_in_child=_silence)
    _tell(count)


def _silence() -> None:
    global _tell
    _tell = _nobody


_tell: Callable[[int], None] = _first
