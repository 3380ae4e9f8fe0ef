"""No request holds the event loop for long, whatever kind it is about: objects that are wide in each way that their kind allows,
sent by an account with all rights in one namespace, and by those without credentials.

The fixture fails if one did (holds.py)."""

import pytest

import holds
from attacked import MERGE, RBAC, Daemon, pod, rule

SPACE = "/api/v1/namespaces/team"
PODS = f"{SPACE}/pods"
JOBS = "/apis/kubeflow.org/v1/namespaces/team/pytorchjobs"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/team"
YAML, STRATEGIC = "application/yaml", "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
STRANGER = ""
REFUSED = (400, 401, 403, 413)
GATED = {"schedulingGates": [{"name": "a.io/waits"}]}  # so that nothing runs


@pytest.fixture
def daemon(tmp_path):
    made = Daemon(tmp_path)
    made.up()
    made.must("POST", "/api/v1/namespaces", {"metadata": {"name": "team"}})
    yield made
    made.down("--kill", check=False)


@pytest.fixture
def tenant(daemon):
    """The token of an account with all rights in one namespace."""
    token = daemon.account("tenant")
    daemon.must("POST", f"{ROLES}/roles", {"metadata": {"name": "all"}, "rules": [rule(["*"], ["*"], "*")]})
    daemon.must("POST", f"{ROLES}/rolebindings", {
        "metadata": {"name": "all"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "all"},
        "subjects": [{"kind": "ServiceAccount", "name": "tenant", "namespace": "default"}]})
    return token


def named(count, **more):
    return [{"name": f"k{i}", **more} for i in range(count)]


WIDE_PODS = {
    "variables": {"container": {"env": named(80_000, value="v")}},
    "variables from elsewhere": {"container": {"env": named(25_000, valueFrom={"fieldRef": {"fieldPath": "metadata.name"}})}},
    "variables of each other": {"container": {"env": [{"name": f"k{i}", "value": f"$(k{i - 1})"} for i in range(50_000)]}},
    "containers": {"initContainers": named(50_000, image="i")},
    "volumes": {"volumes": named(60_000, emptyDir={})},
    "mounts": {"container": {"volumeMounts": named(50_000, mountPath="/x")}, "volumes": named(1, emptyDir={})},
    "ports": {"container": {"ports": [{"containerPort": i + 1, "name": f"p{i}"} for i in range(60_000)]}},
    "arguments": {"container": {"args": ["a"] * 600_000}},
    "tolerations": {"tolerations": [{"key": f"k{i}", "operator": "Exists"} for i in range(60_000)]},
    "aliases": {"hostAliases": [{"ip": "10.0.0.1", "hostnames": [f"h{i}" for i in range(250_000)]}]},
    "terms": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": f"k{i}", "operator": "In", "values": ["a", "b"]}]} for i in range(30_000)]}}}},
}


def expect_short_holds(daemon, shape):
    """Says which of several shapes it was."""
    hold = holds.of(daemon.state)
    assert hold.ms <= holds.LIMIT_MS, (shape, hold)


def test_wide_pods(daemon, tenant):
    made = 0
    for shape, wide in WIDE_PODS.items():
        body = pod("w", "true", **GATED, **wide)
        assert daemon.ask("POST", PODS, body, token=STRANGER)[0] in REFUSED
        status, answer = daemon.ask("POST", PODS, body, token=tenant)
        assert status in (201, 413, 422), (shape, answer)
        if status == 201:
            made += 1
            for accept in ("application/json", TABLE):
                assert '"w"' in daemon.read(PODS, accept, token=tenant)
            status, answer = daemon.ask("PATCH", f"{PODS}/w", {"metadata": {"labels": {"a": "b"}}}, token=tenant, content_type=MERGE)
            assert status == 200, (shape, answer)
            status, answer = daemon.ask("DELETE", f"{PODS}/w?gracePeriodSeconds=0", token=tenant)
            assert status == 200, (shape, answer)
        expect_short_holds(daemon, shape)
    assert made >= 4, "others are too large with what the server adds to them"


def test_a_wide_pod_that_runs(daemon, tenant):
    body = pod("runs", "exit 0", container={"env": named(10_000, value="v")}, initContainers=[
        {"name": f"c{i}", "image": "i", "command": ["true"], "env": named(500, value="v")} for i in range(20)])
    status, answer = daemon.ask("POST", PODS, body, token=tenant)
    assert status == 201, answer
    daemon.wait_for(f"{PODS}/runs", lambda found: found["status"].get("phase") == "Succeeded")


