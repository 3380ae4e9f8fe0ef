"""What kubelets, leader elections and recorders of events write all the time: every write is seen once, in order."""

import concurrent.futures

WRITERS = 4
LEASES, RENEWALS = 100, 5
EVENTS, REPEATS = 100, 5


def in_turns(api, names, write):
    """Calls write(connection, name) for each name, by several clients at once."""
    def some(first):
        connection = api.connect()
        for name in names[first::WRITERS]:
            write(connection, name)
        connection.close()

    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(some, first) for first in range(WRITERS)]:
            done.result()


def seen(watch, count, what):
    """By name, what the next events of a watch show."""
    found = {}
    for _ in range(count):
        event = watch.next()
        found.setdefault(event["object"]["metadata"]["name"], []).append((event["type"], what(event["object"])))
    watch.close()
    return found


def test_leases_that_are_renewed(api, namespace):
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    names = [f"l{index:03}" for index in range(LEASES)]
    watch = api.watch(f"{leases}?watch=1&resourceVersion={api.get(leases).json['metadata']['resourceVersion']}")

    def renew(connection, name):
        path = f"{leases}/{name}"
        lease = {"metadata": {"name": name}, "spec": {"holderIdentity": name, "leaseDurationSeconds": 15, "leaseTransitions": 0}}
        answer = api.call("POST", leases, lease, connection=connection)
        for turn in range(1, RENEWALS + 1):
            lease = answer.json
            lease["spec"]["renewTime"] = f"2020-01-01T00:00:{turn:02}.000000Z"
            lease["spec"]["leaseTransitions"] = turn
            answer = api.call("PUT", path, lease, connection=connection)
            assert answer.status == 200, answer

    in_turns(api, names, renew)
    shown = seen(watch, LEASES * (RENEWALS + 1), lambda lease: lease["spec"]["leaseTransitions"])
    assert shown == {name: [("ADDED", 0), *(("MODIFIED", turn) for turn in range(1, RENEWALS + 1))] for name in names}
    listed = api.get(leases).json["items"]
    assert {lease["metadata"]["name"]: lease["spec"]["renewTime"] for lease in listed} == dict.fromkeys(
        names, f"2020-01-01T00:00:{RENEWALS:02}.000000Z")
    stale = listed[0] | {"metadata": listed[0]["metadata"] | {"resourceVersion": "1"}}
    assert api.put(f"{leases}/{names[0]}", stale).status == 409


def test_events_that_are_counted(api, namespace):
    """As a recorder of client-go merges equal ones: created once, then patched."""
    events = f"/api/v1/namespaces/{namespace}/events"
    names = [f"pod-{index}.{index:016x}" for index in range(EVENTS)]
    watch = api.watch(f"{events}?watch=1&resourceVersion={api.get(events).json['metadata']['resourceVersion']}")

    def record(connection, name):
        involved = {"kind": "Pod", "namespace": namespace, "name": name.split(".")[0], "uid": name}
        event = {"metadata": {"name": name}, "involvedObject": involved, "type": "Warning", "reason": "BackOff", "message": "again",
                 "source": {"component": "test"}, "count": 1, "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-01-01T00:00:00Z"}
        assert api.call("POST", events, event, connection=connection).status == 201
        for count in range(2, REPEATS + 1):
            answer = api.call("PATCH", f"{events}/{name}", {"count": count, "lastTimestamp": f"2020-01-01T00:00:{count:02}Z"},
                              connection=connection, Content_Type="application/strategic-merge-patch+json")
            assert answer.status == 200, answer

    in_turns(api, names, record)
    shown = seen(watch, EVENTS * REPEATS, lambda event: event["count"])
    assert shown == {name: [("ADDED", 1), *(("MODIFIED", count) for count in range(2, REPEATS + 1))] for name in names}
    about = api.get(f"{events}?fieldSelector=involvedObject.name%3Dpod-7").json["items"]
    assert [(event["metadata"]["name"], event["count"]) for event in about] == [(names[7], REPEATS)]
    # The same events in their other version.
    newer = api.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events/{names[7]}").json
    assert (newer["deprecatedCount"], newer["regarding"]["name"], newer["note"]) == (REPEATS, "pod-7", "again")
