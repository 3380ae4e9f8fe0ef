"""Loaded by site in each Python that has this folder on PYTHONPATH: installs the hook, and then loads the sitecustomize that would
have been loaded without it. Any version of Python must be able to read this file, because a worker's children may use any."""

import os
import sys


def _install():
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        if sys.version_info >= (3, 8):
            import _muster_errors
            import _muster_hook

            _muster_errors.install()
            _muster_hook.install()
    except Exception as error:
        sys.stderr.write("muster: the hook that sees steps and errors is not installed (%s: %s); the program continues without it. "
                         "muster-run --no-hook turns it off\n" % (type(error).__name__, error))
    # The program's own path is as it would be without us; its children find us through PYTHONPATH.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]


def _hand_on():
    ours = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # the next one on the path  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", ours)


_install()
_hand_on()
