"""Each rule about documents finds what it forbids, and nothing else."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import lint_docs  # noqa: E402


@pytest.fixture(autouse=True)
def nothing_permitted(monkeypatch):
    monkeypatch.setattr(lint_docs, "NOT_YET", set())


@pytest.fixture
def tree(tmp_path):
    for path, text in {
        "CMakeLists.txt": "add_subdirectory(proto)\nadd_subdirectory(src/base)\nadd_subdirectory(src/kube)\n",
        "src/base/CMakeLists.txt": "muster_library(base)\n",
        "src/kube/CMakeLists.txt": "# muster_library(x DEPENDS y)\nmuster_library(kube DEPENDS base\n    ROOMS values client EXCLUDE fake)\n",
        "src/kube/pod.h": "", "src/kube/internal/frames.cc": "", "scripts/act.py": "",
        "docs/page.md": "# A page: of `code` & more\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def findings(tree, text, name="docs/other.md", **options):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)
    return lint_docs.Docs(tree).findings(**options)


@pytest.mark.parametrize("text", [
    "[a](page.md) [b](../src/kube/) [c](page.md#a-page-of-code--more) [d](#here)\n# Here\n", "[a](page.md#twice-1)", "[a](https://nowhere.test/#x)",
    "```\n[a](nothing.md)\n```\n", "[a]: page.md\n",
])
def test_links_that_lead_somewhere(tree, text):
    assert findings(tree, text) == []


@pytest.mark.parametrize("text", [
    "[a](nothing.md)", "[a](page.md#no-heading)", "[a](page.md#twice-2)", "[a](#there)", "[a](/docs/page.md)", "[a]: nothing.md\n",
    '![a](nothing.png "title")'])
def test_links_that_lead_nowhere(tree, text):
    found = findings(tree, "\n" + text)
    assert len(found) == 1 and found[0].startswith("docs/other.md:2: link: "), found


@pytest.mark.parametrize("name,text", [
    ("docs/other.md", "`pod.h` `src/kube/pod.h` `kube/pod.h` `kube/pod` `internal/frames.cc` `kube/` `*.py` `page.md` `../scripts/act.py`"),
    ("docs/other.md", "`etc/passwd.txt` `a.b` `std::map` `x/y` `./dev test nothing.py` `--file=nothing.h`"),
    ("docs/other.md", "```\n`nothing.h`\n```\n"),
    ("src/kube/README.md", "`pod.h` `frames.cc` `scripts/act.py`\n\n| Files | What |\n|---|---|\n| `pod`, `fra*`, `internal` | `nothing` |\n"),
    ("src/kube/README.md", "| Room | Decisions | Shells |\n|---|---|---|\n| `x` | `pod` | `frames` |\n"),
])
def test_files_that_there_are(tree, name, text):
    assert findings(tree, text, name) == []


@pytest.mark.parametrize("name,text", [
    ("docs/other.md", "`nothing.h`"), ("docs/other.md", "`kube/nothing.h`"), ("docs/other.md", "`src/nothing/`"), ("docs/other.md", "`kube/nothing`"),
    ("docs/other.md", "`*_nothing.cc`"), ("docs/other.md", "`internal/pod.h`"),
    ("src/kube/README.md", "`act.py`"),
    ("src/kube/README.md", "| What | Files |\n|---|---|\n| `pod` | `pod` `nothing` |\n"),
    ("src/kube/README.md", "| Decisions | Shells |\n|---|---|\n| `pod` | `nothing` |\n"),
    ("src/kube/README.md", "| Decisions | Shells |\n|---|---|\n| `nothing` | `pod` |\n"),
])
def test_files_that_there_are_not(tree, name, text):
    found = findings(tree, text, name)
    assert len(found) == 1 and ": name: " in found[0], found


@pytest.mark.parametrize("text,lines", [
    ("// Forms (src/kube/pod.h), kube/pod.h and\n// scripts/act.py; any/thing, pod.h.\n", []),
    ('import "muster/nothing.proto";\nmessage A { string b = 1; } // b\n', []),
    ("// https://nowhere.test/a/b.h and /etc/c/d.h\n", []),
    ("\n// Forms (src/kube/nothing.h).\n", [2]),
    ("/* One\n   kube/nothing.cc */ message A {}  // and src/pod.h\n", [2, 2]),
])
def test_paths_in_comments_of_messages(tree, text, lines):
    found = findings(tree, text, "proto/muster/job.proto")
    assert [line.split(": ")[:2] for line in found] == [[f"proto/muster/job.proto:{line}", "name"] for line in lines], found


@pytest.mark.parametrize("text,count", [
    ("It is made anew, for ever.", 2), ("A node that is none.\nNobody sees it.", 2),
    ("`anew` renewed, nonesuch; none is there, if there is none, and it is none of these", 0)])
def test_phrases(tree, text, count):
    found = findings(tree, text)
    assert len(found) == count and all(": phrase: " in line for line in found)


@pytest.mark.parametrize("text,lines", [
    ("int anew = 0;  // it goes on\n", [1]), ('log("x",\n    "nobody is here");\n', [2]), ("/// Of `nobody`.\nint nobody();\n", []),
    ('R"(\nsomebody)"', [2]), ("// Null if there is none.", []), ("", [])])
def test_phrases_in_comments_and_texts_of_code(tree, text, lines):
    for name in ("src/kube/pod.h", "src/other/internal/deep/pod.cc"):
        found = findings(tree, text, name)
        assert [line.split(": ")[0] for line in found] == [f"{name}:{line}" for line in lines]
        assert findings(tree, text, "src/kube/pod_test.cc") == found and findings(tree, text, "other/pod.h") == found
        (tree / name).unlink()


TABLE = """| Folder | May use | Rooms |
|---|---|---|
| `base` | – | – |
| `kube` | `base` | `values`, `client` |
"""


def test_the_table_of_dependencies_is_that_of_the_build(tree):
    frame = f"# Rooms\n\n{lint_docs.BEGIN}%s{lint_docs.END}\n\nMore.\n"
    assert findings(tree, frame % TABLE, lint_docs.OVERVIEW) == []
    wrong = frame % TABLE.replace("`base` |", "`net` |")
    assert [line.split(": ")[1] for line in findings(tree, wrong, lint_docs.OVERVIEW)] == ["dependencies"]
    assert findings(tree, wrong, lint_docs.OVERVIEW, write=True) == []
    assert (tree / lint_docs.OVERVIEW).read_text() == frame % TABLE


def test_the_table_of_dependencies_is_there(tree):
    assert [line.split(": ")[1] for line in findings(tree, "# Rooms\n", lint_docs.OVERVIEW)] == ["dependencies"]


def test_what_is_not_mended_yet_is_no_finding_until_it_is(tree, monkeypatch):
    monkeypatch.setattr(lint_docs, "NOT_YET", {("docs/other.md", "phrase")})
    assert findings(tree, "anew") == []
    assert "does not need its entry" in findings(tree, "again")[0]


@pytest.mark.parametrize("text,lines", [
    ("# Changelog\nanew\n\n## Unreleased\n\n- It goes on.\n  Nobody knows.\n\n## 1.0\n\n- It was made anew.\n", [6, 7]),
    ("# Changelog\n\n## Unreleased\n- `nothing.h` is\n### Fixed\nanew\n", [6]),
    ("# Changelog\n\n## 1.0\n\n- It was made anew.\n\n## Unreleased\n\n- Somebody\n", [9]),
    ("# Changelog\n\n## Unreleased\n\n## 1.0\n\n- `nothing.h` was made anew.\n", []),
    ("`nothing.h` anew\n", []),
])
def test_what_is_unreleased_has_no_habits_and_what_was_published_stays(tree, text, lines):
    found = findings(tree, text, "CHANGELOG.md")
    assert [line.split(": ")[:2] for line in sorted(found)] == [[f"CHANGELOG.md:{line}", "phrase"] for line in lines], found
