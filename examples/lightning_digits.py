"""Classifies drawn digits with PyTorch Lightning.

Lightning's own environment for Kubeflow reads MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which a PyTorchJob sets:

    muster run examples/pytorch-lightning.yaml
"""

import os
import sys

import pytorch_lightning as lightning
import torch.distributed as dist
from pytorch_lightning.plugins.environments import KubeflowEnvironment
from torch.utils.data import DataLoader, TensorDataset

import torch
from digits import load, network
from torch import nn


class Digits(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = network()

    def training_step(self, batch, number):
        del number
        images, labels = batch
        return nn.functional.cross_entropy(self.network(images), labels)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.003)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    place = KubeflowEnvironment()
    print(f"rank {place.global_rank()} of {place.world_size()} is ready", flush=True)
    images, labels, test_images, test_labels = load(0, 1)  # Lightning deals out the batches
    trainer = lightning.Trainer(
        accelerator="ddp", num_processes=1, num_nodes=place.world_size(), plugins=[place], max_epochs=20,
        checkpoint_callback=False, progress_bar_refresh_rate=0, weights_summary=None, logger=False)
    model = Digits()
    trainer.fit(model, DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True))
    if trainer.is_global_zero:
        with torch.no_grad():
            right = (model.network(test_images).argmax(1) == test_labels).float().mean().item()
        print(f"accuracy: {right:.4f}", flush=True)
    dist.barrier()
    # gloo's threads may crash while the interpreter takes itself down; all work is done here.
    sys.stdout.flush()
    os._exit(0)


main()
