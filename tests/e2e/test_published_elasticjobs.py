"""DLRover's published manifests that need someone beside them: a plan and its job, and a job that has no worker until it is scaled. `muster up`
plays them with programs that are here; test_corpus.py has the others.
"""

import json
import re
import sys

import pytest
import yaml

from conftest import ROOT
from test_elasticjob import Said
from test_up import needs_kubectl
from test_verbs import Server

sys.path.insert(0, str(ROOT / "scripts"))

from corpus_drill import CORPUS, DONE, CantRun, published, stand_in  # noqa: E402

MANIFESTS = [each for path in published() for each in yaml.safe_load_all(path.read_text())
             if each and each["apiVersion"].startswith("elastic.iml.github.io/")]
PLANS = [each for each in MANIFESTS if each["kind"] == "ScalePlan"]
JOBS = [each for each in MANIFESTS if each["kind"] == "ElasticJob"]
WITHOUT_WORKERS = [job for job in JOBS if job["spec"]["replicaSpecs"]["worker"].get("replicas") == 0]

pytestmark = [needs_kubectl, pytest.mark.skipif(
    not MANIFESTS, reason=f"no corpus: {CORPUS}/manifests has no manifest of DLRover; set MUSTER_CORPUS")]


def name_of(manifest):
    return manifest and manifest["metadata"]["name"]


class Stage:
    """A `muster up` with the namespace that DLRover is installed in, whose workers begin when the test says so."""

    def __init__(self, directory, shared):
        self.server, self.go = Server(directory), shared / "go"
        self.server.environment["PATH"] = "/usr/bin:" + self.server.environment["PATH"]
        self.server.cwd = ROOT  # pods see it, wherever it is
        self.server.start("--fit", "scale", "--volume", f"pvc-nas={shared}")
        self.server.kubectl("create", "namespace", "dlrover")

    def apply(self, manifest):
        self.server.apply(json.dumps(manifest), "-n", manifest["metadata"].get("namespace", "dlrover"))

    def begin(self, job):
        """With programs that are here; its workers wait."""
        made = stand_in(job).job
        container = made["spec"]["replicaSpecs"]["worker"]["template"]["spec"]["containers"][0]
        container["command"] = ["sh", "-c", f'until [ -e {self.go} ]; do sleep 0.05; done; exec "$@"', "sh", *container["command"]]
        self.apply({**made, "metadata": {**made["metadata"], "namespace": "dlrover"}})

    def ask(self, *words):
        return self.server.kubectl("-n", "dlrover", *words).stdout

    def wait(self, what, condition):
        return self.ask("wait", what, f"--for={condition}", "--timeout=60s")

    def until_running(self, *pods):
        seen = Said(self.server, "get", "pods", "-n", "dlrover", "-w", "-o", "name")
        for pod in pods:
            seen.until(f"pod/{pod}\n")
            self.wait(f"pod/{pod}", "condition=Ready")
        seen.end()

    def finish(self, job):
        """What its pods have said."""
        self.go.touch()
        self.wait(f"elasticjob/{job}", "condition=Succeeded")
        return self.server.verb("logs", "-n", "dlrover", f"elasticjob/{job}").stdout


@pytest.fixture
def stage(tmp_path, shared):
    made = Stage(tmp_path, shared)
    yield made
    made.server.down("--kill")


@pytest.mark.parametrize("plan", PLANS or [None], ids=name_of)
def test_a_published_plan_is_executed(stage, plan):
    owner = plan["spec"]["ownerJob"]
    job = next(job for job in JOBS if name_of(job) == owner)
    stage.begin(job)
    written = job["spec"]["replicaSpecs"]
    wanted = {kind: change["replicas"] for kind, change in plan["spec"]["replicaResourceSpecs"].items()}
    pods = [f"{owner}-edljob-{kind}-{at}" for kind, count in wanted.items() for at in range(count)]
    stage.until_running(*[pod for pod in pods if int(pod.rpartition("-")[2]) < written[pod.split("-")[-2]]["replicas"]])
    stage.apply(plan)
    stage.wait(f"scaleplan/{name_of(plan)}", "jsonpath={.status.phase}=Succeeded")
    stage.until_running(*pods)
    assert re.search(DONE, stage.finish(owner))


@pytest.mark.parametrize("job", WITHOUT_WORKERS or [None], ids=name_of)
def test_a_published_job_without_workers_runs_when_it_has_some(stage, job):
    with pytest.raises(CantRun, match="no worker until someone scales it"):
        stand_in(job)
    name = name_of(job)
    changed = json.loads(json.dumps(job))
    changed["spec"]["replicaSpecs"]["worker"]["replicas"] = 1
    made = stand_in(changed).job
    made["spec"]["replicaSpecs"]["worker"]["replicas"] = 0
    stage.apply({**made, "metadata": {**made["metadata"], "namespace": "dlrover"}})
    stage.until_running(f"{name}-edljob-ps-0")
    assert sorted(stage.ask("get", "pods", "-o", "name").split()) == [f"pod/elasticjob-{name}-dlrover-master-0", f"pod/{name}-edljob-ps-0"]
    stage.ask("scale", f"elasticjob/{name}", "--replicas=2")
    assert re.search(DONE, stage.finish(name))
