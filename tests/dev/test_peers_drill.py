"""./dev drill peers-faults: its page has a row for each fault, and each says what was seen on both."""

import sys

from test_docs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import peers_drill as drill  # noqa: E402


def row(number, there, here):
    return drill.Row(drill.SCENES[number], "a peer", there, here)


def test_the_page_has_a_row_for_each_fault_and_no_other():
    rows = drill.TABLE.rows(drill.PAGE.read_text())
    assert list(rows) == [(scene.fault,) for scene in drill.SCENES]
    assert all(len(line.split(" | ")) == 4 for line in rows.values())


def test_a_peer_without_its_fault_is_told_from_one_that_has_it():
    fault, none = drill.Seen(True, "all end"), drill.Seen(False, "all go on")
    assert row(0, fault, none).text == f"| {drill.SCENES[0].fault} | a peer | all end | all go on |\n"
    assert row(0, none, none).text == f"| {drill.SCENES[0].fault} | a peer | not seen: all go on | all go on |\n"


def test_new_rows_take_the_place_of_those_of_the_same_faults():
    text = f"before\n{drill.TABLE.begin}{drill.HEAD}{drill.TABLE.end}\nafter\n"
    none = drill.Seen(False, "-")
    for number, seen in ((1, "first"), (0, "other"), (1, "second")):
        text = drill.page(text, [row(number, drill.Seen(True, seen), none)])
    rows = drill.TABLE.rows(text)
    assert list(rows) == [(drill.SCENES[0].fault,), (drill.SCENES[1].fault,)]
    assert "second" in rows[drill.SCENES[1].fault,] and "first" not in text
    assert text.startswith("before\n") and text.endswith("\nafter\n")
