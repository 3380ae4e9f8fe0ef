"""Classifies drawn digits with as many processes as there are at the time.

torchrun restarts it whenever a worker is lost or comes in; each start continues from the last epoch that rank 0 left
in CHECKPOINTS:

    muster run examples/pytorch-elastic.yaml
"""

import os
import pathlib
import sys

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import torch
from digits import load, network
from torch import nn

EPOCHS = int(os.environ.get("EPOCHS", "60"))
BATCH = 32
LAST = pathlib.Path(os.environ["CHECKPOINTS"]) / "last.pt"


def restore(model, optimizer):
    """The epoch to continue with."""
    if not LAST.exists():
        return 1
    last = torch.load(LAST)
    model.load_state_dict(last["model"])
    optimizer.load_state_dict(last["optimizer"])
    return last["epoch"] + 1


def save(model, optimizer, epoch):
    # The rename makes it whole: whoever is killed here leaves the checkpoint before this one.
    unfinished = LAST.with_suffix(".unfinished")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, unfinished)
    unfinished.rename(LAST)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    first = restore(model, optimizer)
    print(f"rank {rank} of {world} begins with epoch {first}", flush=True)

    images, labels, test_images, test_labels = load(rank, world)
    spread = DistributedDataParallel(model)
    for epoch in range(first, EPOCHS + 1):
        shuffled = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        for start in range(0, len(labels), BATCH):
            batch = shuffled[start:start + BATCH]
            loss = nn.functional.cross_entropy(spread(images[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            save(model, optimizer, epoch)
            if epoch % 20 == 0:
                print(f"epoch {epoch} of {EPOCHS}: loss {loss.item():.4f}", flush=True)
    if rank == 0:
        with torch.no_grad():
            right = (model(test_images).argmax(1) == test_labels).float().mean().item()
        print(f"accuracy: {right:.4f}", flush=True)
    dist.barrier()
    # gloo's threads may crash while the interpreter takes itself down; all work is done here.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
