"""How a task of TensorFlow learns of other parameter servers. Upstream: dlrover/trainer/tensorflow/failover/failover_client.py."""

from typing import List, Tuple

from dlrover.python.elastic_agent.tensorflow.elastic_ps import ElasticPsClient

from muster import cluster


class FailoverClient:
    """`role`: such as "worker:1". Upstream counts a chief as worker 0, and every worker as worker 1; here each worker comes behind the chief."""

    def __init__(self, role: str) -> None:
        self.role = role
        kind, _, index = role.partition(":")
        self.task_type = "worker" if kind == "chief" else kind
        self.task_id = int(index or 0) + (1 if kind == "worker" else 0)
        self._client = ElasticPsClient(self.task_type, self.task_id)
        self.ps_client = ElasticPsClient("ps", 0)

    def get_local_version(self) -> int:
        return self._client.get_local_cluster_version()

    def get_global_version(self) -> int:
        return self.ps_client.get_global_cluster_version()

    def set_local_version(self, version: int = 0) -> None:
        self._client.update_local_cluster_version(version)

    def set_global_version(self, version: int = 0) -> None:
        self.ps_client.update_global_cluster_version(version)

    def ready_for_ps_relaunch(self) -> bool:
        return self._client.ready_for_ps_relaunch()

    def get_training_ps_addr(self) -> Tuple[List[str], bool]:
        nodes, failure = self._client.get_all_ps_nodes()
        return [node.addr for node in nodes], failure

    def init_version(self, version: int = 0) -> None:
        """Says that this task works with the first cluster, and waits for it."""
        if self.get_local_version() == 0:
            self.set_local_version(1)
        cluster(timeout=3600)
