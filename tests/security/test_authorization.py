"""Those who have few rights try to get more, with tokens of their own against a real daemon."""

import pytest

from attacked import MERGE, PODS, RBAC, Daemon, pod, rule

SECRETS = "/api/v1/namespaces/default/secrets"
VIEW = "rbac.authorization.k8s.io/aggregate-to-view"
WAYS = [("PATCH", MERGE, ""), ("PATCH", "application/strategic-merge-patch+json", ""),
        ("PATCH", "application/apply-patch+yaml", "?fieldManager=me&force=true"), ("PUT", "application/json", "")]


@pytest.fixture
def daemon(tmp_path):
    made = Daemon(tmp_path)
    made.up()
    yield made
    made.down("--kill", check=False)


def test_no_label_of_a_role_raises_who_has_the_role(daemon):
    token = daemon.account("labeller", rule(["get", "update", "patch"], ["clusterroles"], "rbac.authorization.k8s.io"),
                           role="view")
    admin = daemon.must("GET", f"{RBAC}/clusterroles/cluster-admin")
    admin["metadata"].pop("managedFields", None)
    admin["metadata"].pop("resourceVersion")
    admin["metadata"].setdefault("labels", {})[VIEW] = "true"
    for method, kind, query in WAYS:
        status, answer = daemon.ask(method, f"{RBAC}/clusterroles/cluster-admin{query}", admin, token=token,
                                    content_type=kind)
        assert status == 403 and "not currently held" in answer["message"], (method, kind, answer)
    status, answer = daemon.ask(
        "PATCH", f"{RBAC}/clusterroles/cluster-admin", token=token, content_type="application/json-patch+json",
        body=[{"op": "add", "path": "/metadata/labels/" + VIEW.replace("/", "~1"), "value": "true"}])
    assert status == 403, answer
    status, answer = daemon.ask("PATCH", f"{RBAC}/clusterroles/view", {"aggregationRule": None}, token=token,
                                content_type=MERGE)
    assert status == 403 and "aggregationRule" in answer["message"], answer
    assert daemon.ask("GET", SECRETS, token=token)[0] == 403


def test_nobody_joins_a_binding_or_binds_more_than_they_have(daemon):
    token = daemon.account("joiner", rule(["create", "get", "update", "patch", "delete"],
                                          ["rolebindings", "clusterrolebindings"], "rbac.authorization.k8s.io"))
    me = [{"kind": "ServiceAccount", "name": "joiner", "namespace": "default"}]
    admin = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    for path in (f"{RBAC}/clusterrolebindings", f"{RBAC}/namespaces/default/rolebindings"):
        status, answer = daemon.ask("POST", path, {"metadata": {"name": "mine"}, "roleRef": admin, "subjects": me},
                                    token=token)
        assert status == 403, answer
        daemon.must("POST", path, {"metadata": {"name": "theirs"}, "roleRef": admin, "subjects": []})
        for method, kind, query in WAYS:
            body = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "theirs"}, "roleRef": admin,
                    "kind": "ClusterRoleBinding" if "cluster" in path else "RoleBinding", "subjects": me}
            status, answer = daemon.ask(method, f"{path}/theirs{query}", body, token=token, content_type=kind)
            assert status == 403, (method, kind, answer)
    assert daemon.ask("GET", SECRETS, token=token)[0] == 403


def test_accounts_tokens_and_nodes_are_rights_of_their_own(daemon):
    token = daemon.account("maker", rule(["create", "get", "update", "patch"], ["serviceaccounts", "configmaps"]))
    status, answer = daemon.ask("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}},
                                token=token)
    assert status == 403 and "serviceaccounts/token" in answer["message"], answer
    daemon.must("POST", PODS, {**pod("gated", "true"), "spec": {**pod("gated", "true")["spec"],
                                                               "schedulingGates": [{"name": "a.b/c"}]}})
    status, answer = daemon.ask("POST", f"{PODS}/gated/binding", {"target": {"kind": "Node", "name": "x"}}, token=token)
    assert status == 403, answer
    # What has an owner goes with it, so who may not delete may not say who owns it.
    daemon.must("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "theirs"}})
    gone = {"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "00000000-0000-0000-0000-000000000001"}
    status, answer = daemon.ask("PATCH", "/api/v1/namespaces/default/configmaps/theirs",
                                {"metadata": {"ownerReferences": [gone]}}, token=token, content_type=MERGE)
    assert status == 403 and "ownerRef" in answer["message"], answer
    held = daemon.must("GET", f"{PODS}/gated")
    blocking = {"apiVersion": "v1", "kind": "Pod", "name": "gated", "uid": held["metadata"]["uid"],
                "blockOwnerDeletion": True}
    status, answer = daemon.ask("POST", "/api/v1/namespaces/default/configmaps",
                                {"metadata": {"name": "blocks", "ownerReferences": [blocking]}}, token=token)
    assert status == 403 and "blockOwnerDeletion" in answer["message"], answer


def test_a_role_that_stands_for_a_million_things_is_refused_at_once(daemon):
    token = daemon.account("wide", rule(["create"], ["clusterroles"], "rbac.authorization.k8s.io"))
    names = [f"n{i}" for i in range(100)]
    status, answer = daemon.ask("POST", f"{RBAC}/clusterroles", token=token, body={
        "metadata": {"name": "wide"}, "rules": [{"verbs": names, "apiGroups": names, "resources": names}]})
    assert status == 403 and "not currently held" in answer["message"]
    assert len(answer["message"]) < 200_000
