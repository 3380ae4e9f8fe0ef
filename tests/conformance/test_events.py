"""One event in two APIs: v1 and events.k8s.io/v1."""

import pytest

ABOUT = {"kind": "Pod", "name": "p"}
TIME = "2026-01-01T00:00:00.000000Z"


@pytest.fixture
def old(namespace):
    return f"/api/v1/namespaces/{namespace}/events"


@pytest.fixture
def new(namespace):
    return f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"


def old_event(namespace, name="old"):
    return {"metadata": {"name": name}, "involvedObject": {**ABOUT, "namespace": namespace}, "reason": "R",
            "message": "m", "type": "Normal", "source": {"component": "c", "host": "h"}, "count": 3,
            "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:05Z"}


def new_event(namespace, name="new"):
    return {"metadata": {"name": name}, "regarding": {**ABOUT, "namespace": namespace}, "reason": "R", "note": "m",
            "type": "Normal", "action": "Act", "eventTime": TIME, "reportingController": "c.io/x",
            "reportingInstance": "i", "series": {"count": 2, "lastObservedTime": TIME}}


def without_metadata(answer):
    return {key: value for key, value in answer.json.items() if key != "metadata"}


def test_an_event_of_either_api_is_shown_by_both(api, namespace, old, new):
    about = {**ABOUT, "namespace": namespace}
    assert api.post(old, old_event(namespace)).status == 201
    assert api.post(new, new_event(namespace)).status == 201
    assert without_metadata(api.get(new + "/old")) == {
        "kind": "Event", "apiVersion": "events.k8s.io/v1", "eventTime": None, "reason": "R", "regarding": about,
        "note": "m", "type": "Normal", "deprecatedSource": {"component": "c", "host": "h"},
        "deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedLastTimestamp": "2026-01-01T00:00:05Z",
        "deprecatedCount": 3}
    assert without_metadata(api.get(old + "/old")) == {
        "kind": "Event", "apiVersion": "v1", "involvedObject": about, "reason": "R", "message": "m",
        "source": {"component": "c", "host": "h"}, "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:05Z", "count": 3, "type": "Normal", "eventTime": None,
        "reportingComponent": "", "reportingInstance": ""}
    assert without_metadata(api.get(new + "/new")) == {
        "kind": "Event", "apiVersion": "events.k8s.io/v1", "eventTime": TIME,
        "series": {"count": 2, "lastObservedTime": TIME}, "reportingController": "c.io/x", "reportingInstance": "i",
        "action": "Act", "reason": "R", "regarding": about, "note": "m", "type": "Normal", "deprecatedSource": {},
        "deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None}
    assert without_metadata(api.get(old + "/new")) == {
        "kind": "Event", "apiVersion": "v1", "involvedObject": about, "reason": "R", "message": "m", "source": {},
        "firstTimestamp": None, "lastTimestamp": None, "type": "Normal", "eventTime": TIME,
        "series": {"count": 2, "lastObservedTime": TIME}, "action": "Act", "reportingComponent": "c.io/x",
        "reportingInstance": "i"}
    for name in ("old", "new"):
        assert api.get(f"{new}/{name}").json["metadata"] == api.get(f"{old}/{name}").json["metadata"]


def test_whose_fields_they_are_is_said_in_the_version_that_wrote(api, namespace, old, new):
    api.post(old + "?fieldManager=o", old_event(namespace))
    api.post(new + "?fieldManager=n", new_event(namespace))

    def fields(name):
        return [set(entry["fieldsV1"]) for entry in api.get(f"{new}/{name}").json["metadata"]["managedFields"]]

    assert fields("old") == [{"f:count", "f:firstTimestamp", "f:involvedObject", "f:lastTimestamp", "f:message",
                              "f:reason", "f:source", "f:type"}]
    assert fields("new") == [{"f:action", "f:eventTime", "f:note", "f:reason", "f:regarding",
                              "f:reportingController", "f:reportingInstance", "f:series", "f:type"}]


def test_a_watch_of_either_api_sees_what_the_other_wrote(api, namespace, old, new):
    version = api.get(new).json["metadata"]["resourceVersion"]
    watches = [api.watch(f"{path}?watch=1&resourceVersion={version}") for path in (old, new)]
    api.post(old, old_event(namespace))
    api.post(new, new_event(namespace))
    for watch, text in zip(watches, ("message", "note")):
        for name in ("old", "new"):
            event = watch.next()
            assert event["type"] == "ADDED" and event["object"]["metadata"]["name"] == name
            assert event["object"][text] == "m"
        watch.close()
    found = api.get(f"{new}?fieldSelector=regarding.name%3Dp,type%3DNormal").json
    assert found["kind"] == "EventList" and len(found["items"]) == 2
    assert not api.get(f"{new}?fieldSelector=regarding.name%3Dq").json["items"]
    found = api.get(f"{old}?fieldSelector=source%3Dc").json["items"]
    assert [event["metadata"]["name"] for event in found] == ["old"]


@pytest.mark.parametrize("change, fields", [
    ({"eventTime": None, "series": None, "deprecatedCount": 3, "type": ""}, ["eventTime", "type", "count"]),
    ({"action": "", "reportingInstance": ""}, ["reportingInstance", "action"]),
    ({"deprecatedFirstTimestamp": "2026-01-01T00:00:00Z", "deprecatedSource": {"host": "h"}},
     ["firstTimestamp", "source"]),
    ({"series": {"count": 1}}, ["series.count", "series.lastObservedTime"])])
def test_the_newer_api_refuses_what_belongs_to_older_events(api, namespace, new, change, fields):
    refused = api.post(new, {**new_event(namespace), **change})
    assert refused.status == 422, refused
    assert [cause["field"] for cause in refused.json["details"]["causes"]] == fields


def test_only_the_series_of_a_newer_event_goes_on(api, namespace, old, new):
    api.post(new, new_event(namespace))
    refused = api.patch(new + "/new", {"note": "other"})
    assert refused.status == 422
    assert 'message: Invalid value: "other": field is immutable' in refused.json["message"]
    assert api.patch(new + "/new", {"series": {"count": 5}}).status == 200
    assert api.get(old + "/new").json["series"]["count"] == 5
    assert api.patch(old + "/new", {"message": "other"}).status == 200
    assert api.get(new + "/new").json["note"] == "other"
    assert api.delete(new + "/new").status == 200 and api.get(old + "/new").status == 404
