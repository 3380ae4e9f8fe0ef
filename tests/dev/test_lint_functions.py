"""Long and branching functions are found; tables, tests and what is permitted are not."""

import pathlib
import subprocess
import sys
import types

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import lint_functions  # noqa: E402


@pytest.mark.parametrize("lines,branches,wrong", [
    (60, 25, None), (61, 3, "61 lines"), (5, 26, "26 branches"),
    (500, 2, None),  # a table
])
def test_what_is_too_much(lines, branches, wrong):
    said = lint_functions.too_much(types.SimpleNamespace(length=lines, cyclomatic_complexity=branches))
    assert said is None if wrong is None else said.startswith(wrong)


@pytest.mark.parametrize("name,short", [
    ("muster::runtime::Node::Impl::create", "Node::Impl::create"), ("muster::cli::up", "up"), ("main", "main")])
def test_names_are_free_of_namespaces(name, short):
    assert lint_functions.short(name) == short


@pytest.fixture
def lizard(tmp_path):
    """A Python that has it."""
    made = subprocess.run(["bash", "-c", f"root={ROOT}; cache=$HOME/.cache/muster; logs={tmp_path}/logs; "
                           f"for part in say setup lint; do source {ROOT}/scripts/$part.sh; done; need_lint_tools; lint_tools"],
                          capture_output=True, text=True, check=True).stdout.split()[-1]
    python = pathlib.Path(made) / "bin/python"
    if not python.exists():
        pytest.skip("lizard can't be installed here")
    return python


def branches(count):
    return "void f(int a) {\n" + "    if (a) a++;\n" * count + "}\n"


@pytest.mark.parametrize("path,text,found", [
    ("src/a.cc", "namespace muster::a {\n" + branches(10) + branches(26) + "}\n", "src/a.cc:14: function: f: 27 branches"),
    ("bench/a.cc", branches(20) + "\n" * 3 + branches(3).replace("}", "\n" * 60 + "}"), "bench/a.cc:26: function: f: 65 lines"),
    ("src/a.cc", branches(24), None),
    ("src/a.cc", "int f(int a) {\n    switch (a) {\n" + "        case 1: return 2;\n" * 40 + "    }\n}\n", None),
    ("src/a_test.cc", branches(30), None),
])
def test_a_tree(tmp_path, lizard, path, text, found):
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text(text)
    said = subprocess.run([lizard, ROOT / "scripts/lint_functions.py", tmp_path], capture_output=True, text=True, check=False)
    lines = [line for line in said.stdout.splitlines() if not line.startswith("scripts/lint_functions.py") and not line.endswith("findings")]
    assert not said.stderr and (not lines if found is None else len(lines) == 1 and lines[0].startswith(found)), said
