"""Batch Jobs: their pods, what is counted, how they end. The statuses of their pods are ours."""

import pytest

from workloads import end_pod, events_about, objects_when, template, when

FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


@pytest.fixture
def pods(namespace):
    return f"/api/v1/namespaces/{namespace}/pods"


@pytest.fixture
def jobs(namespace):
    return f"/apis/batch/v1/namespaces/{namespace}/jobs"


def make_job(api, jobs, name="j", pod=None, **spec):
    made = api.post(jobs, {"metadata": {"name": name}, "spec": {"template": pod or template(), **spec}})
    assert made.status == 201, made
    assert "Warning" not in made.headers, made.headers["Warning"]
    return made.json


def active_pods(api, pods, count, name="j"):
    """The pods that have not ended, once there are so many."""
    def active(found):
        return [pod for pod in found if pod["status"].get("phase", "Pending") in ("Pending", "Running")
                and "deletionTimestamp" not in pod["metadata"]]
    return active(objects_when(api, pods, f"job-name={name}", lambda found: len(active(found)) == count))


def job_when(api, jobs, wanted, name="j"):
    return when(api, jobs, name, lambda job: wanted(job["status"]))


def true_conditions(status):
    return {condition["type"]: condition["reason"] for condition in status.get("conditions", [])
            if condition["status"] == "True"}


def test_a_job_makes_pods_until_enough_have_succeeded(api, namespace, jobs, pods):
    job = make_job(api, jobs, completions=3, parallelism=2)
    uid = job["metadata"]["uid"]
    first, second = active_pods(api, pods, 2)
    metadata = first["metadata"]
    assert metadata["name"].startswith("j-") and metadata["generateName"] == "j-"
    assert metadata["labels"] == {"batch.kubernetes.io/controller-uid": uid, "controller-uid": uid,
                                  "batch.kubernetes.io/job-name": "j", "job-name": "j"}
    assert metadata["finalizers"] == [FINALIZER]
    assert metadata["ownerReferences"] == [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": uid, "controller": True,
                                            "blockOwnerDeletion": True}]
    status = job_when(api, jobs, lambda status: status.get("active") == 2)["status"]
    assert status["startTime"] and status["ready"] == 0 and status["terminating"] == 0
    assert status["uncountedTerminatedPods"] == {}
    for pod in (first, second):
        end_pod(api, pod, "Succeeded", 0)
    third, = active_pods(api, pods, 1)
    job_when(api, jobs, lambda status: status.get("succeeded") == 2 and status.get("active") == 1)
    end_pod(api, third, "Succeeded", 0)
    status = job_when(api, jobs, lambda status: "Complete" in true_conditions(status))["status"]
    assert true_conditions(status) == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
    assert status["conditions"][-1]["message"] == "Reached expected number of succeeded pods"
    assert status["succeeded"] == 3 and status["completionTime"] and "active" not in status and "failed" not in status
    assert events_about(api, namespace, "j", "Completed") == ["Job completed"]
    # They stay, and are not held.
    left = objects_when(api, pods, "job-name=j", lambda found: all("finalizers" not in pod["metadata"] for pod in found))
    assert len(left) == 3


def test_a_pod_that_is_deleted_or_forgotten_is_counted_once(api, jobs, pods):
    make_job(api, jobs, completions=2, parallelism=2, podReplacementPolicy="Failed")
    first, second = active_pods(api, pods, 2)
    end_pod(api, first, "Succeeded", 0)
    assert api.delete(f"{pods}/{first['metadata']['name']}").status == 200
    job_when(api, jobs, lambda status: status.get("succeeded") == 1)
    api.gone(pods, first["metadata"]["name"])
    end_pod(api, second, "Succeeded", 0)
    status = job_when(api, jobs, lambda status: "Complete" in true_conditions(status))["status"]
    assert status["succeeded"] == 2 and "failed" not in status


def test_too_many_failures_end_a_job(api, namespace, jobs, pods):
    make_job(api, jobs, completions=2, parallelism=2, backoffLimit=0)
    first, _ = active_pods(api, pods, 2)
    end_pod(api, first, "Failed", 3)
    status = job_when(api, jobs, lambda status: "Failed" in true_conditions(status))["status"]
    assert true_conditions(status) == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
    assert status["conditions"][-1]["message"] == "Job has reached the specified backoff limit"
    assert status["failed"] == 2 and "completionTime" not in status and "active" not in status
    assert events_about(api, namespace, "j", "BackoffLimitExceeded") == ["Job has reached the specified backoff limit"]
    # The one that ran is gone; what failed can be looked at.
    left, = objects_when(api, pods, "job-name=j", lambda found: len(found) == 1)
    assert left["metadata"]["name"] == first["metadata"]["name"]


