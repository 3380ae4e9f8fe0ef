"""The versions of the cluster of parameter servers. Upstream: dlrover/python/elastic_agent/tensorflow/elastic_ps.py."""

import json
import os
from typing import Any, List, Optional, Tuple

from dlrover.python.common.constants import PSClusterVersionType
from dlrover.python.elastic_agent.master_client import MasterClient, PsNode


def _task(name: str) -> Any:
    return json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get(name)


def get_task_type_from_tf_config() -> Optional[str]:
    kind: Optional[str] = _task("type")
    return kind


def get_task_id_from_tf_config() -> Optional[int]:
    index: Optional[int] = _task("index")
    return index


class ElasticPsClient:
    """Of one task; without a type or an id that of TF_CONFIG."""

    def __init__(self, task_type: Optional[str] = None, task_id: Optional[int] = None) -> None:
        self._task_type = task_type or get_task_type_from_tf_config() or "worker"
        self._task_id = int(task_id if task_id is not None else get_task_id_from_tf_config() or 0)
        self._master_client = MasterClient.singleton_instance()

    def _get(self, kind: str) -> int:
        return self._master_client.get_cluster_version(kind, self._task_type, self._task_id)

    def _update(self, kind: str, version: int) -> None:
        self._master_client.update_cluster_version(kind, version, self._task_type, self._task_id)

    def get_global_cluster_version(self) -> int:
        return self._get(PSClusterVersionType.GLOBAL)

    def get_local_cluster_version(self) -> int:
        return self._get(PSClusterVersionType.LOCAL)

    def get_restored_version(self) -> int:
        return self._get(PSClusterVersionType.RESTORED)

    def update_global_cluster_version(self, version: int) -> None:
        """It never falls."""
        self._update(PSClusterVersionType.GLOBAL, version)

    def update_local_cluster_version(self, version: int) -> None:
        self._update(PSClusterVersionType.LOCAL, version)

    def update_restored_version(self, version: int) -> None:
        self._update(PSClusterVersionType.RESTORED, version)

    def get_all_ps_nodes(self) -> Tuple[List[PsNode], bool]:
        return self._master_client.query_ps_nodes()

    def ready_for_ps_relaunch(self) -> bool:
        return self._master_client.ready_for_ps_relaunch()
