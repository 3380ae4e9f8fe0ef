"""DLRover's ElasticJob on one machine. The masters here are programs of the manifests' own, which do nothing: what meets at a master
is for other tests."""

import json
import re

import pytest

from test_up import needs_kubectl
from test_verbs import server  # noqa: F401 (a fixture)

JOB = """
apiVersion: elastic.iml.github.io/v1alpha1
kind: ElasticJob
metadata:
  name: NAME
  annotations: {muster.dev/master: image}
spec:
  distributionStrategy: STRATEGY
  envs:
    GREETING: {value: good morning}
  replicaSpecs:
    dlrover-master:
      template:
        spec:
          containers:
          - {name: main, image: x, command: [sleep, "600"]}
TYPES
"""
TYPE = """
    NAME:
      replicas: REPLICAS
      restartCount: 1
      template:
        spec:
          containers:
          - name: main
            image: x
            command: [sh, -c, 'SCRIPT']
"""


def elasticjob(name, scripts, strategy="AllreduceStrategy"):
    types = "".join(TYPE.replace("NAME", of).replace("REPLICAS", str(replicas)).replace("SCRIPT", script)
                    for of, (replicas, script) in scripts.items())
    return JOB.replace("NAME", name, 1).replace("STRATEGY", strategy).replace("TYPES", types)


def test_workers_get_upstreams_variables_and_the_master_ends_with_them(muster):
    script = 'echo "$GREETING $NODE_TYPE $NODE_RANK/$NODE_NUM at $DLROVER_MASTER_ADDR"'
    finished = muster.run("run", muster.write("job.yaml", elasticjob("meets", {"worker": (2, script)})))
    assert finished.status == 0, finished
    for rank in (0, 1):
        said = f"good morning worker {rank}/2 at elasticjob-meets-dlrover-master.default.svc:50001"
        assert said in finished.text, finished
    assert "Succeeded" in finished.text, finished


def test_a_tensorflow_job_ends_with_its_chief(muster):
    tell = 'echo "config $TF_CONFIG"'
    job = elasticjob("ctr", {"ps": (1, "sleep 600"), "worker": (2, tell)}, "ParameterServerStrategy")
    finished = muster.run("run", muster.write("job.yaml", job))
    assert finished.status == 0, finished
    tasks = [json.loads(line) for line in re.findall(r"config (\{.*\})", finished.text)]
    assert sorted(task["task"]["type"] for task in tasks) == ["chief", "worker"], finished
    assert tasks[0]["cluster"]["ps"] == ["ctr-edljob-ps-0.default.svc:2222"], finished


def test_a_worker_that_failed_is_a_new_pod_until_its_count_is_used_up(muster):
    finished = muster.run("run", muster.write("job.yaml", elasticjob("fails", {"worker": (1, "echo tried; exit 3")})))
    assert finished.status == 3, finished
    assert finished.text.count("] tried") + finished.text.count(" tried\n") >= 2, finished


@needs_kubectl
def test_the_status_is_where_upstream_and_where_kubectl_wait_look_for_it(server):  # noqa: F811
    server.apply(elasticjob("told", {"worker": (1, "exit 0")}))
    server.verb("wait", "elasticjob/told", "--for=condition=Succeeded", "--timeout=60s")
    status = json.loads(server.verb("get", "elasticjob", "told", "-o", "json").stdout)["status"]
    assert status["phase"] == "Succeeded" and status["completionTime"], status
    assert status["status"]["conditions"] == status["conditions"], status
    assert status["status"]["completionTime"] == status["completionTime"], status
    assert status["status"]["replicaStatuses"]["worker"]["succeeded"] == 1, status
    reasons = [condition["reason"] for condition in status["conditions"]]
    assert reasons[0] == "JobCreated" and reasons[-1] == "JobSucceeded", status
    assert "Phase" in server.verb("get", "elasticjobs").stdout.title()
    assert "Succeeded" in server.verb("get", "elasticjobs").stdout
    # By its name alone, as other jobs.
    assert "ElasticJob (elastic.iml.github.io/v1alpha1)" in server.verb("describe", "told").stdout


def test_a_plan_is_accepted_and_a_wrong_one_refused_with_its_place(muster):
    plan = ("apiVersion: elastic.iml.github.io/v1alpha1\nkind: ScalePlan\nmetadata: {name: p}\nspec:\n"
            "  ownerJob: j\n  replicaResourceSpecs:\n    PS: {replicas: 2}\n")
    refused = muster.run("validate", muster.write("plan.yaml", plan))
    assert refused.status == 2, refused
    assert re.search(r"plan\.yaml:7:9: error: spec\.replicaResourceSpecs\.PS: .*did you mean \"ps\"", refused.err), refused
    good = muster.run("validate", muster.write("plan.yaml", plan.replace("PS", "ps")))
    assert good.status == 0, good


@pytest.mark.parametrize("field, said", [
    ("autoScale: true", "autoScale: has no effect"),
    ('restartTimeout: 60', "restartTimeout: has no effect"),
])
def test_a_field_without_effect_is_named(muster, field, said):
    job = elasticjob("told", {"worker": (1, "exit 0")}).replace("restartCount: 1", field)
    checked = muster.run("validate", muster.write("job.yaml", job))
    assert checked.status == 0 and f"spec.replicaSpecs.worker.{said}" in checked.err, checked
