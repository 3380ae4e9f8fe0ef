"""`muster run SCRIPT`: a script becomes a job without a manifest, with the real frameworks."""

import os
import re
import subprocess
import sys

import pytest

from conftest import BINARY, NOBODY, ROOT

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

from examples import EXAMPLES, environment_for  # noqa: E402
from programs import Missing  # noqa: E402

TORCH = """\
import os
import sys

import torch.distributed as dist

dist.init_process_group("gloo")
# In one write: the ranks of a pod share its log, and print() writes the end of a line by itself.
sys.stdout.write(f"rank {dist.get_rank()} of {dist.get_world_size()} got {sys.argv[1:]!r}\\n")
sys.stdout.flush()
dist.barrier()
os._exit(int(os.environ.get("STATUS", "0")))
"""


@pytest.fixture
def script(muster, shared):
    """A directory with train.py, in which muster is called; Debian's Python has PyTorch."""
    (shared / "train.py").write_text(TORCH)
    muster.cwd = shared
    muster.environment["PATH"] = "/usr/bin:" + muster.environment["PATH"]
    return shared


def ranks(finished):
    return {int(rank): (int(world), got) for rank, world, got in
            re.findall(r"rank (\d+) of (\d+) got (.*)$", finished.out, re.M)}


def test_a_script_of_pytorch(muster, script):
    finished = muster.run("run", "--workers", "2", "-n", "2", "train.py", "--lr", "0.1")
    assert finished.status == 0, finished
    assert "PyTorchJob train, as it imports torch: 2 workers, 2 processes each" in finished.out, finished
    assert ranks(finished) == dict.fromkeys(range(4), (4, "['--lr', '0.1']")), finished
    assert "PyTorchJob default/train succeeded" in finished.out


def test_words_arrive_as_they_were_typed(muster, script):
    words = ["a b", "it's", '"', "$HOME $(HOME) $$(X) $$ ${local_rank}", "two\nlines", "", "\\n", "-n", "--", "*"]
    finished = muster.run("run", "train.py", *words)
    assert ranks(finished) == {0: (1, repr(words))}, finished


@pytest.mark.parametrize("line", [
    ["-np", "2", "train.py"], ["--nproc_per_node=2", "train.py"], ["python3", "train.py"],
    ["torchrun", "--nproc-per-node", "2", "train.py"], ["-m", "train"],
], ids=" ".join)
def test_what_other_launchers_users_type(muster, script, line):
    finished = muster.run("run", *line)
    assert finished.status == 0, finished
    world = 2 if "2" in " ".join(line) else 1
    assert ranks(finished) == dict.fromkeys(range(world), (world, "[]")), finished


def test_launch_names_the_framework(muster, script):
    finished = muster.run("launch", "pytorch", "-n", "2", "--", "python3", "train.py", "x")
    assert ranks(finished) == dict.fromkeys(range(2), (2, "['x']")), finished


def test_its_failure_is_the_status(muster, script):
    finished = muster.run("run", "--env", "STATUS=7", "train.py")
    # muster-run ends with 1 when a worker failed, as torchrun does; what the worker ended with is told.
    assert finished.status == 1, finished
    assert "first to fail: pod train-master-0, container pytorch exited with code 1" in finished.out
    assert "exited with code 7" in finished.out


BLOCKS = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs" / "scripts.md").read_text(), re.M | re.S)


@pytest.mark.parametrize("block", [block for block in BLOCKS if "--context" not in block and "jupyter" not in block])
def test_the_commands_of_the_page(script, muster, block):
    done = subprocess.run(["bash", "-euc", block], cwd=script, text=True, capture_output=True, timeout=100, check=False,
                          env={**muster.environment, "PATH": f"{BINARY.parent}:{muster.environment['PATH']}"})
    assert done.returncode == 0, done
    assert "succeeded after" in done.stdout


def test_restarts_happen_inside_the_pod(muster, script):
    (script / "again.py").write_text(
        "import os, sys, torch\n"
        "n = int(os.environ['TORCHELASTIC_RESTART_COUNT'])\nprint('start', n, flush=True)\nsys.exit(n < 2)\n")
    finished = muster.run("run", "--max-restarts", "2", "again.py")
    assert finished.status == 0, finished
    assert [int(n) for n in re.findall(r"\| start (\d)", finished.out)] == [0, 1, 2]
    assert "succeeded after" in finished.out and "no restarts" in finished.out


def test_a_failing_script_of_mpi_fails_once(muster, script):
    (script / "fails.py").write_text("import mpi4py\nprint('starts', flush=True)\nraise SystemExit(5)\n")
    finished = muster.run("run", "--framework", "mpi", "fails.py")
    assert finished.status == 5 and finished.out.count("| starts") == 1, finished


def test_a_manifest_is_printed_kept_and_run(muster, script):
    printed = muster.run("run", "--print", "--workers", "2", "train.py", "a b")
    assert printed.status == 0 and printed.err == "", printed
    kept = muster.run("run", "--save", "job.yaml", "--workers", "2", "train.py", "a b")
    assert kept.status == 0, kept
    assert (script / "job.yaml").read_text() == printed.out
    again = muster.run("run", "job.yaml")
    assert ranks(again) == dict.fromkeys(range(2), (2, "['a b']")), again
    # What is there is never overwritten with something else.
    other = muster.run("run", "--save", "job.yaml", "--workers", "3", "train.py")
    assert other.status == 2 and "exists and stays as it is" in other.err, other
    assert (script / "job.yaml").read_text() == printed.out
    assert muster.run("validate", "--strict", "job.yaml").status == 0


