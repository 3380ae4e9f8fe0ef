"""Classifies drawn digits with as many processes as there are, and learns the same with any number of them.

What elastic_digits.py leaves open, muster closes: the global batch stays at 60 samples, each sample of an epoch comes exactly once though the
number of processes changes in its middle, and the agent sees the steps. It runs under muster-run and torchrun, and alone:

    CHECKPOINTS=/tmp/digits torchrun --nproc_per_node 2 examples/resized_digits.py     # stop it, and continue with another number
    CHECKPOINTS=/tmp/digits torchrun --nproc_per_node 3 examples/resized_digits.py

The package is in python/muster: pip install ./python/muster
"""

import os
import pathlib
import sys

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

import muster
import torch
from digits import load, network
from torch import nn

EPOCHS = int(os.environ.get("EPOCHS", "30"))
STEPS_A_CHECKPOINT = 10
LAST = pathlib.Path(os.environ["CHECKPOINTS"]) / "last.pt"


def save(**parts):
    # The rename makes it whole: whoever is killed here leaves the checkpoint before this one.
    unfinished = LAST.with_suffix(".unfinished")
    torch.save({name: part.state_dict() for name, part in parts.items()}, unfinished)
    unfinished.rename(LAST)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    world = muster.world()
    muster.on_resize(lambda old, new: print(f"rank {world.rank}: {new} processes now, {old} before", flush=True))

    images, labels, test_images, test_labels = load(0, 1)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    sampler = muster.ElasticSampler(len(labels), seed=1)
    if LAST.exists():
        last = torch.load(LAST)
        for name, part in (("model", model), ("optimizer", optimizer), ("sampler", sampler)):
            part.load_state_dict(last[name])
    print(f"rank {world.rank} of {world.size} begins with epoch {sampler.epoch}, sample {sampler.position}", flush=True)

    batches = muster.GlobalBatch(60, 16, sampler)
    loader = DataLoader(TensorDataset(images, labels), batch_sampler=batches)
    spread = DistributedDataParallel(model)
    steps = 0
    for epoch in range(sampler.epoch, EPOCHS):
        sampler.set_epoch(epoch)
        for step in batches.steps(loader):
            for micro, (inputs, targets) in step:
                with micro.sync(spread):
                    loss = nn.functional.cross_entropy(spread(inputs), targets)
                    (loss * micro.scale).backward()
            optimizer.step()
            optimizer.zero_grad()
            muster.step()
            steps += 1
            if world.rank == 0 and steps % STEPS_A_CHECKPOINT == 0:
                save(model=model, optimizer=optimizer, sampler=sampler)
        if world.rank == 0:
            print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss.item():.4f}", flush=True)
    if world.rank == 0:
        with torch.no_grad():
            right = (model(test_images).argmax(1) == test_labels).float().mean().item()
        print(f"accuracy: {right:.4f}", flush=True)
    dist.barrier()
    # gloo's threads may crash while the interpreter takes itself down; all work is done here.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
