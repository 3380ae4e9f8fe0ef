"""Manifests that projects published: each is accepted, converted, defaulted and planned, or refused for a reason that
docs/compatibility.md gives.

MUSTER_CORPUS names the directory that has them as manifests/*.yaml.
"""

import json
import re
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

from corpus_drill import CORPUS, DONE, CantRun, Missing, prepare, published, with_stand_ins  # noqa: E402

FILES = published()
REFUSED = "## Published manifests that are refused"
NOT_RUN = "### Accepted, and not run here"

needs_corpus = pytest.mark.skipif(
    not FILES, reason=f"no corpus: {CORPUS}/manifests has no manifest; set MUSTER_CORPUS")


def rows_of(table):
    """A table of compatibility.md: (what files, the message)."""
    text = (ROOT / "docs" / "compatibility.md").read_text()
    section = re.split(r"\n##+ ", text[text.index(table):])[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in section.splitlines() if line.startswith("| `")]
    return [(re.compile(re.escape(row[0].strip("`")).replace(r"\*", ".*")), row[1].strip("`")) for row in rows]


def refusal_of(path):
    return [message for pattern, message in rows_of(REFUSED) if pattern.fullmatch(path.name)]


@needs_corpus
def test_the_corpus_is_whole():
    assert len(FILES) >= 68


@needs_corpus
@pytest.mark.parametrize("table", [REFUSED, NOT_RUN])
def test_every_row_of_a_table_is_of_a_file(table):
    for pattern, _ in rows_of(table):
        assert any(pattern.fullmatch(path.name) for path in FILES), pattern.pattern


@needs_corpus
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES if not refusal_of(path)])
def test_what_can_not_run_here_is_in_the_table(path):
    told = [message for pattern, message in rows_of(NOT_RUN) if pattern.fullmatch(path.name)]
    try:
        with_stand_ins(path)
        reason = []
    except CantRun as why:
        reason = [str(why)]
    assert told == reason


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES] or
                         [pytest.param(None, marks=needs_corpus, id="none")])
def test_a_published_manifest(muster, path):
    checked = muster.run("validate", "--anywhere", path)
    reasons = refusal_of(path)
    if reasons:
        assert checked.status == 2, checked
        errors = [line for line in checked.err.splitlines() if ": error: " in line]
        assert errors, checked
        for line in errors:
            assert re.match(re.escape(str(path)) + r":\d+:\d+: error: ", line), checked
            assert any(reason in line for reason in reasons), checked
        return
    assert checked.status == 0, checked
    if "kind: ScalePlan" in path.read_text():
        return  # it changes a job that it does not have
    planned = muster.run("explain", path, "-o", "json")
    assert planned.status == 0, planned
    job = json.loads(planned.out)
    assert job["replicas"], planned
    for replica in job["replicas"]:
        assert replica["pod"]["metadata"]["name"] and replica["pod"]["spec"]["containers"], replica
        assert all(variable["rule"] for variable in replica["environment"]), replica
    # There and back again: what `convert` prints is accepted as well, and leads to the same pods.
    written = muster.run("convert", path)
    assert written.status == 0, written
    again = muster.run("explain", "-", "-o", "json", stdin=written.out)
    assert again.status == 0, again
    assert environments(json.loads(again.out)) == environments(job)


# Those that are done soonest, of the kinds whose frameworks start quickly; ./dev drill corpus runs all.
BRIEF = (
    "dlrover-v0.3.7-pytorch-nanogpt-elastic_job",
    "dlrover-v0.6.1-dlrover-python-tests-data-elasticjob_sample",
    "dlrover-v0.6.1-tensorflow-criteo_deeprec-autoscale_job",
    "mpi-operator-v0.2.3-horovod-tensorflow-mnist",
    "mpi-operator-v0.3.0-v1alpha1-tensorflow-benchmarks-custom",
    "mpi-operator-v0.8.0-v2beta1-pi-pi",
    "training-operator-v1.7.0-mxnet-tune-mx_job_tune_gpu_v1",
    "training-operator-v1.9.0-jax-cpu-demo-demo",
    "training-operator-v1.9.0-pytorch-simple",
    "training-operator-v1.9.0-xgboost-smoke-dist-xgboostjob_v1_rabit_test",
)


@needs_corpus
@pytest.mark.parametrize("name", BRIEF)
def test_a_published_job_runs_with_nothing_changed_but_its_command(muster, shared, name):
    try:
        manifest, muster.environment["PATH"] = prepare(CORPUS / "manifests" / f"{name}.yaml", shared)
    except Missing as why:
        pytest.skip(str(why))
    finished = muster.run("run", manifest, "--ignore-resources", "nvidia.com/gpu")
    assert finished.status == 0, finished
    assert "Succeeded" in finished.text and re.search(DONE, finished.text), finished


def environments(job):
    return [(replica["rank"], replica["environment"]) for replica in job["replicas"]]