LISTS = {
    "new variables": [{"name": "main", "env": named(30_000, value="w")}],
    "deleted variables": [{"name": "main", "env": [{"name": f"k{i}", "$patch": "delete"} for i in range(30_000)]}],
    "ordered variables": [{"name": "main", "$setElementOrder/env": [{"name": f"k{i}"} for i in reversed(range(30_000))],
                           "env": [{"name": f"k{i}", "value": "w"} for i in reversed(range(30_000))]}],
    "containers": [{"name": f"c{i}", "image": "i"} for i in range(20_000)],
}


def test_strategic_patches_of_wide_lists(daemon, tenant):
    template = pod("w", "true", container={"env": named(30_000, value="v")})
    deployments = "/apis/apps/v1/namespaces/team/deployments"
    selected = {"metadata": {"labels": {"a": "b"}}, "spec": {**GATED, **template["spec"], "restartPolicy": "Always"}}
    status, answer = daemon.ask("POST", deployments, token=tenant, body={
        "metadata": {"name": "w"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": selected}})
    assert status == 201, answer
    for name, containers in LISTS.items():
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        assert daemon.ask("PATCH", f"{deployments}/w", patch, token=STRANGER, content_type=STRATEGIC)[0] in REFUSED
        status, answer = daemon.ask("PATCH", f"{deployments}/w", patch, token=tenant, content_type=STRATEGIC)
        assert status in (200, 413, 422), (name, answer)


def test_applies_of_wide_objects(daemon, tenant):
    def configuration(number, count):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w"}, "spec": {**GATED, "containers": [
            {"name": "main", "image": f"i{number}", "env": named(count, value="v")}]}}

    # Others' fields may be applied with the same value.
    for number, count in enumerate((20_000, 20_000, 10_000)):
        status, answer = daemon.ask("PATCH", f"{PODS}/w?fieldManager=m{number}&force=true", configuration(0, count), token=tenant,
                                    content_type=APPLY)
        assert status in (200, 201, 413, 422), answer
    labels = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w", "labels": {f"k{i}": "v" for i in range(60_000)}}}
    for _ in range(2):
        status, answer = daemon.ask("PATCH", f"{PODS}/w?fieldManager=l", labels, token=tenant, content_type=APPLY)
        assert status in (200, 413, 422), answer
    assert daemon.ask("PATCH", f"{PODS}/w?fieldManager=l", labels, token=STRANGER, content_type=APPLY)[0] in REFUSED
    job = training("applied", 2, container={"env": named(20_000, value="v")})
    for manager in ("a", "b"):
        status, answer = daemon.ask("PATCH", f"{JOBS}/applied?fieldManager={manager}&force=true",
                                    {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", **job}, token=tenant, content_type=APPLY)
        assert status in (200, 201, 413), answer


def training(name, workers, *, container=None, labels=None, **policy):
    """A PyTorchJob whose pods run nothing."""
    def of(count):
        template = pod("", "true", container={"name": "pytorch", **(container or {})}, **GATED)
        template["metadata"] = {"labels": labels or {}}
        return {"replicas": count, "template": template}

    return {"metadata": {"name": name}, "spec": {"runPolicy": policy, "pytorchReplicaSpecs": {"Master": of(1), "Worker": of(workers)}}}


WIDE_JOBS = {
    "a large job that is suspended": training("w", 2, container={"env": named(35_000, value="v")}, suspend=True),
    "a large template": training("w", 3, container={"env": named(15_000, value="v")}),
    "labels": training("w", 3, labels={f"k{i}": "v" for i in range(20_000)}),
    "workers": training("w", 500),
    "more than may be": training("w", 2_000_000_000, suspend=True),
}


def test_wide_jobs(daemon, tenant):
    for shape, wide in WIDE_JOBS.items():
        body = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", **wide}
        assert daemon.ask("POST", JOBS, body, token=STRANGER)[0] in REFUSED
        status, answer = daemon.ask("POST", JOBS, body, token=tenant)
        assert status in (201, 422), (shape, answer)
        if status == 201:
            follow_job(daemon, tenant, body)
        expect_short_holds(daemon, shape)


def follow_job(daemon, tenant, body):
    """Until it is deleted."""
    policy, workers = body["spec"]["runPolicy"], body["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"]
    if not policy:
        daemon.wait_for(f"{PODS}?limit={workers + 1}", lambda found: len(found["items"]) == workers + 1)
    for accept in ("application/json", YAML, TABLE, METADATA):
        assert "uid" in daemon.read(JOBS, accept, token=tenant)
    status, answer = daemon.ask("PATCH", f"{JOBS}/w", {"metadata": {"annotations": {"a": "b"}}}, token=tenant, content_type=MERGE)
    assert status == 200, answer
    status, answer = daemon.ask("DELETE", f"{JOBS}/w", token=tenant)
    assert status == 200, answer
    daemon.wait_until_gone(f"{JOBS}/w")
    daemon.wait_for(f"{PODS}?limit=1", lambda found: not found["items"])


def rules(count, prefix="r"):
    return [rule(["get", "list"], [f"{prefix}{i}"], f"g{i % 100}.io") for i in range(count)]


def subjects(count):
    return [{"kind": "ServiceAccount", "name": f"s{i}", "namespace": "team"} for i in range(count)]


def bound(name, subjects_, role, kind="Role"):
    return {"metadata": {"name": name}, "subjects": subjects_,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}}


REVIEWS = "/apis/authorization.k8s.io/v1"


def test_roles_of_many_rules(daemon, tenant):
    body = {"metadata": {"name": "wide"}, "rules": rules(30_000)}
    combined = {"metadata": {"name": "combined"}, "rules": [
        {"verbs": [f"v{i}" for i in range(300)], "apiGroups": [f"g{i}" for i in range(300)], "resources": [f"r{i}" for i in range(300)]}]}
    for who in (STRANGER, tenant):
        for made in (body, combined):
            status, answer = daemon.ask("POST", f"{ROLES}/roles", made, token=who)
            assert status in (REFUSED if who == STRANGER else (201, 403, 413, 422)), answer
    daemon.must("POST", f"{RBAC}/clusterroles", {**body, "metadata": {"name": "wide"}})
    # Rights that come from many rules, and rights that none of them gives.
    daemon.must("POST", f"{ROLES}/rolebindings", bound("wide", subjects(1000), "wide", "ClusterRole"))
    daemon.must("POST", f"{RBAC}/clusterrolebindings", bound("wide", [*subjects(1000), {
        "kind": "ServiceAccount", "name": "tenant", "namespace": "default"}], "wide", "ClusterRole"))
    for group, resource in (("g99.io", "r29999"), ("none.io", "none")):
        asked = {"spec": {"resourceAttributes": {"verb": "get", "group": group, "resource": resource, "namespace": "other"}}}
        assert daemon.ask("POST", f"{REVIEWS}/selfsubjectaccessreviews", asked, token=tenant)[0] == 201
        assert "items" not in daemon.read(f"/apis/{group}/v1/{resource}", "application/json", token=tenant)
    for accept in ("application/json", TABLE, YAML):
        assert "wide" in daemon.read(f"{ROLES}/rolebindings", accept, token=tenant)
    status, answer = daemon.ask("POST", f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": "team"}}, token=tenant)
    assert status == 201, answer
    assert daemon.ask("GET", f"{SPACE}/configmaps", token=STRANGER)[0] in REFUSED
    # Whoever grants rights must have them, each of them.
    status, answer = daemon.ask("POST", f"{ROLES}/roles", {"metadata": {"name": "again"}, "rules": rules(5000)}, token=tenant)
    assert status in (201, 403), answer
    author = daemon.account("author", rule(["create", "update", "patch"], ["clusterroles"], "rbac.authorization.k8s.io"), role="wide")
    for number, count in enumerate((5000, 10_000)):
        status, answer = daemon.ask("POST", f"{RBAC}/clusterroles", token=author, body={
            "metadata": {"name": f"copy{number}"}, "rules": rules(count)})
        assert status in (201, 403), answer


def test_roles_that_are_made_of_many(daemon, tenant):
    for number in range(60):
        daemon.must("POST", f"{RBAC}/clusterroles", {"metadata": {"name": f"part{number}", "labels": {"part": "true"}},
                                                     "rules": rules(300, f"of{number}-")})
    daemon.must("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "whole"}, "rules": [], "aggregationRule": {
        "clusterRoleSelectors": [{"matchLabels": {"part": "true"}}]}})
    daemon.wait_for(f"{RBAC}/clusterroles/whole", lambda found: len(found.get("rules") or []) == 18_000)
    daemon.must("PATCH", f"{RBAC}/clusterroles/part1", {"metadata": {"labels": {"part": "no"}}}, content_type=MERGE)
    daemon.wait_for(f"{RBAC}/clusterroles/whole", lambda found: len(found.get("rules") or []) == 17_700)
    daemon.must("POST", f"{ROLES}/rolebindings", bound("whole", [{
        "kind": "ServiceAccount", "name": "tenant", "namespace": "default"}], "whole", "ClusterRole"))
    assert daemon.ask("GET", f"{SPACE}/configmaps", token=tenant)[0] == 200
    daemon.must("POST", f"{RBAC}/clusterrolebindings", bound("many", subjects(20_000), "view", "ClusterRole"))
    for _ in range(3):
        assert daemon.ask("GET", "/api/v1/namespaces/default/configmaps", token=tenant)[0] == 403


