"""Points at which workers meet. Upstream: dlrover/python/elastic_agent/sychronization/sync_client.py, spelled so."""

from dlrover.python.elastic_agent.master_client import MasterClient

from muster import join_sync

_FOREVER = 10 * 365 * 86400.0


class SyncClient:
    """Upstream polls once a second; here each call waits where it is to wait. A time-out of 0 is none."""

    def __init__(self) -> None:
        self._master_client = MasterClient.singleton_instance()

    def join_sync(self, sync_name: str) -> bool:
        return self._master_client.join_sync(sync_name)

    def wait_sync_finished(self, sync_name: str, timeout: float = 0) -> bool:
        return join_sync(sync_name, timeout or _FOREVER)

    def barrier(self, barrier_name: str, timeout: float = 0) -> bool:
        """Waits until it is notified."""
        return self._master_client.wait_for_barrier(barrier_name, timeout or _FOREVER)

    def notify_barrier(self, barrier_name: str) -> bool:
        return self._master_client.barrier(barrier_name, True)
