"""The examples that train: what each needs beside the system's own Python, and the accuracy that it reaches at least."""

import os
import pathlib

from programs import CACHE, ROOT, SOURCES, Missing, build

# manifest: (environment in examples/requirements, or a program; accuracy)
EXAMPLES = {
    "jax-digits.yaml": ("jax", 0.9),
    "mpi-digits.yaml": (None, 0.9),
    "mpi-ssh-digits.yaml": ("sshd", 0.9),
    "mpich-digits.yaml": ("mpich", 0.9),
    "mxnet-digits.yaml": ("mxnet", 0.9),
    "paddle-digits.yaml": ("paddle", 0.9),
    "pytorch-digits.yaml": (None, 0.9),
    "pytorch-torchrun.yaml": (None, 0.9),
    "pytorch-launch.yaml": (None, 0.9),
    "pytorch-elastic.yaml": (None, 0.9),
    "pytorch-accelerate.yaml": ("torch", 0.9),
    "pytorch-lightning.yaml": ("torch", 0.9),
    "pytorch-transformers.yaml": ("torch", 0.8),
    "pytorch-deepspeed.yaml": ("torch-deepspeed", 0.9),
    "tensorflow-digits.yaml": ("tensorflow", 0.9),
    "tensorflow-servers.yaml": ("tensorflow", 0.9),
    "xgboost-cancer.yaml": ("xgboost", 0.9),
}

# What lets an example learn no longer than that accuracy needs. Servers that are asked at any time learn a little less or more in each run.
BRIEF = {
    "jax-digits.yaml": "EPOCHS=10",
    "mpi-digits.yaml": "EPOCHS=60",
    "mpi-ssh-digits.yaml": "EPOCHS=60",
    "mpich-digits.yaml": "EPOCHS=60",
    "paddle-digits.yaml": "EPOCHS=8",
    "pytorch-torchrun.yaml": "EPOCHS=10",
    "pytorch-launch.yaml": "EPOCHS=10",
    "pytorch-accelerate.yaml": "EPOCHS=10",
    "pytorch-deepspeed.yaml": "EPOCHS=10",
    "tensorflow-digits.yaml": "EPOCHS=10",
}

# What an example leaves on the machine, from which another run would continue.
TRACES = {
    "pytorch-elastic.yaml": pathlib.Path("/tmp/muster-pytorch-elastic"),
    "tensorflow-servers.yaml": pathlib.Path("/tmp/muster-tensorflow-servers"),
}

# Those that only root can run.
OF_ROOT = {"mpi-ssh-digits.yaml": "the key is in /root/.ssh, and sshd of another user admits no other"}


def manifest(name):
    return ROOT / "examples" / name


def environment_for(name, environment=os.environ):
    """The environment of the example's job: with its packages in front of PATH, which are compiled once and not by each
    process of each run. Raises Missing where they can't be had."""
    packages, _ = EXAMPLES[name]
    path = environment["PATH"]
    if packages is not None:
        if name in OF_ROOT and os.geteuid() != 0:
            raise Missing(f"{name} is for root: {OF_ROOT[name]}")
        program = build(packages if packages in SOURCES else f"python-{packages}")
        path = f"{pathlib.Path(program).parent}:{path}"
    return {**environment, "PATH": path,
            "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(CACHE / "bytecode")}
