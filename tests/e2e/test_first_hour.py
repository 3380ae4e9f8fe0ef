"""The first hour of five people who have read the README and what it links to: each test is one path, from the first command to the first
success, with the mistakes on the way."""

import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import BINARY, ROOT
from test_up import needs_kubectl
from test_verbs import Server

# Fits a line with DistributedDataParallel where there are ranks, and keeps the model.
TRAIN = '''\
import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="points.csv")
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--out", default="model.pt")
args = parser.parse_args()

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
with open(args.data) as file:
    rows = torch.tensor([[float(x) for x in line.split(",")] for line in file])[rank::world]
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    loss = torch.nn.functional.mse_loss(model(rows[:, :1]), rows[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"rank {rank} of {world}: loss {loss.item():.3f}\\n", end="", flush=True)
if rank == 0:
    torch.save(model.module.state_dict(), args.out)
dist.barrier()
os._exit(0)  # threads of gloo may crash while Python shuts down
'''
POINTS = "".join(f"{i / 40},{2 * i / 40 + 1}\n" for i in range(40))


@pytest.fixture
def directory(muster, shared):
    """Where the user is; Debian's Python has PyTorch."""
    (shared / "train.py").write_text(TRAIN)
    muster.cwd = shared
    muster.environment["PATH"] = "/usr/bin:" + muster.environment["PATH"]
    return shared


# ---- a script, and no manifest ----


def test_a_script_without_a_manifest(muster, directory):
    for typed in ("train", "train.yaml"):
        refused = muster.run("run", typed)
        assert refused.status == 2 and "did you mean train.py?" in refused.err, refused
    failed = muster.run("run", "train.py", "--lr", "0.1")
    assert failed.status == 1, failed
    verdict = failed.out[failed.out.index("failed after"):]
    assert "train-master-0, container pytorch exited with code 1" in verdict
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'points.csv'" in verdict
    assert not (directory / "model.pt").exists()

    (directory / "points.csv").write_text(POINTS)
    done = muster.run("run", "train.py", "--lr", "0.1")
    assert done.status == 0 and "rank 0 of 1: loss" in done.out, done
    assert (directory / "model.pt").stat().st_size > 0

    both = muster.run("run", "-n", "2", "train.py", "--epochs", "5", "--out", "two.pt")
    assert both.status == 0 and "rank 0 of 2: loss" in both.out and "rank 1 of 2: loss" in both.out, both
    assert (directory / "two.pt").stat().st_size > 0


def test_who_comes_back_tomorrow_finds_why_it_failed(muster, directory):
    muster.environment["HOME"] = str(directory)
    begun = muster.run("run", "-d", "train.py")
    assert begun.status == 0 and "train-1 runs in the background" in begun.out, begun
    assert muster.run("attach", "train-1").status == 1, "its own"
    listed = muster.run("ps", "-a")
    assert [line.split()[:4] for line in listed.out.splitlines()[1:]] == [["train-1", "PyTorchJob", "here", "failed"]], listed
    why = muster.run("why", "train")
    assert "FileNotFoundError: [Errno 2] No such file or directory: 'points.csv'" in why.out, why
    assert "rank 0 (local rank 0)" in muster.run("logs", "train").out
    (directory / "points.csv").write_text(POINTS)
    again = muster.run("rerun", "train")
    assert again.status == 0 and "train-2 runs in the background" in again.out, again
    assert muster.run("attach", "train").status == 0
    assert "failed -> succeeded" in muster.run("diff", "train-1", "train-2").out
    for run in ("train-1", "train-2"):
        assert muster.run("rm", run).status == 0
    assert not list((directory / ".muster" / "runs").glob("train-*"))


# ---- a repository of manifests ----

