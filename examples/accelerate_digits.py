"""Classifies drawn digits with Accelerate.

Reads MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which a PyTorchJob sets:

    muster run examples/pytorch-accelerate.yaml
"""

import os
import sys

from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

import torch
from digits import load, network
from torch import nn

EPOCHS = int(os.environ.get("EPOCHS", "20"))


def main():
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True)
    # After the Accelerator, which gives each process a thread for each core of the machine, whatever OMP_NUM_THREADS
    # says. Threads that wait for each other on a busy machine take many times as long as one.
    torch.set_num_threads(1)
    rank, world = accelerator.process_index, accelerator.num_processes
    print(f"rank {rank} of {world} is ready", flush=True)

    # Every process names the whole training set, and Accelerate deals out the batches.
    images, labels, test_images, test_labels = load(0, 1)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    batches = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True)
    model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
    for epoch in range(1, EPOCHS + 1):
        for batch_images, batch_labels in batches:
            loss = nn.functional.cross_entropy(model(batch_images), batch_labels)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        if epoch % 10 == 0:
            accelerator.print(f"epoch {epoch} of {EPOCHS}: loss {loss.item():.4f}", flush=True)
    if accelerator.is_main_process:
        with torch.no_grad():
            right = (accelerator.unwrap_model(model)(test_images).argmax(1) == test_labels).float().mean().item()
        print(f"accuracy: {right:.4f}", flush=True)
    accelerator.wait_for_everyone()
    # gloo's threads may crash while the interpreter takes itself down; all work is done here.
    sys.stdout.flush()
    os._exit(0)


main()
