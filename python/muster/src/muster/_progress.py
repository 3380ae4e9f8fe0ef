"""Reports steps of training to the agent of this worker."""

import os
import sys
from typing import Callable

from .hook._muster_hook import EXACT, progress_writer

_count = 0


def step(n: int = 1) -> None:
    """Reports `n` more steps of training. Call it once after each optimizer step, from one thread.

    It costs a fraction of a microsecond: the count and the time are stored in a page that the agent reads (the 64 bytes of the file
    MUSTER_PROGRESS). Without Muster it does nothing. The count starts with this process, and replaces what the hook on
    torch's optimizers counted. A process forked from one that has already counted reports nothing, so that a worker's
    children don't report for it; one forked earlier counts by itself.

    Raises ValueError if n is negative.
    """
    global _count
    if n < 0:
        raise ValueError(f"muster.step({n}): steps can't be taken back")
    _count += n
    _tell(_count)


def _ignore(count: int) -> None:
    del count


def _first(count: int) -> None:
    """Finds the file to write at the first step: a module imported in a warm spare does not know its worker yet."""
    global _tell
    _tell = _ignore
    path = os.environ.get("MUSTER_PROGRESS")
    if not path:
        return
    hook = sys.modules.get("_muster_hook")  # only a launcher installs it under that name
    if hook is not None:
        hook.stop_counting()
    try:
        _tell = progress_writer(path, EXACT)
    except (OSError, ValueError) as error:
        print(f"muster: this worker can't report its progress: {path} (MUSTER_PROGRESS) can't be mapped: {error}. "
              "Training continues, but a check for hangs may take it for hung", file=sys.stderr, flush=True)
        return
    os.register_at_fork(after_in_child=_silence)
    _tell(count)


def _silence() -> None:
    global _tell
    _tell = _ignore


_tell: Callable[[int], None] = _first
