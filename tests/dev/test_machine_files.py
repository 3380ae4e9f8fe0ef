"""That what a suite leaves on the machine is seen, however deep it lies."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "e2e"))

from machine_files import files_below, of_a_test_beside  # noqa: E402


def test_files_of_any_depth_are_seen(tmp_path):
    deep = tmp_path / "a" / "b" / "c" / "d" / "left"
    deep.parent.mkdir(parents=True)
    before = files_below(str(tmp_path))
    deep.write_text("")
    assert files_below(str(tmp_path)) - before == {str(deep)}


def test_what_changes_by_itself_is_passed_over_and_no_link_is_followed(tmp_path):
    (tmp_path / "cache" / "x").mkdir(parents=True)
    (tmp_path / "lib" / "__pycache__").mkdir(parents=True)
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "checkout" / ".git").mkdir(parents=True)
    (tmp_path / "checkout" / "being-written").write_text("")
    found = files_below(str(tmp_path), {str(tmp_path / "cache")})
    assert found == {str(tmp_path / "lib"), str(tmp_path / "again"), str(tmp_path / "checkout")}


def test_too_many_are_an_error_that_says_what_to_do(tmp_path):
    for i in range(5):
        (tmp_path / str(i)).write_text("")
    with pytest.raises(RuntimeError, match="UNWATCHED"):
        files_below(str(tmp_path), most=4)


def test_the_machine_is_looked_through():
    found = files_below()
    assert "/etc/passwd" in found and "/usr/lib" in found and "/proc/self" not in found


def test_a_network_belongs_to_a_test_beside_while_its_process_lives():
    assert of_a_test_beside(f"/run/netns/muster-test-{os.getppid()}-1")
    assert not of_a_test_beside(f"/run/netns/muster-test-{os.getpid()}-1")
    assert not of_a_test_beside("/run/netns/muster-test-4194305-1"), "above the largest number of a process"
    assert not of_a_test_beside("/run/netns/other")
