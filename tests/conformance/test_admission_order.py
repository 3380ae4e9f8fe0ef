"""What a new pod is given before mutating webhooks see it, and what it is given after them."""

import base64
import json

import pytest

from test_limits import container, made, pod, priorities, ranges, refused  # noqa: F401
from test_webhooks import Hooks, allow, certificates, serve  # noqa: F401

RULES = [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]
SECOND = {"op": "add", "path": "/spec/containers/-", "value": {"name": "d", "image": "i"}}
TOKENS = "/var/run/secrets/kubernetes.io/serviceaccount"


def changing(*patches):
    """The answer of a webhook: the first request is answered with the first list of operations, the last one stays."""
    left = list(patches)

    def answer(request):
        changes = left.pop(0) if len(left) > 1 else left[0]
        patch = {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(changes).encode()).decode()} if changes else {}
        return allow(request, **patch)
    return answer


class Pods:
    def __init__(self, api, namespace, hooks, serve):  # noqa: F811
        self.api, self.path, self.hooks, self.serve = api, f"/api/v1/namespaces/{namespace}/pods", hooks, serve
        limits = api.post(f"/api/v1/namespaces/{namespace}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [
            {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}, "max": {"cpu": "4"}}]}})
        made(limits)
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        made(api.post(accounts, {"metadata": {"name": "robot"}, "imagePullSecrets": [{"name": "secret"}]}))
        # Until it is there, a real server lets no pod in.
        api.there(accounts, "default")

    def webhook(self, *patches, **more):
        """A webhook that is asked about pods, once it is in force; it has seen nothing yet."""
        asks = [False]
        change = changing(*patches)
        server = self.serve(lambda request: change(request) if asks[0] else allow(request))
        self.hooks.add(self.hooks.client(server.url("/v"), "root"), kind="mutating", rules=RULES, **more)
        while not server.requests:
            made(self.api.post(self.path + "?dryRun=All", pod("probe")))
        asks[0] = True
        server.requests.clear()
        return server

    def create(self, name="a", *containers, query="", **spec):
        return self.api.post(self.path + query, pod(name, *containers, **spec))

    @staticmethod
    def seen(server, number=0):
        return server.requests[number].json["request"]["object"]


@pytest.fixture
def pods(api, namespace, certificates, serve):  # noqa: F811
    hooks = Hooks(api, namespace, certificates)
    yield Pods(api, namespace, hooks, serve)
    for path in hooks.made:
        api.delete(path)


def amounts(each):
    return each["resources"].get("requests"), each["resources"].get("limits")


def mounted(each):
    return [mount["name"] for mount in each.get("volumeMounts", ()) if mount["mountPath"] == TOKENS]


@pytest.mark.parametrize("query", ["", "?dryRun=All"])
def test_a_webhook_sees_what_a_pod_is_given(pods, priorities, query):  # noqa: F811
    high = priorities(value=77, preemptionPolicy="Never")
    server = pods.webhook([])
    answer = made(pods.create(query=query, priorityClassName=high, serviceAccountName="robot"))
    seen = pods.seen(server)
    spec = seen["spec"]
    assert amounts(spec["containers"][0]) == ({"cpu": "1"}, {"cpu": "2"})
    assert seen["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container c; cpu limit for container c"}
    assert (spec["priority"], spec["preemptionPolicy"]) == (77, "Never")
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("robot", "robot")
    assert spec["imagePullSecrets"] == [{"name": "secret"}]
    tokens = [volume["name"] for volume in spec["volumes"] if volume["name"].startswith("kube-api-access-")]
    assert len(tokens) == 1 and mounted(spec["containers"][0]) == tokens
    assert spec["volumes"] == answer["spec"]["volumes"]
    # What only the server can set comes later; what the client owns has been noted.
    assert not seen["metadata"].get("uid") and not seen["metadata"].get("creationTimestamp")
    assert seen["metadata"]["managedFields"] == answer["metadata"]["managedFields"]


def test_a_pod_without_an_account_or_a_class_is_shown_to_no_webhook(pods):
    server = pods.webhook([])
    refused(pods.create(serviceAccountName="none", priorityClassName="none"), "error looking up service account")
    refused(pods.create(priorityClassName="none"), "no PriorityClass with name none was found")
    assert server.requests == []


def test_a_container_that_a_webhook_adds_is_completed(pods):
    pods.webhook([SECOND])
    spec = made(pods.create())["spec"]
    added = spec["containers"][1]
    assert amounts(added) == ({"cpu": "1"}, {"cpu": "2"})
    assert mounted(added) == mounted(spec["containers"][0]) != [] and len(spec["volumes"]) == 1
    assert added["terminationMessagePath"] == "/dev/termination-log"


def test_a_webhook_may_name_another_class(pods, priorities):  # noqa: F811
    high = priorities(value=77, preemptionPolicy="Never")
    named = {"op": "add", "path": "/spec/priorityClassName", "value": high}
    pods.webhook([named, {"op": "remove", "path": "/spec/priority"}, {"op": "remove", "path": "/spec/preemptionPolicy"}])
    spec = made(pods.create())["spec"]
    assert (spec["priority"], spec["preemptionPolicy"], spec["priorityClassName"]) == (77, "Never", high)


