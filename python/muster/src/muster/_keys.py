"""What the workers of a world share at the store of their agent, and the programs of a job with parameter servers at its master: keys,
barriers, and points that all of them reach."""

import os
import struct
import threading
import time
from typing import Dict, Optional, Set, Tuple, Type, Union

from ._master import asks_master, master
from ._world import world

PATIENCE = 300.0  #: seconds; that of torch's own stores

# torch's TCPStore, as its clients from 2.2 on speak (torch/csrc/distributed/c10d/TCPStoreBackend.hpp): a byte for the command, lengths and
# numbers of eight bytes, little-endian.
_VALIDATE, _SET, _GET, _ADD, _CHECK, _WAIT, _DELETE = 0, 1, 3, 4, 5, 6, 8
_MAGIC = 0x3C85F7CE
_PREFIX = "/muster/"  #: torch's own keys begin with /worker/


class Keys:
    """Keys and their values, bytes. They belong to the world and end with it: a restart begins without any.

    Every thread and every child of this process has a connection of its own. Raises ConnectionError where the agent has ended the world.
    """

    def __init__(self, host: str, port: int) -> None:
        self._at = (host, port)
        self._own = threading.local()

    def set(self, key: str, value: bytes) -> None:
        with self._connection() as connection:
            connection.send(_SET, key, value)

    def get(self, key: str) -> Optional[bytes]:
        """None if there is no such key."""
        with self._connection() as connection:
            connection.send(_CHECK, key, count=1)
            if connection.read_byte() != 0:
                return None
            connection.send(_GET, key)
            return connection.read_text()

    def add(self, key: str, amount: int = 1) -> int:
        """Returns the sum; a missing key counts as 0, and the value is the number in decimal digits."""
        with self._connection() as connection:
            connection.send(_ADD, key, amount=amount)
            return connection.read_number()

    def delete(self, key: str) -> bool:
        """Whether there was such a key."""
        with self._connection() as connection:
            connection.send(_DELETE, key)
            return connection.read_number() == 1

    def wait_for(self, *keys: str, timeout: float = PATIENCE) -> None:
        """Returns when all of the keys exist. Raises TimeoutError."""
        with self._connection() as connection:
            connection.send(_WAIT, *keys, count=len(keys))
            connection.read_byte(timeout)

    def _connection(self) -> "_Connection":
        # A child has its parent's object, and must not use its connection.
        kept: Optional[_Connection] = getattr(self._own, "connection", None)
        if kept is None or kept.closed or kept.process != os.getpid():
            kept = self._own.connection = _Connection(self._at)
        return kept


class KeysOfOne(Keys):
    """The same in a world of one, which has no agent."""

    def __init__(self) -> None:
        self._values: Dict[str, bytes] = {}
        self._changed = threading.Condition()

    def set(self, key: str, value: bytes) -> None:
        with self._changed:
            self._values[key] = value
            self._changed.notify_all()

    def get(self, key: str) -> Optional[bytes]:
        with self._changed:
            return self._values.get(key)

    def add(self, key: str, amount: int = 1) -> int:
        with self._changed:
            total = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(total).encode()
            self._changed.notify_all()
            return total

    def delete(self, key: str) -> bool:
        with self._changed:
            return self._values.pop(key, None) is not None

    def wait_for(self, *keys: str, timeout: float = PATIENCE) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: all(key in self._values for key in keys), timeout):
                raise TimeoutError(_late(timeout))


class KeysOfJob(Keys):
    """The same at the job's master, for programs without an agent. They live as long as that master: when another one takes over, the
    next call raises ConnectionError, and those after it find keys of the new one, which begin empty."""

    def __init__(self) -> None:
        pass

    def set(self, key: str, value: bytes) -> None:
        master().ask("set", key=key, value=value.hex())

    def get(self, key: str) -> Optional[bytes]:
        value = master().ask("get", key=key)["value"]
        return None if value is None else bytes.fromhex(value)

    def add(self, key: str, amount: int = 1) -> int:
        return int(master().ask("add", key=key, amount=amount)["number"])

    def delete(self, key: str) -> bool:
        return bool(master().ask("delete", key=key)["yes"])

    def wait_for(self, *keys: str, timeout: float = PATIENCE) -> None:
        try:
            master().ask("wait", timeout, keys=list(keys))
        except TimeoutError:
            raise TimeoutError(_late(timeout)) from None


def keys() -> Keys:
    """Those of this world, or of the job where it has parameter servers. Raises RuntimeError for a world of several without
    muster-run, which has the store."""
    global _keys
    if _keys is None:
        _keys = _keys_here()
    return _keys