# What its images run.
PROGRAM = '''\
import json, os, pathlib
config = pathlib.Path("/etc/train/config.json")
lr = json.loads(config.read_text())["lr"] if config.exists() else "-"
print(os.environ["HOSTNAME"], "lr", lr, "token", os.environ.get("HF_TOKEN", "-"), flush=True)
if "OUT" in os.environ:
    pathlib.Path(os.environ["OUT"], os.environ["HOSTNAME"]).write_text("trained")
'''
JOBS = ("pytorchjob/resnet", "tfjob/mnist", "mpijob/allreduce", "xgboostjob/boost", "pytorchjob/elastic")
RESNET = ("resnet-master-0", "resnet-worker-0", "resnet-worker-1")
needs_mpi = pytest.mark.skipif(shutil.which("mpirun", path="/usr/bin") is None, reason="there is no mpirun here")


@pytest.fixture
def repository(shared):
    """Manifests beside the program, and a torchrun: that of Debian's PyTorch fails with its own Python."""
    shutil.copytree(ROOT / "tests" / "e2e" / "repository", shared / "manifests")
    (shared / "src").mkdir()
    (shared / "src" / "train.py").write_text(PROGRAM)
    (shared / "bin").mkdir()
    (shared / "bin" / "torchrun").write_text(f'#!/bin/sh\nexec {shared}/bin/muster-run "$@"\n')
    (shared / "bin" / "torchrun").chmod(0o755)
    (shared / "bin" / "muster-run").symlink_to(BINARY)
    (shared / "checkpoints").mkdir()
    return shared


@needs_mpi
def test_a_repository_of_manifests_runs_as_it_is(muster, repository):
    muster.cwd = repository
    muster.environment["PATH"] = f"{repository}/bin:/usr/bin:{muster.environment['PATH']}"
    valid = muster.run("validate", "-R", "--anywhere", "manifests")
    assert valid.status == 0 and valid.out.count(" is valid") == 13, valid
    assert "the Kustomization is passed over" in valid.text

    # Each error names the flag that answers it; together they are the command.
    refused = muster.run("run", "manifests")
    assert refused.status == 2 and "nothing was started" in refused.text, refused
    for advice in ("--secret hub=", "--ignore-resources nvidia.com/gpu", "--mount /workspace/src="):
        assert advice in refused.text, refused
    done = muster.run("run", "manifests", "--secret", "hub=token=abc", "--ignore-resources", "nvidia.com/gpu",
                      "--mount", "/workspace/src=src", "--volume", "checkpoints=checkpoints")
    assert done.status == 0 and done.out.count(" succeeded after ") == len(JOBS), done
    assert "resnet-worker-1 lr 0.1 token abc" in done.out
    assert sorted(path.name for path in (repository / "checkpoints").iterdir()) == sorted(RESNET)


@needs_mpi
@needs_kubectl
def test_a_repository_of_manifests_on_a_server(repository):
    server = Server(repository)
    server.environment["PATH"] = f"{repository}/bin:/usr/bin:{server.environment['PATH']}"
    server.verb("up", "--detach", "--listen", "127.0.0.1:0", "--fit", "scale", "--ignore-resources", "nvidia.com/gpu",
                "--mount", "/workspace/src=src", "--volume", "checkpoints=checkpoints")
    try:
        server.kubectl("create", "-f", str(repository / "manifests" / "namespace.yaml"))
        server.kubectl("create", "secret", "generic", "hub", "--from-literal=token=abc", "-n", "vision")
        # What is no object of a cluster is said, and the rest is there.
        applied = server.kubectl("apply", "-R", "-f", str(repository / "manifests"), check=False)
        assert applied.returncode == 1 and applied.stderr.count("no matches for kind") == 1, applied
        for job in JOBS:
            server.verb("wait", job, "-n", "vision", "--for", "condition=Succeeded", "--timeout", "60s")
        assert sorted(path.name for path in (repository / "checkpoints").iterdir()) == sorted(RESNET)
        assert f"0 unfinished, {len(JOBS)} succeeded, 0 failed" in server.verb("status").stdout
        assert "lr 0.1 token abc" in server.verb("logs", "pytorchjob/resnet", "-n", "vision").stdout
        server.kubectl("delete", "--ignore-not-found", "-k", str(repository / "manifests"))  # the namespace takes the rest with it
    finally:
        server.down("--kill")


