"""./dev drill fuzz: every fuzzer has its share of the time and its line, and what crashes one fails the drill."""

import re
import subprocess
import sys

import pytest

from test_docs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import fuzz_drill as drill  # noqa: E402

STATISTICS = "stat::number_of_executed_units: 4711\nstat::average_exec_per_sec:     12\nstat::new_units_added:          42\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "order").touch()
    return tmp_path


def fuzzer(root, folder, name, status=0, says=STATISTICS):
    """Stands in the place of a fuzzer: notes its words, and ends like one."""
    program = root / "build" / "fuzz" / "src" / folder / f"{name}_fuzz"
    program.parent.mkdir(parents=True, exist_ok=True)
    (root / "src" / folder / "fuzz" / "corpus" / name).mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >>{root}/order\nprintf '%s' '{says}' >&2\nexit {status}\n")
    program.chmod(0o755)


def drilled(root, *words):
    return subprocess.run([sys.executable, ROOT / "scripts" / "fuzz_drill.py", root, *words], text=True, capture_output=True, check=False)


def test_whole_requests_come_first_and_have_half_of_the_time(root):
    fuzzer(root, "apiserver", "jwt")
    fuzzer(root, "control_plane", "request")
    fuzzer(root, "rsh", "rsh_frames")
    done = drilled(root, "--minutes", "2")
    assert done.returncode == 0 and done.stdout.endswith("3 fuzzers, 0 failed\n"), done
    calls = (root / "order").read_text().splitlines()
    assert [re.search(r"/(\w+)_fuzz .*-max_total_time=(\d+) ", call).groups() for call in calls] == [
        ("request", "60"), ("jwt", "30"), ("rsh_frames", "30")]
    for name, folder, call in zip(("request", "jwt", "rsh_frames"), ("control_plane", "apiserver", "rsh"), calls, strict=True):
        assert call.endswith(f" {root}/build/fuzz/corpus/{name} {root}/src/{folder}/fuzz/corpus/{name}")
    for name, line in zip(("request", "jwt", "rsh_frames"), done.stdout.splitlines(), strict=False):
        assert re.fullmatch(rf"{name} +4711 inputs in +\d+ s, +42 new", line), done


def test_one_that_crashes_fails_the_drill_after_the_others_have_run(root):
    kept = root / "build" / "fuzz" / "crashes" / "request-crash-1"
    fuzzer(root, "control_plane", "request", 77, f"ERROR: oh no\nTest unit written to {kept}\nBase64: YQ==\n{STATISTICS}")
    fuzzer(root, "apiserver", "jwt")
    done = drilled(root, "--minutes", "1")
    assert done.returncode == 1, done
    first, second, *rest = done.stdout.splitlines()
    assert first.endswith(f"42 new, FAILED: {kept}") and "FAILED" not in second, done
    assert "ERROR: oh no" in rest and rest[-1] == "2 fuzzers, 1 failed", done


def test_one_by_name_has_all_of_the_time(root):
    fuzzer(root, "control_plane", "request")
    fuzzer(root, "apiserver", "jwt")
    assert drilled(root, "--minutes", "10", "--only", "request").returncode == 0
    [call] = (root / "order").read_text().splitlines()
    assert "-max_total_time=600 " in call
    none = drilled(root, "--only", "nothing")
    assert none.returncode == 2 and "no fuzzer is named nothing" in none.stderr, none


def test_no_share_is_without_limit():
    assert drill.shares(["request", "a", "b"], 1) == {"request": 1, "a": 1, "b": 1}
    assert drill.shares(["a", "b"], 60) == {"a": 30, "b": 30}


def test_every_fuzzer_of_the_repository_has_a_corpus_where_the_drill_looks():
    """`./dev test` plays these corpora (NAME_fuzz_corpus)."""
    declared = [(listed.parent, name) for listed in ROOT.glob("src/*/CMakeLists.txt")
                for name in re.findall(r"^muster_fuzz\((\w+) ", listed.read_text(), re.M)]
    assert drill.FIRST in [name for _, name in declared]
    for folder, name in declared:
        assert any((folder / "fuzz" / "corpus" / name).iterdir()), name
