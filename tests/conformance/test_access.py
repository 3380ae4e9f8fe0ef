"""Roles, impersonation, reviews, and the tokens of service accounts."""

import base64
import json

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ALL = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]


def rule(verbs, *resources, groups=("",)):
    return {"verbs": verbs, "apiGroups": list(groups), "resources": list(resources)}


def until(answers):
    """The first answer that is as wished. A real server's roles reach its authorizer a moment after their write."""
    for _ in range(300):
        answer, wished = answers()
        if wished:
            return answer
    raise AssertionError(answer)


def allow(api, namespace, user, rules, name="given"):
    """Gives the user a role in the namespace, and returns once it is in force."""
    roles = f"{RBAC}/namespaces/{namespace}"
    assert api.post(roles + "/roles", {"metadata": {"name": name}, "rules": rules}).status == 201
    assert api.post(roles + "/rolebindings", {
        "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]}).status == 201
    wanted = rules[-1]
    attributes = {"namespace": namespace, "verb": wanted["verbs"][-1], "group": wanted["apiGroups"][-1],
                  "resource": wanted["resources"][-1]}
    until(lambda: (answer := may(api, user, attributes), answer.json["status"]["allowed"]))


def may(api, user, attributes):
    return api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                    {"spec": {"resourceAttributes": attributes}}, Impersonate_User=user)


def test_a_role_is_good_in_its_namespace_alone(api, namespace):
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    refused = api.get(maps, Impersonate_User="bob")
    assert refused.status == 403 and refused.json["reason"] == "Forbidden"
    assert refused.json["message"] == (
        'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace '
        f'"{namespace}"')
    assert refused.json["details"] == {"kind": "configmaps"}
    allow(api, namespace, "bob", [rule(["get", "list"], "configmaps")])
    assert api.get(maps, Impersonate_User="bob").status == 200
    assert api.get("/api/v1/namespaces/default/configmaps", Impersonate_User="bob").status == 403
    everywhere = api.get("/api/v1/configmaps", Impersonate_User="bob")
    assert everywhere.status == 403 and everywhere.json["message"].endswith("at the cluster scope")
    for verb, answer in (("watch", api.get(maps + "?watch=1", Impersonate_User="bob")),
                         ("create", api.post(maps, {"metadata": {"name": "a"}}, Impersonate_User="bob")),
                         ("deletecollection", api.call("DELETE", maps, Impersonate_User="bob"))):
        assert answer.status == 403 and f"cannot {verb} " in answer.json["message"]
    named = api.call("DELETE", maps + "/a", Impersonate_User="bob")
    assert named.json["message"].startswith('configmaps "a" is forbidden: User "bob" cannot delete')


def test_a_name_that_is_selected_counts_as_that_object(api, namespace):
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    allow(api, namespace, "ann", [{**rule(["get", "list", "watch"], "configmaps"), "resourceNames": ["a"]},
                                  rule(["get"], "secrets")])
    assert api.get(maps + "?fieldSelector=metadata.name%3Da", Impersonate_User="ann").status == 200
    assert api.get(maps + "?fieldSelector=metadata.name%3Db", Impersonate_User="ann").status == 403
    assert api.get(maps, Impersonate_User="ann").status == 403
    assert api.get(maps + "/a", Impersonate_User="ann").status == 404
    assert api.get(maps + "/b", Impersonate_User="ann").status == 403


def test_what_a_put_or_an_apply_would_create_needs_that_right(api, namespace):
    leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
    allow(api, namespace, "ann", [rule(["update", "patch"], "leases", groups=["coordination.k8s.io"])])
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": {}}
    put = api.call("PUT", leases + "/a", lease, Impersonate_User="ann")
    applied = api.call("PATCH", leases + "/a?fieldManager=x", lease, Impersonate_User="ann",
                       Content_Type="application/apply-patch+yaml")
    for answer in (put, applied):
        assert answer.status == 403, answer
    assert api.get(leases + "/a").status == 404


def test_nobody_gives_what_they_do_not_have(api, namespace):
    roles = f"{RBAC}/namespaces/{namespace}"
    allow(api, namespace, "ann", [rule(["get"], "pods"), rule(
        ["create", "update", "patch"], "roles", "rolebindings", groups=["rbac.authorization.k8s.io"])])
    made = api.post(roles + "/roles", {"metadata": {"name": "same"}, "rules": [rule(["get"], "pods")]},
                    Impersonate_User="ann")
    assert made.status == 201
    more = api.post(roles + "/roles", {"metadata": {"name": "more"}, "rules": [rule(["get", "list"], "pods")]},
                    Impersonate_User="ann")
    assert more.status == 403
    assert more.json["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting '
        'to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}')
    changed = api.call("PATCH", roles + "/roles/same", {"rules": ALL}, Impersonate_User="ann",
                       Content_Type="application/merge-patch+json")
    assert changed.status == 403 and "not currently held" in changed.json["message"]
    bound = api.post(roles + "/rolebindings", {
        "metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "ann"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}},
        Impersonate_User="ann")
    assert bound.status == 403 and "not currently held" in bound.json["message"]


def test_roles_and_bindings_are_checked(api, namespace):
    roles = f"{RBAC}/namespaces/{namespace}"
    for where, body, field in (
            ("/roles", {"rules": [{"apiGroups": [""], "resources": ["pods"]}]}, "rules[0].verbs"),
            ("/roles", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]}, "rules[0].nonResourceURLs"),
            ("/roles", {"rules": [{"verbs": ["get"], "apiGroups": [""]}]}, "rules[0].resources"),
            ("/rolebindings", {"roleRef": {"kind": "Robot", "name": "x"}}, "roleRef.kind"),
            ("/rolebindings", {"roleRef": {"kind": "Role", "name": "x"}, "subjects": [{"kind": "Robot", "name": "x"}]},
             "subjects[0].kind")):
        refused = api.post(roles + where, {"metadata": {"name": "x"}, **body})
        assert refused.status == 422 and [c["field"] for c in refused.json["details"]["causes"]] == [field], refused
    made = api.post(roles + "/rolebindings", {
        "metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "x"}, "subjects": [{"kind": "Group", "name": "g"}]})
    assert made.json["roleRef"]["apiGroup"] == made.json["subjects"][0]["apiGroup"] == "rbac.authorization.k8s.io"
    changed = api.patch(roles + "/rolebindings/b", {"roleRef": {"name": "y"}})
    assert changed.status == 422 and changed.json["message"].endswith("cannot change roleRef")


def test_reviews(api, namespace):
    me = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, Impersonate_User="bob", Impersonate_Uid="7")
    assert me.status == 201
    assert me.json["status"]["userInfo"] == {"username": "bob", "uid": "7", "groups": ["system:authenticated"]}
    allow(api, namespace, "bob", [rule(["get"], "pods/log")], name="logs")
    attributes = {"namespace": namespace, "verb": "get", "resource": "pods", "subresource": "log"}
    yes = may(api, "bob", attributes)
    assert yes.status == 201 and yes.json["status"]["allowed"] is True
    assert yes.json["status"]["reason"] == (
        f'RBAC: allowed by RoleBinding "logs/{namespace}" of Role "logs" to User "bob"')
    assert may(api, "bob", {**attributes, "subresource": ""}).json["status"]["allowed"] is False
    other = api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                     {"spec": {"user": "bob", "resourceAttributes": attributes}})
    assert other.status == 201 and other.json["status"]["allowed"] is True
    assert api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {"user": "bob"}},
                    Impersonate_User="bob").status == 403
    rules = api.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": namespace}},
                     Impersonate_User="bob").json["status"]
    assert {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]} in rules["resourceRules"]


