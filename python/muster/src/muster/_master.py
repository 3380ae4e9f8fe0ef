"""The connection of a program without an agent to its job's master: of a job with parameter servers."""

import atexit
import os
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

PATIENCE = 300.0  #: seconds
PROGRAM = "MUSTER_ASK_MASTER"  #: the variable with the path of the program that has the connection, in pods of such jobs


class Answered(NamedTuple):
    """What the master said of the cluster."""

    version: int
    servers: Tuple[str, ...]
    complete: bool


Listener = Callable[[Answered, Answered], object]


class Master:
    """Asks the job's master through a program of Muster's, which has the TLS that Python lacks before 3.13. It lives as long as this
    process, and the master counts the pod as there for so long. Any thread may use it, and no child of this process."""

    def __init__(self, program: str) -> None:
        import subprocess  # only here: most programs that import muster need none

        self.process = os.getpid()
        # Without buffers, which a child would have a copy of.
        self._program = subprocess.Popen([program, "ask-master"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self._program.stdin and self._program.stdout
        self._questions, self._said = self._program.stdin, self._program.stdout
        self._writes = threading.Lock()
        self._changed = threading.Condition()
        self._last = 0
        self._answers: Dict[int, Optional[Dict[str, Any]]] = {}  #: by question; None: not there yet
        self._cluster: Optional[Answered] = None
        self._listeners: List[Listener] = []
        self._changes: List[Tuple[Answered, Answered]] = []  #: which the listeners have not heard
        self._trouble = ""
        self._ended = False
        threading.Thread(target=self._read, name="muster: the job's master", daemon=True).start()
        atexit.register(self.close)

    def ask(self, ask: str, timeout: float = PATIENCE, **fields: Any) -> Dict[str, Any]:
        """Raises TimeoutError, ConnectionError where what was asked about is lost or the master can't be asked any more, and
        ValueError for what it refuses."""
        import json

        with self._changed:
            self._last += 1
            number = self._last
            self._answers[number] = None
        try:
            self._write(json.dumps({"id": number, "ask": ask, "seconds": max(timeout, 0), **fields}).encode() + b"\n")
            answer = self._answer(number, timeout)
        finally:
            with self._changed:
                del self._answers[number]
        if "error" not in answer:
            return answer
        kinds = {"timeout": TimeoutError, "gone": ConnectionError}
        raise kinds.get(answer.get("code", ""), ValueError)(answer["error"])

    def cluster(self, timeout: float = PATIENCE) -> Answered:
        """The newest one; waits for the first. Raises TimeoutError."""
        with self._changed:
            self._changed.wait_for(lambda: self._cluster is not None or self._ended, timeout)
            if self._cluster is not None:
                return self._cluster
            if self._ended:
                raise self._gone()
            raise TimeoutError(f"the parameter servers are not all there after {timeout:g} s{self._why()}")

    def listen(self, listener: Listener) -> None:
        """Calls it in a thread of this module with the cluster before and each next one."""
        with self._changed:
            if not self._listeners:
                threading.Thread(target=self._tell, name="muster: changes of the cluster", daemon=True).start()
            self._listeners.append(listener)

    def close(self) -> None:
        """Its program ends when it can read no more."""
        if os.getpid() == self.process:
            with self._writes:
                self._questions.close()

    def abandon(self) -> None:
        """In a child: else the program would live as long as that."""
        self._questions.close()
        self._said.close()

    def _write(self, line: bytes) -> None:
        try:
            with self._writes:
                while line:
                    line = line[self._questions.write(line) or 0:]
        except (OSError, ValueError):  # it has ended; this process ends
            raise self._gone() from None

    def _answer(self, number: int, timeout: float) -> Dict[str, Any]:
        # The program answers in that time; what is added is for it to do so.
        end = time.monotonic() + timeout + 10
        with self._changed:
            self._changed.wait_for(lambda: self._answers[number] is not None or self._ended, max(end - time.monotonic(), 0))
            answer = self._answers[number]
            if answer is not None:
                return answer
            raise self._gone() if self._ended else TimeoutError("there was no answer in time" + self._why())

    def _why(self) -> str:
        return f": {self._trouble}" if self._trouble else ""

    def _gone(self) -> ConnectionError:
        return ConnectionError("the job's master can't be asked any more" + self._why())

    def _read(self) -> None:
        import json

        rest = b""
        while True:
            data = os.read(self._said.fileno(), 1 << 16)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(json.loads(line))
        self._program.wait()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _take(self, said: Dict[str, Any]) -> None:
        with self._changed:
            if said.get("id") in self._answers:
                self._answers[said["id"]] = said
            if "trouble" in said:
                self._trouble = said["trouble"]
            if "cluster" in said:
                self._trouble = ""
                before, self._cluster = self._cluster, self._next(said["cluster"])
                if before and self._cluster and before.version != self._cluster.version and self._listeners:
                    self._changes.append((before, self._cluster))
            self._changed.notify_all()

    def _next(self, told: Dict[str, Any]) -> Optional[Answered]:
        if not told["servers"]:  # a new master has not seen them yet
            return self._cluster._replace(complete=False) if self._cluster else None
        return Answered(told["version"], tuple(told["servers"]), told["complete"])

    def _tell(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._changes))
                (before, after), listeners = self._changes.pop(0), list(self._listeners)
            for listener in listeners:
                try:
                    listener(before, after)
                except Exception:
                    import traceback

                    traceback.print_exc()


def master() -> Master:
    """That of this process. Raises RuntimeError where there is none to be asked."""
    global _master
    with _lock:
        if _master is None:
            program = os.environ.get(PROGRAM)
            if not program:
                raise RuntimeError("parameter servers are known to the master of a job that Muster runs, such as an ElasticJob with "
                                   f"ParameterServerStrategy; this process is in none ({PROGRAM} is not set)")
            _master = Master(program)
        return _master


def asks_master() -> bool:
    """Whether this process has a master to ask and no agent between."""
    return bool(os.environ.get(PROGRAM)) and not os.environ.get("MUSTER_GENERATION")


_master: Optional[Master] = None
_lock = threading.Lock()
_abandoned: List[Master] = []


def _in_child() -> None:
    global _lock, _master
    _lock = threading.Lock()  # another thread of the parent may hold it
    if _master is not None:
        _master.abandon()
        _abandoned.append(_master)  # nothing waits for the parent's program here
        _master = None


os.register_at_fork(after_in_child=_in_child)
