"""Lists, pages, selectors, watches."""

import pytest


@pytest.fixture
def ten(api, maps):
    for number in range(10):
        api.post(maps, {"metadata": {"name": f"m{number}", "labels": {"parity": "odd" if number % 2 else "even"}}})
    return maps + "?labelSelector=parity"


def names(listed):
    return [item["metadata"]["name"] for item in listed["items"]]


def test_pages_show_one_revision(api, ten):
    first = api.get(ten + "&limit=4").json
    assert names(first) == ["m0", "m1", "m2", "m3"] and first["metadata"]["continue"]
    api.delete(ten.split("?")[0] + "/m5")
    second = api.get(f"{ten}&limit=4&continue={first['metadata']['continue']}").json
    assert names(second) == ["m4", "m5", "m6", "m7"], "m5 was there at the first page's revision"
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    third = api.get(f"{ten}&limit=4&continue={second['metadata']['continue']}").json
    assert names(third) == ["m8", "m9"] and not third["metadata"].get("continue")
    assert api.get(ten + "&continue=nonsense").status == 400


@pytest.mark.parametrize("query,found", [
    ("labelSelector=parity%3Dodd", 5), ("labelSelector=parity%21%3Dodd,parity", 5),
    ("labelSelector=parity+in+%28odd,even%29", 10), ("labelSelector=parity,%21other", 10),
    ("fieldSelector=metadata.name%3Dm3", 1), ("labelSelector=parity&fieldSelector=metadata.name%21%3Dm3", 9)])
def test_selectors(api, ten, query, found):
    assert len(api.get(f"{ten.split('?')[0]}?{query}").json["items"]) == found


@pytest.mark.parametrize("query,status", [
    ("labelSelector=%3D", 400), ("fieldSelector=data.x%3D1", 400), ("resourceVersion=x", 400),
    ("resourceVersionMatch=Exact", 422), ("resourceVersion=0&resourceVersionMatch=Exact", 422)])
def test_what_a_list_can_not_mean(api, maps, query, status):
    assert api.get(f"{maps}?{query}").status == status


def test_a_watch_goes_on_where_a_list_ended(api, maps):
    version = api.get(maps).json["metadata"]["resourceVersion"]
    api.post(maps, {"metadata": {"name": "a", "labels": {"x": "1"}}})
    api.patch(maps + "/a", {"metadata": {"labels": {"x": "2"}}})
    api.delete(maps + "/a")
    for selector, types in (("", ["ADDED", "MODIFIED", "DELETED"]), ("&labelSelector=x%3D1", ["ADDED", "DELETED"]),
                            ("&labelSelector=x%3D2", ["ADDED", "DELETED"])):
        watch = api.watch(f"{maps}?watch=true&resourceVersion={version}{selector}")
        seen = [watch.next() for _ in types]
        assert [event["type"] for event in seen] == types
        assert all(event["object"]["kind"] == "ConfigMap" for event in seen)
        revisions = [int(event["object"]["metadata"]["resourceVersion"]) for event in seen]
        assert revisions == sorted(revisions) and revisions[0] > int(version)
        watch.close()


def test_a_watch_list_says_when_the_beginning_is_over(api, ten):
    query = f"{ten}&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    if api.get(query + "&timeoutSeconds=1").status == 422:
        pytest.skip("this server has it switched off, and says so: its clients list and then watch")
    watch = api.watch(query)
    seen = watch.until(lambda event: event["type"] == "BOOKMARK")
    assert len(seen) == 11 and {event["type"] for event in seen[:-1]} == {"ADDED"}
    assert seen[-1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"
    watch.close()
    refused = api.get(f"{ten}&watch=1&sendInitialEvents=true")
    assert refused.status == 422 and refused.json["details"]["kind"] == "ListOptions"


def test_a_watch_ends_cleanly_at_its_time(api, maps):
    watch = api.watch(f"{maps}?watch=1&resourceVersion={api.get(maps).json['metadata']['resourceVersion']}&timeoutSeconds=1")
    assert watch.next() is None


def test_a_revision_of_long_ago_is_gone(api, maps):
    api.post(maps, {"metadata": {"name": "a"}})
    watch = api.watch(f"{maps}?watch=1&resourceVersion=1")
    event = watch.next()
    # A young server still knows it all; then it is the first change that is seen.
    assert event["type"] in ("ERROR", "ADDED"), event
    if event["type"] == "ERROR":
        assert event["object"]["code"] == 410 and event["object"]["reason"] == "Expired"
    watch.close()


def test_a_revision_of_the_future_is_waited_for_and_then_refused(api, maps):
    answer = api.get(f"{maps}?resourceVersion=99999999999")
    assert answer.status == 504 and answer.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert answer.headers["Retry-After"] == "1"


def test_tables_and_metadata(api, ten):
    table = api.get(ten, Accept="application/json;as=Table;v=v1;g=meta.k8s.io").json
    assert table["kind"] == "Table" and len(table["rows"]) == 10
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert table["rows"][0]["cells"][0] == "m0"
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    listed = api.get(ten, Accept="application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io").json
    assert listed["kind"] == "PartialObjectMetadataList" and len(listed["items"]) == 10


def test_discovery_names_what_is_served(api):
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    answer = api.get("/api", Accept=aggregated)
    assert "APIGroupDiscoveryList" in answer.headers["Content-Type"]
    resources = {resource["resource"]: resource for resource in answer.json["items"][0]["versions"][0]["resources"]}
    assert resources["pods"]["shortNames"] == ["po"] and "watch" in resources["pods"]["verbs"]
    assert "pods" in {resource["name"] for resource in api.get("/api/v1").json["resources"]}
    assert "apiextensions.k8s.io" in {group["name"] for group in api.get("/apis").json["groups"]}
    assert api.get("/version").json["major"] == "1"
    assert api.get("/apis/none.example.org/v1").status == 404


def test_openapi_v2_describes_the_kinds(api):
    answer = api.get("/openapi/v2")
    document = answer.json
    assert document["swagger"] == "2.0" and answer.headers["ETag"]
    definitions = document["definitions"]
    pod = definitions["io.k8s.api.core.v1.Pod"]
    assert {"group": "", "version": "v1", "kind": "Pod"} in pod["x-kubernetes-group-version-kind"]
    assert pod["properties"]["spec"]["$ref"] == "#/definitions/io.k8s.api.core.v1.PodSpec"
    assert definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["format"] == "int-or-string"
    spec = definitions["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert spec["x-kubernetes-patch-merge-key"] == "name" and spec["items"]["$ref"].endswith(".Container")
    patch = document["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert "application/apply-patch+yaml" in patch["consumes"]
    for kind in ("application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
                 "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"):
        connection = api.connect()
        connection.request("GET", "/openapi/v2", None, {**api.headers, "Accept": kind})
        answer = connection.getresponse()
        assert answer.status == 200 and "protobuf" in answer.headers["Content-Type"]
        assert b"io.k8s.api.core.v1.Pod" in answer.read()
        connection.close()
