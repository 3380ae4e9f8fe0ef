"""What a namespace allows its pods: LimitRanges, ResourceQuotas, and the priority that a class gives."""

import concurrent.futures
import time
import uuid

import pytest

from conftest import Api

SCHEDULING = "/apis/scheduling.k8s.io/v1/priorityclasses"
LIMIT_RANGER = "kubernetes.io/limit-ranger"


@pytest.fixture
def pods(namespace):
    return f"/api/v1/namespaces/{namespace}/pods"


@pytest.fixture
def quotas(namespace):
    return f"/api/v1/namespaces/{namespace}/resourcequotas"


@pytest.fixture
def ranges(namespace):
    return f"/api/v1/namespaces/{namespace}/limitranges"


@pytest.fixture
def priorities(api):
    """Makes priority classes, which all namespaces share."""
    made = []

    def make(**fields):
        name = "conformance-" + uuid.uuid4().hex[:10]
        answer = api.post(SCHEDULING, {"metadata": {"name": name}, "value": 1000, **fields})
        assert answer.status == 201, answer
        made.append(name)
        # kube-apiserver's admission hears of a new class from a watch.
        probe = {"metadata": {"name": name}, "spec": {"priorityClassName": name, "containers": [{"name": "c", "image": "i"}]}}
        deadline = time.monotonic() + 20
        while "no PriorityClass" in repr(api.post("/api/v1/namespaces/default/pods?dryRun=All", probe)):
            assert time.monotonic() < deadline, f"the class {name} is not known"
            time.sleep(0.02)
        return name

    yield make
    for name in made:
        api.delete(f"{SCHEDULING}/{name}")


def container(name="c", limits=None, requests=None):
    resources = {key: value for key, value in (("limits", limits), ("requests", requests)) if value}
    return {"name": name, "image": "i", "resources": resources}


def pod(name, *containers, **spec):
    # Bound to a machine that nobody looks after.
    return {"metadata": {"name": name},
            "spec": {"nodeName": "nobody", "containers": list(containers) or [container()], **spec}}


def made(answer):
    assert answer.status == 201, answer
    return answer.json


def refused(answer, text, status=403):
    assert answer.status == status, answer
    assert answer.json["reason"] == {403: "Forbidden", 422: "Invalid"}[status]
    assert text in answer.json["message"], answer.json["message"]


def quota(api, quotas, name="q", scopes=None, selector=None, **hard):
    """A quota whose usage is known. Of its hard limits `__` stands for a dot, `___` for a slash."""
    hard = {key.replace("___", "/").replace("__", "."): value for key, value in hard.items()}
    spec = {"hard": hard, **({"scopes": scopes} if scopes else {}),
            **({"scopeSelector": {"matchExpressions": selector}} if selector else {})}
    made(api.post(quotas, {"metadata": {"name": name}, "spec": spec}))
    return used_when(api, quotas, lambda status: set(status.get("used", ())) == set(hard), name)


def used_when(api, quotas, wanted, name="q"):
    """What is used once `wanted(status)`."""
    only = f"{quotas}?fieldSelector=metadata.name%3D{name}"
    listed = api.get(only).json
    status = listed["items"][0]["status"]
    if not wanted(status):
        watch = api.watch(f"{only}&watch=1&resourceVersion={listed['metadata']['resourceVersion']}")
        status = watch.until(lambda event: wanted(event["object"]["status"]))[-1]["object"]["status"]
        watch.close()
    return status["used"]


def is_used(api, quotas, name="q", **used):
    wanted = {key.replace("___", "/").replace("__", "."): value for key, value in used.items()}
    used_when(api, quotas, lambda status: wanted.items() <= status["used"].items(), name)


def made_at_last(api, path, body):
    """A real server's admission may learn of a quota's status after its clients."""
    for _ in range(1000):
        answer = api.post(path, body)
        if answer.status != 403:
            break
    return made(answer)


# ---- LimitRanges ----

def limit(api, ranges, name="l", **limits):
    made(api.post(ranges, {"metadata": {"name": name}, "spec": {"limits": [{"type": "Container", **limits}]}}))


