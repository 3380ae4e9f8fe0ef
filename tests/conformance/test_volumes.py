"""Claims and the volumes that somebody made for them: which they get, and what becomes of both."""

import uuid

import pytest

VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


@pytest.fixture
def claims(namespace):
    return f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"


@pytest.fixture
def volumes(api, furniture):
    """A class of this test alone, of which no volumes are made but by the test."""
    if not furniture:
        pytest.skip("this server has no controllers")
    made = Volumes(api, "conformance-" + uuid.uuid4().hex[:10])
    created = api.post(CLASSES, {"metadata": {"name": made.class_name}, "provisioner": "kubernetes.io/no-provisioner"})
    assert created.status == 201, created
    yield made
    for name in made.names:
        api.delete(f"{VOLUMES}/{name}")
    api.delete(f"{CLASSES}/{made.class_name}")


class Volumes:
    def __init__(self, api, class_name):
        self.api = api
        self.class_name = class_name
        self.names = []

    def make(self, size, modes=("ReadWriteOnce",), **spec):
        name = f"{self.class_name}-{len(self.names)}"
        made = self.api.post(VOLUMES, {"metadata": {"name": name, "labels": spec.pop("labels", {})}, "spec": {
            "capacity": {"storage": size}, "accessModes": list(modes), "storageClassName": self.class_name,
            "hostPath": {"path": "/var/tmp"}, **spec}})
        assert made.status == 201, made
        self.names.append(name)
        # A claim may wait for it.
        self.when(name, "Available", "Bound")
        return name

    def when(self, name, *phases):
        """The volume as soon as it has one of the phases."""
        return when(self.api, VOLUMES, name, *phases)


def when(api, collection, name, *phases):
    watch = api.watch(f"{collection}?watch=1&fieldSelector=metadata.name%3D{name}")
    try:
        seen = watch.until(lambda event: event["object"].get("status", {}).get("phase") in phases)
        return seen[-1]["object"]
    finally:
        watch.close()


def make_claim(api, claims, class_name, size="1Gi", modes=("ReadWriteOnce",), name="c", **spec):
    made = api.post(claims, {"metadata": {"name": name}, "spec": {
        "accessModes": list(modes), "storageClassName": class_name,
        "resources": {"requests": {"storage": size}}, **spec}})
    assert made.status == 201, made
    return made.json


