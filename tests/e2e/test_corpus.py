"""Manifests that projects published: each is accepted, converted, defaulted and planned, or refused for a reason that
docs/compatibility.md gives.

MUSTER_CORPUS names the directory that has them as manifests/*.yaml (default: ../shared/corpus beside this checkout).
"""

import json
import os
import pathlib
import re

import pytest

from conftest import ROOT

CORPUS = pathlib.Path(os.environ.get("MUSTER_CORPUS", ROOT.parent / "shared" / "corpus"))
FILES = sorted((CORPUS / "manifests").glob("*.yaml"))
TABLE = "## Published manifests that are refused"

needs_corpus = pytest.mark.skipif(
    not FILES, reason=f"no corpus: {CORPUS}/manifests has no manifest; set MUSTER_CORPUS")


def refused():
    """The table of compatibility.md: (what files, the message)."""
    text = (ROOT / "docs" / "compatibility.md").read_text()
    section = text[text.index(TABLE):].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in section.splitlines() if line.startswith("| `")]
    return [(re.compile(re.escape(row[0].strip("`")).replace(r"\*", ".*")), row[1].strip("`")) for row in rows]


def refusal_of(path):
    return [message for pattern, message in refused() if pattern.fullmatch(path.name)]


@needs_corpus
def test_the_corpus_is_whole():
    assert len(FILES) >= 68


@needs_corpus
def test_every_refusal_of_the_table_is_of_a_file():
    for pattern, _ in refused():
        assert any(pattern.fullmatch(path.name) for path in FILES), pattern.pattern


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES] or
                         [pytest.param(None, marks=needs_corpus, id="none")])
def test_a_published_manifest(muster, path):
    checked = muster.run("validate", "--anywhere", path)
    reasons = refusal_of(path)
    if reasons:
        assert checked.status == 2, checked
        errors = [line for line in checked.err.splitlines() if ": error: " in line]
        assert errors, checked
        for line in errors:
            assert re.match(re.escape(str(path)) + r":\d+:\d+: error: ", line), checked
            assert any(reason in line for reason in reasons), checked
        return
    assert checked.status == 0, checked
    planned = muster.run("explain", path, "-o", "json")
    assert planned.status == 0, planned
    job = json.loads(planned.out)
    assert job["replicas"], planned
    for replica in job["replicas"]:
        assert replica["pod"]["metadata"]["name"] and replica["pod"]["spec"]["containers"], replica
        assert all(variable["rule"] for variable in replica["environment"]), replica
    # There and back again: what `convert` prints is accepted as well, and leads to the same pods.
    written = muster.run("convert", path)
    assert written.status == 0, written
    again = muster.run("explain", "-", "-o", "json", stdin=written.out)
    assert again.status == 0, again
    assert environments(json.loads(again.out)) == environments(job)


def environments(job):
    return [(replica["rank"], replica["environment"]) for replica in job["replicas"]]
