"""Server-side apply: who owns what."""


def apply(api, path, body, manager, force=False):
    return api.patch(f"{path}?fieldManager={manager}&force={'true' if force else 'false'}", body, "apply")


def config(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def owned(answer, manager):
    return next(entry["fieldsV1"] for entry in answer.json["metadata"]["managedFields"] if entry["manager"] == manager)


def test_two_managers_share_conflict_and_force(api, maps):
    made = apply(api, maps + "/a", config("a", x="1"), "one")
    assert made.status == 201 and owned(made, "one")["f:data"]["f:x"] == {}
    again = apply(api, maps + "/a", config("a", x="1"), "one")
    assert again.status == 200
    assert again.json["metadata"]["resourceVersion"] == made.json["metadata"]["resourceVersion"]
    shared = apply(api, maps + "/a", config("a", x="1", y="2"), "two")
    assert shared.status == 200 and "f:x" in owned(shared, "one")["f:data"] and "f:x" in owned(shared, "two")["f:data"]
    refused = apply(api, maps + "/a", config("a", x="3"), "two")
    assert refused.status == 409
    assert refused.json["message"].startswith('Apply failed with 1 conflict: conflict with "one"')
    assert refused.json["details"]["causes"][0]["reason"] == "FieldManagerConflict"
    assert refused.json["details"]["causes"][0]["field"] == ".data.x"
    forced = apply(api, maps + "/a", config("a", x="3", y="2"), "two", force=True)
    assert forced.status == 200 and forced.json["data"] == {"x": "3", "y": "2"}
    assert all(entry["manager"] != "one" for entry in forced.json["metadata"]["managedFields"])


def test_what_a_manager_gives_up_goes(api, maps):
    apply(api, maps + "/a", config("a", x="1", y="2"), "one")
    apply(api, maps + "/a", config("a", y="2"), "two")
    left = apply(api, maps + "/a", config("a"), "one")
    assert left.json["data"] == {"y": "2"}


def test_lists_are_merged_by_their_keys(api, namespace):
    services = f"/api/v1/namespaces/{namespace}/services"

    def service(*ports):
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {
            "selector": {"a": "b"}, "ports": [{"name": f"p{port}", "port": port, "protocol": "TCP"} for port in ports]}}

    assert apply(api, services + "/s", service(80), "one").status == 201
    both = apply(api, services + "/s", service(81), "two")
    assert both.status == 200, both
    assert sorted(port["port"] for port in both.json["spec"]["ports"]) == [80, 81]
    assert [port["port"] for port in apply(api, services + "/s", service(82), "two").json["spec"]["ports"]] == [80, 82]


def test_updates_own_what_they_change(api, maps):
    api.post(maps + "?fieldManager=hand", config("a", x="1"))
    changed = api.call("PATCH", maps + "/a?fieldManager=other", {"data": {"x": "2"}},
                       Content_Type="application/merge-patch+json")
    assert owned(changed, "other")["f:data"] == {"f:x": {}}
    refused = apply(api, maps + "/a", config("a", x="3"), "one")
    assert refused.status == 409 and 'conflict with "other"' in refused.json["message"]


def test_an_apply_says_who_it_is(api, maps):
    assert api.patch(maps + "/a", config("a"), "apply").status in (400, 422)
    assert apply(api, maps + "/a", {**config("a"), "metadata": {"name": "a", "managedFields": [{}]}}, "one").status == 400
