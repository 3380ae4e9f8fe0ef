"""A warm spare: a Python process that has already imported a worker's modules, and waits to become that worker.

    python3 [OPTION...] zygote.py --control FD [--module NAME]... [--learnt FILE] -- COMMAND

COMMAND is that of a worker started in the ordinary way, without its own arguments: PYTHON [OPTION...] then SCRIPT or -m MODULE. Start the
spare with the same PYTHON and options, in the worker's directory, with all of its environment that is known beforehand, and without
what is not (RANK and the like). This file is self-contained: a launcher ships it, and muster need not be installed.

**One spare becomes one worker.** It never forks: torch, OpenMP, gloo and CUDA do not survive a fork well, and the waiting process has
the pid, cgroup, pipes and parent that its worker will have.

**It is warm only if a cold start would be the same.** While modules are imported, each variable that they read through os.environ is
noted; those that native libraries read are known by the names in NATIVE. If any of them has another value in the worker's environment, or
the directory differs, or imports failed, read the whole environment, started Python threads or initialised CUDA, then
the spare replaces itself by COMMAND with the worker's arguments and environment (execve): an ordinary start, in the same process, and the
reason is reported. What can't be detected: imports that read sys.argv or the clock, or that read the environment without os.environ under
names not in NATIVE. What differs: /proc/self/cmdline, more of the standard library in sys.modules, and three frames of this file below
the program's own.

**Protocol**, on the Unix stream socket FD: each message is a little-endian u32 with the length of what follows, and a JSON object.

    spare:  {"ready": true, "version": 1, "pid": 7, "warm": true, "why": "", "module": "", "note": "", "reads": ["HOME", ...],
             "seconds": 1.2}
    agent:  {"start": true, "version": 1, "args": ["--lr", "1"], "env": {"RANK": "0", ...}, "cwd": "/job", "fds": [1, 2]}
    spare:  {"started": true, "warm": true, "why": ""}         and FD is closed; or {"refused": true, "why": "..."} and it exits with 1

If `warm` is false, `why` has the reason; `module` names the module to blame, without which another spare may be warm. A spare that is not
warm may still be used. `note` says why --learnt could not be used. `reads` are the variables that imports read.
`args` are appended to COMMAND; `env` is the whole environment, in which a byte 0xNN that is not UTF-8 is \\udcNN (surrogateescape). `fds`
are the numbers that the descriptors sent along (SCM_RIGHTS, with the message's first byte) get. When the agent closes FD, a
spare that was not used exits with 0.
"""

import os
import sys
import time
from typing import Any, Dict, List, Optional, Set, Tuple

VERSION = 1
LARGEST = 8 << 20

# Prefixes of the variables that the interpreter, the C library and native libraries read as they are loaded.
NATIVE = ("PYTHON", "LD_", "GLIBC_", "MALLOC_", "LC_", "LANG", "TZ", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO", "BLIS_",
          "NUMEXPR_", "DNNL_", "ONEDNN_", "ATEN_", "TORCH_", "PYTORCH_", "CUDA_", "CUBLAS_", "CUDNN_", "NVIDIA_", "HIP_", "HSA_", "ROCR_",
          "XLA_", "TF_", "JAX_")


class Watched(type(os.environ)):  # type: ignore[misc]
    """os.environ, but records what is read. The class of the object is replaced, because its users keep the object."""

    read: "Set[Optional[str]]" = set()  # names; None stands for all of them
    prior = type(os.environ)

    def __getitem__(self, name: Any) -> Any:
        Watched.read.add(name if isinstance(name, str) else os.fsdecode(name))
        return super().__getitem__(name)

    def __iter__(self) -> Any:
        Watched.read.add(None)
        return super().__iter__()

    def copy(self) -> Any:
        Watched.read.add(None)
        return super().copy()

    def __len__(self) -> Any:
        Watched.read.add(None)
        return super().__len__()


def watch(kind: Any) -> None:
    """Makes os.environ an object of this class: Watched, or as it was."""
    os.environ.__class__ = os.environb.__class__ = kind


class NotWarm(Exception):
    """Why a spare can't replace a cold start, and which module is to blame, if any."""

    def __init__(self, why: str, module: str = "") -> None:
        super().__init__(why)
        self.module = module


# ---- before it becomes the worker ----


