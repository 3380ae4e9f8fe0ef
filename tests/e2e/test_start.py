"""`muster-start` and the Pythons beside it, from the folder that `muster-in-pods copy` puts into pods: they come first in PATH, and
what is no launcher of workers gets the next Python, as if they were not there."""

import json
import os
import shutil
import subprocess
import sys
import venv

import pytest

from conftest import IN_PODS

CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"
# Stands for the agent: says how it was called.
AGENT = '#!/bin/sh\nfor word; do echo "$word"; done\n'
WHO = "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.argv[1:]]))"


@pytest.fixture
def folder(tmp_path):
    if not IN_PODS.exists():
        pytest.skip(f"{IN_PODS} is not built")
    made = tmp_path / "muster"
    made.mkdir()
    subprocess.run([IN_PODS, "copy", made], check=True, timeout=60)
    agent = made / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    agent.rename(made / "muster")
    return made


@pytest.fixture
def whole_folder(tmp_path):
    """With the agent itself."""
    if not IN_PODS.exists():
        pytest.skip(f"{IN_PODS} is not built")
    made = tmp_path / "muster"
    made.mkdir()
    subprocess.run([IN_PODS, "copy", made], check=True, timeout=60)
    return made


@pytest.fixture(scope="module")
def environment_of_its_own(tmp_path_factory):
    made = tmp_path_factory.mktemp("venv") / "a venv"
    venv.create(made, symlinks=True, with_pip=False)
    return made


def start(folder, *words, path=SYSTEM, **variables):
    environment = {"PATH": path, **variables} if path is not None else variables
    return subprocess.run([folder / "bin/muster-start", *map(str, words)], check=False, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, env=environment)


def out(done):
    assert done.returncode == 0, done
    return done.stdout.splitlines()


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_it_becomes_the_command(folder):
    done = start(folder, "sh", "-c", 'echo $PATH; echo $PYTHONPATH; echo $0 "$@"; exit 7', "name", "a b", PYTHONPATH="/code")
    assert (done.returncode, done.stdout) == (7, f"{folder}/bin:{SYSTEM}\n{folder}/python:/code\nname a b\n"), done
    inner = start(folder, folder / "bin/muster-start", "sh", "-c", "echo $PATH")
    assert out(inner) == [f"{folder}/bin:{SYSTEM}"], "once"
    bare = start(folder, "sh", "-c", "echo $PATH; echo $PYTHONPATH", path=None)
    assert out(bare) == [f"{folder}/bin:/usr/local/sbin:/usr/local/bin:{SYSTEM}", f"{folder}/python"]
    by_kill = start(folder, "sh", "-c", "kill -9 $$")
    assert by_kill.returncode == -9, by_kill


def test_what_is_missing_is_named(folder, tmp_path):
    lost = start(folder, "no-such-program", path="/usr/bin:/bin")
    assert (lost.returncode, lost.stderr) == (127, "muster-start: no-such-program: not found; looked for "
                                              f"{folder}/bin/no-such-program, /usr/bin/no-such-program, /bin/no-such-program\n"), lost
    data = tmp_path / "data"
    data.write_text("x")
    kept = start(folder, data)
    assert (kept.returncode, kept.stderr) == (126, f"muster-start: {data} can't be executed: {data}: Permission denied\n"), kept
    for file, status in ((script(tmp_path / "bad", "#!/no/shell\n"), 127), (script(tmp_path / "text", "echo\n"), 126)):
        done = start(folder, file)
        shell = subprocess.run(["/bin/bash", "-c", 'exec "$0"', file], check=False, capture_output=True, timeout=60)
        assert done.returncode == status and str(file) in done.stderr, (done, shell)
    assert start(folder).returncode == 2 and "COMMAND" in start(folder, "--help").stdout
    python = start(folder, "python3", path="/nowhere")
    assert python.returncode == 127 and "python3: not found; looked for /nowhere/python3" in python.stderr, python


def test_launchers_are_the_agent(folder, tmp_path):
    system = os.path.realpath("/usr/bin/python3")
    for words in (["python3", "-m", "torch.distributed.run"], ["python3", "-u", "-m", "torch.distributed.launch"],
                  ["python3", "-uOm", "dlrover.trainer.torch.main"]):
        for command in ([*words, "--nnodes=2", "x.py"], ["sh", "-c", " ".join(words) + " --nnodes=2 x.py"],
                        ["env", "A=1", *words, "--nnodes=2", "x.py"]):
            said = out(start(folder, *command))
            assert said == ["muster-run-for", shutil.which("python3", path=SYSTEM), "-m", words[-1], "--nnodes=2", "x.py"], command
    for name in ("torchrun", "dlrover-run", "muster-run"):
        assert out(start(folder, "sh", "-c", f"exec {name} --nnodes=2 x.py")) == ["--nnodes=2", "x.py"]
    # Past PATH.
    launcher = script(tmp_path / "bin/torchrun", f"#!{system}\n")
    assert out(start(folder, launcher, "x.py")) == ["muster-run-for", str(launcher), "x.py"]
    assert out(start(folder, system, "-m", "torch.distributed.run", "x.py")) == [
        "muster-run-for", system, "-m", "torch.distributed.run", "x.py"]


