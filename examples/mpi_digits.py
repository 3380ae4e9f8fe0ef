"""Classifies scikit-learn's handwritten digits: each rank has a share of them, and all add up their gradients by MPI.

Any MPI starts it, by whatever remote shell:

    muster run examples/mpi-digits.yaml
    mpirun -np 3 python3 examples/mpi_digits.py
"""

import os
import socket
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a rank is one thread

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

EPOCHS = int(os.environ.get("EPOCHS", "200"))
RATE = 0.5


def load(rank, world):
    """This rank's share of the training set, and the whole test set."""
    digits = load_digits()
    images = np.hstack([digits.data / 16.0, np.ones((len(digits.data), 1))])
    order = np.random.default_rng(0).permutation(len(images))
    test, train = order[:360], order[360:]
    mine = train[rank::world]
    return images[mine], digits.target[mine], images[test], digits.target[test]


def slopes_of(weights, images, labels):
    """Of the sum of this rank's losses."""
    scores = images @ weights
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(len(labels)), labels] -= 1
    return images.T @ chances


def main():
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    # The end of the line with it: what ranks say at the same time is put together by pieces.
    sys.stdout.write(f"rank {rank} of {size} is ready on {socket.gethostname()}\n")
    sys.stdout.flush()

    images, labels, test_images, test_labels = load(rank, size)
    examples = world.allreduce(len(labels))
    weights = np.zeros((images.shape[1], 10))
    for epoch in range(EPOCHS):
        if rank == 0 and epoch % 100 == 0:
            print(f"epoch {epoch} of {EPOCHS}", flush=True)
        total = np.empty_like(weights)
        world.Allreduce(slopes_of(weights, images, labels), total)
        weights -= RATE * total / examples

    right = float(np.mean(np.argmax(test_images @ weights, axis=1) == test_labels))
    if rank == 0:
        print(f"accuracy: {right:.4f}", flush=True)
    return 0 if right > 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