def owner(number, **more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": f"o{number}", "uid": f"u{number}", **more}


def test_objects_with_a_thousand_owners(daemon, tenant):
    owners = [owner(i) for i in range(1000)]
    for number in range(5):
        status, answer = daemon.ask("POST", PODS, token=tenant, body={
            "metadata": {"name": f"owned{number}", "ownerReferences": owners}, "spec": pod("x", "true", **GATED)["spec"]})
        assert status == 201, answer
        assert daemon.ask("POST", f"{SPACE}/configmaps", {"metadata": {"name": "m", "ownerReferences": owners}},
                          token=STRANGER)[0] in REFUSED
    # Owners that do not exist are looked for, each of them, before such an object ends.
    daemon.wait_for(f"{PODS}?limit=1", lambda found: not found["items"])
    blocking = [owner(i, blockOwnerDeletion=True) for i in range(1000)]
    status, answer = daemon.ask("POST", f"{SPACE}/configmaps", {"metadata": {"name": "m", "ownerReferences": blocking}}, token=tenant)
    assert status in (201, 403, 422), answer
    for way in ("Foreground", "Background", "Orphan"):
        made = daemon.must("POST", f"{SPACE}/configmaps", {"metadata": {"name": "owner"}})
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": made["metadata"]["uid"],
                     "blockOwnerDeletion": True}
        daemon.create_all(f"{SPACE}/configmaps", ({"metadata": {"name": f"{way.lower()}{number}", "ownerReferences": [reference]}}
                                                  for number in range(500)))
        status, answer = daemon.ask("DELETE", f"{SPACE}/configmaps/owner?propagationPolicy={way}", token=tenant)
        assert status == 200, answer
        daemon.wait_until_gone(f"{SPACE}/configmaps/owner")


