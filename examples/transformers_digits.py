"""Teaches a small vision transformer to read drawn digits with the Trainer of Transformers.

Reads MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK, which a PyTorchJob sets. The model begins with random weights, so
nothing is downloaded:

    muster run examples/pytorch-transformers.yaml
"""

import os
import sys

from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification

import torch
from digits import load


class Digits(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images.reshape(-1, 1, 8, 8), labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"pixel_values": self.images[index], "labels": self.labels[index]}


def main():
    torch.manual_seed(0)
    model = ViTForImageClassification(ViTConfig(
        image_size=8, patch_size=4, num_channels=1, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, num_labels=10))
    arguments = TrainingArguments(
        output_dir="/tmp/transformers-digits", use_cpu=True, ddp_backend="gloo", num_train_epochs=10,
        per_device_train_batch_size=48, learning_rate=4e-3, logging_steps=50, ddp_find_unused_parameters=False, save_strategy="no", report_to="none",
        disable_tqdm=True)
    # Accelerate gives each process a thread for each core of the machine as soon as the rank is asked for, whatever
    # OMP_NUM_THREADS says. Threads that wait for each other on a busy machine take many times as long as one.
    rank = arguments.process_index
    torch.set_num_threads(1)
    print(f"rank {rank} of {arguments.world_size} is ready", flush=True)
    images, labels, test_images, test_labels = load(0, 1)  # the Trainer deals out the batches
    trainer = Trainer(model, arguments, train_dataset=Digits(images, labels))
    trainer.train()
    if trainer.is_world_process_zero():
        model.eval()
        with torch.no_grad():
            right = (model(test_images.reshape(-1, 1, 8, 8)).logits.argmax(1) == test_labels).float().mean().item()
        print(f"accuracy: {right:.4f}", flush=True)
    trainer.accelerator.wait_for_everyone()
    # gloo's threads may crash while the interpreter takes itself down; all work is done here.
    sys.stdout.flush()
    os._exit(0)


main()
