"""What the tests of workloads have in common: pods of no node, whose statuses are ours, and waiting for a state."""

import urllib.parse


def template(labels=None, **spec):
    """Of pods that are bound to a machine that is not there, so that their statuses are ours and a deletion is immediate."""
    return {"metadata": {"labels": labels or {}},
            "spec": {"nodeName": "nobody", "restartPolicy": "Never", "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "i"}], **spec}}


def when(api, collection, name, wanted):
    """The object once `wanted(object)`."""
    only = f"fieldSelector=metadata.name%3D{name}"
    listed = api.get(f"{collection}?{only}").json
    for item in listed["items"]:
        if wanted(item):
            return item
    watch = api.watch(f"{collection}?watch=1&{only}&resourceVersion={listed['metadata']['resourceVersion']}")
    seen = watch.until(lambda event: event["type"] != "DELETED" and wanted(event["object"]))
    watch.close()
    return seen[-1]["object"]


def objects_when(api, collection, selector, wanted):
    """Those with these labels, by name, once `wanted(list)`."""
    chosen = f"labelSelector={urllib.parse.quote(selector)}"
    listed = api.get(f"{collection}?{chosen}").json
    found = {item["metadata"]["name"]: item for item in listed["items"]}
    if not wanted(list(found.values())):
        watch = api.watch(f"{collection}?watch=1&{chosen}&resourceVersion={listed['metadata']['resourceVersion']}")
        while not wanted(list(found.values())):
            event = watch.next()
            assert event is not None, found
            changed = event["object"]
            if event["type"] == "DELETED":
                found.pop(changed["metadata"]["name"], None)
            else:
                found[changed["metadata"]["name"]] = changed
        watch.close()
    return sorted(found.values(), key=lambda item: item["metadata"]["name"])


def end_pod(api, pod, phase, exit_code=None, at=None):
    """The node says that the pod has ended."""
    metadata = pod["metadata"]
    status = {"phase": phase}
    if exit_code is not None:
        ended = {"exitCode": exit_code, "finishedAt": at or metadata["creationTimestamp"]}
        status["containerStatuses"] = [{"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 0,
                                        "state": {"terminated": ended}}]
    answer = api.patch(f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status", {"status": status})
    assert answer.status == 200, answer


def set_ready(api, pod, ready=True):
    metadata = pod["metadata"]
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": metadata["creationTimestamp"]}
    answer = api.patch(f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status",
                       {"status": {"phase": "Running", "conditions": [condition]}})
    assert answer.status == 200, answer


def events_about(api, namespace, name, reason):
    """Their messages, once there is one."""
    collection = f"/api/v1/namespaces/{namespace}/events"
    only = f"fieldSelector={urllib.parse.quote(f'involvedObject.name={name},reason={reason}')}"
    listed = api.get(f"{collection}?{only}").json
    if not listed["items"]:
        watch = api.watch(f"{collection}?watch=1&{only}&resourceVersion={listed['metadata']['resourceVersion']}")
        event = watch.next()
        watch.close()
        return [event["object"]["message"]]
    return [item["message"] for item in listed["items"]]