def test_requests_of_strangers(daemon, tenant):
    """Whatever they send costs little, as nothing of it is read before it is known who sends it."""
    body = pod("w", "true", container={"env": named(80_000, value="v")})
    long = ",".join(f"k{i}!=v" for i in range(4000))
    for method, path in (("POST", PODS), ("PUT", f"{PODS}/w"), ("PATCH", f"{PODS}/w"), ("DELETE", PODS), ("POST", JOBS),
                         ("GET", f"{PODS}?labelSelector={long[:30_000]}"), ("GET", "/openapi/v2"), ("GET", "/metrics"),
                         ("POST", f"{REVIEWS}/selfsubjectaccessreviews"), ("GET", "/" + "a/" * 8000)):
        status, answer = daemon.ask(method, path, None if method == "GET" else body, token=STRANGER)
        assert 400 <= status < 500, (method, path, answer)
        status, answer = daemon.ask(method, path, None if method == "GET" else body, token=tenant[:-2] + "xx")
        assert status in (400, 401, 413, 414, 431), (method, path, answer)


def test_policies_with_many_parameters_and_dear_expressions(daemon, tenant):
    """An administrator has bound a policy to all ConfigMaps of a tenant, who makes hundreds."""
    numbers = f"[{', '.join(map(str, range(60)))}]"
    admission = "/apis/admissionregistration.k8s.io/v1"
    daemon.must("POST", f"{admission}/validatingadmissionpolicies", {"metadata": {"name": "dear"}, "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]}]},
        "validations": [{"expression": f"{numbers}.all(a, {numbers}.all(b, a + b < 1000)) && has(params.metadata.name)"}]}})
    daemon.must("POST", f"{admission}/validatingadmissionpolicybindings", {"metadata": {"name": "dear"}, "spec": {
        "policyName": "dear", "validationActions": ["Deny"], "paramRef": {"selector": {}, "parameterNotFoundAction": "Deny"}}})
    for number in range(300):
        daemon.must("POST", f"{SPACE}/configmaps", {"metadata": {"name": f"m{number}"}}, token=tenant)
    status, answer = daemon.ask("POST", f"{SPACE}/secrets", {"metadata": {"name": "s"}}, token=tenant)
    assert status == 201, answer
    expect_short_holds(daemon, "parameters")
