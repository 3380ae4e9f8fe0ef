"""What documents say of the repository is so. lint_docs.py ROOT [--write]; exits 1 with one line a finding.

- Links and their anchors lead somewhere.
- Files that are named in backticks exist: a path from the document's folder, the root or src/, or the end of one; a name alone
  anywhere, and in a README of src/ below its folder. In a column "Files", "Decisions" or "Shells" of such a README also without
  their endings.
- Paths in comments of .proto files lead from the root, from src/ or from proto/ to a file.
- The table of dependencies, between its markers, is what the CMakeLists.txt say; --write writes it.
- Some habits of language stay away: from documents, and from the comments and texts of src/. Of the changelog this holds for what is unreleased.
"""

import fnmatch
import functools
import os
import pathlib
import re
import sys

from cpp_text import TEST_FILE, TOKEN, argument, line_of

# What to avoid in prose, and what to write instead.
PHRASES = {
    r"\banew\b": "again, or a new one",
    r"\bfor ever\b": "forever, or without end",
    r"(?<!there )\b(?:is|are|was|were) none\b(?! of)": "does not exist, or there is no",
    r"\bnobody\b": "what does not happen, or no process, user, ...",
}
# The same for comments and texts of C++ and for what is unreleased, which also have these.
STRICT_PHRASES = PHRASES | {
    r"\bgoes on\b": "continues",
    r"\b(?:some|every)body\b": "someone, everyone, or another process, object, ...",
}

# Files that are named here but are not ours, and patterns of them: file or pattern -> whose it is
FOREIGN = {
    "discover_hosts.sh": "mpi-operator makes it for pods",
    "kubexec.sh": "mpi-operator made it for pods",
    "rsh.sh": "we make it for pods",
    "build/*": "made by builds",
}
# (document, rule) -> why it is not looked at
PERMITTED = {
    ("CHANGELOG.md", "name"): "it speaks of what was",
    ("docs/compatibility.md", "name"): "its tables name the manifests of others",
    ("docs/style.md", "phrase"): "it names what to avoid",
    ("src/jobs/pytorchjob.cc", "phrase"): "a CustomResourceDefinition has the text",
}

# (document, rule): what was there when this began to be looked at, to be mended.
NOT_YET = set()

ENDINGS = r"(?:cc|h|py|sh|md|yaml|json|toml|proto|txt|S|cmake)"
NAME = re.compile(rf"[\w*][\w.*-]*\.{ENDINGS}")
COMMENTED = re.compile(rf"(?<![\w./:-])\w[\w-]*(?:/[\w.-]+)*/[\w-]+\.{ENDINGS}\b")
PATH = re.compile(rf"(?:\.\./)*[\w.*-]+(?:/[\w.*-]+)*/(?:[\w.*-]+\.{ENDINGS}|[\w-]*)")
COLUMNS = {"File", "Files", "Decisions", "Shells"}
BEGIN, END = "<!-- dependencies -->\n", "<!-- /dependencies -->"
OVERVIEW = "docs/design/overview.md"


def without_code(text):
    """The text with blocks of code as spaces."""
    return re.sub(r"^( *)```.*?^\1```", lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.M | re.S)


def unreleased(changelog):
    """The text with all but the section "Unreleased" as spaces."""
    section = re.search(r"^## Unreleased\n.*?(?=^## |\Z)", changelog, re.M | re.S)
    begin, end = section.span() if section else (0, 0)
    erase = functools.partial(re.sub, r"[^\n]", " ")
    return erase(changelog[:begin]) + changelog[begin:end] + erase(changelog[end:])


