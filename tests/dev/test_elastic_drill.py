"""./dev drill elastic: what it tells, and where it writes it."""

import sys

from test_docs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import elastic_drill as drill  # noqa: E402

BEFORE = "before\n<!-- drill -->\nan old head\n|---|\n| one node | a worker | 5 | 5 | 2 of 2 | 1.00 s | 2.00 s |\n<!-- /drill -->\nafter\n"


def figures(*rounds, lost=0):
    found = drill.Figures()
    for seconds, restarted in rounds:
        found.recovered(seconds, restarted)
    found.rounds = len(rounds) + lost
    return found


def test_a_kind_that_was_played_takes_the_place_of_its_row_and_the_others_stay():
    new = drill.rows({("two nodes", "a node"): figures((1.0, 1), (3.0, 2), (2.0, 2), lost=1)})
    page = drill.page_with(BEFORE, new)
    assert page == ("before\n<!-- drill -->\n" + drill.HEAD + "| one node | a worker | 5 | 5 | 2 of 2 | 1.00 s | 2.00 s |\n"
                    "| two nodes | a node | 4 | 3 | 1 or 2 of 2 | 2.00 s | 3.00 s |\n<!-- /drill -->\nafter\n")
    again = drill.page_with(page, drill.rows({("one node", "a worker"): figures(lost=2)}))
    assert again == page.replace("| 5 | 5 | 2 of 2 | 1.00 s | 2.00 s |", "| 2 | 0 | – | – | – |")


def test_the_page_has_a_row_for_each_kind_of_victim():
    rows = drill.PAGE.read_text().split("<!-- drill -->\n")[1].split("<!-- /drill -->")[0].splitlines()[2:]
    found = [tuple(cell.strip() for cell in row.split("|")[1:3]) for row in rows]
    assert found == [(layout.name, kind) for layout in drill.LAYOUTS for kind in layout.kinds]
