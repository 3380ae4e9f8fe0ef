"""Endpoints and EndpointSlices of services: they follow the pods that a service selects."""

import uuid

import pytest

NODES = "/api/v1/nodes"


@pytest.fixture
def pods(namespace):
    return f"/api/v1/namespaces/{namespace}/pods"


@pytest.fixture
def services(namespace):
    return f"/api/v1/namespaces/{namespace}/services"


@pytest.fixture
def endpoints(namespace):
    return f"/api/v1/namespaces/{namespace}/endpoints"


@pytest.fixture
def slices(namespace):
    return f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"


@pytest.fixture
def node(api):
    """One that nobody looks after, so that the status of its pods is ours."""
    name = "conformance-" + uuid.uuid4().hex[:10]
    assert api.post(NODES, {"metadata": {"name": name}}).status == 201
    yield name
    api.delete(f"{NODES}/{name}")


def make_pod(api, pods, node, name, ip, ready=True, port=8080, **spec):
    ports = [{"name": "web", "containerPort": port}]
    made = api.post(pods, {"metadata": {"name": name, "labels": {"app": "a"}},
                           "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i", "ports": ports}], **spec}})
    assert made.status == 201, made
    set_status(api, pods, name, ready, ip)


def set_status(api, pods, name, ready, ip, phase="Running"):
    status = {"phase": phase, "podIP": ip, "podIPs": [{"ip": ip}],
              "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    assert api.patch(f"{pods}/{name}/status", {"status": status}).status == 200


def make_service(api, services, name="s", **spec):
    made = api.post(services, {"metadata": {"name": name, "labels": {"of": "mine"}},
                               "spec": {"selector": {"app": "a"}, "ports": [{"port": 80, "targetPort": "web"}], **spec}})
    assert made.status == 201, made
    return made.json


def when(api, collection, selector, wanted):
    """The objects of a selection once `wanted` of all of them."""
    listed = api.get(f"{collection}?{selector}").json
    found = {item["metadata"]["name"]: item for item in listed["items"]}
    if wanted(list(found.values())):
        return list(found.values())
    watch = api.watch(f"{collection}?{selector}&watch=1&resourceVersion={listed['metadata']['resourceVersion']}")
    while not wanted(list(found.values())):
        event = watch.next()
        name = event["object"]["metadata"]["name"]
        if event["type"] == "DELETED":
            del found[name]
        else:
            found[name] = event["object"]
    watch.close()
    return list(found.values())


def addresses(subsets, key="addresses"):
    return sorted({address["ip"] for subset in subsets for address in subset.get(key) or ()})


def endpoints_when(api, endpoints, ready, not_ready=(), name="s"):
    def wanted(found):
        return len(found) == 1 and addresses(found[0].get("subsets") or ()) == sorted(ready) and addresses(
            found[0].get("subsets") or (), "notReadyAddresses") == sorted(not_ready)

    return when(api, endpoints, f"fieldSelector=metadata.name%3D{name}", wanted)[0]


def in_slices(found):
    return {address: (endpoint["conditions"]["ready"], endpoint["conditions"]["serving"], endpoint["conditions"]["terminating"])
            for one in found for endpoint in one.get("endpoints") or () for address in endpoint["addresses"]}


def slices_when(api, slices, conditions, name="s"):
    return when(api, slices, f"labelSelector=kubernetes.io/service-name%3D{name}",
                lambda found: found and in_slices(found) == conditions)


UP, DOWN, ENDING = (True, True, False), (False, False, False), (False, True, True)


def test_endpoints_follow_the_pods(api, node, pods, services, endpoints, slices):
    make_pod(api, pods, node, "x", "10.1.0.1")
    make_pod(api, pods, node, "y", "10.1.0.2", ready=False)
    service = make_service(api, services)
    found = endpoints_when(api, endpoints, ["10.1.0.1"], ["10.1.0.2"])
    assert found["metadata"]["labels"] == {"of": "mine", "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    assert "ownerReferences" not in found["metadata"]
    subset, = found["subsets"]
    assert subset["ports"] == [{"port": 8080, "protocol": "TCP"}]
    uid = api.get(f"{pods}/x").json["metadata"]["uid"]
    namespace = service["metadata"]["namespace"]
    reference = {"kind": "Pod", "namespace": namespace, "name": "x", "uid": uid}
    assert subset["addresses"] == [{"ip": "10.1.0.1", "nodeName": node, "targetRef": reference}]

    one, = slices_when(api, slices, {"10.1.0.1": UP, "10.1.0.2": DOWN})
    assert one["metadata"]["generateName"] == "s-" and one["addressType"] == "IPv4"
    assert one["metadata"]["labels"] == {
        "of": "mine", "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}
    assert one["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Service", "name": "s", "uid": service["metadata"]["uid"], "controller": True,
         "blockOwnerDeletion": True}]
    assert one["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]
    assert next(each for each in one["endpoints"] if each["addresses"] == ["10.1.0.1"]) == {
        "addresses": ["10.1.0.1"], "conditions": {"ready": True, "serving": True, "terminating": False},
        "targetRef": reference, "nodeName": node}

    set_status(api, pods, "y", True, "10.1.0.2")
    endpoints_when(api, endpoints, ["10.1.0.1", "10.1.0.2"])
    assert slices_when(api, slices, {"10.1.0.1": UP, "10.1.0.2": UP})[0]["metadata"]["name"] == one["metadata"]["name"]
    # A pod that is being deleted serves as long as it can, for those who ask.
    assert api.delete(f"{pods}/x").status == 200
    endpoints_when(api, endpoints, ["10.1.0.2"])
    slices_when(api, slices, {"10.1.0.1": ENDING, "10.1.0.2": UP})
    # Other labels, another end.
    assert api.patch(f"{pods}/y", {"metadata": {"labels": {"app": "b"}}}).status == 200
    endpoints_when(api, endpoints, [])
    assert api.delete(f"{pods}/x", {"gracePeriodSeconds": 0}).status == 200
    assert len(slices_when(api, slices, {})) == 1
    assert api.delete(f"{services}/s").status == 200
    api.gone(endpoints, "s")
    when(api, slices, "labelSelector=kubernetes.io/service-name%3Ds", lambda found: not found)


def test_ports_by_name_differ_by_pod(api, node, pods, services, endpoints, slices):
    make_pod(api, pods, node, "x", "10.1.0.1", port=1000)
    make_pod(api, pods, node, "y", "10.1.0.2", port=2000)
    make_service(api, services, ports=[{"name": "a", "port": 80, "targetPort": "web"}, {"name": "b", "port": 81},
                                       {"name": "c", "port": 82, "targetPort": "none"}])
    found = endpoints_when(api, endpoints, ["10.1.0.1", "10.1.0.2"])
    # What has the same addresses is together.
    by_port = {(port["name"], port["port"]): [address["ip"] for address in subset["addresses"]]
               for subset in found["subsets"] for port in subset["ports"]}
    assert len(found["subsets"]) == 3
    assert by_port == {("a", 1000): ["10.1.0.1"], ("a", 2000): ["10.1.0.2"], ("b", 81): ["10.1.0.1", "10.1.0.2"]}
    found = slices_when(api, slices, {"10.1.0.1": UP, "10.1.0.2": UP})
    assert {one["endpoints"][0]["addresses"][0]: {(port["name"], port["port"]) for port in one["ports"]}
            for one in found} == {"10.1.0.1": {("a", 1000), ("b", 81)}, "10.1.0.2": {("a", 2000), ("b", 81)}}


def test_a_headless_service_that_publishes_all(api, node, pods, services, endpoints, slices):
    make_pod(api, pods, node, "x", "10.1.0.1", ready=False, hostname="first", subdomain="s")
    make_service(api, services, clusterIP="None", publishNotReadyAddresses=True, ports=[])
    found = endpoints_when(api, endpoints, ["10.1.0.1"])
    subset, = found["subsets"]
    assert subset["addresses"][0]["hostname"] == "first" and not subset.get("ports")
    assert found["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    one, = slices_when(api, slices, {"10.1.0.1": (True, False, False)})
    assert one["endpoints"][0]["hostname"] == "first" and not one.get("ports")
    assert one["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


def test_a_service_without_pods_and_one_without_a_selector(api, services, endpoints, slices):
    make_service(api, services, name="none", selector=None)
    make_service(api, services, name="away", type="ExternalName", externalName="example.org", ports=[])
    make_service(api, services)
    found = endpoints_when(api, endpoints, [])
    assert not found.get("subsets")
    one, = slices_when(api, slices, {})
    assert not one.get("endpoints") and not one.get("ports")
    for name in ("none", "away"):
        assert api.get(f"{endpoints}/{name}").status == 404
    # A change of the service is one of them.
    assert api.patch(f"{services}/s", {"metadata": {"labels": {"of": "yours"}}}).status == 200
    when(api, endpoints, "labelSelector=of%3Dyours", lambda found: len(found) == 1)
    when(api, slices, "labelSelector=of%3Dyours", lambda found: len(found) == 1)


def test_many_pods_fill_slices(api, node, pods, services, slices):
    make_service(api, services)
    wanted = {}
    for i in range(105):
        make_pod(api, pods, node, f"p{i}", f"10.1.1.{i}")
        wanted[f"10.1.1.{i}"] = UP
    found = slices_when(api, slices, wanted)
    # How a real server divides them depends on when it saw which.
    assert len(found) > 1 and all(len(one["endpoints"]) <= 100 for one in found)


def test_an_address_that_is_not_of_the_range_is_refused(api, services):
    made = api.post(services, {"metadata": {"name": "elsewhere"}, "spec": {"clusterIP": "203.0.113.7", "ports": [{"port": 80}]}})
    assert (made.status, made.json["message"]) == (422, 'Service "elsewhere" is invalid: spec.clusterIPs: Invalid value: []string{"203.0.113.7"}: '
                                                        "failed to allocate IP 203.0.113.7: the provided network does not match the current range")