def test_a_webhook_that_leaves_the_priority_of_another_class(pods, priorities):  # noqa: F811
    high = priorities(value=77)
    pods.webhook([{"op": "add", "path": "/spec/priorityClassName", "value": high}])
    refused(pods.create(), "the integer value of priority (0) must not be provided in pod spec; priority admission "
                           "controller computed 77 from the given PriorityClass name")


def test_a_webhook_may_name_another_account(pods):
    pods.webhook([{"op": "replace", "path": "/spec/serviceAccountName", "value": "robot"}])
    spec = made(pods.create())["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("robot", "robot")
    assert spec["imagePullSecrets"] == [{"name": "secret"}] and len(spec["volumes"]) == 1


@pytest.mark.parametrize("change, text", [
    ({"op": "replace", "path": "/spec/serviceAccountName", "value": "none"}, "error looking up service account"),
    ({"op": "add", "path": "/spec/priorityClassName", "value": "none"}, "no PriorityClass with name none was found"),
    ({"op": "replace", "path": "/spec/containers/0/resources/limits/cpu", "value": "9"},
     "maximum cpu usage per Container is 4, but limit is 9"),
])
def test_what_a_webhook_makes_of_a_pod_is_checked(pods, change, text):
    pods.webhook([change])
    refused(pods.create(), text)


def test_a_webhook_can_not_take_the_token_away(pods):
    pods.webhook([{"op": "remove", "path": "/spec/volumes/0"}, {"op": "remove", "path": "/spec/containers/0/volumeMounts/0"}])
    spec = made(pods.create())["spec"]
    assert len(spec["volumes"]) == 1 and len(mounted(spec["containers"][0])) == 1


def test_what_the_server_adds_after_a_webhook_is_shown_once_more(pods):
    server = pods.webhook([SECOND], [], reinvocationPolicy="IfNeeded")
    made(pods.create())
    assert len(server.requests) == 2
    assert [amounts(each) for each in pods.seen(server, 1)["spec"]["containers"]] == [({"cpu": "1"}, {"cpu": "2"})] * 2


def test_its_own_change_alone_is_not_shown_again(pods):
    server = pods.webhook([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}], reinvocationPolicy="IfNeeded")
    made(pods.create())
    assert len(server.requests) == 1


def test_the_next_webhook_sees_defaults_of_what_the_first_added(pods):
    change = changing([SECOND])
    server = pods.serve(lambda request: change(request) if request.path == "/first" else allow(request))
    pods.hooks.add(*(pods.hooks.client(server.url(path), "root") for path in ("/first", "/second")), kind="mutating", rules=RULES)
    while not server.requests:
        made(pods.create("probe", query="?dryRun=All"))
    assert [request.path for request in server.requests] == ["/first", "/second"]
    added = pods.seen(server, 1)["spec"]["containers"][1]
    assert added["terminationMessagePath"] == "/dev/termination-log" and added["imagePullPolicy"] == "Always"
    assert amounts(added) == (None, None), "it has what a structure gives, and not what a namespace does"


def test_what_a_webhook_changes_has_no_owner(api, pods):
    pods.webhook([{"op": "add", "path": "/metadata/labels", "value": {"by": "webhook"}}])
    new = made(pods.create())
    changed = api.patch(pods.path + "/a", {"metadata": {"annotations": {"x": "y"}, "labels": None}}).json
    for each in (new, changed):
        assert each["metadata"]["labels"] == {"by": "webhook"}
        assert not any("f:labels" in entry["fieldsV1"].get("f:metadata", {}) for entry in each["metadata"]["managedFields"])


def test_a_webhook_does_not_spoil_the_owners(pods):
    pods.webhook([{"op": "add", "path": "/metadata/managedFields", "value": [{"operation": "Cut", "manager": "m"}]}])
    answer = pods.create()
    assert [entry["operation"] for entry in made(answer)["metadata"]["managedFields"]] == ["Update"]
    assert "managedFields was in an invalid state after admission" in answer.headers["Warning"]


def test_an_update_is_shown_with_the_priority_that_the_pod_has(api, pods, priorities):  # noqa: F811
    high = priorities(value=77, preemptionPolicy="Never")
    made(pods.create(priorityClassName=high))
    server = pods.webhook([])
    whole = api.get(pods.path + "/a").json
    del whole["spec"]["priority"], whole["spec"]["preemptionPolicy"]
    whole["metadata"]["labels"] = {"a": "b"}
    assert api.put(pods.path + "/a", whole).status == 200
    spec = pods.seen(server)["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (77, "Never")


def test_the_old_name_of_an_account(pods):
    spec = made(pods.create(serviceAccount="robot"))["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("robot", "robot")
    spec = made(pods.create("b", serviceAccount="robot", serviceAccountName="default"))["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("default", "default")
