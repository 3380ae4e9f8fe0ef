"""What a training script can tell Muster, and learn about the world it runs in. README.md shows it in use.

Nothing here needs torch or any other package, and all of it works without Muster too: under torchrun, or in a process started
by hand, which is then a world of one.
"""

from ._batches import GlobalBatch, Micro, Step
from ._keys import Keys, barrier, join_sync, keys
from ._progress import step
from ._sampler import ElasticSampler
from ._world import Generation, World, on_resize, world

__all__ = ["ElasticSampler", "Generation", "GlobalBatch", "Keys", "Micro", "Step", "World", "barrier", "join_sync", "keys",
           "on_resize", "step", "world"]
__version__ = "0.1.0"
