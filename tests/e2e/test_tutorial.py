"""docs/tutorial.md: its commands do what it says, and print what it quotes."""

import re
import subprocess

import pytest

from conftest import BINARY, LIMIT_S, ROOT

PAGE = ROOT / "docs" / "tutorial.md"

# The suite has done this before it starts.
BUILD = """\
./dev setup
./dev build release muster
export PATH=$PWD/build/release/src/cli:$PATH
"""

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
NUMBER = r"\d+(?:\.\d+)*"


def blocks_of(page):
    """Each block of commands with the lines that the page quotes of its output."""
    blocks = []
    for language, text in FENCED.findall(page):
        if language == "sh":
            blocks.append((text, []))
        else:
            assert language == "text", f"neither commands nor their output: {text}"
            blocks[-1][1].extend(text.splitlines())
    return blocks


def as_printed(line):
    """The line with whatever numbers; a final "..." stands for the rest of it."""
    pattern = NUMBER.join(map(re.escape, re.split(NUMBER, line)))
    return re.compile("^" + re.sub(r"\\\.\\\.\\\.$", ".*", pattern) + "$", re.M)


@pytest.fixture(scope="module")
def tutorial():
    blocks = blocks_of(PAGE.read_text())
    assert blocks[0] == (BUILD, [])
    return blocks[1:]


def test_the_commands_print_what_the_page_quotes(muster, tutorial):
    muster.environment["PATH"] = f"{BINARY.parent}:{muster.environment['PATH']}"
    script = "\n".join(f"echo '--- block {number}'\n{commands}" for number, (commands, _) in enumerate(tutorial))
    ended = subprocess.run(["bash", "-eu", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           cwd=muster.directory, env=muster.environment, timeout=LIMIT_S, check=False)
    assert ended.returncode == 0, ended.stdout
    printed = re.split(r"^--- block \d+\n", ended.stdout, flags=re.M)[1:]
    assert len(printed) == len(tutorial), ended.stdout

    for (commands, quoted), output in zip(tutorial, printed):
        for line in quoted:
            assert as_printed(line).search(output), f"{commands}\ndoes not print\n{line}\nbut\n{output}"
    assert "this job has no token" not in ended.stdout, "muster run --elastic hands one over"

    first, again = (int(epoch) for epoch in re.findall(r"^sine-worker-0 \| rank 1 of 2 starts with epoch (\d+)$", printed[-1], re.M))
    assert 500 < first < again, f"each start continues from the checkpoint of the one before it\n{printed[-1]}"