def barrier(name: str = "", timeout: float = PATIENCE) -> None:
    """Returns when every worker of the world waits here; a name may be used again and again. Raises TimeoutError, which says how many
    have come; who calls again then waits for the same others.

    In a job with parameter servers all of its workers and its chief meet, those that have ended excepted."""
    if asks_master():
        master().ask("barrier", timeout, name=name or "_")
        return
    size, shared = world().size, keys()
    with _lock:
        passed = _passed.get(name, 0)
        first = name not in _waiting
        _waiting.add(name)
    come, opened = f"{_PREFIX}barrier/{passed}/{name}", f"{_PREFIX}opened/{passed}/{name}"
    if first and shared.add(come) == size:
        shared.set(opened, b"1")
        if passed:  # all have left the one before
            for kind in ("barrier", "opened"):
                shared.delete(f"{_PREFIX}{kind}/{passed - 1}/{name}")
    try:
        shared.wait_for(opened, timeout=timeout)
    except TimeoutError:
        here = int(shared.get(come) or b"0")
        raise TimeoutError(f"{here} of {size} workers have come to the barrier {name!r} within {timeout:g} s") from None
    with _lock:
        _waiting.discard(name)
        _passed[name] = passed + 1


def join_sync(name: str, timeout: float = 0) -> bool:
    """Notes that this worker has reached the point `name`, once in its world. True if all of its workers have; it waits for them for
    up to `timeout` seconds."""
    if asks_master():
        return _join_at_master(name, timeout)
    here, shared = world(), keys()
    joined, everyone = f"{_PREFIX}joined/{here.rank}/{name}", f"{_PREFIX}everyone/{name}"
    if shared.add(joined) == 1 and shared.add(f"{_PREFIX}sync/{name}") == here.size:
        shared.set(everyone, b"1")
    if timeout > 0:
        try:
            shared.wait_for(everyone, timeout=timeout)
        except TimeoutError:
            return False
    return shared.get(everyone) is not None


def _join_at_master(name: str, timeout: float) -> bool:
    if master().ask("join", name=name)["yes"]:
        return True
    if timeout <= 0:
        return False
    try:
        master().ask("joined", timeout, name=name)
    except TimeoutError:
        return False
    return True


_keys: Optional[Keys] = None
_lock = threading.Lock()
_passed: Dict[str, int] = {}  #: barriers, and how often this worker has passed each
_waiting: Set[str] = set()  #: barriers to which it has come


def _keys_here() -> Keys:
    if asks_master():
        return KeysOfJob()
    if world().size == 1:
        return KeysOfOne()
    host, port = os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "")
    if not os.environ.get("MUSTER_GENERATION") or not host or not port.isdigit():
        raise RuntimeError("keys, barriers and sync points are at the store of muster-run, which has not started this worker")
    return Keys(host, int(port))


def _late(timeout: float) -> str:
    return f"not all of the keys exist after {timeout:g} s"


class _Connection:
    """One to the store; a call that fails closes it, so that no answer is taken for that of another call."""

    def __init__(self, at: Tuple[str, int]) -> None:
        import socket  # only here: most programs that import muster need none

        self._late: Type[BaseException] = socket.timeout
        self.process = os.getpid()
        self.closed = False
        self._at = at
        try:
            self._socket = socket.create_connection(at, PATIENCE)
        except OSError as error:
            self.closed = True
            raise self._gone(error) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self:
            self._write(struct.pack("<BI", _VALIDATE, _MAGIC))

    def __enter__(self) -> "_Connection":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is not None:
            self.closed = True
            self._socket.close()

    def send(self, command: int, *texts: Union[str, bytes], count: Optional[int] = None, amount: Optional[int] = None) -> None:
        """`count` is of the texts, and before them; `amount` behind them."""
        made = [bytes([command])]
        if count is not None:
            made.append(struct.pack("<Q", count))
        for text in texts:
            data = text.encode() if isinstance(text, str) else text
            made += [struct.pack("<Q", len(data)), data]
        if amount is not None:
            made.append(struct.pack("<q", amount))
        self._write(b"".join(made))

    def read_byte(self, timeout: float = PATIENCE) -> int:
        return self._read(1, timeout)[0]

    def read_number(self) -> int:
        return int(struct.unpack("<q", self._read(8))[0])

    def read_text(self) -> bytes:
        (size,) = struct.unpack("<Q", self._read(8))
        return self._read(size)

    def _write(self, data: bytes) -> None:
        try:
            self._socket.settimeout(PATIENCE)
            self._socket.sendall(data)
        except OSError as error:
            raise self._gone(error) from error

    def _read(self, size: int, timeout: float = PATIENCE) -> bytes:
        data, end = b"", time.monotonic() + timeout
        while len(data) < size:
            try:
                self._socket.settimeout(max(end - time.monotonic(), 1e-6))
                more = self._socket.recv(size - len(data))
            except self._late:
                raise TimeoutError(_late(timeout)) from None
            except OSError as error:
                raise self._gone(error) from error
            if not more:
                raise self._gone("it was closed")
            data += more
        return data

    def _gone(self, why: object) -> ConnectionError:
        return ConnectionError(f"the store of the workers at {self._at[0]}:{self._at[1]}: {why}; the world may have ended")