# ---- a notebook ----

NOTEBOOK = '{"cells": [{"cell_type": "code", "source": ["import torch"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
# As nbconvert writes a cell with a magic.
EXPORTED = "#!/usr/bin/env python\n# coding: utf-8\n\n# In[1]:\n\n\nimport torch\nget_ipython().run_line_magic('matplotlib', 'inline')\n"
CELL = '''\
import subprocess
process = subprocess.Popen(["muster", "run", "train.py", "--epochs", "2"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
for line in process.stdout:
    print("cell:", line, end="")
print("status", process.wait())
'''


def test_a_notebook_is_told_how_to_become_a_script(muster, directory):
    (directory / "train.ipynb").write_text(NOTEBOOK)
    refused = muster.run("run", "train.ipynb")
    assert refused.status == 2, refused
    assert "this is a notebook" in refused.err and "jupyter nbconvert --to script train.ipynb" in refused.err
    assert "muster run train.py" in refused.err and "get_ipython()" in refused.err


def test_a_script_of_a_notebook_fails_with_the_line_that_is_a_notebooks(muster, directory):
    (directory / "exported.py").write_text(EXPORTED)
    failed = muster.run("run", "exported.py")
    verdict = failed.out[failed.out.index("failed after"):]
    assert failed.status == 1 and "NameError: name 'get_ipython' is not defined" in verdict and "line 8" in verdict, failed


def test_a_cell_runs_a_script(muster, directory):
    """There is no terminal, and the output is read line by line."""
    (directory / "points.csv").write_text(POINTS)
    (directory / "bin").mkdir()
    (directory / "bin" / "muster").symlink_to(BINARY)
    environment = {**muster.environment, "PATH": f"{directory}/bin:{muster.environment['PATH']}"}
    done = subprocess.run([sys.executable, "-c", CELL], cwd=directory, env=environment, text=True, capture_output=True, timeout=100, check=True)
    assert "cell: train-master-0 | rank 0 of 1: loss" in done.stdout, done
    assert done.stdout.endswith("status 0\n") and "\r" not in done.stdout and "\x1b" not in done.stdout, done
    assert (directory / "model.pt").exists()


# ---- a step of cube-studio ----

# What cube-studio gives to the launcher of a template.
TASK = {
    "KFJ_NAMESPACE": "pipeline", "KFJ_RUN_ID": "run-42", "KFJ_TASK_ID": "7", "KFJ_TASK_NAME": "train", "KFJ_PIPELINE_ID": "3",
    "KFJ_PIPELINE_NAME": "mnist", "KFJ_CREATOR": "ann", "KFJ_RUNNER": "ben", "KFJ_TASK_IMAGES": "registry/team/train:1",
    "KFJ_TASK_RESOURCE_CPU": "1", "KFJ_TASK_RESOURCE_MEMORY": "50M~1G", "KFJ_TASK_RESOURCE_GPU": "0",
    "KFJ_TASK_NODE_SELECTOR": "cpu=true,train=true,org=public",
    "KFJ_TASK_VOLUME_MOUNT": "kubeflow-user-workspace(pvc):/mnt,kubeflow-archives(pvc):/archives,64M(memory):/dev/shm",
}


