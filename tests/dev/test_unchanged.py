import os
import pathlib
import subprocess
import sys
import time

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "unchanged.py"
GOOD = "<testsuite><testcase classname='T' name='a'/><testcase classname='T' name='b'/></testsuite>"
BAD = "<testsuite><testcase classname='T' name='a'/><testcase classname='T' name='b'><failure message='no'/></testcase></testsuite>"


class Tree:
    """A source tree with a build in it, whose test programs are shell scripts, and what is remembered of them."""

    def __init__(self, root):
        self.root, self.build, self.store, self.runs = root, root / "build", root / "store", 0
        (root / "src").mkdir()
        self.build.mkdir()
        self.tests = {}

    def program(self, name, report=GOOD, notes=(), also="", folder=None, properties=""):
        path = (folder or self.build) / f"{name}_test"
        noting = "".join(f'echo "{note}" >>"$MUSTER_TEST_INPUTS/{path.name}"\n' for note in notes)
        end = "exit 1" if "<failure" in report else ""
        path.write_text(f'#!/bin/sh\necho ran >>"{self.root}/ran-{name}"\n{noting}{also}\n'
                        f'cat >"$REPORTS/{name}_test.xml" <<\'END\'\n{report}\nEND\n{end}\n')
        path.chmod(0o755)
        more = f"set_tests_properties({name} PROPERTIES {properties})\n" if properties else ""
        self.tests[name] = f'add_test({name} "{path}")\n{more}'
        (self.build / "CTestTestfile.cmake").write_text("".join(self.tests.values()))

    def call(self, *words, seeds="3"):
        return subprocess.run([sys.executable, SCRIPT, words[0], self.store, self.root, *words[1:]], check=False, capture_output=True, text=True,
                              env={**os.environ, "MUSTER_SEED_SLICE": seeds})

    def run(self, seeds="3"):
        """A whole run, as ./dev test does it; the names of the programs that were run."""
        self.runs += 1
        output = self.root / f"output-{self.runs}"
        output.mkdir()
        done = self.call("programs", self.build, output, seeds=seeds)
        assert done.returncode == 0, done.stderr
        left, spared = done.stdout.split("\n")[:2]
        for mark in self.root.glob("ran-*"):
            mark.unlink()
        if int(left):
            environment = {"REPORTS": str(output), "MUSTER_TEST_INPUTS": str(output / "inputs"), "MUSTER_SEED_SLICE": seeds}
            subprocess.run(["ctest", "--test-dir", self.build, "--output-junit", output / "ctest.junit", *(["-E", spared] if spared else [])],
                           check=False, capture_output=True, env={**os.environ, **environment})
            kept = self.call("keep-programs", self.build, output, seeds=seeds)
            assert kept.returncode == 0, kept.stderr
        ran = sorted(mark.name.removeprefix("ran-") for mark in self.root.glob("ran-*"))
        assert len(ran) == int(left)
        assert sorted(ran + [report.stem for report in (output / "unchanged").glob("*")]) == sorted(self.tests)
        return ran


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_what_passed_is_run_again_when_it_has_changed(tree):
    tree.program("one")
    tree.program("two")
    assert tree.run() == ["one", "two"]
    assert tree.run() == []
    tree.program("two", also="# something else")
    assert tree.run() == ["two"]
    assert tree.run() == []


def test_what_failed_is_run_again(tree):
    tree.program("bad", BAD)
    assert tree.run() == ["bad"]
    assert tree.run() == ["bad"]


def test_a_program_that_ends_badly_after_its_last_case_is_run_again(tree):
    tree.program("leaks", also="trap 'exit 23' EXIT")
    assert tree.run() == ["leaks"]
    assert tree.run() == ["leaks"]


