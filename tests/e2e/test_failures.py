"""A few rows of docs/failures.md again, with real frameworks and real kills: ./dev drill failures has them all."""

import sys

import pytest

from conftest import BINARY, ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import failure_drill as drill  # noqa: E402

CASES = [case for case in drill.CASES if case.key in (
    ("PyTorch DDP", "Worker", "Never"),
    ("PyTorch DDP", "Worker", "OnFailure, group"),
    ("XGBoost", "Worker", "Never"),
)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.key))
def test_what_the_page_says_holds(case):
    try:
        row = drill.rehearse(BINARY, case)
    except drill.Missing as why:
        pytest.skip(str(why))
    _, _, _, outcome, restarted, _ = drill.table(drill.PAGE.read_text())[case.key]
    assert (row.outcome, row.restarted) == (outcome, restarted)
