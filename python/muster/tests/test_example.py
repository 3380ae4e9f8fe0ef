"""The example that uses all of it, under torchrun, with a number of processes that changes."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading

import pytest

from conftest import ROOT, SOURCES, environment, needs_torch

EXAMPLE = ROOT / "examples" / "resized_digits.py"


@contextlib.contextmanager
def torchrun(processes, checkpoints, **variables):
    """Runs a process that is gone afterwards and does not run forever."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # --redirects and --tee say where output goes, which PyTorch 1.13 can't find out for itself with Python 3.11.
    launched = subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", "--redirects", "1", "--tee", "1", "--nproc_per_node", str(processes),
         "--master_port", str(port), str(EXAMPLE)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        env=environment(PYTHONPATH=SOURCES, CHECKPOINTS=checkpoints, EPOCHS=20, **variables))

    def end():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(launched.pid, signal.SIGKILL)

    patience = threading.Timer(180, end)
    patience.start()
    try:
        yield launched
    finally:
        patience.cancel()
        end()
        launched.communicate()


@needs_torch
def test_it_goes_on_with_another_number_of_processes(tmp_path, progress):
    said = []
    with torchrun(2, tmp_path) as first:
        for line in first.stdout:
            said.append(line)
            if "epoch 5 of" in line:
                break
        else:
            pytest.fail("".join(said))

    with torchrun(3, tmp_path, MUSTER_PREVIOUS_WORLD_SIZE=2, MUSTER_PROGRESS=progress) as second:
        said = second.stdout.read()
        second.wait()
    assert second.returncode == 0, said
    begun = re.findall(r"rank \d of 3 begins with epoch (\d+), sample (\d+)", said)
    assert len(begun) == 3 and len(set(begun)) == 1, said
    # 1437 samples are 24 steps, of which the 10th, 20th, ... are kept.
    epoch, sample = map(int, begun[0])
    assert (epoch * 24 + sample // 60) % 10 == 0 and epoch >= 4, said
    assert said.count("3 processes now, 2 before") == 3, said
    assert float(re.search(r"accuracy: (\d\.\d+)", said).group(1)) > 0.9
    assert int.from_bytes(progress.read_bytes()[:8], "little") == (20 - epoch) * 24 - sample // 60