def test_a_claim_gets_the_smallest_volume_with_the_fewest_modes(api, volumes, claims):
    volumes.make("500Mi")
    volumes.make("9Gi", modes=("ReadWriteOnce", "ReadOnlyMany"))
    fits = volumes.make("2Gi", modes=("ReadWriteOnce", "ReadOnlyMany"))
    volumes.make("1Gi", modes=("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"))
    volumes.make("1Gi", modes=("ReadOnlyMany",))
    claim = make_claim(api, claims, volumes.class_name)
    bound = when(api, claims, "c", "Bound")
    assert bound["spec"]["volumeName"] == fits
    assert bound["status"]["capacity"] == {"storage": "2Gi"}
    assert bound["status"]["accessModes"] == ["ReadWriteOnce", "ReadOnlyMany"]
    assert bound["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] == "yes"
    assert bound["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes"
    volume = volumes.when(fits, "Bound")
    reference = volume["spec"]["claimRef"]
    assert {key: reference[key] for key in ("kind", "name", "uid")} == {
        "kind": "PersistentVolumeClaim", "name": "c", "uid": claim["metadata"]["uid"]}


def test_a_claim_waits_for_its_volume(api, volumes, claims):
    make_claim(api, claims, volumes.class_name, selector={"matchLabels": {"disk": "fast"}})
    volumes.make("5Gi")
    fast = volumes.make("5Gi", labels={"disk": "fast"})
    assert when(api, claims, "c", "Bound")["spec"]["volumeName"] == fast


def test_a_volume_may_be_kept_for_a_claim(api, volumes, claims, namespace):
    kept = volumes.make("9Gi", claimRef={"namespace": namespace, "name": "c"})
    volumes.make("1Gi")
    make_claim(api, claims, volumes.class_name)
    assert when(api, claims, "c", "Bound")["spec"]["volumeName"] == kept


def test_a_volume_is_released_and_not_given_again(api, volumes, claims):
    name = volumes.make("1Gi")
    make_claim(api, claims, volumes.class_name)
    when(api, claims, "c", "Bound")
    assert api.delete(f"{claims}/c").status == 200
    volumes.when(name, "Released")
    make_claim(api, claims, volumes.class_name, name="d")
    other = volumes.make("1Gi")
    assert when(api, claims, "d", "Bound")["spec"]["volumeName"] == other


def test_a_claim_loses_its_volume(api, volumes, claims):
    name = volumes.make("1Gi")
    make_claim(api, claims, volumes.class_name)
    when(api, claims, "c", "Bound")
    api.patch(f"{VOLUMES}/{name}", {"metadata": {"finalizers": None}})
    assert api.delete(f"{VOLUMES}/{name}").status == 200
    api.patch(f"{VOLUMES}/{name}", {"metadata": {"finalizers": None}})
    when(api, claims, "c", "Lost")


def test_a_bound_claim_stays_as_it_is(api, volumes, claims):
    volumes.make("1Gi")
    make_claim(api, claims, volumes.class_name)
    when(api, claims, "c", "Bound")
    for change in ({"volumeName": "other"}, {"accessModes": ["ReadOnlyMany"]}, {"storageClassName": "other"}):
        refused = api.patch(f"{claims}/c", {"spec": change})
        assert refused.status == 422, refused
        assert ("spec: Forbidden: spec is immutable after creation except resources.requests and "
                "volumeAttributesClassName for bound claims") in refused.json["message"]


def use(api, claims, pod, claim="c", node="none"):
    """A pod with a node, which doesn't exist."""
    pods = claims.replace("persistentvolumeclaims", "pods")
    made = api.post(pods, {"metadata": {"name": pod}, "spec": {
        "nodeName": node, "containers": [{"name": "main", "image": "busybox"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}})
    assert made.status == 201, made
    return f"{pods}/{pod}"


def test_a_claim_is_deleted_with_the_last_pod_that_uses_it(api, volumes, claims):
    made = make_claim(api, claims, volumes.class_name)
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    users = [use(api, claims, name) for name in ("p", "q")]
    deleted = api.delete(f"{claims}/c")
    assert deleted.status == 200 and "deletionTimestamp" in deleted.json["metadata"]
    for user in users:
        held = api.get(f"{claims}/c")
        assert held.status == 200 and held.json["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
        assert api.delete(user, {"gracePeriodSeconds": 0}).status == 200
    api.gone(claims, "c")


def test_a_claim_that_no_pod_with_a_node_uses_is_deleted(api, volumes, claims):
    make_claim(api, claims, volumes.class_name)
    pods = claims.replace("persistentvolumeclaims", "pods")
    made = api.post(pods, {"metadata": {"name": "gated"}, "spec": {
        "schedulingGates": [{"name": "a.b/c"}], "containers": [{"name": "main", "image": "busybox"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}})
    assert made.status == 201, made
    assert api.delete(f"{claims}/c").status == 200
    api.gone(claims, "c")
    api.delete(f"{pods}/gated", {"gracePeriodSeconds": 0})


def test_a_volume_is_deleted_when_its_claim_is_gone(api, volumes, claims):
    name = volumes.make("1Gi")
    assert api.get(f"{VOLUMES}/{name}").json["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    make_claim(api, claims, volumes.class_name)
    when(api, claims, "c", "Bound")
    deleted = api.delete(f"{VOLUMES}/{name}")
    assert deleted.status == 200 and "deletionTimestamp" in deleted.json["metadata"]
    assert api.get(f"{VOLUMES}/{name}").json["status"]["phase"] == "Bound"
    assert api.delete(f"{claims}/c").status == 200
    api.gone(VOLUMES, name)


def test_a_finalizer_that_was_removed_comes_back(api, volumes, claims):
    make_claim(api, claims, volumes.class_name)
    version = api.patch(f"{claims}/c", {"metadata": {"finalizers": None}}).json["metadata"]["resourceVersion"]
    watch = api.watch(f"{claims}?watch=1&fieldSelector=metadata.name%3Dc&resourceVersion={version}")
    watch.until(lambda event: event["object"]["metadata"].get("finalizers") == ["kubernetes.io/pvc-protection"])
    watch.close()


def test_a_claim_gets_the_default_class_when_it_is_made(api, volumes, claims):
    name = volumes.class_name + "-default"
    made = api.post(CLASSES, {"provisioner": "kubernetes.io/no-provisioner", "metadata": {
        "name": name, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}})
    assert made.status == 201, made
    claim = {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    try:
        # kube-apiserver learns of the class by a watch of its own.
        for _ in range(1000):
            if api.post(claims + "?dryRun=All", claim).json["spec"].get("storageClassName") == name:
                break
        assert api.post(claims, claim).json["spec"]["storageClassName"] == name
        for other in ("", "another"):
            claim["metadata"]["name"] = "other" + other
            claim["spec"]["storageClassName"] = other
            assert api.post(claims, claim).json["spec"]["storageClassName"] == other
        del claim["spec"]["storageClassName"]
        claim["metadata"] = {"name": "old", "annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}
        assert "storageClassName" not in api.post(claims, claim).json["spec"]
    finally:
        api.delete(f"{CLASSES}/{name}")


def with_own_volume(api, claims, pod, class_name):
    template = {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
                "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class_name, "resources": {"requests": {"storage": "1Gi"}}}}
    made = api.post(claims.replace("persistentvolumeclaims", "pods"), {"metadata": {"name": pod}, "spec": {
        "nodeName": "none", "containers": [{"name": "main", "image": "busybox"}],
        "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": template}}]}})
    assert made.status == 201, made
    return made.json


def test_an_ephemeral_volume_is_a_claim_of_its_pod(api, volumes, claims):
    name = volumes.make("1Gi")
    pod = with_own_volume(api, claims, "p", volumes.class_name)
    claim = when(api, claims, "p-v", "Bound")
    assert claim["spec"]["volumeName"] == name
    assert claim["metadata"]["labels"] == {"a": "b"} and claim["metadata"]["annotations"]["c"] == "d"
    assert claim["metadata"]["ownerReferences"] == [{
        "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]
    assert "deletionTimestamp" in api.delete(f"{claims}/p-v").json["metadata"], "it is in use"
    assert api.delete(claims.replace("persistentvolumeclaims", "pods") + "/p", {"gracePeriodSeconds": 0}).status == 200
    api.gone(claims, "p-v")
    volumes.when(name, "Released")


def test_a_claim_of_that_name_stays_as_it_is(api, volumes, claims):
    mine = make_claim(api, claims, volumes.class_name, name="p-v")
    with_own_volume(api, claims, "p", volumes.class_name)
    with_own_volume(api, claims, "q", volumes.class_name)
    api.there(claims, "q-v")
    assert api.get(f"{claims}/p-v").json["metadata"]["uid"] == mine["metadata"]["uid"]
    assert "ownerReferences" not in api.get(f"{claims}/p-v").json["metadata"]
    for name in "pq":
        api.delete(claims.replace("persistentvolumeclaims", "pods") + f"/{name}", {"gracePeriodSeconds": 0})
