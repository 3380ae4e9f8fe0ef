"""What the documents say is in the code."""

import functools
import json
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


def metrics_in(text):
    names = re.findall(r"\b((?:training_operator|mpi_operator|muster)_[a-z_]+)\b(?!:)", text)
    return {re.sub(r"_bucket$", "", name) for name in names if not name.startswith("muster_operator")}


@pytest.mark.parametrize("file", ["deploy/grafana/muster.json", "deploy/prometheus/rules.yaml"])
def test_dashboards_and_alerts_ask_for_metrics_that_there_are(file):
    documented = set(re.findall(r"`((?:training_operator|mpi_operator|muster)_[a-z_]+)`", (ROOT / "docs/cluster.md").read_text()))
    asked = metrics_in((ROOT / file).read_text())
    assert len(asked) > 5 and asked - documented == set()


def test_the_dashboard_has_a_query_in_each_panel():
    board = json.loads((ROOT / "deploy/grafana/muster.json").read_text())
    places = [panel["gridPos"] for panel in board["panels"]]
    assert len({panel["id"] for panel in board["panels"]}) == len(places)
    for panel in board["panels"]:
        assert panel["type"] == "row" or all(target["expr"] for target in panel["targets"]), panel["title"]
    for at, place in enumerate(places):
        for other in places[:at]:
            apart = (place["y"] >= other["y"] + other["h"] or place["x"] >= other["x"] + other["w"]
                     or other["x"] >= place["x"] + place["w"])
            assert apart, (place, other)