@pytest.mark.parametrize("command", [
    ["/usr/bin/python3", "-um", "torch.distributed.run", "--nnodes=2", "x.py"],
    ["/usr/bin/python3", "-W", "ignore", "-mtorch.distributed.run", "--nnodes=2", "x.py"],
    ["TORCHRUN", "--nnodes=2", "x.py"],
])
def test_a_launcher_that_a_script_calls_by_its_path_is_the_agent(folder, tmp_path, command):
    torchrun = script(tmp_path / "env/bin/torchrun", "#!/usr/bin/python3\nprint('torch')\n")
    words = [str(torchrun) if word == "TORCHRUN" else word for word in command]
    said = out(start(folder, "sh", "-c", " ".join(words)))
    assert said == ["muster-run-for", "/usr/bin/python3", "-m", "torch.distributed.run", "--nnodes=2", "x.py"]


def test_an_activated_environment_is_reached(folder, environment_of_its_own):
    bin_ = environment_of_its_own / "bin"
    script(bin_ / "torchrun", f"#!/bin/sh\n'''exec' '{bin_}/python' \"$0\" \"$@\"\n' '''\nprint('torch')\n")
    said = out(start(folder, "sh", "-c", f". '{bin_}/activate'; torchrun x.py"))
    assert said == ["muster-run-for", f"{bin_}/python", "-m", "torch.distributed.run", "x.py"]
    seen = json.loads(out(start(folder, "sh", "-c", f". '{bin_}/activate'; python -c '{WHO}' a"))[0])
    assert seen == [f"{bin_}/python", str(environment_of_its_own), ["a"]]


def test_everything_else_is_the_next_python(folder, environment_of_its_own):
    where = f"{environment_of_its_own}/bin"
    for name in ("python", "python3"):
        seen = json.loads(out(start(folder, name, "-c", WHO, "a b", path=f"{where}:{SYSTEM}"))[0])
        assert seen == [f"{where}/{name}", str(environment_of_its_own), ["a b"]]
    # The package is there for scripts, and nothing of ours is left in their environment.
    seen = out(start(folder, "python3", "-c", "import muster, os, sys; print(muster.__file__); print(sorted(os.environ))"))
    assert seen[0] == f"{folder}/python/muster/__init__.py" and "MUSTER" not in seen[1], seen
    failed = start(folder, "python3", "-c", "import sys; sys.exit(9)")
    assert failed.returncode == 9
    first_line = script(folder / "first", f"#!{folder}/bin/python3\n{WHO}\n")
    assert json.loads(out(start(folder, first_line, "a"))[0])[0] == shutil.which("python3", path=SYSTEM)
    by_env = script(folder / "by-env", f"#!/usr/bin/env python3\n{WHO}\n")
    assert json.loads(out(start(folder, by_env, "a"))[0])[2] == ["a"]