def test_a_deadline_ends_a_job(api, jobs, pods):
    make_job(api, jobs, activeDeadlineSeconds=1)
    status = job_when(api, jobs, lambda status: "Failed" in true_conditions(status))["status"]
    assert true_conditions(status)["Failed"] == "DeadlineExceeded"
    assert status["conditions"][-1]["message"] == "Job was active longer than specified deadline"


def test_an_indexed_job_runs_each_index(api, jobs, pods):
    make_job(api, jobs, completions=4, parallelism=3, completionMode="Indexed")
    def number(pod):
        return int(pod["metadata"]["labels"][INDEX])
    running = {number(pod): pod for pod in active_pods(api, pods, 3)}
    assert sorted(running) == [0, 1, 2]
    pod = running[1]
    assert pod["metadata"]["annotations"][INDEX] == "1" and pod["metadata"]["generateName"] == "j-1-"
    assert pod["spec"]["hostname"] == "j-1"
    variable, = pod["spec"]["containers"][0]["env"]
    assert variable == {"name": "JOB_COMPLETION_INDEX",
                        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}}
    end_pod(api, running[0], "Succeeded", 0)
    end_pod(api, running[2], "Succeeded", 0)
    status = job_when(api, jobs, lambda status: status.get("completedIndexes") == "0,2")["status"]
    assert status["succeeded"] == 2
    running = {number(pod): pod for pod in active_pods(api, pods, 2)}
    assert sorted(running) == [1, 3]
    for pod in running.values():
        end_pod(api, pod, "Succeeded", 0)
    status = job_when(api, jobs, lambda status: "Complete" in true_conditions(status))["status"]
    assert status["completedIndexes"] == "0-3" and status["succeeded"] == 4


FAILURES = "batch.kubernetes.io/job-index-failure-count"


def numbered(found):
    return {int(pod["metadata"]["labels"][INDEX]): pod for pod in found}


def test_indexes_have_limits_of_their_own(api, namespace, jobs, pods):
    policy = {"rules": [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}}]}
    made = make_job(api, jobs, completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=1, podFailurePolicy=policy)
    assert made["spec"]["backoffLimit"] == 2**31 - 1
    running = numbered(active_pods(api, pods, 3))
    assert {pod["metadata"]["annotations"][FAILURES] for pod in running.values()} == {"0"}
    end_pod(api, running[0], "Failed", 1)
    end_pod(api, running[1], "Failed", 42)
    status = job_when(api, jobs, lambda status: status.get("failedIndexes") == "1")["status"]
    assert "Failed" not in true_conditions(status)
    # After a pause, and only then is the first one let go.
    again = numbered(active_pods(api, pods, 2))
    assert again[0]["metadata"]["annotations"][FAILURES] == "1"
    end_pod(api, again[0], "Failed", 1)
    status = job_when(api, jobs, lambda status: status.get("failedIndexes") == "0,1")["status"]
    end_pod(api, again[2], "Succeeded", 0)
    status = job_when(api, jobs, lambda status: "Failed" in true_conditions(status))["status"]
    assert true_conditions(status) == {"FailureTarget": "FailedIndexes", "Failed": "FailedIndexes"}
    assert status["conditions"][-1]["message"] == "Job has failed indexes"
    assert (status["failedIndexes"], status["completedIndexes"], status["failed"], status["succeeded"]) == ("0,1", "2", 3, 1)
    assert events_about(api, namespace, "j", "FailedIndexes") == ["Job has failed indexes"]


def test_too_many_failed_indexes_end_a_job(api, jobs, pods):
    make_job(api, jobs, completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=0, maxFailedIndexes=0)
    end_pod(api, numbered(active_pods(api, pods, 3))[2], "Failed", 1)
    status = job_when(api, jobs, lambda status: "Failed" in true_conditions(status))["status"]
    assert true_conditions(status)["Failed"] == "MaxFailedIndexesExceeded"
    # kube-controller-manager counts the pods that it has ended for that, too, if it sees them go before it is done.
    assert status["failedIndexes"] in ("2", "0-2")
    assert status["conditions"][-1]["message"] == "Job has exceeded the specified maximal number of failed indexes"


def test_a_success_policy_ends_a_job_early(api, jobs, pods):
    make_job(api, jobs, completions=4, parallelism=4, completionMode="Indexed",
             successPolicy={"rules": [{"succeededIndexes": "0", "succeededCount": 1}, {"succeededCount": 2}]})
    running = numbered(active_pods(api, pods, 4))
    end_pod(api, running[1], "Succeeded", 0)
    status = job_when(api, jobs, lambda status: status.get("completedIndexes") == "1")["status"]
    assert true_conditions(status) == {}
    end_pod(api, running[3], "Succeeded", 0)
    status = job_when(api, jobs, lambda status: "Complete" in true_conditions(status))["status"]
    assert true_conditions(status) == {"SuccessCriteriaMet": "SuccessPolicy", "Complete": "SuccessPolicy"}
    assert status["conditions"][-1]["message"] == "Matched rules at index 1"
    assert status["completedIndexes"] == "1,3" and status["succeeded"] == 2
    active_pods(api, pods, 0)


