"""The SDK of Kubeflow at work in one namespace. Reads calls from stdin, a line each: the name of a function below and its arguments as
JSON. Answers each with a line of JSON: what the function returned."""

import json
import sys
from http import HTTPStatus

from kubeflow.training import KubeflowOrgV1PyTorchJob, KubeflowOrgV1PyTorchJobSpec, KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy, TrainingClient

from kubernetes import client

NAMESPACE = sys.argv[1]
trainer = TrainingClient(namespace=NAMESPACE)


def create(name):
    container = client.V1Container(name="pytorch", image="train:1", command=["python", "train.py"])
    replica = KubeflowOrgV1ReplicaSpec(replicas=1, restart_policy="Never",
                                       template=client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container])))
    trainer.create_job(KubeflowOrgV1PyTorchJob(
        api_version="kubeflow.org/v1", kind="PyTorchJob", metadata=client.V1ObjectMeta(name=name, namespace=NAMESPACE),
        spec=KubeflowOrgV1PyTorchJobSpec(run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
                                         pytorch_replica_specs={"Master": replica, "Worker": replica})))


def train(parameters):
    print("rate", parameters["rate"])


def create_from_function(name, kind, **more):
    trainer.create_job(name=name, job_kind=kind, train_func=train, parameters={"rate": "0.1"}, **more)


def wait(name, condition):
    """The types of its conditions once it has this one."""
    job = trainer.wait_for_job_conditions(name, expected_conditions={condition}, timeout=60, polling_interval=1)
    return [each.type for each in job.status.conditions if each.status == "True"]


def state(name):
    return {each: getattr(trainer, f"is_job_{each}")(name) for each in ("created", "running", "restarting", "succeeded", "failed")}


def pod_names(name, **more):
    return sorted(trainer.get_job_pod_names(name, **more))


def events(name):
    """Of the job and its pods. Only pods that have a node have logs."""
    logs, told = trainer.get_job_logs(name, is_master=False, verbose=True)
    assert not logs, logs
    return told


def suspend(name, is_suspended):
    """The SDK sends the version that it read: if the operator has written the status meanwhile, the caller reads again."""
    while True:
        job = trainer.get_job(name)
        job.spec.run_policy.suspend = is_suspended
        try:
            return trainer.update_job(job, name)
        except RuntimeError as error:
            if getattr(error.__context__, "status", None) != HTTPStatus.CONFLICT:
                raise


def names():
    return sorted(job.metadata.name for job in trainer.list_jobs())


def delete(name):
    trainer.delete_job(name)


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # what the SDK prints is for people
    for line in sys.stdin:
        call = json.loads(line)
        print(json.dumps(globals()[call["function"]](*call["positional"], **call["named"])), file=answers, flush=True)


main()
