"""Loaded by site in each Python of a pod that has our agent: a launcher of torch's or DLRover's that was reached past PATH, such as that
of a virtual environment which was activated, becomes the agent. A program of a job with parameter servers finds the names of DLRover's
package that it may ask for, unless that package is installed. Then the sitecustomize is loaded that would have been loaded without
this one. Any version of Python must be able to read this file."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
# Console scripts, and the modules that they run.
_SCRIPTS = {"torchrun": "torch.distributed.run", "dlrover-run": "dlrover.trainer.torch.main"}
_MODULES = ("torch.distributed.run", "torch.distributed.launch", "dlrover.trainer.torch.main")


def _words():
    """The words of this process, with those of the interpreter."""
    words = getattr(sys, "orig_argv", None)  # since Python 3.10
    if words is None:
        with open("/proc/self/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    return words


def _launcher():
    """The module of the launcher that this process is, or None."""
    if not sys.argv:
        return None
    if sys.argv[0] != "-m":
        return _SCRIPTS.get(os.path.basename(sys.argv[0]))
    words = _words()
    word = words[len(words) - len(sys.argv)]
    name = word.split("m", 1)[1] if word[:1] == "-" else word  # as in -um MODULE and in -umMODULE
    return name if name in _MODULES else None


def _become_the_agent():
    module = getattr(sys, "argv", None) and _launcher()
    agent = os.path.join(os.path.dirname(_HERE), "bin", "muster-run")
    if not module or not sys.executable or not os.access(agent, os.X_OK):
        return
    import signal

    # Python ignores them, and what it becomes would, too.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(agent, ["muster", "muster-run-for", sys.executable, "-m", module] + sys.argv[1:])


def _hand_on():
    ours = sys.modules.pop("sitecustomize")
    path = list(sys.path)
    sys.path[:] = [entry for entry in path if os.path.abspath(entry or ".") != _HERE]
    without = list(sys.path)
    try:
        import sitecustomize  # the next one on the path  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", ours)
        # It may have changed the path, and then that counts; our folder stays first.
        changed = [] if sys.path == without else list(sys.path)
        sys.path[:] = [_HERE] + [entry for entry in changed if entry != _HERE] if changed else path


try:
    _become_the_agent()
except Exception:
    sys.stderr.write("muster: the agent can't take the place of this launcher (%s: %s)\n" % sys.exc_info()[:2])
_hand_on()
if os.environ.get("MUSTER_ASK_MASTER"):
    sys.path.append(os.path.join(_HERE, "muster", "instead"))