def test_a_file_that_it_reads_counts(tree):
    (tree.root / "docs").mkdir()
    page = tree.root / "docs" / "page.md"
    page.write_text("one")
    os.utime(page, (1, 1))
    tree.program("reads", notes=["file docs/page.md"])
    tree.program("lists", notes=["file docs"])
    assert tree.run() == ["lists", "reads"]
    assert tree.run() == []
    page.write_text("two")
    os.utime(page, (1, 1))
    assert tree.run() == ["lists", "reads"]
    other = page.with_name("other.md")
    other.write_text("")
    os.utime(other, (1, 1))
    assert tree.run() == ["lists"]
    page.unlink()
    assert tree.run() == ["lists", "reads"]


def test_a_file_that_changes_while_it_is_read_leaves_nothing_known(tree):
    (tree.root / "page.md").write_text("one")
    os.utime(tree.root / "page.md", (1, 1))
    tree.program("reads", notes=["file page.md"], also=f'echo two >"{tree.root}/page.md"')
    assert tree.run() == ["reads"]
    assert tree.run() == ["reads"]


def test_seeds_count_where_they_are_used(tree):
    tree.program("seeded", notes=["seeds 3"])
    tree.program("plain")
    assert tree.run("3") == ["plain", "seeded"]
    assert tree.run("3") == []
    assert tree.run("4") == ["seeded"]


def test_several_sets_of_seeds_are_no_basis(tree):
    tree.program("seeded", notes=["seeds 3", "seeds all"])
    assert tree.run("3") == ["seeded"]
    assert tree.run("3") == ["seeded"]


def test_a_command_from_elsewhere_is_always_run(tree):
    (tree.root / "elsewhere").mkdir()
    tree.program("foreign", folder=tree.root / "elsewhere")
    assert tree.run() == ["foreign"]
    assert tree.run() == ["foreign"]


def test_the_environment_of_a_test_counts(tree):
    tree.program("one", properties='ENVIRONMENT "SIZE=1"')
    assert tree.run() == ["one"]
    tree.program("one", properties='ENVIRONMENT "SIZE=2"')
    assert tree.run() == ["one"]
    assert tree.run() == []


def test_what_can_not_be_read_is_not_believed(tree):
    tree.program("one")
    tree.run()
    for entry in tree.store.iterdir():
        entry.write_text("{")
    assert tree.run() == ["one"]
    assert tree.run() == []


def test_what_nobody_asked_for_in_a_month_is_forgotten(tree):
    tree.program("one")
    tree.run()
    month = time.time() - 31 * 24 * 3600
    for entry in tree.store.iterdir():
        os.utime(entry, (month, month))
    assert tree.run() == ["one"]


def test_a_suite_counts_with_its_inputs(tree):
    report = tree.root / "python.junit"
    (tree.root / "python").mkdir()
    (tree.root / "python" / "a.py").write_text("1")
    words = [report, "python", "kubectl"]
    assert tree.call("suite", *words).returncode == 1
    report.write_text(BAD)
    assert tree.call("keep-suite", *words).returncode == 0
    assert tree.call("suite", *words).returncode == 1, "it failed"
    report.write_text(GOOD)
    (tree.root / "python" / "a.py").write_text("2")
    tree.call("keep-suite", *words)
    assert tree.call("suite", *words).returncode == 1, "an input changed while it ran"
    (tree.root / "python" / "a.py").write_text("1")
    assert tree.call("suite", *words).returncode == 1
    tree.call("keep-suite", *words)
    report.unlink()
    assert tree.call("suite", *words).returncode == 0
    assert report.read_text() == GOOD
    assert tree.call("suite", report, "python").returncode == 1, "without a program that it needs"
    assert tree.call("suite", tree.root / "other.junit", *words[1:]).returncode == 1, "another suite"
    (tree.root / "python" / "__pycache__").mkdir()
    (tree.root / "python" / "__pycache__" / "a.pyc").write_text("made by a run")
    assert tree.call("suite", *words).returncode == 0
    (tree.root / "python" / "a.py").write_text("2")
    assert tree.call("suite", *words).returncode == 1
