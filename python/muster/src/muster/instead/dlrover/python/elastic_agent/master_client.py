"""What programs with parameter servers ask of their master. Upstream: dlrover/python/elastic_agent/master_client.py."""

import threading
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from muster import join_sync, keys
from muster._cluster import cluster, set_version_of, version_of
from muster._master import PATIENCE, master

_FLAG = "/dlrover/barrier/"  #: keys of barriers that were notified


class PsNode(NamedTuple):
    """A parameter server."""

    type: str
    addr: str
    cpu: float = 0
    memory: int = 0


class MasterClient:
    """Those of upstream's methods that parameter servers and their workers need. Each may raise TimeoutError and ConnectionError."""

    _instance: Optional["MasterClient"] = None
    _lock = threading.Lock()

    def __init__(self, *_: Any, **__: Any) -> None:
        master()  # this pod is there from now on

    @classmethod
    def singleton_instance(cls, *_: Any, **__: Any) -> "MasterClient":
        with cls._lock:
            if cls._instance is None:
                cls._instance = cls()
            return cls._instance

    def get_cluster_version(self, version_type: str, task_type: str, task_id: int) -> int:
        return version_of(version_type.lower(), task_type, task_id)

    def update_cluster_version(self, version_type: str, version: int, task_type: str, task_id: int) -> None:
        set_version_of(version_type.lower(), task_type, task_id, version)

    def query_ps_nodes(self) -> Tuple[List[PsNode], bool]:
        """The parameter servers by rank, and whether one of them has failed and has no successor yet."""
        now = cluster()
        return [PsNode("ps", address) for address in now.ps], not now.complete

    def ready_for_ps_relaunch(self) -> bool:
        """No one waits for it here: the operator ends the old pod of a migration when the new one is ready."""
        return True

    def join_sync(self, sync_name: str) -> bool:
        join_sync(sync_name)
        return True

    def sync_finished(self, sync_name: str) -> bool:
        """Upstream's raises KeyError for a point that no one has joined."""
        try:
            master().ask("joined", 0.5, name=sync_name)
        except TimeoutError:
            return False
        return True

    def barrier(self, barrier_name: str, notify: bool = False) -> bool:
        """Whether it was notified."""
        if notify:
            keys().set(_FLAG + barrier_name, b"1")
        return notify or keys().get(_FLAG + barrier_name) is not None

    def wait_for_barrier(self, barrier_name: str, timeout: float = PATIENCE) -> bool:
        try:
            keys().wait_for(_FLAG + barrier_name, timeout=timeout)
        except TimeoutError:
            return False
        return True

    def kv_store_set(self, key: str, value: bytes) -> bool:
        keys().set(key, value)
        return True

    def kv_store_get(self, key: str) -> bytes:
        return keys().get(key) or b""

    def kv_store_add(self, key: str, value: int) -> int:
        return keys().add(key, value)

    def kv_store_multi_get(self, names: Sequence[str]) -> Any:
        """All of them, or none if one is missing."""
        found = {name: keys().get(name) for name in names}
        return {} if None in found.values() else found

    def kv_store_multi_set(self, names: Sequence[str], values: Sequence[bytes]) -> bool:
        for name, value in zip(names, values):
            keys().set(name, value)
        return True


def build_master_client(master_addr: Any = None, timeout: float = 60) -> MasterClient:
    """The address is that of the pod's variables."""
    return MasterClient.singleton_instance()


