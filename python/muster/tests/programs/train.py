"""A worker for test_training.py: trains a small network by GlobalBatch over gloo and writes what became of it.

train.py FOLDER STOP MICRO: meets the others at $MEETING, continues from FOLDER/state.pt until STOP optimizer steps are done, and leaves it there.
"""

import os
import pathlib
import sys

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

import muster
import torch
from torch import nn

SAMPLES, BATCH, EPOCHS = 53, 10, 3  # neither divides


def main():
    folder, stop, micro_batch = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    state = folder / "state.pt"
    torch.set_num_threads(1)
    here = muster.world()
    dist.init_process_group("gloo", init_method=os.environ["MEETING"], rank=here.rank, world_size=here.size)

    chance = torch.Generator().manual_seed(0)
    inputs = torch.randn(SAMPLES, 6, generator=chance)
    targets = (inputs ** 2).sum(1, keepdim=True) + torch.randn(SAMPLES, 1, generator=chance)
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    sampler = muster.ElasticSampler(SAMPLES, seed=4)
    done, losses, worlds = 0, [], []
    if state.exists():
        saved = torch.load(state)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        sampler.load_state_dict(saved["sampler"])
        done, losses, worlds = saved["done"], saved["losses"], saved["worlds"]

    exchanges = 0

    def average(group, bucket):
        nonlocal exchanges
        exchanges += 1
        return dist.distributed_c10d.all_reduce(bucket.buffer().div_(here.size), async_op=True).get_future().then(
            lambda future: future.value()[0])

    model.register_comm_hook(None, average)
    batches = muster.GlobalBatch(BATCH, micro_batch, sampler)
    loader = DataLoader(TensorDataset(inputs, targets), batch_sampler=batches)
    worlds.append(here.size)
    for epoch in range(sampler.epoch, EPOCHS):
        sampler.set_epoch(epoch)
        for step in batches.steps(loader):
            total = torch.zeros(())
            before = exchanges
            for micro, (x, y) in step:
                with micro.sync(model):
                    loss = nn.functional.mse_loss(model(x), y)
                    (loss * micro.scale).backward()
                total += loss.detach() * micro.weight
            assert exchanges == before + 1, "gradients are exchanged once a step"
            optimizer.step()
            optimizer.zero_grad()
            muster.step()
            dist.all_reduce(total)
            losses.append(total.item())
            done += 1
            if done == stop:
                break
        if done == stop:
            break
    if here.rank == 0:
        torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(), "sampler": sampler.state_dict(), "done": done,
                    "losses": losses, "worlds": worlds}, state)
    dist.barrier()
    # torch 1.13 now and then hangs where it takes a process group down: it joins its threads and holds the GIL, for which
    # one of them waits to let go of a tensor that the hook above has seen.
    os._exit(0)


if __name__ == "__main__":
    main()
