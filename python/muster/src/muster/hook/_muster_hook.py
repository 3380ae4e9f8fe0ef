"""Counts the optimizer steps of a program that knows nothing of Muster, and learns which modules it imports.

Self-contained: a launcher ships this folder, and the program's Python may not have muster installed. Nothing happens until the
program imports torch.optim, and errors here never stop the program: they are printed once on stderr, with
MUSTER_HOOK_DEBUG=1 as a whole traceback.
"""

import os
import sys
from time import monotonic_ns

TYPE_CHECKING = False  # like typing's, whose import takes milliseconds
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, List, Optional, Set

HOOK, EXACT = 1, 2  # sources of the count
TARGET = "torch.optim.optimizer"


def progress_writer(path: str, source: int) -> "Callable[[int], None]":
    """A function that stores a count of steps where the agent looks: in the 64 bytes of the file `path`.

    Little-endian u64 each: the count, CLOCK_MONOTONIC in nanoseconds when it was stored, and its source. Raises OSError or ValueError if
    the file can't be mapped. The words are stored whole, one after the other, the count last.
    """
    import mmap

    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        page = mmap.mmap(descriptor, 64)  # ValueError if the file is shorter
    finally:
        os.close(descriptor)
    words = memoryview(page).cast("Q")
    if sys.byteorder == "little":
        words[2] = source

        def tell(count: int) -> None:
            words[1] = monotonic_ns()
            words[0] = count
    else:
        def swapped(word: int) -> int:
            return int.from_bytes(word.to_bytes(8, "little"), "big")

        words[2] = swapped(source)

        def tell(count: int) -> None:
            words[1] = swapped(monotonic_ns())
            words[0] = swapped(count)

    return tell


# ---- steps of the program, from steps of its optimizers ----


class Rounds:
    """A step of training, however many optimizers it has: it is over when one of them steps for the second time."""

    def __init__(self) -> None:
        self.count = 0
        self._stepped: Set[int] = set()

    def stepped(self, key: int) -> bool:
        """Whether a step of the optimizer with that key begins another step of training."""
        if self._stepped and key not in self._stepped:
            self._stepped.add(key)
            return False
        self._stepped = {key}
        self.count += 1
        return True


_rounds = Rounds()
_running: "Set[int]" = set()  # optimizers inside step(): a step may call that of its base class
_counting = True
_tell: "Optional[Callable[[int], None]]" = None
_learn_to: "Optional[str]" = None


def _saw_step(key: int) -> None:
    """An optimizer did a step."""
    if not _counting:
        return
    try:
        if _rounds.stepped(key):
            (_tell or _first_step())(_rounds.count)
    except Exception as error:
        _give_up("a step could not be counted", error)


def _first_step() -> "Callable[[int], None]":
    global _tell
    _tell = _ignore
    path = os.environ.get("MUSTER_PROGRESS")
    if path:
        _tell = progress_writer(path, HOOK)
        os.register_at_fork(after_in_child=stop_counting)
    learn()
    return _tell


def _ignore(count: int) -> None:
    del count


def stop_counting() -> None:
    """From here on another counts: muster.step(), or the parent of this process."""
    global _counting
    _counting = False


def _give_up(what: str, error: Exception) -> None:
    stop_counting()
    said = "muster: %s (%s: %s), so the hook counts no steps of this process; training continues. " \
           "muster.step() counts them; muster-run --no-hook turns the hook off\n" % (what, type(error).__name__, error)
    try:
        sys.stderr.write(said)
        if os.environ.get("MUSTER_HOOK_DEBUG"):
            import traceback

            traceback.print_exc()
        sys.stderr.flush()
    except Exception:  # there is nowhere left to report it
        pass


# ---- torch ----


def counted(step: "Callable[..., Any]", compiling: "Callable[[], bool]") -> "Callable[..., Any]":
    """Wraps an optimizer class's step so that each call is counted."""
    import functools

    @functools.wraps(step)
    def step_and_tell(self: "Any", *args: "Any", **kwargs: "Any") -> "Any":
        # torch.compile must not trace this code: it would break the graph here.
        if compiling():
            return step(self, *args, **kwargs)
        key = id(self)
        if key in _running:
            return step(self, *args, **kwargs)
        _running.add(key)
        try:
            result = step(self, *args, **kwargs)
        finally:
            _running.discard(key)
        _saw_step(key)
        return result

    step_and_tell.tells_muster = True  # type: ignore[attr-defined]
    return step_and_tell


def _never() -> bool:
    return False


