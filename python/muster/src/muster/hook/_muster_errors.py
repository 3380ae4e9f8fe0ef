"""Records what a worker died of, as torch's @record does, for programs that are not decorated with it: an import that fails
happens before any decorator.

Only the first Python of a worker does so, not those that it starts: MUSTER_ERRORS is removed from the environment.
"""

import os
import sys

TYPE_CHECKING = False  # like typing's, whose import takes milliseconds
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Optional, Type


def install() -> None:
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if os.environ.pop("MUSTER_ERRORS", None) != "1" or not path:
        return
    before, process, file = sys.excepthook, os.getpid(), path

    def tell(kind: "Type[BaseException]", error: BaseException, trace: "Optional[TracebackType]") -> None:
        if os.getpid() == process and not issubclass(kind, KeyboardInterrupt):
            try:
                write(file, kind, error, trace)
            except Exception as failed:
                sys.stderr.write("muster: %s can't be written: %s\n" % (file, failed))
        before(kind, error, trace)

    sys.excepthook = tell
    if sys.argv[:1] == ["-m"]:
        import atexit

        atexit.register(tell_of_no_module, path, process)


def tell_of_no_module(path: str, process: int) -> None:
    """If a module was not found or can't be run, Python itself prints an error and exits: no exception reaches a hook. Until a
    module runs, sys.argv has only the flag."""
    if os.getpid() != process or sys.argv[:1] != ["-m"]:
        return
    words = getattr(sys, "orig_argv", [])
    name = words[words.index("-m") + 1] if "-m" in words[:-1] else "what was named"
    try:
        write(path, ImportError, ImportError("%s can't be run as a module (-m)" % name), None)
    except Exception as failed:
        sys.stderr.write("muster: %s can't be written: %s\n" % (path, failed))


def write(path: str, kind: "Type[BaseException]", error: BaseException, trace: "Optional[TracebackType]") -> None:
    """Unless the file already has content: a decorator knows more."""
    import json
    import time
    import traceback

    if os.path.exists(path) and os.path.getsize(path) > 0:
        return
    extra = {"py_callstack": "".join(traceback.format_exception(kind, error, trace)), "timestamp": str(int(time.time()))}
    text = json.dumps({"message": {"message": "%s: %s" % (kind.__name__, error), "extraInfo": extra}})
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