def test_a_token_is_its_service_account(api, namespace):
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    uid = api.post(accounts, {"metadata": {"name": "robot"}}).json["metadata"]["uid"]
    answer = api.post(accounts + "/robot/token", {"spec": {"expirationSeconds": 600}})
    assert answer.status == 201 and answer.json["status"]["expirationTimestamp"].endswith("Z")
    token = answer.json["status"]["token"]
    part = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    assert claims["sub"] == f"system:serviceaccount:{namespace}:robot" and claims["exp"] - claims["iat"] == 600
    assert claims["kubernetes.io"]["serviceaccount"] == {"name": "robot", "uid": uid}

    def who(text):
        return api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, Authorization="Bearer " + text)

    user = until(lambda: (me := who(token), me.status == 201)).json["status"]["userInfo"]
    assert user["username"] == f"system:serviceaccount:{namespace}:robot" and user["uid"] == uid
    assert user["groups"] == ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    review = api.post("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": token}}).json["status"]
    assert review["authenticated"] is True and review["user"]["uid"] == uid
    assert who(token[:-4] + "AAAA").status == 401
    for spec, status in (({"expirationSeconds": 599}, 422),
                         ({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "none"}}, 404),
                         ({"boundObjectRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}}, 400)):
        assert api.post(accounts + "/robot/token", {"spec": spec}).status == status, spec
    elsewhere = api.post(accounts + "/robot/token", {"spec": {"audiences": ["vault"]}}).json["status"]["token"]
    assert who(elsewhere).status == 401
    # That it ends with its account a real server notices within ten seconds: tests/e2e/test_access.py asks ours.