def test_containers_get_the_defaults_of_a_range(api, ranges, pods):
    limit(api, ranges, default={"cpu": "500m", "memory": "64Mi"}, defaultRequest={"cpu": "250m"})
    both = made(api.post(pods, pod("a", container("x"), container("y", limits={"cpu": "1"}),
                                   initContainers=[container("i", requests={"memory": "1Mi"})])))
    x, y = both["spec"]["containers"]
    assert x["resources"] == {"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "250m", "memory": "64Mi"}}
    assert y["resources"] == {"limits": {"cpu": "1", "memory": "64Mi"}, "requests": {"cpu": "1", "memory": "64Mi"}}
    assert both["spec"]["initContainers"][0]["resources"] == {"limits": {"cpu": "500m", "memory": "64Mi"},
                                                             "requests": {"cpu": "250m", "memory": "1Mi"}}
    assert both["metadata"]["annotations"][LIMIT_RANGER] == (
        "LimitRanger plugin set: cpu, memory request for container x; cpu, memory limit for container x; "
        "memory request for container y; memory limit for container y; "
        "cpu request for init container i; cpu, memory limit for init container i")
    assert both["status"]["qosClass"] == "Burstable"


def test_a_range_belongs_to_no_manager(api, ranges, pods):
    limit(api, ranges, default={"cpu": "500m"})
    first = made(api.post(pods, pod("a")))
    owned = first["metadata"]["managedFields"][0]["fieldsV1"]
    assert "f:annotations" not in owned.get("f:metadata", {})
    assert "f:limits" not in owned["f:spec"]["f:containers"]['k:{"name":"c"}'].get("f:resources", {})


@pytest.mark.parametrize(("limits", "resources", "text"), [
    ({"max": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, "maximum cpu usage per Container is 1, but limit is 2"),
    ({"min": {"cpu": "100m"}}, {"requests": {"cpu": "50m"}, "limits": {"cpu": "1"}},
     "minimum cpu usage per Container is 100m, but request is 50m"),
    ({"min": {"memory": "1Gi"}}, {"limits": {"memory": "64Mi"}},
     "minimum memory usage per Container is 1Gi, but request is 64Mi"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "100m"}, "limits": {"cpu": "250m"}},
     "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {},
     "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "1"}},
     "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"),
])
def test_containers_outside_of_a_range(api, ranges, pods, limits, resources, text):
    limit(api, ranges, **limits)
    answer = api.post(pods, pod("a", container("c", **resources)))
    refused(answer, f'pods "a" is forbidden: {text}')
    assert answer.json["details"] == {"name": "a", "kind": "pods"}


def test_the_defaults_of_a_range_are_validated(api, ranges, pods):
    limit(api, ranges, max={"cpu": "1"})
    refused(api.post(pods, pod("a", container(requests={"cpu": "1500m"}))), "must be less than or equal to cpu limit of 1", 422)


def test_a_pod_as_a_whole(api, ranges, pods):
    made(api.post(ranges, {"metadata": {"name": "l"}, "spec": {"limits": [
        {"type": "Pod", "max": {"cpu": "2"}, "min": {"memory": "10Mi"}}]}}))
    fits = [container(name, limits={"cpu": "1", "memory": "10Mi"}) for name in "xy"]
    made(api.post(pods, pod("a", *fits)))
    refused(api.post(pods, pod("b", *fits, container("z", limits={"cpu": "1", "memory": "10Mi"}))),
            'pods "b" is forbidden: maximum cpu usage per Pod is 2, but limit is 3')
    # An init container runs alone; a sidecar runs with the others.
    alone = {**container("i", limits={"cpu": "2", "memory": "10Mi"})}
    made(api.post(pods, pod("c", *fits, initContainers=[alone])))
    refused(api.post(pods, pod("d", *fits, initContainers=[{**alone, "restartPolicy": "Always"}])),
            "maximum cpu usage per Pod is 2, but limit is 4")
    refused(api.post(pods, pod("e", container())),
            "[minimum memory usage per Pod is 10Mi.  No request is specified, "
            "maximum cpu usage per Pod is 2.  No limit is specified]")


def test_claims_in_a_range(api, ranges, namespace):
    made(api.post(ranges, {"metadata": {"name": "l"}, "spec": {"limits": [
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}]}}))
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"

    def claim(storage):
        return {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                                    "resources": {"requests": {"storage": storage}}}}
    refused(api.post(claims, claim("3Gi")), "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi")
    refused(api.post(claims, claim("1Mi")), "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi")
    made(api.post(claims, claim("1Gi")))


