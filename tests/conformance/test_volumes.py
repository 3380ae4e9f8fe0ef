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
