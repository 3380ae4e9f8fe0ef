"""What the Tab key does in real shells."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess

import pytest

from conftest import BINARY
from test_verbs import Server, pod

SETUP = {
    "bash": "source <(muster completion bash)",
    "zsh": "autoload -Uz compinit; compinit -D -u; source <(muster completion zsh)",
}
INTERACTIVE = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("completion"))
    made.start()
    made.apply(pod("tabbed"))
    (made.directory / "bin").mkdir()
    (made.directory / "bin" / "muster").symlink_to(BINARY)
    (made.directory / "manifest.yaml").touch()
    yield made
    made.down("--kill")


def read_until(terminal, wanted):
    """What the shell writes, up to and with a match of `wanted`."""
    text = ""
    while not (found := re.search(wanted, text, re.M)):
        assert select.select([terminal], [], [], 30)[0], f"the shell says no more: {text}"
        text += os.read(terminal, 4096).decode(errors="replace")
    return text[:found.end()]


def typed(shell, line, environment, directory):
    """The words that stand on the line after Tab was pressed at its end."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(directory)
        os.execvpe(shell, INTERACTIVE[shell], {**environment, "TERM": "dumb"})
    try:
        os.write(terminal, f"{SETUP[shell]}; PS1='ready''> '\n".encode())
        read_until(terminal, "ready> ")
        # The line that Tab leaves becomes the arguments of a command in front of it.
        os.write(terminal, f"{line}\t\x01printf '<%s>\\n' \n".encode())
        shown = read_until(terminal, r"^<muster>(.|\n)*ready> ")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
    return re.findall(r"^<(.*)>\r?$", shown, re.M)


def answers(shell, line, server):
    environment = {**server.environment, "PATH": f"{server.directory}/bin:{server.environment['PATH']}"}
    if shell != "fish":
        return typed(shell, line, environment, server.directory)[-1]
    # fish says what it would offer.
    done = subprocess.run(["fish", "--no-config", "-c", f'muster completion fish | source; complete -C "{line}"'],
                          env=environment, cwd=server.directory, text=True, capture_output=True, timeout=60, check=True)
    [offered] = done.stdout.splitlines()
    return offered.split("\t")[0]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("line, word", [
    ("muster comp", "completion"),
    ("muster get pyt", "pytorchjobs"),
    ("muster get pods tab", "tabbed"),
    ("muster delete pod/tab", "pod/tabbed"),
    ("muster get pods -n kube-p", "kube-public"),
    ("muster get --context mus", "muster"),
    ("muster get -o ya", "yaml"),
    ("muster apply -f mani", "manifest.yaml"),
])
def test_tab_completes(server, shell, line, word):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    assert answers(shell, line, server) == word