@pytest.mark.parametrize(("limits", "field", "text"), [
    ({"min": {"cpu": "2"}, "max": {"cpu": "1"}}, "spec.limits[0].min[cpu]", "min value 2 is greater than max value 1"),
    ({"default": {"cpu": "2"}, "max": {"cpu": "1"}}, "spec.limits[0].default[cpu]",
     "default value 2 is greater than max value 1"),
    ({"defaultRequest": {"cpu": "2"}, "default": {"cpu": "1"}}, "spec.limits[0].defaultRequest[cpu]",
     "default request value 2 is greater than default limit value 1"),
    ({"defaultRequest": {"cpu": "1"}, "min": {"cpu": "2"}}, "spec.limits[0].defaultRequest[cpu]",
     "min value 2 is greater than default request value 1"),
    ({"maxLimitRequestRatio": {"cpu": "500m"}}, "spec.limits[0].maxLimitRequestRatio[cpu]", "ratio 500m is less than 1"),
    ({"maxLimitRequestRatio": {"cpu": "4"}, "min": {"cpu": "1"}, "max": {"cpu": "2"}},
     "spec.limits[0].maxLimitRequestRatio[cpu]", "ratio 4 is greater than max/min = 2.000000"),
    ({"max": {"gpu": "1"}}, "spec.limits[0].max[gpu]", "must be a standard resource type or fully qualified"),
    ({"type": "Machine"}, "spec.limits[0].type", "must be a standard limit type or fully qualified"),
    ({"type": "Pod", "default": {"cpu": "1"}}, "spec.limits[0].default", "may not be specified when `type` is 'Pod'"),
    ({"type": "PersistentVolumeClaim"}, "spec.limits[0].limits",
     "either minimum or maximum storage value is required, but neither was provided"),
    ({"default": {"nvidia.com/gpu": "2"}, "defaultRequest": {"nvidia.com/gpu": "1"}},
     "spec.limits[0].defaultRequest[nvidia.com/gpu]",
     "default value 2 must equal to defaultRequest value 1 in nvidia.com/gpu"),
])
def test_ranges_that_can_not_be_kept(api, ranges, limits, field, text):
    answer = api.post(ranges, {"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", **limits}]}})
    refused(answer, text, 422)
    assert field in {cause["field"] for cause in answer.json["details"]["causes"]}


# ---- ResourceQuotas ----

def test_a_quota_counts_pods_and_refuses_more(api, quotas, pods):
    assert quota(api, quotas, pods="2", requests__cpu="1", limits__memory="1Gi") == {
        "pods": "0", "requests.cpu": "0", "limits.memory": "0"}
    fits = container(requests={"cpu": "400m"}, limits={"memory": "256Mi"})
    made(api.post(pods, pod("a", fits)))
    is_used(api, quotas, pods="1", requests__cpu="400m", limits__memory="256Mi")
    refused(api.post(pods, pod("b", container(requests={"cpu": "700m"}, limits={"memory": "1Gi"}))),
            'pods "b" is forbidden: exceeded quota: q, requested: limits.memory=1Gi,requests.cpu=700m, '
            'used: limits.memory=256Mi,requests.cpu=400m, limited: limits.memory=1Gi,requests.cpu=1')
    made(api.post(pods, pod("b", fits)))
    refused(api.post(pods, pod("c", fits)), 'exceeded quota: q, requested: pods=1,requests.cpu=400m, used: pods=2,'
                                            'requests.cpu=800m, limited: pods=2,requests.cpu=1')
    # Who has ended, and who is gone, takes no room.
    assert api.patch(f"{pods}/a/status", {"status": {"phase": "Succeeded"}}).status == 200
    is_used(api, quotas, pods="1", requests__cpu="400m")
    api.delete(f"{pods}/b", {"gracePeriodSeconds": 0})
    is_used(api, quotas, pods="0", requests__cpu="0", limits__memory="0")
    made_at_last(api, pods, pod("c", fits))


def test_a_pod_that_hangs_in_its_deletion_is_counted_no_longer(api, quotas, pods):
    quota(api, quotas, pods="1", count___pods="9")
    held = pod("a")
    held["metadata"]["finalizers"] = ["example.com/held"]
    made(api.post(pods, held))
    is_used(api, quotas, pods="1", count___pods="1")
    assert api.delete(f"{pods}/a", {"gracePeriodSeconds": 1}).status == 200
    used = {}
    more = 9
    # A real server counts anew where it has a reason to.
    while used.get("pods") != "0":
        more += 1
        assert api.patch(f"{quotas}/q", {"spec": {"hard": {"count/pods": str(more)}}}).status == 200
        used = used_when(api, quotas, lambda status, more=str(more): status["hard"]["count/pods"] == more)
    assert used == {"pods": "0", "count/pods": "1"}
    made_at_last(api, pods, pod("b"))
    assert "deletionTimestamp" in api.get(f"{pods}/a").json["metadata"]
    assert api.patch(f"{pods}/a", {"metadata": {"finalizers": None}}).status == 200