class Worker:
    """What COMMAND runs, and the `__main__` that it runs in."""

    def __init__(self, command: List[str]) -> None:
        import types

        self.command = command
        self.is_module = len(command) >= 3 and command[-2] == "-m"
        self.name = command[-1]
        self.file = self.name
        if sys.version_info >= (3, 9) and not os.path.isabs(self.name):  # the interpreter makes it absolute, too
            self.file = os.path.join(os.getcwd(), self.name)
        self.main = types.ModuleType("__main__")
        # As the interpreter made our own.
        self.main.__dict__["__builtins__"] = sys.modules["builtins"]
        if "__annotations__" in globals():
            self.main.__annotations__ = {}

    def take_place(self) -> None:
        """Makes this process look as it would at the script's first line, because imports may depend on that."""
        if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
            # Replaces the folder of this file.
            sys.path[0] = os.getcwd() if self.is_module else os.path.dirname(os.path.realpath(self.name))
        if not self.is_module:
            self.main.__file__ = self.file
        sys.argv[:] = ["-m" if self.is_module else self.name]
        sys.modules["__main__"] = self.main

    def why_cold(self) -> str:
        """Why only the interpreter itself can run it; empty if we can."""
        if self.is_module:
            return ""
        try:
            with open(self.name, "rb") as file:
                start = file.read(4)
        except OSError as error:
            return "%s can't be opened: %s" % (self.name, error.strerror)
        return "%s is no source" % self.name if start[:2] == b"PK" or start[2:4] == b"\r\n" else ""


def modules_of(learnt: str) -> Tuple[List[str], str]:
    """The modules that the hook recorded; if they can't be used, none and the reason."""
    import json

    try:
        with open(learnt) as file:
            known = json.load(file)
        if known["version"] != 1 or known["python"] != sys.version:
            return [], "%s was written under another Python" % learnt
        return [str(name) for name in known["modules"]], ""
    except FileNotFoundError:
        return [], "%s does not exist; a worker writes it in its first run" % learnt
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [], "%s can't be read: %s" % (learnt, error)


def ways_to(name: str) -> List[str]:
    """A module, preceded by the packages that contain it: each is imported by itself, so that the right one is blamed."""
    words = name.split(".")
    return [".".join(words[:count + 1]) for count in range(len(words))]


def warm_up(names: List[str]) -> None:
    """Imports them. Raises NotWarm."""
    import importlib
    import threading

    if not names:
        raise NotWarm("it was given no modules to import")
    if None in (sys.stdin, sys.stdout, sys.stderr):
        raise NotWarm("it was started without standard streams")
    for name in (part for whole in names for part in ways_to(whole)):
        if name in sys.modules:
            continue
        try:
            importlib.import_module(name)
        except BaseException as error:  # a module may even call sys.exit
            raise NotWarm("%s can't be imported: %s: %s" % (name, type(error).__name__, error), name) from error
        if threading.active_count() > 1:
            raise NotWarm("%s started a thread, which would see the spare and not the worker" % name, name)
        if on_a_device():
            raise NotWarm("%s initialised CUDA" % name, name)
        if None in Watched.read:
            raise NotWarm("%s reads the whole environment, part of which is known only when the worker starts" % name, name)
    # Modules may have been written since they were cached as absent.
    importlib.invalidate_caches()


def on_a_device() -> bool:
    """Whether this process has opened an accelerator."""
    links = []
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink("/proc/self/fd/" + descriptor))
        except OSError:  # that of the folder itself
            pass
    return any(link.startswith(("/dev/nvidia", "/dev/kfd", "/dev/dri/render")) for link in links)


def coerced() -> Dict[str, str]:
    """What the interpreter itself added to the environment: LC_CTYPE, if the locale is C. A worker's interpreter would do the same."""
    try:
        with open("/proc/self/environ", "rb") as file:
            given = any(entry.startswith(b"LC_CTYPE=") for entry in file.read().split(b"\0"))
    except OSError:
        return {}
    return {} if given or "LC_CTYPE" not in os.environ else {"LC_CTYPE": os.environ["LC_CTYPE"]}


def difference(before: Dict[str, str], worker_environment: Dict[str, str], read: "Set[str]") -> str:
    """Why imports made under the environment `before` are not valid for the worker's; empty if they are."""
    native = {name for name in set(before) | set(worker_environment) if name.startswith(NATIVE)}
    differing = sorted(name for name in set(before) | set(worker_environment) if before.get(name) != worker_environment.get(name))
    for name in differing:
        if name in native or name in read:
            told = [repr(of[name]) if name in of else "unset" for of in (before, worker_environment)]
            return "%s was %s when modules read it during imports, and is %s for the worker" % (name, *told)
    return ""