def anchor(heading):
    """What a heading is called in a link, as the web sites of repositories make it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(text):
    found, seen = set(), {}
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", without_code(text), re.M):
        name = anchor(heading)
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def rooms_table(root):
    """The table of dependencies."""
    lines = ["| Folder | May use | Rooms |", "|---|---|---|"]
    for folder in re.findall(r"add_subdirectory\(src/(\w+)\)", (root / "CMakeLists.txt").read_text()):
        text = (root / "src" / folder / "CMakeLists.txt").read_text()
        cells = [", ".join(f"`{word}`" for word in argument(text, "muster_library", name)) or "–" for name in ("DEPENDS", "ROOMS")]
        lines.append(f"| `{folder}` | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


class Docs:
    def __init__(self, root):
        self.root, self.found, self.used = root, [], set()
        self.read = functools.cache(lambda path: path.read_text(errors="replace"))
        self.files = []
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in ("build", ".git", "__pycache__", "node_modules")]
            here = pathlib.Path(folder).relative_to(root)
            self.files += [(here / name).as_posix() for name in files] + [(here / name).as_posix() + "/" for name in folders]

    def find(self, name, line, rule, message):
        if (name, rule) in PERMITTED:
            return
        if (name, rule) in NOT_YET:
            self.used.add((name, rule))
            return
        self.found.append(f"{name}:{line}: {rule}: {message}")

    def links(self, name, text):
        for match in re.finditer(r"\]\(([^)\s]+)(?: \"[^\"]*\")?\)|^\[[^\]]+\]: (\S+)", text, re.M):
            target = match.group(1) or match.group(2)
            if re.match(r"[a-z]+:", target):
                continue
            path, _, part = target.partition("#")
            file = (self.root / name).parent / path if path else self.root / name
            if not file.exists():
                self.find(name, line_of(text, match), "link", f"{target} leads nowhere")
            elif part and file.suffix == ".md" and part not in anchors(self.read(file)):
                self.find(name, line_of(text, match), "link", f"{target}: there is no such heading")

    def there(self, name, word):
        """Whether a file that a document names so exists."""
        folder = pathlib.PurePath(name).parent.as_posix()
        if "/" in word:
            plain = os.path.normpath(f"{folder}/{word}") if word.startswith("..") else os.path.normpath(word)
            ends = [plain, f"*/{plain}"]
            if "." not in plain.split("/")[-1]:
                ends += [f"{end}.*" for end in ends]  # a header and its source by one name
        else:
            ends = [word, f"*/{word}"]
            if folder.startswith("src/"):
                ends = [f"{folder}/{word}", f"{folder}/*/{word}"]
        return any(fnmatch.fnmatchcase(file.rstrip("/"), end) for file in self.files for end in ends)

    def names(self, name, text):
        for match in re.finditer(r"`([^`\n]+)`", text):
            word = match.group(1)
            if not (NAME.fullmatch(word) or PATH.fullmatch(word) and self.is_ours(name, word)):
                continue
            if any(fnmatch.fnmatchcase(word, pattern) for pattern in FOREIGN):
                continue
            if not self.there(name, word):
                self.find(name, line_of(text, match), "name", f"there is no {word}")

    def is_ours(self, name, path):
        """Whether a path begins in a folder of ours."""
        head = path.split("/")[0]
        return any((base / head).is_dir() for base in ((self.root / name).parent, self.root, self.root / "src")) or head in ("internal", "..")

    def columns(self, name, text):
        """Names of files without endings."""
        folder, columns = pathlib.PurePath(name).parent.as_posix(), None
        here = {re.split(r"[/.]", file.removeprefix(f"{folder}/").rstrip("/"))[-2 if "." in file.split("/")[-1] else -1]
                for file in self.files if file.startswith(f"{folder}/")}
        for number, line in enumerate(text.splitlines(), 1):
            cells = [cell.strip() for cell in line.split("|")] if line.startswith("|") else []
            if not cells:
                columns = None
            elif columns is None:
                columns = [at for at, cell in enumerate(cells) if cell in COLUMNS]
            else:
                for word in re.findall(r"`([a-z0-9_*]+)`", " ".join(cells[at] for at in columns if at < len(cells))):
                    if not fnmatch.filter(here, word):
                        self.find(name, number, "name", f"there is no file {word} below {folder}")

    def comments(self, name, text):
        """Paths in comments of a .proto file."""
        for comment in re.finditer(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', text, re.S):
            if comment.group(0).startswith('"'):
                continue
            for match in re.finditer(COMMENTED, comment.group(0)):
                path = match.group(0)
                if not any((base / path).is_file() for base in (self.root, self.root / "src", self.root / "proto")):
                    line = text.count("\n", 0, comment.start() + match.start()) + 1
                    self.find(name, line, "name", f"there is no {path}")

    def phrases(self, name, text, phrases=PHRASES):
        prose = re.sub(r"`[^`\n]*`", lambda match: " " * len(match.group(0)), text)
        for pattern, instead in phrases.items():
            for match in re.finditer(pattern, prose, re.I):
                self.find(name, line_of(prose, match), "phrase", f"'{match.group(0)}': write {instead}")

    def words(self, name, text):
        """Phrases in comments and texts of C++."""
        said, end = [], 0
        for match in TOKEN.finditer(text):
            said += [re.sub(r"[^\n]", " ", text[end:match.start()]), match.group(0)]
            end = match.end()
        self.phrases(name, "".join(said), STRICT_PHRASES)

    def dependencies(self, write):
        path = self.root / OVERVIEW
        if not path.exists():
            return
        text = self.read(path)
        if BEGIN not in text or END not in text:
            self.find(OVERVIEW, 1, "dependencies", f"no table between {BEGIN.strip()} and {END}")
            return
        before, rest = text.split(BEGIN, 1)
        table, after = rest.split(END, 1)
        right = rooms_table(self.root)
        if table != right and write:
            path.write_text(before + BEGIN + right + END + after)
        elif table != right:
            self.find(OVERVIEW, before.count("\n") + 1, "dependencies", "not what the CMakeLists.txt say; scripts/lint_docs.py . --write writes it")

    def findings(self, write=False):
        for name in sorted(file for file in self.files if file.endswith(".md")):
            text = without_code(self.read(self.root / name))
            self.links(name, text)
            self.names(name, text)
            if name == "CHANGELOG.md":
                self.phrases(name, unreleased(text), STRICT_PHRASES)
            else:
                self.phrases(name, text)
            if re.fullmatch(r"src/\w+/README\.md", name):
                self.columns(name, text)
        for name in sorted(file for file in self.files if re.fullmatch(r"src/.*\.(?:cc|h)", file)):
            if not TEST_FILE.search(name):
                self.words(name, self.read(self.root / name))
        for name in sorted(file for file in self.files if file.endswith(".proto")):
            self.comments(name, self.read(self.root / name))
        self.dependencies(write)
        for name, rule in NOT_YET:
            if (name, rule) not in self.used:
                self.found.append(f"{name}:1: {rule}: does not need its entry in NOT_YET of scripts/lint_docs.py any more")
        return self.found


def main(root, *options):
    found = Docs(pathlib.Path(root).resolve()).findings(write="--write" in options)
    if found:
        print(*found, f"{len(found)} findings", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