def test_a_quota_counts_what_was_there_before(api, quotas, pods):
    made(api.post(pods, pod("a", container(requests={"cpu": "1500m", "nvidia.com/gpu": "1"},
                                           limits={"nvidia.com/gpu": "1"}))))
    assert quota(api, quotas, cpu="2", requests__nvidia__com___gpu="1", count___pods="5") == {
        "cpu": "1500m", "requests.nvidia.com/gpu": "1", "count/pods": "1"}
    refused(api.post(pods, pod("b", container(requests={"cpu": "100m"}, limits={"nvidia.com/gpu": "1"}))),
            "exceeded quota: q, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=1, "
            "limited: requests.nvidia.com/gpu=1")


def test_a_quota_asks_each_container_what_it_needs(api, quotas, pods):
    quota(api, quotas, requests__cpu="1", limits__memory="1Gi")
    refused(api.post(pods, pod("a", container("x"), container("y", requests={"cpu": "1"}))),
            'pods "a" is forbidden: failed quota: q: must specify limits.memory for: x,y; requests.cpu for: x')


def test_pods_at_once_do_not_exceed_a_quota(api, kubeconfig, quotas, pods):
    quota(api, quotas, pods="5")

    def create(number):
        client = Api(kubeconfig)
        while True:
            answer = client.post(pods, pod(f"p{number}"))
            # A real server gives up when many change the quota's status at once.
            if answer.status != 409:
                return answer.status

    with concurrent.futures.ThreadPoolExecutor(8) as many:
        statuses = list(many.map(create, range(16)))
    assert sorted(statuses) == [201] * 5 + [403] * 11
    assert len(api.get(pods).json["items"]) == 5
    is_used(api, quotas, pods="5")


def test_a_dry_run_takes_nothing(api, quotas, pods):
    quota(api, quotas, pods="1")
    made(api.post(pods + "?dryRun=All", pod("a")))
    made(api.post(pods, pod("a")))
    refused(api.post(pods + "?dryRun=All", pod("b")), "exceeded quota: q")


def test_objects_are_counted(api, quotas, namespace, maps, furniture):
    there = len([resource for resource, _ in furniture if resource == "configmaps"])
    quota(api, quotas, configmaps=str(there + 1), count___secrets="1", count___leases__coordination__k8s__io="1")
    made(api.post(maps, {"metadata": {"name": "a"}}))
    refused(api.post(maps, {"metadata": {"name": "b"}}),
            f'configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps={there + 1}, '
            f'limited: configmaps={there + 1}')
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    made(api.post(leases, {"metadata": {"name": "a"}}))
    refused(api.post(leases, {"metadata": {"name": "b"}}),
            'leases.coordination.k8s.io "b" is forbidden: exceeded quota: q, requested: '
            'count/leases.coordination.k8s.io=1, used: count/leases.coordination.k8s.io=1, '
            'limited: count/leases.coordination.k8s.io=1')
    api.delete(f"{maps}/a")
    is_used(api, quotas, configmaps=str(there), count___leases__coordination__k8s__io="1")
    made_at_last(api, maps, {"metadata": {"name": "b"}})


def test_services_are_counted_by_what_they_take(api, quotas, namespace):
    quota(api, quotas, services="3", services__nodeports="2", services__loadbalancers="0")
    services = f"/api/v1/namespaces/{namespace}/services"
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    made(api.post(services, {"metadata": {"name": "a"}, "spec": {"ports": ports}}))
    is_used(api, quotas, services="1", services__nodeports="0")
    assert api.patch(f"{services}/a", {"spec": {"type": "NodePort"}}).status == 200
    is_used(api, quotas, services="1", services__nodeports="2")
    refused(api.post(services, {"metadata": {"name": "b"}, "spec": {"ports": ports[:1], "type": "NodePort"}}),
            "exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=2, "
            "limited: services.nodeports=2")
    made(api.post(services, {"metadata": {"name": "b"}, "spec": {"ports": ports[:1]}}))
    refused(api.patch(f"{services}/b", {"spec": {"type": "NodePort"}}),
            'services "b" is forbidden: exceeded quota: q, requested: services.nodeports=1')
    refused(api.patch(f"{services}/b", {"spec": {"type": "LoadBalancer"}}), "services.loadbalancers=1")