def test_a_job_is_suspended_and_resumed(api, namespace, jobs, pods):
    make_job(api, jobs, suspend=True)
    status = job_when(api, jobs, lambda status: "Suspended" in true_conditions(status))["status"]
    assert true_conditions(status) == {"Suspended": "JobSuspended"} and "startTime" not in status
    assert api.patch(f"{jobs}/j", {"spec": {"suspend": False}}).status == 200
    active_pods(api, pods, 1)
    status = job_when(api, jobs, lambda status: status.get("active") == 1)["status"]
    assert status["startTime"] and status["conditions"][0]["status"] == "False"
    assert status["conditions"][0]["reason"] == "JobResumed"
    assert api.patch(f"{jobs}/j", {"spec": {"suspend": True}}).status == 200
    objects_when(api, pods, "job-name=j", lambda found: not found)
    status = job_when(api, jobs, lambda status: "Suspended" in true_conditions(status) and status["terminating"] == 0)["status"]
    # What was ended for that has not failed.
    assert "active" not in status and "failed" not in status
    assert events_about(api, namespace, "j", "Suspended") == ["Job suspended"]


def test_parallelism_may_change(api, jobs, pods):
    make_job(api, jobs, completions=9, parallelism=1)
    active_pods(api, pods, 1)
    assert api.patch(f"{jobs}/j", {"spec": {"parallelism": 3}}).status == 200
    active_pods(api, pods, 3)
    assert api.patch(f"{jobs}/j", {"spec": {"parallelism": 1}}).status == 200
    active_pods(api, pods, 1)
    status = job_when(api, jobs, lambda status: status.get("active") == 1 and status["terminating"] == 0)["status"]
    assert "failed" not in status


def test_a_failure_policy_is_obeyed(api, namespace, jobs, pods):
    policy = {"rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": {"containerName": "c", "operator": "In", "values": [42]}}]}
    make_job(api, jobs, backoffLimit=0, podFailurePolicy=policy)
    first, = active_pods(api, pods, 1)
    name = first["metadata"]["name"]
    disrupted = {"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True"}]}
    assert api.patch(f"{pods}/{name}/status", {"status": disrupted}).status == 200
    second, = active_pods(api, pods, 1)
    end_pod(api, second, "Failed", 42)
    status = job_when(api, jobs, lambda status: "Failed" in true_conditions(status))["status"]
    assert true_conditions(status)["Failed"] == "PodFailurePolicy" and status["failed"] == 1
    assert status["conditions"][-1]["message"] == (
        f"Container c for pod {namespace}/{second['metadata']['name']} failed with exit code 42 matching FailJob rule at index 1")


def test_a_finished_job_goes_after_its_time(api, jobs, pods):
    make_job(api, jobs, ttlSecondsAfterFinished=0)
    pod, = active_pods(api, pods, 1)
    end_pod(api, pod, "Succeeded", 0)
    api.gone(jobs, "j")
    api.gone(pods, pod["metadata"]["name"])


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_a_deleted_job_takes_its_pods_along(api, jobs, pods, policy):
    make_job(api, jobs, completions=2, parallelism=2)
    for pod in active_pods(api, pods, 2):
        end_pod(api, pod, "Running")
    assert api.delete(f"{jobs}/j", {"propagationPolicy": policy}).status == 200
    api.gone(jobs, "j")
    objects_when(api, pods, "job-name=j", lambda found: not found)


def test_a_job_of_another_controller_is_left_alone(api, jobs, pods):
    make_job(api, jobs, "other", managedBy="example.com/queue")
    make_job(api, jobs)
    active_pods(api, pods, 1)
    assert api.get(f"{jobs}/other").json["status"] == {}
    assert objects_when(api, pods, "job-name=other", lambda found: not found) == []


@pytest.mark.parametrize("spec, patch, message", [
    ({"completions": 2}, {"completions": 3}, "spec.completions: Invalid value: 3: field is immutable"),
    ({"completions": 2, "completionMode": "Indexed"}, {"completions": 3},
     "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"),
    ({"completions": 2, "completionMode": "Indexed"}, {"completions": 3, "parallelism": 3}, None),
    ({}, {"parallelism": 200000}, None),
    ({"completions": 2, "completionMode": "Indexed"}, {"parallelism": 200000},
     "spec.parallelism: Invalid value: 200000: must be less than or equal to 100000 when completion mode is Indexed"),
    ({}, {"backoffLimit": 9}, None),
])
def test_what_of_a_job_may_change(api, jobs, spec, patch, message):
    make_job(api, jobs, suspend=True, **spec)
    answer = api.patch(f"{jobs}/j", {"spec": patch})
    if message is None:
        assert answer.status == 200, answer
    else:
        assert answer.status == 422 and message in answer.json["message"], answer
