"""What the documents say is in the code."""

import functools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

CASE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


@functools.cache
def cases():
    """Every C++ test as Suite.Test."""
    found = set()
    for file in (ROOT / "src").rglob("*_test.cc"):
        found.update(f"{suite}.{name}" for suite, name in CASE.findall(file.read_text()))
    return found


def named(text):
    return re.findall(r"`(\w+\.\w+)`", text)


@pytest.mark.parametrize("document", ["docs/upstream-tests.md", "docs/mutations.md"])
def test_every_test_that_a_document_names_exists(document):
    names = [n for n in named((ROOT / document).read_text()) if n.split(".")[1][0].isupper()]
    assert len(names) > 20
    missing = sorted(set(names) - cases())
    assert missing == []


@pytest.mark.parametrize("document", sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/*.md")))
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text()
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", text):
        assert (ROOT / document).parent.joinpath(target).exists(), target