def test_claims_are_counted_by_their_storage(api, quotas, namespace):
    quota(api, quotas, persistentvolumeclaims="5", requests__storage="3Gi",
          gold__storageclass__storage__k8s__io___requests__storage="1Gi")
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"

    def claim(name, storage, **spec):
        return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"],
                                                     "resources": {"requests": {"storage": storage}}, **spec}}
    made(api.post(claims, claim("a", "2Gi")))
    is_used(api, quotas, persistentvolumeclaims="1", requests__storage="2Gi")
    refused(api.post(claims, claim("b", "2Gi")), "exceeded quota: q, requested: requests.storage=2Gi, "
                                                 "used: requests.storage=2Gi, limited: requests.storage=3Gi")
    made(api.post(claims, claim("b", "1Gi", storageClassName="gold")))
    is_used(api, quotas, requests__storage="3Gi", gold__storageclass__storage__k8s__io___requests__storage="1Gi")


@pytest.mark.parametrize(("scope", "inside", "outside"), [
    ("Terminating", {"activeDeadlineSeconds": 600}, {}),
    ("NotTerminating", {}, {"activeDeadlineSeconds": 600}),
    ("BestEffort", {}, {"containers": [container(requests={"cpu": "1m"})]}),
    ("NotBestEffort", {"containers": [container(requests={"cpu": "1m"})]}, {}),
    ("CrossNamespacePodAffinity", {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "x", "namespaces": ["other"]}]}}}, {}),
])
def test_a_scope_says_which_pods_count(api, quotas, pods, scope, inside, outside):
    quota(api, quotas, scopes=[scope], pods="1")
    made(api.post(pods, pod("in", **inside)))
    refused(api.post(pods, pod("more", **inside)), "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1")
    made(api.post(pods, pod("out", **outside)))
    is_used(api, quotas, pods="1")


def test_a_quota_for_a_priority(api, quotas, pods, priorities):
    high, low = priorities(value=1000), priorities(value=1)
    quota(api, quotas, pods="1", selector=[{"scopeName": "PriorityClass", "operator": "In", "values": [high]}])
    quota(api, quotas, name="any", pods="2", selector=[{"scopeName": "PriorityClass", "operator": "Exists"}])
    made(api.post(pods, pod("a", priorityClassName=high)))
    refused(api.post(pods, pod("b", priorityClassName=high)), "exceeded quota: q,")
    made(api.post(pods, pod("b", priorityClassName=low)))
    refused(api.post(pods, pod("c", priorityClassName=low)), "exceeded quota: any,")
    made(api.post(pods, pod("c")))


@pytest.mark.parametrize(("spec", "field", "text"), [
    ({"hard": {"gpus": "1"}}, "spec.hard[gpus]", "must be a standard resource for quota"),
    ({"hard": {"pods": "-1"}}, "spec.hard[pods]", "must be greater than or equal to 0"),
    ({"hard": {"pods": "1500m"}}, "spec.hard[pods]", "must be an integer"),
    ({"hard": {"count/jobs.batch": "1500m"}}, "spec.hard[count/jobs.batch]", "must be an integer"),
    ({"hard": {"a b": "1"}}, "spec.hard[a b]", "must consist of alphanumeric characters"),
    ({"hard": {"pods": "1"}, "scopes": ["Sometimes"]}, "spec.scopes", "unsupported scope"),
    ({"hard": {"services": "1"}, "scopes": ["BestEffort"]}, "spec.scopes", "unsupported scope applied to resource"),
    ({"hard": {"pods": "1"}, "scopes": ["BestEffort", "NotBestEffort"]}, "spec.scopes", "conflicting scopes"),
    ({"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In"}]}}, "spec.scopeSelector.matchExpressions.values",
     "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
    ({"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [
        {"scopeName": "BestEffort", "operator": "DoesNotExist"}]}}, "spec.scopeSelector.matchExpressions.operator",
     "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating"),
    ({"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "Near"}]}}, "spec.scopeSelector.matchExpressions.operator",
     "not a valid selector operator"),
])
def test_quotas_that_can_not_be_kept(api, quotas, spec, field, text):
    answer = api.post(quotas, {"metadata": {"name": "q"}, "spec": spec})
    refused(answer, text, 422)
    assert field in {cause["field"] for cause in answer.json["details"]["causes"]}


