"""What every launcher is given: a small model under DistributedDataParallel over gloo, and a line in FILE for each step.

elastic_train.py FILE. Times are those of the clock that all processes of a machine share.
"""

import json
import os
import sys
import time


def tell(what, **more):
    line = {"what": what, "at": time.monotonic(), "rank": int(os.environ["RANK"]), "world": int(os.environ["WORLD_SIZE"]),
            "pid": os.getpid(), **more}
    fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(fd, (json.dumps(line) + "\n").encode())
    os.close(fd)


tell("started")

import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import torch  # noqa: E402

tell("imported")
dist.init_process_group("gloo")
tell("joined")
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
step = 0
while True:
    loss = model(torch.randn(16, 64)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tell("step", step=step)
    step += 1
    time.sleep(0.05)
