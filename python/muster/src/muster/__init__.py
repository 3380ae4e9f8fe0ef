"""What a training script can tell Muster, and learn about the world it runs in. README.md shows it in use.

Nothing here needs torch or any other package, and all of it works without Muster too: under torchrun, or in a process started
by hand, which is then a world of one.
"""

from ._batches import GlobalBatch, Micro, Step
from ._cluster import Cluster, cluster, local_version, on_ps_change, restored_version, set_local_version, set_restored_version
from ._keys import Keys, barrier, join_sync, keys
from ._progress import step
from ._sampler import ElasticSampler
from ._world import Generation, World, on_resize, world

__all__ = ["Cluster", "ElasticSampler", "Generation", "GlobalBatch", "Keys", "Micro", "Step", "World", "barrier", "cluster", "join_sync",
           "keys", "local_version", "on_ps_change", "on_resize", "restored_version", "set_local_version", "set_restored_version", "step",
           "world"]
__version__ = "0.1.0"