# ---- messages ----


def say(control: Any, message: Dict[str, Any]) -> None:
    import json

    data = json.dumps(message).encode()
    control.sendall(len(data).to_bytes(4, "little") + data)


def hear(control: Any) -> Optional[Tuple[Dict[str, Any], List[int]]]:
    """A message and the descriptors that came with it, or None if the agent has closed the socket. Raises ValueError for an invalid message."""
    import array
    import json
    import socket

    data, wanted = b"", 4
    descriptors: List[int] = []
    while len(data) < wanted:
        room = socket.CMSG_SPACE(16 * array.array("i").itemsize)
        part, ancillary, _, _ = control.recvmsg(wanted - len(data), room, socket.MSG_CMSG_CLOEXEC)
        for level, kind, packed in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers = array.array("i")
                numbers.frombytes(packed[:len(packed) - len(packed) % numbers.itemsize])
                descriptors += numbers
        if not part:
            if data:
                raise ValueError("the message ended after %d bytes" % len(data))
            return None
        data += part
        if wanted == 4 == len(data):
            length = int.from_bytes(data, "little")
            if length > LARGEST:
                raise ValueError("a message of %d bytes; at most %d are allowed" % (length, LARGEST))
            wanted += length
    message = json.loads(data[4:])
    if not isinstance(message, dict):
        raise ValueError("a message that is not an object")
    return message, descriptors


def check_start(message: Dict[str, Any], descriptors: List[int]) -> None:
    """Raises ValueError unless it is a complete and valid order to start."""
    def texts(items: Any) -> bool:
        return all(isinstance(text, str) and "\0" not in text for text in items)

    if message.get("start") is not True or message.get("version") != VERSION:
        raise ValueError("not a start of version %d" % VERSION)
    args, environment, numbers = message.get("args"), message.get("env"), message.get("fds", [])
    if not isinstance(args, list) or not texts(args):
        raise ValueError("args is not a list of strings")
    if not isinstance(environment, dict) or not texts([*environment, *environment.values()]):
        raise ValueError("env is not an object of strings")
    if any("=" in name or not name for name in environment):
        raise ValueError("env has a name that no variable can have")
    if not texts([message.get("cwd")]):
        raise ValueError("cwd is not a string")
    if not isinstance(numbers, list) or not all(type(number) is int and 0 <= number < 1024 for number in numbers):
        raise ValueError("fds are not descriptor numbers")
    if len(numbers) != len(descriptors) or len(set(numbers)) != len(numbers):
        raise ValueError("%d descriptors came for the numbers %s" % (len(descriptors), numbers))


# ---- becoming the worker ----


def place_descriptors(numbers: List[int], descriptors: List[int], control: Any) -> Any:
    """Gives the received descriptors their numbers; returns the control socket, which may have had to move."""
    import fcntl
    import socket

    above = max(numbers, default=0) + 1
    if control.fileno() in numbers:
        control = socket.socket(fileno=fcntl.fcntl(control.detach(), fcntl.F_DUPFD_CLOEXEC, above))
    # No descriptor may occupy the number of another.
    lifted = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, above) for descriptor in descriptors]
    for number, descriptor in zip(numbers, lifted):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for descriptor in descriptors:
        if descriptor not in numbers:
            os.close(descriptor)
    return control


def give_environment(before: Dict[str, str], wanted: Dict[str, str]) -> None:
    """Makes os.environ what it would be if the imports had started with `wanted`. They read nothing that differs."""
    watch(Watched.prior)
    after = dict(os.environ)
    wanted = dict(wanted)
    for name in set(before) | set(after):
        if before.get(name) != after.get(name):
            if name in after:
                wanted[name] = after[name]
            else:
                wanted.pop(name, None)
    for name in set(after) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if after.get(name) != value:
            os.environ[name] = value


def become_cold(command: List[str], environment: Dict[str, str]) -> int:
    """Executes the command; returns only if that fails."""
    import signal

    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by this interpreter; the new one starts from the default
        signal.signal(ignored, signal.SIG_DFL)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(command[0], command, environment)
    except OSError as error:
        print("zygote: %s can't be started: %s" % (command[0], error), file=sys.stderr)
    return 127


