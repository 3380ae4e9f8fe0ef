"""./dev drill foreign: what it decides before it starts anything."""

import sys

import pytest

from test_docs import ROOT

sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests" / "cluster")]

import foreign_drill as drill  # noqa: E402
import installs  # noqa: E402
import suites  # noqa: E402

GINKGO = """
  [FAIL] TFJob controller [It] works
{} -- {} Passed | {} Failed | 0 Pending | 0 Skipped
--- {}: TestAPIs (1s)
--- PASS: TestOther (0s)
"""


@pytest.mark.parametrize("said, passed", [
    (GINKGO.format("FAIL!", 28, 1, "FAIL"), 28), (GINKGO.format("SUCCESS!", 29, 0, "PASS"), 29),
    ("--- PASS: TestA (0s)\n--- FAIL: TestB (0s)\n    --- PASS: TestB/one (0s)\n--- PASS: TestC (0s)\n", 2), ("panic: no server\n", 0)])
def test_the_cases_that_passed_are_counted(said, passed):
    assert suites.count_passed(said) == passed


def test_what_failed_is_named():
    assert suites.failures_of(GINKGO.format("FAIL!", 28, 1, "FAIL")) == ["[FAIL] TFJob controller [It] works", "--- FAIL: TestAPIs (1s)"]


def test_there_are_63_cases_of_training_operator():
    assert sum(suite.cases for suite in suites.SUITES if suite.name.startswith("training-operator")) == 63


@pytest.mark.parametrize("root", [True, False])
def test_a_manifest_names_a_program_in_the_place_of_an_image(root):
    deployment = {"kind": "Deployment", "spec": {"template": {"spec": {"securityContext": {"runAsNonRoot": True}, "containers": [
        {"name": "manager", "image": "i", "command": ["/manager"], "args": ["--a"], "resources": {"limits": {"cpu": "2"}}}]}}}}
    service, kept = installs.for_this_machine([{"kind": "APIService"}, deployment], "/here", root)
    assert service == {"kind": "APIService"}
    spec = kept["spec"]["template"]["spec"]
    assert spec["containers"] == [{"name": "manager", "image": "i", "command": ["/here"], "args": ["--a"]}]
    assert ("runAsNonRoot" in spec["securityContext"]) != root


def test_a_row_says_what_passed_on_both():
    suite = suites.SUITES[0]
    row = drill.suite_row(suite, suites.Outcome(7, 25.4, ""), suites.Outcome(6, 31, ""), suites.Outcome(7, 24, ""))
    assert row == f"| {suite.name}, {drill.SOURCES[suite.program].version} | 7 of 7 in 25 s | 6 of 7 in 31 s | 7 of 7 in 24 s |"