def test_init_writes_a_manifest_with_comments(muster, script):
    made = muster.run("init", "--env", "STATUS=0", "train.py", "x")
    assert made.status == 0 and "'muster run train.yaml' runs it" in made.out, made
    text = (script / "train.yaml").read_text()
    assert "# processes of each pod" in text and "STATUS" in text
    assert ranks(muster.run("run", "train.yaml")) == {0: (1, "['x']")}
    again = muster.run("init", "--workers", "2", "train.py")
    assert again.status == 2 and "train.yaml: the file exists" in again.err, again
    assert (script / "train.yaml").read_text() == text
    assert muster.run("init", "-o", "-", "train.py").out.startswith("apiVersion: kubeflow.org/v1\n")


def test_arguments_after_a_manifest_go_to_its_program(muster, script):
    assert muster.run("init", "train.py", "one").status == 0
    finished = muster.run("run", "train.yaml", "--", "--two", "$(HOME)")
    assert ranks(finished) == {0: (1, "['one', '--two', '$(HOME)']")}, finished
    (script / "shell.yaml").write_text((script / "train.yaml").read_text().replace(
        "- muster-run\n            - train.py\n            - one", "- sh\n            - -c\n            - python3 train.py"))
    refused = muster.run("run", "shell.yaml", "--", "--two")
    assert refused.status == 2 and "its program is a shell's text" in refused.err, refused


@pytest.mark.parametrize("line, said", [
    (["tain.py"], "tain.py: there is no such file in"),
    (["--framework", "torhc", "train.py"], "--framework torhc: there is deepspeed"),
    (["both.py"], "both.py imports torch and tensorflow: say with --framework"),
    (["--workers", "0", "train.py"], "--workers wants a number"),
    (["--workers", "4:2", "train.py"], "--workers wants a number"),
    (["-n", "0", "train.py"], "--nproc-per-node wants a number of processes or auto"),
    (["-n", "two", "train.py"], '-n wants a number of processes or auto, not "two"'),
    (["--memory", "lots", "train.py"], "--memory wants an amount such as 16Gi"),
    (["--gpus", "many", "train.py"], "--gpus wants a number"),
    (["--framework", "jax", "--workers", "1:2", "train.py"], "only PyTorch's jobs are elastic"),
    (["--name", "Not_A_Name", "train.py"], "metadata.name"),
    (["--elastic", "train.py"], "--workers 2:8 makes its job elastic"),
    (["--workers", "2", "job.yaml"], "--workers is about a script"),
    (["--label", "x", "train.py"], "--label wants NAME=VALUE"),
    (["--memory", "9999Ti", "--fit", "strict", "train.py"], "memory"),
    ([], "name a script or a manifest, as in 'muster run train.py'"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_what_can_not_be_run_is_said_before_anything_starts(muster, script, line, said):
    (script / "both.py").write_text("import torch\nimport tensorflow as tf\n")
    (script / "job.yaml").write_text("kind: Pod\n")
    refused = muster.run("run", *line)
    assert refused.status == 2 and said in refused.err, refused
    assert "created" not in refused.text.lower()


def test_a_cluster_needs_an_image(muster, script):
    (script / "config").write_text("""
apiVersion: v1
kind: Config
current-context: there
clusters: [{name: there, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: there, context: {cluster: there, user: me}}]
users: [{name: me, user: {}}]
""")
    refused = muster.run("run", "--kubeconfig", "config", "train.py")
    assert refused.status == 2 and "--image is missing" in refused.err, refused


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_an_ordinary_user_with_nothing_but_the_program(muster):
    muster.become(NOBODY)
    (muster.directory / "train.py").write_text(TORCH)
    finished = muster.run("run", "-n", "2", "train.py")
    assert finished.status == 0, finished
    assert ranks(finished) == dict.fromkeys(range(2), (2, "[]")), finished
    link = muster.directory / ".muster" / "bin" / "muster-run"
    assert os.readlink(link) == str(muster.binary)


def test_muster_run_is_beside_muster():
    assert os.path.samefile(BINARY.parent / "muster-run", BINARY)
    said = subprocess.run([BINARY.parent / "muster-run", "--help"], text=True, capture_output=True, check=True)
    assert "muster-run" in said.stdout


# A script of each framework, and the kind that it becomes.
SCRIPTS = {
    "jax-digits.yaml": (["--workers", "2"], "examples/jax_digits.py", "JAXJob"),
    "tensorflow-digits.yaml": (["--workers", "2"], "examples/tensorflow_digits.py", "TFJob"),
    "mpi-digits.yaml": (["--workers", "2", "-n", "2"], "examples/mpi_digits.py", "MPIJob"),
    "xgboost-cancer.yaml": (["--workers", "3"], "examples/xgboost_cancer.py", "XGBoostJob"),
}


@pytest.mark.parametrize("example", SCRIPTS)
def test_a_script_of_each_framework(muster, example):
    flags, script, kind = SCRIPTS[example]
    try:
        muster.environment = environment_for(example, muster.environment)
        if EXAMPLES[example][0] is None:  # it needs Debian's own Python
            muster.environment["PATH"] = "/usr/bin:" + muster.environment["PATH"]
    except Missing as why:
        pytest.skip(str(why))
    finished = muster.run("run", *flags, script)
    assert finished.status == 0 and f"muster: {kind} " in finished.out, finished
    accuracy = re.findall(r"^.*accuracy: (\d\.\d+)", finished.text, re.M)
    assert accuracy and all(float(value) > EXAMPLES[example][1] for value in accuracy), finished
    assert not re.search(r"(rank|worker|process) 0 of 1 is ready", finished.text), finished