def patch(module: "Any") -> None:
    """Wraps the step of each subclass of torch.optim.optimizer.Optimizer when its first object is made.

    This is just before torch itself wraps `step` for its profiler, once per class. Our wrapper is inside that one, because torch.compile
    removes the outermost. Versions 2.0 to 2.2 have torch.compile but no way to ask whether it is running; for them torch's own
    hook for all optimizers is used, which misses compiled steps and counts twice if a step calls that of its base class.
    """
    optimizer = module.Optimizer
    if getattr(optimizer, "tells_muster", False):
        return
    optimizer.tells_muster = True
    wrapping = "_patch_step_function" if hasattr(optimizer, "_patch_step_function") else "_hook_for_profile"
    put_profiler = getattr(optimizer, wrapping)
    post_hook = getattr(module, "register_optimizer_step_post_hook", None)
    asked: List[Any] = []

    def once() -> "Any":
        """A function that tells whether torch.compile is tracing; None if torch's own hook is used."""
        if not asked:
            compiler = sys.modules.get("torch.compiler")
            ask = getattr(compiler, "is_compiling", None) or (None if post_hook else _never)
            if ask is None and post_hook:
                post_hook(lambda optimizer, args, kwargs: _saw_step(id(optimizer)))
            asked.append(ask)
        return asked[0]

    def put_profiler_and_ours(self: "Any", *args: "Any", **kwargs: "Any") -> "Any":
        try:
            ask, of = once(), type(self)
            if ask is not None and not getattr(of.step, "tells_muster", False):
                of.step = counted(of.step, ask)
        except Exception as error:
            _give_up("an optimizer can't be watched", error)
        return put_profiler(self, *args, **kwargs)

    put_profiler_and_ours.__name__ = wrapping
    setattr(optimizer, wrapping, put_profiler_and_ours)


class _Loader:
    """Loads TARGET as its own loader does, and patches it."""

    def __init__(self, loader: "Any") -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._loader, name)

    def create_module(self, spec: "Any") -> "Any":
        return self._loader.create_module(spec)

    def exec_module(self, module: "Any") -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _patch_or_say(module)


class _Finder:
    """First on sys.meta_path until TARGET is imported."""

    @staticmethod
    def find_spec(name: str, path: "Any" = None, target: "Optional[ModuleType]" = None) -> "Any":
        if name != TARGET:
            return None
        sys.meta_path.remove(_Finder)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


def _patch_or_say(module: "Any") -> None:
    try:
        patch(module)
    except Exception as error:
        _give_up("this torch's optimizers can't be watched", error)


def install() -> None:
    """Works before and after torch was imported. A warm spare calls it again when it becomes a worker."""
    global _learn_to
    # Removed, because children would write their own few modules there when they exit.
    _learn_to = os.environ.pop("MUSTER_LEARN_MODULES", None)
    if _learn_to:
        import atexit

        atexit.unregister(learn)
        atexit.register(learn)
    if hasattr(sys.modules.get(TARGET), "Optimizer"):
        _patch_or_say(sys.modules[TARGET])
    else:
        finders: List[Any] = sys.meta_path
        if _Finder not in finders:
            finders.insert(0, _Finder)


# ---- what a warm spare could import before its worker is needed ----


def imported() -> "List[str]":
    """The imported modules of installed packages, in import order: packages and their direct public submodules.
    Deeper modules are imported with these; modules that are not installed belong to the program, and may change or read the rank."""
    names = []
    for name, module in list(sys.modules.items()):
        words = name.split(".")
        if len(words) > 2 or any(word.startswith("_") for word in words) or words[0] in ("sitecustomize", "usercustomize"):
            continue
        spec = getattr(module, "__spec__", None)
        origin = getattr(spec, "origin", None)
        if not isinstance(origin, str) or getattr(spec, "_initializing", False) or getattr(spec, "name", None) != name:
            continue
        if "/site-packages/" in origin or "/dist-packages/" in origin:
            names.append(name)
    return names


def learn() -> None:
    """Writes imported() to the file MUSTER_LEARN_MODULES: at exit, and at the first step because many programs end with os._exit."""
    if not _learn_to:
        return
    unfinished = "%s.%d" % (_learn_to, os.getpid())
    try:
        import json

        with open(unfinished, "w") as file:
            json.dump({"version": 1, "python": sys.version, "modules": imported()}, file)
        os.replace(unfinished, _learn_to)
    except Exception as error:
        sys.stderr.write("muster: the list of this worker's imports can't be written to %s (%s: %s), so its spare can't be warm\n"
                         % (_learn_to, type(error).__name__, error))
