"""The SDK of Kubeflow from a job's creation to its logs and its end. Prints ok at its end."""

import sys

from kubeflow.training import KubeflowOrgV1PyTorchJob, KubeflowOrgV1PyTorchJobSpec, KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy, TrainingClient

from kubernetes import client

NAMESPACE = sys.argv[1]


def replica(script):
    container = client.V1Container(name="pytorch", image="docker.io/library/python:3", command=["sh", "-c", script])
    return KubeflowOrgV1ReplicaSpec(replicas=1, restart_policy="Never", template=client.V1PodTemplateSpec(
        spec=client.V1PodSpec(containers=[container])))


def job(name, script):
    return KubeflowOrgV1PyTorchJob(
        api_version="kubeflow.org/v1", kind="PyTorchJob", metadata=client.V1ObjectMeta(name=name, namespace=NAMESPACE),
        spec=KubeflowOrgV1PyTorchJobSpec(run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
                                         pytorch_replica_specs={"Master": replica(script), "Worker": replica(script)}))


def logs_of_all(trainer, name, pods):
    """A job has succeeded when its master has: a worker may still be starting, and then the SDK leaves it out."""
    for _ in range(1000):
        logs, _ = trainer.get_job_logs(name, is_master=False)
        if len(logs) == pods and all(logs.values()):
            return logs
    raise AssertionError(logs)


def main():
    trainer = TrainingClient(namespace=NAMESPACE)
    trainer.create_job(job("good", 'echo "rank $RANK of $WORLD_SIZE"'))
    ended = trainer.wait_for_job_conditions("good", timeout=60, polling_interval=1)
    assert trainer.is_job_succeeded("good"), ended
    assert [each.metadata.name for each in trainer.list_jobs()] == ["good"]
    assert sorted(trainer.get_job_pod_names("good")) == ["good-master-0", "good-worker-0"]
    assert trainer.get_job_pod_names("good", is_master=True) == ["good-master-0"]
    logs = logs_of_all(trainer, "good", 2)
    assert "rank 0 of 2" in logs["good-master-0"] and "rank 1 of 2" in logs["good-worker-0"], logs
    trainer.create_job(job("bad", "exit 3"))
    trainer.wait_for_job_conditions("bad", expected_conditions={"Failed"}, timeout=60, polling_interval=1)
    assert trainer.is_job_failed("bad") and not trainer.is_job_running("bad")
    trainer.delete_job("good")
    trainer.delete_job("bad")
    print("ok")


main()
