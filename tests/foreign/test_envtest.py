"""Suites that start their servers themselves, with envtest and the folder of `muster envtest` in KUBEBUILDER_ASSETS: one of ours, built
with two versions of controller-runtime and asked of etcd and kube-apiserver too, and one of training-operator as it is published."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MUSTER = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))
CLUSTER = ROOT / "tests" / "cluster"
sys.path.insert(0, str(CLUSTER))

from programs import find  # noqa: E402
from suites import SUITES, begin, begin_program, failures_of, finish, left_behind, on_assets, our_assets  # noqa: E402

OURS = CLUSTER / "envtest"
PEERS = ("etcd", "kube-apiserver")


def built(program):
    return find(program) or pytest.skip(f"{program} is not built")


def peer_assets(folder):
    folder.mkdir()
    for program in (*PEERS, "kubectl"):
        (folder / program).symlink_to(built(program))
    return folder


def flags_of(program):
    said = subprocess.run([program, "--help"], check=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return set(re.findall(r"^\s+(?:-\w, )?(--[a-z0-9-]+)\b", said, re.M))


@pytest.mark.parametrize("program, assets", [("envtest-suite", "muster"), ("envtest-suite-0.18", "muster"), ("envtest-suite", "kube-apiserver")])
def test_what_suites_do_with_envtest(program, assets, tmp_path):
    built(program)
    if not find("kubectl"):
        pytest.skip("kubectl is not built")
    folder = our_assets(MUSTER, tmp_path / "assets") if assets == "muster" else peer_assets(tmp_path / "assets")
    if assets == "muster" and not (pathlib.Path(folder) / "kubectl").exists():
        (pathlib.Path(folder) / "kubectl").symlink_to(find("kubectl"))
    begun = begin_program(find(program), on_assets(folder), tmp_path, OURS)
    outcome = finish(begun, tmp_path)
    cases = sum(len(re.findall(r"^func Test\w+\(t ", file.read_text(), re.M)) for file in OURS.glob("*_test.go"))
    # The one that measures is skipped.
    assert (outcome.passed, failures_of(outcome.said)) == (cases - 1, []), outcome.said[-4000:]
    # Where a start fails and the next one succeeds, envtest itself leaves a directory.
    assert assets != "muster" or left_behind(tmp_path) == []


def test_a_published_suite_runs_as_it_is(tmp_path):
    suite = next(suite for suite in SUITES if suite.name == "training-operator-pytorch")
    built(suite.program)
    outcome = finish(begin(suite, on_assets(our_assets(MUSTER, tmp_path / "assets")), tmp_path), tmp_path)
    assert (outcome.passed, failures_of(outcome.said)) == (suite.cases, []), outcome.said[-4000:]
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("program", PEERS)
def test_every_flag_of_the_real_one_is_known(program, tmp_path):
    assert flags_of(built(program)) - flags_of(f"{our_assets(MUSTER, tmp_path / 'assets')}/{program}") == set()
