"""Classifies drawn digits with DistributedDataParallel.

Reads MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which a PyTorchJob and torchrun both set:

    muster run examples/pytorch-digits.yaml
    torchrun --nproc_per_node 3 examples/digits.py
"""

import os
import sys

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import torch
from drawn_digits import draw_digits
from torch import nn

EPOCHS = int(os.environ.get("EPOCHS", "30"))
BATCH = 32


def load(rank, world):
    """This rank's share of the training set, and the whole test set."""
    images, labels = draw_digits()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    test, train = order[:360], order[360:]
    # Equal shares: every rank must take part in the same number of gradient exchanges.
    share = len(train) // world
    mine = train[rank * share:(rank + 1) * share]
    return images[mine], labels[mine], images[test], labels[test]


def network():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {world} is ready", flush=True)

    images, labels, test_images, test_labels = load(rank, world)
    model = DistributedDataParallel(network())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(1, EPOCHS + 1):
        shuffled = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        for start in range(0, len(labels), BATCH):
            batch = shuffled[start:start + BATCH]
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0 and epoch % 10 == 0:
            print(f"epoch {epoch} of {EPOCHS}: loss {loss.item():.4f}", flush=True)

    status = 0
    if rank == 0:
        with torch.no_grad():
            right = (model.module(test_images).argmax(1) == test_labels).float().mean().item()
        print(f"accuracy: {right:.4f}", flush=True)
        status = 0 if EPOCHS < 30 or right > 0.95 else 1
    dist.barrier()
    dist.destroy_process_group()
    # gloo's threads may crash while the interpreter takes itself down; all work is done here.
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