def test_a_step_of_cube_studio_is_tried_on_one_machine(shared):
    server = Server(shared)
    (shared / "work").mkdir()
    (shared / "archives").mkdir()
    claims = ("--volume", "kubeflow-user-workspace=work", "--volume", "kubeflow-archives=archives")
    server.verb("up", "--detach", "--listen", "127.0.0.1:0", "--fit", "scale", *claims)
    try:
        def step(command, status):
            return server.verb("step", "pytorch", "--working_dir", str(shared), "--command", command, "--num_worker", "2",
                               "--image", "registry/team/train:1", status=status, environment=TASK).stdout

        refused = server.verb("step", "pytorch", "--command", "true", status=2, environment=TASK)
        assert "there is no namespace \"pipeline\": create it" in refused.stderr, refused
        server.apply('{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pipeline"}}')

        failed = step('[ $RANK = 0 ] && exec sleep 60; echo "no data" >&2; exit 3', 1)
        assert "[worker-0] no data" in failed and "exit code 1: the job failed" in failed.splitlines()[-1]
        # The template's user mends the command and runs the task again.
        done = step('echo "rank $RANK of $WORLD_SIZE"; echo model > /mnt/ann/model.$RANK', 0)
        assert "is of an earlier try of this step: deleting it" in done
        assert "[master-0] rank 0 of 2" in done and "[worker-0] rank 1 of 2" in done
        assert (shared / "work" / "ann" / "model.0").read_text() == "model\n", "each user has a part of the workspace"
        assert server.verb("get", "pytorchjobs", "-n", "pipeline", "--no-headers").stdout.count("\n") == 1
    finally:
        server.down("--kill")


# ---- who keeps a server: install, backup, upgrade, restore, remove ----

LONG = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: long}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - name: pytorch
            image: local
            command: [sh, -c, "echo begins in $$$$; while [ ! -e finish ]; do sleep 0.1; done; echo ends"]
"""


class Machine(Server):
    """The program is in ~/.local/bin, as from the archive."""

    def install(self):
        program = self.directory / ".local" / "bin" / "muster"
        program.parent.mkdir(parents=True, exist_ok=True)
        new = program.with_suffix(".new")
        shutil.copy(BINARY, new)
        new.rename(program)  # in one step, as packages and tar do it: the old one may run

    def __call__(self, *words, status=0, stdin=None):
        done = subprocess.run([self.directory / ".local" / "bin" / "muster", *words], env=self.environment, cwd=self.directory, input=stdin,
                              text=True, capture_output=True, timeout=90, check=False)
        assert done.returncode == status, done
        return done.stdout + done.stderr


def test_a_server_is_kept_upgraded_and_removed(shared):
    machine = Machine(shared)
    machine.install()
    up = ("up", "-d", "--listen", "127.0.0.1:0")
    assert machine("version").startswith("muster ")
    assert "no state" in machine("backup", "early", status=1)
    machine(*up)
    try:
        assert "is up already" in machine(*up, status=1)
        machine("apply", "-f", "-", stdin=LONG)
        machine("wait", "pytorchjob/long", "--for", "condition=Running", "--timeout", "30s")
        begun = machine("logs", "long")
        backup = str(shared / "muster.backup")
        machine("backup", backup)
        assert "exists already; --force replaces it" in machine("backup", backup, status=1)

        # The upgrade, with the job running through it.
        machine.install()
        assert "its pods keep running" in machine("down", "--keep-pods")
        machine(*up)
        assert machine("logs", "long") == begun, "the same process"

        # A mistake, and the way back.
        machine("delete", "pytorchjob", "long")
        machine("down")
        assert "--force replaces it" in machine("restore", backup, status=1)
        machine("restore", backup, "--force")
        machine(*up)
        (shared / "finish").touch()
        machine("wait", "pytorchjob/long", "--for", "condition=Succeeded", "--timeout", "60s")
        assert machine("logs", "long", "--tail", "1").endswith("| ends\n")
        assert "0 unfinished, 1 succeeded, 0 failed" in machine("status")
    finally:
        machine("down", "--kill")
    # What docs/install.md names is all that it leaves.
    machine("clean")
    left = {path.name for path in pathlib.Path(machine.environment["HOME"]).iterdir()}
    assert left == {".local", ".muster", "finish", "muster.backup"}
