"""Classifies drawn digits with DeepSpeed.

Reads MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which a PyTorchJob sets, and LOCAL_RANK, which the manifest sets:

    muster run examples/pytorch-deepspeed.yaml
"""

import os
import sys

import deepspeed

import torch
from digits import load, network
from torch import nn

EPOCHS = int(os.environ.get("EPOCHS", "20"))
BATCH = 32


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    deepspeed.init_distributed("gloo")
    rank, world = deepspeed.comm.get_rank(), deepspeed.comm.get_world_size()
    print(f"rank {rank} of {world} is ready", flush=True)

    images, labels, test_images, test_labels = load(rank, world)
    model = network()
    engine, _, _, _ = deepspeed.initialize(
        model=model, optimizer=torch.optim.Adam(model.parameters(), lr=0.003),
        config={"train_micro_batch_size_per_gpu": BATCH, "steps_per_print": 1000})
    for epoch in range(1, EPOCHS + 1):
        shuffled = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))
        for start in range(0, len(labels) - BATCH + 1, BATCH):
            batch = shuffled[start:start + BATCH]
            loss = nn.functional.cross_entropy(engine(images[batch]), labels[batch])
            engine.backward(loss)
            engine.step()
        if rank == 0 and epoch % 10 == 0:
            print(f"epoch {epoch} of {EPOCHS}: loss {loss.item():.4f}", flush=True)
    if rank == 0:
        with torch.no_grad():
            right = (engine.module(test_images).argmax(1) == test_labels).float().mean().item()
        print(f"accuracy: {right:.4f}", flush=True)
    deepspeed.comm.barrier()
    # gloo's threads may crash while the interpreter takes itself down; all work is done here.
    sys.stdout.flush()
    os._exit(0)


main()
