"""The commands that people are told to type: blocks of the documentation, and the examples of `muster VERB --help`."""

import pathlib
import re
import subprocess
from typing import NamedTuple

SHELLS = {"sh", "bash", "shell", "console"}
FENCE = re.compile(r"^( *)```(\S*) *$")
PROMPT = "$ "
# In a help text a command ends where its explanation begins.
EXPLAINED = re.compile(r" {3,}(?=\S)")
EXAMPLE = re.compile(r"^  (?=\S)")


class Block(NamedTuple):
    where: str  # a page, or the command line whose help it is
    line: int
    text: str

    def __str__(self):
        first = next((line for line in self.text.splitlines() if line.strip()), "")
        return f"{self.where}: {without_comment(first)}"


def without_comment(line):
    return re.sub(r"\s+#.*$", "", line).strip()


def commands_of(language, lines):
    """The commands in the block, without what they print where it is quoted; "" if it has none."""
    typed = [line[len(PROMPT):] for line in lines if line.startswith(PROMPT)]
    if typed and language in SHELLS | {"", "text"}:
        return "\n".join(typed)
    return "\n".join(lines) if language in SHELLS else ""


def blocks_of(where, page):
    found, fence, begun, lines = [], None, 0, []
    for number, line in enumerate(page.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None:
            if match:
                fence, begun, lines = match, number, []
        elif match and not match[2]:
            text = commands_of(fence[2], [row[len(fence[1]):] for row in lines])
            if text:
                found.append(Block(where, begun, text))
            fence = None
        else:
            lines.append(line)
    assert fence is None, f"{where}:{begun}: the block does not end"
    return found


def pages(root):
    """Every page that is there for users; those of the tests are for us."""
    found = [*root.glob("*.md")]
    for folder in ("docs", "deploy", "examples", "python", "src"):
        found += (root / folder).rglob("*.md")
    return sorted(path for path in found if path.name != "CHANGELOG.md")


def examples_of(where, text):
    """The lines below "Examples:", each a block; one that ends with a backslash continues."""
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line == "Examples:":
            inside = True
        elif inside and EXAMPLE.match(line):
            found.append(Block(where, number, EXPLAINED.split(line.strip())[0]))
        elif inside and line.strip() and not line.startswith(" "):
            inside = False
    return found


def help_of(binary, *words):
    shown = subprocess.run([binary, *words, "--help"], text=True, capture_output=True, timeout=30, check=False)
    assert shown.returncode == 0, shown
    return shown.stdout


def verbs_of(overview):
    """The verbs in what `muster --help` prints: the words at the beginning of its lines."""
    return list(dict.fromkeys(re.findall(r"^  ([a-z][a-z-]*) ", overview.split("\nExamples:")[0], re.M)))


def all_blocks(root: pathlib.Path, binary):
    found = []
    for path in pages(root):
        found += blocks_of(path.relative_to(root).as_posix(), path.read_text())
    overview = help_of(binary)
    found += examples_of("muster --help", overview)
    for verb in verbs_of(overview):
        found += examples_of(f"muster {verb} --help", help_of(binary, verb))
    return found