def test_the_limits_of_a_quota_may_change_and_its_scopes_may_not(api, quotas, pods):
    quota(api, quotas, pods="1", scopes=["NotTerminating"])
    made(api.post(pods, pod("a")))
    # A real server counts again by itself, and may not have seen the pod yet.
    used_when(api, quotas, lambda status: status["used"].get("pods") == "1")
    refused(api.post(pods, pod("b")), "exceeded quota")
    assert api.patch(f"{quotas}/q", {"spec": {"hard": {"pods": "2", "count/pods": "9"}}}).status == 200
    used_when(api, quotas, lambda status: status["hard"]["pods"] == "2" and status["used"].get("count/pods") == "1")
    made_at_last(api, pods, pod("b"))
    refused(api.patch(f"{quotas}/q", {"spec": {"scopes": ["Terminating"]}}), "field is immutable", 422)


# ---- PriorityClasses ----

def test_a_class_gives_its_priority(api, pods, priorities):
    name = priorities(value=77, preemptionPolicy="Never")
    spec = made(api.post(pods, pod("a", priorityClassName=name)))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"], spec["priorityClassName"]) == (77, "Never", name)
    spec = made(api.post(pods, pod("b")))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority") and "priorityClassName" not in spec
    # Later changes of the pod that leave its priority out keep it.
    whole = api.get(f"{pods}/a").json
    del whole["spec"]["priority"], whole["spec"]["preemptionPolicy"]
    kept = api.put(f"{pods}/a", whole)
    assert kept.status == 200 and kept.json["spec"]["priority"] == 77 and kept.json["spec"]["preemptionPolicy"] == "Never"


def test_classes_of_the_system_are_there(api, pods):
    for name, value in (("system-node-critical", 2000001000), ("system-cluster-critical", 2000000000)):
        found = api.get(f"{SCHEDULING}/{name}").json
        assert found["value"] == value and found["preemptionPolicy"] == "PreemptLowerPriority"
        assert not found.get("globalDefault") and found["metadata"]["generation"] == 1
        assert made(api.post(pods, pod(name, priorityClassName=name)))["spec"]["priority"] == value


@pytest.mark.parametrize(("spec", "text"), [
    ({"priorityClassName": "nowhere"}, 'pods "a" is forbidden: no PriorityClass with name nowhere was found'),
    ({"priority": 5}, "the integer value of priority (5) must not be provided in pod spec; priority admission "
                      "controller computed 0 from the given PriorityClass name"),
    ({"preemptionPolicy": "Never"}, "the string value of PreemptionPolicy (Never) must not be provided in pod spec; "
                                    "priority admission controller computed PreemptLowerPriority from the given "
                                    "PriorityClass name"),
])
def test_pods_do_not_make_up_a_priority(api, pods, spec, text):
    refused(api.post(pods, pod("a", **spec)), text)


def test_one_class_is_the_default(api, pods, priorities):
    name = priorities(value=5, globalDefault=True)
    spec = made(api.post(pods, pod("a")))["spec"]
    assert (spec["priority"], spec["priorityClassName"]) == (5, name)
    refused(api.post(SCHEDULING, {"metadata": {"name": name + "-2"}, "value": 1, "globalDefault": True}),
            f"PriorityClass {name} is already marked as default. Only one default can exist")
    other = priorities(value=6)
    refused(api.patch(f"{SCHEDULING}/{other}", {"globalDefault": True}), "Only one default can exist")
    assert api.patch(f"{SCHEDULING}/{name}", {"description": "ours"}).status == 200
    assert api.delete(f"{SCHEDULING}/{name}").status == 200
    # Of a real server, which learns of it a moment later, it is one of the next.
    assert 0 in (made(api.post(pods, pod(f"b-{number}")))["spec"]["priority"] for number in range(1000))


@pytest.mark.parametrize(("fields", "field"), [
    ({"metadata": {"name": "system-x"}, "value": 1}, "metadata.name"),
    ({"metadata": {"name": "x"}, "value": 1000000001}, "value"),
    ({"metadata": {"name": "x"}, "value": 1, "preemptionPolicy": "Later"}, "preemptionPolicy"),
])
def test_classes_that_can_not_be(api, fields, field):
    answer = api.post(SCHEDULING, fields)
    assert answer.status == 422 and [cause["field"] for cause in answer.json["details"]["causes"]] == [field]


def test_the_value_of_a_class_stays(api, priorities):
    name = priorities(value=1)
    refused(api.patch(f"{SCHEDULING}/{name}", {"value": 2}), "value: Forbidden: may not be changed in an update.", 422)
    refused(api.patch(f"{SCHEDULING}/{name}", {"preemptionPolicy": "Never"}), "field is immutable", 422)
