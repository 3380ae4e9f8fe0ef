"""Each test of upstream's is held by one of ours, or docs/compatibility.md says why not."""

import functools
import re

import pytest

from test_docs import ROOT, cases

LISTS = sorted((ROOT / "tests" / "upstream").glob("*.txt"))
HELD = "docs/upstream-tests.md"
NOT_HELD = "docs/compatibility.md"


def names(text):
    """[(test, [its cases])] of a list."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("    "):
            found[-1][1].append(line.strip())
        else:
            found.append((line, []))
    return found


@functools.cache
def rows(text):
    """The rows of the tables whose first column is upstream's: [(first cell, second cell)]."""
    found, within = [], False
    for line in text.splitlines():
        within = (within and line.startswith("|")) or line.startswith(("| Upstream |", "| Upstream's test |"))
        if within and not line.startswith(("| Upstream", "|---")):
            found.append(tuple(cell.strip() for cell in line.strip("|").split(" | ")))
    return found


def is_named(name, cell):
    return re.search(rf"(?<![\w]){re.escape(name)}(?!\w)", cell) is not None


@functools.cache
def read(path):
    return (ROOT / path).read_text()


@functools.cache
def literals():
    """The C++ tests of what upstream's tables hold, with literals that continue in the next line joined."""
    files = [*(ROOT / "src" / "jobs").glob("*_test.cc"), *(ROOT / "src" / "operator").rglob("*_test.cc")]
    return "\n".join(re.sub(r'"\s*\n\s*"', "", file.read_text()) for file in files)


def parts(file):
    return [pytest.param(*entry, id=entry[0]) for entry in names(file.read_text())]


def test_the_lists_are_there():
    assert [file.stem for file in LISTS] == ["mpi-operator", "training-operator"]
    assert all(len(names(file.read_text())) > 40 for file in LISTS)


@pytest.mark.parametrize("name, its_cases", [part for file in LISTS for part in parts(file)])
def test_a_name_is_in_a_row(name, its_cases):
    del its_cases
    held = [row for row in rows(read(HELD)) if is_named(name, row[0])]
    not_held = [row for row in rows(read(NOT_HELD)) if is_named(name, row[0])]
    assert held or not_held, f"{name} is in no row of {HELD} and {NOT_HELD}"


@pytest.mark.parametrize("row", rows(read(HELD)), ids=lambda row: row[0][:60])
def test_a_row_names_a_test_that_is_there(row):
    assert len(row) == 2, row
    tests = [name for name in re.findall(r"`(\w+\.\w+)`", row[1]) if name in cases()]
    files = [name for name in re.findall(r"`(tests/[\w/]+\.py)`", row[1]) if (ROOT / name).exists()]
    assert tests or files, f"nothing that is there holds {row[0]}: {row[1]}"


# Tests whose tables we have under upstream's own names. Those of the others are told apart by ours.
TABLES = ("TestValidate", "TestSetDefaultTFJob", "TestSetDefaults_XGBoostJob", "TestSetPodEnv", "TestNewConfigMap",
          "TestUpdateDiscoverHosts", "Test Status")


@pytest.mark.parametrize("name, its_cases", [part for file in LISTS for part in parts(file)
                                             if part.values[0].startswith(TABLES) and part.values[1]])
def test_each_case_of_a_table_is_a_row_of_ours(name, its_cases):
    told = literals() + read(HELD)
    assert [case for case in its_cases if case not in told] == []
    assert its_cases, name


def test_a_list_is_read():
    assert names("# w\n\nA\n    one\n    two\nB: x\n") == [("A", ["one", "two"]), ("B: x", [])]
    assert rows("x\n| Upstream | Here |\n|---|---|\n| A, B | c |\n\n| D | e |\n") == [("A, B", "c")]
    assert is_named("TestA", "TestA, TestB") and not is_named("TestA", "TestAB")
