"""Classifies scikit-learn's handwritten digits with Paddle's DataParallel.

Started by paddle.distributed.launch in each pod, which reads PADDLE_MASTER and PADDLE_NNODES as a PaddleJob sets them:

    muster run examples/paddle-digits.yaml
"""

import os

import numpy as np
import paddle
import paddle.distributed as dist
from sklearn.datasets import load_digits

EPOCHS = int(os.environ.get("EPOCHS", "20"))
BATCH = 32


def main():
    dist.init_parallel_env()
    rank, world = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {world} is ready", flush=True)
    paddle.seed(0)
    digits = load_digits()
    images, labels = (digits.data / 16).astype("float32"), digits.target.astype("int64")
    order = np.random.default_rng(0).permutation(len(labels))
    test, train = order[:360], order[360:]
    mine = train[rank::world][:len(train) // world]

    model = paddle.DataParallel(paddle.nn.Sequential(paddle.nn.Linear(64, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, 10)))
    optimizer = paddle.optimizer.Adam(learning_rate=0.003, parameters=model.parameters())
    for epoch in range(1, EPOCHS + 1):
        shuffled = np.random.default_rng(epoch).permutation(mine)
        for start in range(0, len(shuffled), BATCH):
            rows = shuffled[start:start + BATCH]
            loss = paddle.nn.functional.cross_entropy(model(paddle.to_tensor(images[rows])), paddle.to_tensor(labels[rows]))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        if rank == 0 and epoch % 10 == 0:
            print(f"epoch {epoch} of {EPOCHS}: loss {float(loss):.4f}", flush=True)
    if rank == 0:
        right = model(paddle.to_tensor(images[test])).argmax(1).numpy() == labels[test]
        print(f"accuracy: {right.mean():.4f}", flush=True)


main()
