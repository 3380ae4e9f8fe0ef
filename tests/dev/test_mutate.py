"""The list of mistakes fits the code, and the drill reads what the tests print."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import mutate  # noqa: E402


@pytest.mark.parametrize("mutation", mutate.read_mutations(ROOT), ids=lambda mutation: mutation.what)
def test_each_mistake_stands_once_in_the_code(mutation):
    text = (ROOT / mutation.folder / mutation.file).read_text()
    assert text.count(mutation.old) == 1
    assert mutation.old != mutation.new


@pytest.mark.parametrize("output, caught", [
    ("[ RUN      ] A.B\n[       OK ] A.B (1 ms)\n[ RUN      ] C.D\nx\n[  FAILED  ] C.D (3 ms)\n", "C.D"),
    ("[ RUN      ] U/C.D/Row\n[  FAILED  ] U/C.D/Row, where GetParam() = 4 (3 ms)\n", "U/C.D/Row"),
    ("[ RUN      ] A.B\n[       OK ] A.B (1 ms)\n[ RUN      ] C.D\nabort\n", "C.D"),
    ("terminate called\n", "(before the first test)"),
])
def test_the_failing_test_is_found(output, caught):
    assert mutate.failing_test(output) == caught


def test_parameters_are_no_part_of_a_tests_name():
    assert mutate.plain("Upstream/Suite.Test/Row") == "Suite.Test"
    assert mutate.plain("Suite.Test") == "Suite.Test"


def test_a_mistake_that_fits_nowhere_is_refused(tmp_path):
    (tmp_path / "f.cc").write_text("a a")
    for old in ("a", "b"):
        with pytest.raises(SystemExit, match="must stand there once"):
            mutate.Mutation("w", "f.cc", old, "c", "t", ".").apply(tmp_path)


def test_what_was_not_made_this_time_keeps_its_row():
    kept, made, gone = (mutate.Mutation(what, "f.cc", "a", "b", "t_test", "src/t") for what in ("kept", "made", "gone"))
    page = mutate.document("", [kept, made, gone], [(kept, "A.B"), (made, None), (gone, "E.F")])
    assert page.endswith("| kept | `src/t/f.cc` | `A.B` |\n| made | `src/t/f.cc` | nothing |\n| gone | `src/t/f.cc` | `E.F` |\n")
    page = mutate.document(page, [made, kept], [(made, "C.D")])
    assert page.endswith("|---|---|---|\n| made | `src/t/f.cc` | `C.D` |\n| kept | `src/t/f.cc` | `A.B` |\n")