def test_the_sitecustomize_of_the_image_counts(folder, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text("import sys; sys.path.append('/added')\n")
    seen = out(start(folder, "python3", "-c", "import sys, sitecustomize; print(sys.path[1], '/added' in sys.path); import muster",
                     PYTHONPATH=str(tmp_path / "site")))
    assert seen == [f"{folder}/python True"]


def test_no_python_runs_in_circles(folder, tmp_path, environment_of_its_own):
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run([IN_PODS, "copy", other], check=True, timeout=60)
    (tmp_path / "linked").symlink_to(folder / "bin")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/python").symlink_to(folder / "bin/python")
    path = ":".join(map(str, [f"{folder}/bin/", f"{folder}/bin/../bin", tmp_path / "linked", tmp_path / "links", f"{other}/bin",
                              f"{folder}/bin", f"{environment_of_its_own}/bin", f"{folder}/bin"]))
    seen = json.loads(out(start(folder, "python", "-c", WHO, path=path))[0])
    assert seen[1] == str(environment_of_its_own)
    assert start(folder, "python", "-c", WHO, path=f"{tmp_path}/linked:{tmp_path}/links").returncode == 127


def test_a_shim_that_looks_for_the_next_python_itself(folder, tmp_path):
    """As pyenv's does where its system version is chosen: the first one of PATH without its own folder."""
    shims = tmp_path / "shims"
    for name in ("python", "python3"):
        script(shims / name, f'#!/bin/sh\necho shim >&2\nPATH=$(echo "$PATH" | sed "s,{shims}:,,")\n'
                             f'found=$(command -v {name})\nPATH={folder}/bin:{shims}:{SYSTEM} exec "$found" "$@"\n')
    done = start(folder, "python3", "-c", WHO, "x", path=f"{shims}:{SYSTEM}")
    assert json.loads(out(done)[0])[0] == shutil.which("python3", path=SYSTEM) and done.stderr == "shim\n", done
    # And what that Python starts finds the shim again.
    twice = start(folder, "python3", "-c", f"import subprocess; subprocess.run(['python3', '-c', '''{WHO}'''])",
                  path=f"{shims}:{SYSTEM}")
    assert twice.stderr == "shim\nshim\n", twice


TRAIN = """
import os, sys, torch, torch.distributed, muster
torch.distributed.init_process_group("gloo")
total = torch.ones(1)
torch.distributed.all_reduce(total)
here = muster.world()
# One write each, so that lines of two ranks don't mix.
os.write(1, f"{here.rank} of {int(total)} {sys.executable} {'MUSTER_PROGRESS' in os.environ} {sys.argv[1:]}\\n".encode())
"""


@pytest.mark.parametrize("call, arguments", [
    ("torchrun --standalone", []), ("python3 -u -m torch.distributed.run --standalone", []),
    ("python3 -m torch.distributed.launch", ["--local-rank=RANK"]), ("/usr/bin/torchrun --standalone", []),
    ("/usr/bin/python3 -m dlrover.trainer.torch.main --standalone", [])])
def test_a_script_of_the_image_trains_under_our_agent(whole_folder, tmp_path, call, arguments):
    """With real torch."""
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], check=False, capture_output=True, timeout=60).returncode:
        pytest.skip("/usr/bin/python3 has no torch")
    if call.startswith("/usr/bin/torchrun") and not os.path.exists("/usr/bin/torchrun"):
        pytest.skip("there is no /usr/bin/torchrun")
    (tmp_path / "train.py").write_text(TRAIN)
    entry = script(tmp_path / "entry.sh", f'#!/bin/sh\ncd {tmp_path}\nexec {call} --nproc-per-node=2 train.py "$@"\n')
    said = sorted(out(start(whole_folder, entry, "a", HOME=str(tmp_path))))
    python = shutil.which("python3", path=SYSTEM) if "python3" in call else None
    for rank, line in enumerate(said):
        words = [word.replace("RANK", str(rank)) for word in [*arguments, "a"]]
        assert line.startswith(f"{rank} of 2 ") and line.endswith(f" True {words}"), said
        assert python is None or f" {python} " in line, said
    assert len(said) == 2, said


def test_it_needs_nothing_of_the_image(folder, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("another root directory needs root")
    root = tmp_path / "root"
    (root / "opt").mkdir(parents=True)
    shutil.copytree(folder, root / "opt/muster", symlinks=True)
    shutil.copy2(folder / "bin/muster-start", root / "program")

    def call(*words, **variables):
        return subprocess.run([CHROOT, root, *words], check=False, capture_output=True, text=True, timeout=60, env=variables)

    done = call("/opt/muster/bin/muster-start", "train", PATH="/bin")
    assert (done.returncode, done.stderr) == (
        127, "muster-start: train: not found; looked for /opt/muster/bin/train, /bin/train\n"), done
    assert call("/opt/muster/bin/muster-start", "muster-start", "--help").stdout.startswith("Usage: muster-start")
    agent = call("/opt/muster/bin/muster-start", "torchrun")
    assert agent.returncode == 127 and "/bin/sh, which is to run it, is missing" in agent.stderr, agent
    python = call("/opt/muster/bin/python", "x.py", PATH="/opt/muster/bin")
    assert (python.returncode, python.stderr) == (127, "muster-start: python: not found\n"), python
    renamed = call("/program", "x")
    assert renamed.returncode == 126 and "must be called muster-start" in renamed.stderr, renamed


def test_its_start_takes_no_time(folder):
    """Loads nothing, and reads no file of the machine: what costs time is not there."""
    program = folder / "bin/muster-start"
    headers = subprocess.run(["readelf", "--program-headers", "--dynamic", "--wide", program], capture_output=True, text=True,
                             check=True).stdout
    assert "INTERP" not in headers and "(NEEDED)" not in headers, headers
    assert program.stat().st_size < 1 << 20
    if strace := shutil.which("strace"):
        traced = subprocess.run([strace, "-e", "trace=execve,openat,open,read", program, "/bin/true"], capture_output=True,
                                text=True, check=False, timeout=60, env={"PATH": SYSTEM})
        before = traced.stderr.split('execve("/bin/true"')[0]
        assert before.count("\n") <= 2 and sys.platform == "linux", traced.stderr
