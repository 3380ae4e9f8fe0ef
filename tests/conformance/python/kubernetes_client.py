"""The Python client through the life of some objects: typed, watched, patched, dynamic. Prints ok at its end."""

import sys
import threading

from kubernetes.client.exceptions import ApiException

from kubernetes import client, config, dynamic, watch

NAMESPACE = sys.argv[1]


def typed(core):
    made = core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="a", labels={"x": "1"}), data={"k": "1"}))
    assert made.metadata.uid and made.metadata.creation_timestamp.tzinfo is not None
    changed = core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"k": "2"}})
    assert changed.data == {"k": "2"} and changed.metadata.resource_version != made.metadata.resource_version
    changed.data["l"] = "3"
    assert core.replace_namespaced_config_map("a", NAMESPACE, changed).data == {"k": "2", "l": "3"}
    try:
        core.replace_namespaced_config_map("a", NAMESPACE, client.V1ConfigMap(metadata=made.metadata))
        raise AssertionError("a stale update was taken")
    except ApiException as refused:
        assert refused.status == 409, refused
    listed = core.list_namespaced_config_map(NAMESPACE, label_selector="x=1", limit=1)
    assert [item.metadata.name for item in listed.items] == ["a"]
    ended = core.delete_namespaced_config_map("a", NAMESPACE, propagation_policy="Background")
    assert ended.status == "Success", ended
    try:
        core.read_namespaced_config_map("a", NAMESPACE)
        raise AssertionError("it is still there")
    except ApiException as refused:
        assert refused.status == 404 and refused.reason == "Not Found", refused


def watched(core):
    version = core.list_namespaced_secret(NAMESPACE).metadata.resource_version
    seen, done = [], threading.Event()

    def follow():
        stream = watch.Watch().stream(core.list_namespaced_secret, NAMESPACE, resource_version=version, timeout_seconds=60)
        for event in stream:
            seen.append((event["type"], event["object"].metadata.name, event["object"].type))
            if event["type"] == "DELETED":
                break
        done.set()

    threading.Thread(target=follow, daemon=True).start()
    core.create_namespaced_secret(NAMESPACE, client.V1Secret(
        metadata=client.V1ObjectMeta(name="s"), string_data={"k": "v"}))
    assert core.read_namespaced_secret("s", NAMESPACE).data == {"k": "dg=="}
    core.delete_namespaced_secret("s", NAMESPACE)
    assert done.wait(60), seen
    assert seen == [("ADDED", "s", "Opaque"), ("DELETED", "s", "Opaque")], seen


def unknown_beforehand(api):
    maps = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}, "data": {"k": "1"}}
    maps.create(body=body, namespace=NAMESPACE)
    applied = maps.server_side_apply(body={**body, "data": {"k": "2"}}, name="d", namespace=NAMESPACE,
                                     field_manager="python", force_conflicts=True)
    assert applied.data.k == "2" and maps.get(name="d", namespace=NAMESPACE).data.k == "2"
    maps.delete(name="d", namespace=NAMESPACE)


def main():
    config.load_kube_config()
    core = client.CoreV1Api()
    assert client.VersionApi().get_code().major == "1"
    typed(core)
    watched(core)
    unknown_beforehand(core.api_client)
    print("ok")


main()
