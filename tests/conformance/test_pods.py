"""A pod's life on a node that runs it. Skipped where no node runs programs."""

import json

import pytest


@pytest.fixture
def pods(api, namespace):
    # KWOK's nodes are ready, but run nothing.
    nodes = [node for node in api.get("/api/v1/nodes").json["items"]
             if "kwok.x-k8s.io/node" not in node["metadata"].get("annotations", {})]
    if not any(c["type"] == "Ready" and c["status"] == "True" for node in nodes for c in node["status"].get("conditions", [])):
        pytest.skip("no node here runs programs")
    return f"/api/v1/namespaces/{namespace}/pods"


def run(api, pods, script, policy="Never", name="p", **more):
    made = api.post(pods, {"metadata": {"name": name}, "spec": {"restartPolicy": policy, "containers": [
        {"name": "main", "image": "busybox", "command": ["sh", "-c", script], **more}]}})
    assert made.status == 201, made
    return made.json


def until(api, pods, made, wanted):
    version = made["metadata"]["resourceVersion"]
    name = made["metadata"]["name"]
    watch = api.watch(f"{pods}?watch=1&fieldSelector=metadata.name%3D{name}&resourceVersion={version}")
    last = watch.until(lambda event: wanted(event["object"]["status"]))[-1]
    watch.close()
    return last["object"]["status"]


def ended(status):
    return status["phase"] in ("Succeeded", "Failed")


@pytest.mark.parametrize("script,phase,code,reason", [
    ("exit 0", "Succeeded", 0, "Completed"), ("exit 3", "Failed", 3, "Error"),
    ("kill -9 $$$$", "Failed", 137, "Error"), ("kill -15 $$$$", "Failed", 143, "Error")])
def test_how_a_container_ends(api, pods, script, phase, code, reason):
    status = until(api, pods, run(api, pods, script), ended)
    container = status["containerStatuses"][0]
    state = container["state"]["terminated"]
    assert (status["phase"], state["exitCode"], state["reason"]) == (phase, code, reason)
    assert all(isinstance(container[field], kind) for field, kind in (
        ("name", str), ("image", str), ("imageID", str), ("ready", bool), ("restartCount", int))), "typed clients demand these"


def test_a_failure_is_tried_again(api, pods):
    made = run(api, pods, "exit 1", "OnFailure")
    status = until(api, pods, made, lambda s: s.get("containerStatuses") and s["containerStatuses"][0]["restartCount"] >= 1)
    assert status["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 1


def test_a_program_that_is_not_there(api, pods):
    made = api.post(pods, {"metadata": {"name": "p"}, "spec": {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "busybox", "command": ["/no/such/program"]}]}}).json
    status = until(api, pods, made, ended)
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 128


def test_the_log(api, pods):
    made = run(api, pods, "echo one; echo two; echo three")
    until(api, pods, made, ended)
    assert api.get(pods + "/p/log").text == "one\ntwo\nthree\n"
    assert api.get(pods + "/p/log?tailLines=1").text == "three\n"
    assert api.get(pods + "/p/log?limitBytes=5").text == "one\nt"
    assert api.get(pods + "/p/log?follow=true").text == "one\ntwo\nthree\n"
    assert api.get(pods + "/p/log?timestamps=true").text.splitlines()[0].endswith("Z one")
    wrong = api.get(pods + "/p/log?container=none")
    assert wrong.status == 400 and wrong.json["message"] == "container none is not valid for pod p"
    assert api.get(pods + "/p/log?previous=true").status == 400


def test_a_pod_waits_for_its_config_map(api, pods, maps):
    made = run(api, pods, "test $K = v", envFrom=[{"configMapRef": {"name": "later"}}], env=[])
    waiting = until(api, pods, made, lambda s: any(
        c["state"].get("waiting", {}).get("reason") == "CreateContainerConfigError" for c in s.get("containerStatuses", [])))
    assert "later" in json.dumps(waiting)
    api.post(maps, {"metadata": {"name": "later"}, "data": {"K": "v"}})
    assert until(api, pods, made, ended)["phase"] == "Succeeded"


def test_a_deletion_with_grace(api, pods):
    made = run(api, pods, "trap 'exit 0' TERM; while :; do sleep 0.05; done")
    until(api, pods, made, lambda s: s["phase"] == "Running")
    deleted = api.delete(pods + "/p")
    assert deleted.status == 200 and deleted.json["metadata"]["deletionGracePeriodSeconds"] == 30
    api.gone(pods, "p")


def test_a_deletion_that_is_ignored_ends_with_its_grace(api, pods):
    made = run(api, pods, "trap '' TERM; while :; do sleep 0.05; done")
    until(api, pods, made, lambda s: s["phase"] == "Running")
    assert api.delete(pods + "/p", {"gracePeriodSeconds": 1}).status == 200
    api.gone(pods, "p")


def test_a_deadline(api, pods):
    made = api.post(pods, {"metadata": {"name": "p"}, "spec": {
        "restartPolicy": "Never", "activeDeadlineSeconds": 1, "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "busybox", "command": ["sleep", "100"]}]}}).json
    status = until(api, pods, made, ended)
    assert status["phase"] == "Failed" and status["reason"] == "DeadlineExceeded"


def test_an_init_container_that_fails(api, pods):
    made = api.post(pods, {"metadata": {"name": "p"}, "spec": {
        "restartPolicy": "Never", "initContainers": [{"name": "init", "image": "busybox", "command": ["sh", "-c", "exit 4"]}],
        "containers": [{"name": "main", "image": "busybox", "command": ["true"]}]}}).json
    status = until(api, pods, made, ended)
    assert status["phase"] == "Failed" and status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 4
