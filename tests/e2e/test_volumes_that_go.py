"""Directories that go with their claims: of a class with the reclaimPolicy Delete, and of ephemeral volumes."""

import json

from conftest import needs_root
from test_up import needs_kubectl, up  # noqa: F401 (a fixture)

pytestmark = [needs_kubectl, needs_root]

CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "scratch"}, "provisioner": "example.com/p"}
REQUEST = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
         "spec": {**REQUEST, "storageClassName": "scratch"}}


def pod(name, source):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "restartPolicy": "Never", "volumes": [{"name": "v", **source}],
        "containers": [{"name": "main", "image": "x", "command": ["sh", "-c", "mkdir /data/deep && ls /data && echo x > /data/deep/file"],
                        "volumeMounts": [{"name": "v", "mountPath": "/data"}]}]}}


def run(up, *objects):  # noqa: F811
    for each in objects:
        up.kubectl("create", "-f", "-", stdin=json.dumps(each))
    name = objects[-1]["metadata"]["name"]
    up.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", f"pod/{name}", "--timeout=30s")
    return up.kubectl("logs", name).stdout


def directories(up):  # noqa: F811
    return sorted(each.name for each in (up.state / "volumes" / "default").iterdir())


def test_a_class_may_delete_what_its_claims_had(up):  # noqa: F811
    up.start()
    run(up, CLASS, CLAIM, pod("p", {"persistentVolumeClaim": {"claimName": "data"}}))
    claim = json.loads(up.kubectl("get", "pvc", "data", "-o", "json").stdout)
    assert directories(up) == ["data." + claim["metadata"]["uid"]]
    up.kubectl("delete", "pod", "p")
    up.kubectl("delete", "pvc", "data", "--timeout=30s")
    up.kubectl("wait", "--for=delete", "pv", "--all", "--timeout=30s")
    assert directories(up) == []
    # A new claim of that name begins empty.
    assert run(up, CLAIM, pod("q", {"persistentVolumeClaim": {"claimName": "data"}})) == "deep\n"


def test_an_ephemeral_volume_goes_with_its_pod(up):  # noqa: F811
    up.start()
    assert run(up, pod("p", {"ephemeral": {"volumeClaimTemplate": {"spec": REQUEST}}})) == "deep\n"
    claim = json.loads(up.kubectl("get", "pvc", "p-v", "-o", "json").stdout)
    assert claim["metadata"]["ownerReferences"][0]["name"] == "p" and claim["spec"]["storageClassName"] == "directory"
    assert directories(up) == ["p-v." + claim["metadata"]["uid"]]
    up.kubectl("delete", "pod", "p")
    up.kubectl("wait", "--for=delete", "pvc/p-v", "pv", "--all", "--timeout=30s", check=False)
    up.kubectl("wait", "--for=delete", "pv", "--all", "--timeout=30s")
    assert directories(up) == []


def test_a_claim_that_is_not_the_pods_own_is_told(up):  # noqa: F811
    up.start()
    up.kubectl("create", "-f", "-", stdin=json.dumps({**CLAIM, "metadata": {"name": "p-v"}}))
    up.kubectl("create", "-f", "-", stdin=json.dumps(pod("p", {"ephemeral": {"volumeClaimTemplate": {"spec": REQUEST}}})))
    up.kubectl("wait", "--for=jsonpath={.status.containerStatuses[0].state.waiting.message}=PVC default/p-v was not created for pod "
               "default/p (pod is not owner)", "pod/p", "--timeout=30s")