def run(worker: Worker, args: List[str]) -> int:
    """Runs the worker's program to its end and returns the exit status. Reports exceptions as the interpreter does."""
    sys.argv[1:] = args
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = worker.command + args
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())
    # They ran when the spare started, without the worker's environment.
    for name in ("_muster_errors", "_muster_hook"):
        hook = sys.modules.get(name)
        if hook is not None:
            hook.install()
    failure: Optional[BaseException] = None
    try:
        if worker.is_module:
            import runpy

            # What the interpreter itself calls for -m; it runs in sys.modules["__main__"].
            runpy._run_module_as_main(worker.name)  # type: ignore[attr-defined]
        else:
            run_script(worker)
    except SystemExit:
        raise
    except BaseException as error:
        failure = error
    if failure is None:
        return 0
    tell(failure)
    if isinstance(failure, KeyboardInterrupt):
        # A shell must see the interruption: the interpreter ends by that signal, with nothing left to report.
        sys.excepthook = lambda *_: None
        raise failure
    return 1


def run_script(worker: Worker) -> None:
    import importlib.machinery

    namespace = vars(worker.main)
    namespace["__loader__"] = importlib.machinery.SourceFileLoader("__main__", worker.file)
    namespace.update({name: None for name in ("__cached__",) if name in globals()})
    with open(worker.name, "rb") as file:
        code = compile(file.read(), worker.file, "exec", dont_inherit=True)
    exec(code, namespace)


def theirs(traceback: Any) -> Any:
    """The frames of a traceback without ours."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback


def tell(error: BaseException) -> None:
    """What the interpreter does with an uncaught exception."""
    error.__traceback__ = theirs(error.__traceback__)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as another:
        print("Error in sys.excepthook:", file=sys.stderr)
        another.__traceback__ = theirs(another.__traceback__)
        sys.__excepthook__(type(another), another, another.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)


def options(words: List[str]) -> Tuple[int, List[str], Optional[str], List[str]]:
    """control, modules, learnt and COMMAND. Raises ValueError."""
    control, modules, learnt = None, [], None
    while words and words[0] != "--":
        if len(words) < 2:
            raise ValueError("%s needs a value" % words[0])
        name, value, words = words[0], words[1], words[2:]
        if name == "--control":
            control = int(value)
        elif name == "--module":
            modules.append(value)
        elif name == "--learnt":
            learnt = value
        else:
            raise ValueError("there is no option %s" % name)
    if control is None or len(words) < 3:
        raise ValueError("--control FD and -- PYTHON [OPTION...] SCRIPT are needed")
    return control, modules, learnt, words[1:]


def main() -> int:
    began = time.monotonic()
    try:
        number, names, learnt, command = options(sys.argv[1:])
    except ValueError as error:
        print("zygote: %s" % error, file=sys.stderr)
        return 2
    import socket

    control = socket.socket(fileno=number)
    control.set_inheritable(False)
    before, own, cwd = dict(os.environ), coerced(), os.getcwd()
    worker = Worker(command)
    worker.take_place()
    known, note = modules_of(learnt) if learnt else ([], "")
    why, blamed = "", ""
    watch(Watched)
    try:
        warm_up(names + known)
    except NotWarm as error:
        why, blamed = str(error), error.module
    read = set(filter(None, Watched.read))
    say(control, {"ready": True, "version": VERSION, "pid": os.getpid(), "warm": not why, "why": why, "module": blamed, "note": note,
                  "reads": sorted(read), "seconds": round(time.monotonic() - began, 3)})
    try:
        heard = hear(control)
        if heard is None:
            return 0
        order, descriptors = heard
        check_start(order, descriptors)
    except (OSError, ValueError) as error:
        say(control, {"refused": True, "why": str(error)})
        return 1
    environment, args = order["env"], order["args"]
    warm_environment = {**own, **environment}
    why = why or worker.why_cold() or difference(before, warm_environment, read)
    if not why and os.path.abspath(order["cwd"]) != cwd:
        why = "the spare waited in %s, and the worker runs in %s" % (cwd, order["cwd"])
    try:
        os.chdir(order["cwd"])
        control = place_descriptors(order.get("fds", []), descriptors, control)
    except OSError as error:
        say(control, {"refused": True, "why": str(error)})
        return 1
    say(control, {"started": True, "warm": not why, "why": why})
    control.close()
    if why:
        return become_cold(command + args, environment)
    give_environment(before, warm_environment)
    return run(worker, args)


if __name__ == "__main__":
    sys.exit(main())
