"""Who may do what with a `muster up`: roles, reviews and service accounts, through kubectl."""

import base64
import json

import pytest

from test_up import Up, needs_kubectl

pytestmark = needs_kubectl


@pytest.fixture
def up(tmp_path):
    made = Up(tmp_path)
    made.start()
    yield made
    made.down("--kill")


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def with_token(up, token, *args):
    """kubectl with nothing but this token: no credential of the admin is there."""
    return up.kubectl("--kubeconfig", "/dev/null", "--server", up.address(), "--certificate-authority",
                      str(up.state / "ca.crt"), "--token", token, *args, check=False)


def test_a_role_is_what_its_holder_may_do(up):
    up.kubectl("create", "role", "reader", "--verb=get,list", "--resource=pods")
    up.kubectl("create", "rolebinding", "readers", "--role=reader", "--user=bob")
    assert "No resources found" in up.kubectl("get", "pods", "--as=bob").stderr
    refused = up.kubectl("get", "secrets", "--as=bob", check=False)
    assert refused.returncode == 1
    assert ('secrets is forbidden: User "bob" cannot list resource "secrets" in API group "" in the namespace '
            '"default"') in refused.stderr
    assert up.kubectl("auth", "can-i", "list", "pods", "--as=bob").stdout.strip() == "yes"
    denied = up.kubectl("auth", "can-i", "create", "pods", "--as=bob", check=False)
    assert denied.returncode == 1 and denied.stdout.strip().startswith("no")
    assert "pods" in up.kubectl("auth", "can-i", "--list", "--as=bob").stdout
    up.kubectl("delete", "rolebinding", "readers")
    assert up.kubectl("get", "pods", "--as=bob", check=False).returncode == 1
    who = up.kubectl("auth", "whoami", "--as=ann", "--as-group=dev", "-o", "json").stdout
    assert json.loads(who)["status"]["userInfo"]["groups"] == ["dev", "system:authenticated"]


def test_the_roles_that_every_cluster_has(up):
    roles = up.kubectl("get", "clusterroles", "-o", "name").stdout
    for name in ("cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user"):
        assert f"clusterrole.rbac.authorization.k8s.io/{name}\n" in roles
    up.kubectl("create", "rolebinding", "b", "--clusterrole=edit", "--user=eve")
    up.kubectl("create", "configmap", "a", "--as=eve")
    assert up.kubectl("auth", "can-i", "create", "pytorchjobs.kubeflow.org", "--as=eve").stdout.strip() == "yes"
    up.kubectl("create", "rolebinding", "v", "--clusterrole=view", "--user=vic")
    assert up.kubectl("auth", "can-i", "list", "pytorchjobs.kubeflow.org", "--as=vic").stdout.strip() == "yes"
    assert up.kubectl("auth", "can-i", "create", "pytorchjobs.kubeflow.org", "--as=vic", check=False).returncode == 1
    for wanted in (["create", "clusterrolebinding", "x", "--clusterrole=cluster-admin", "--user=eve"],
                   ["create", "rolebinding", "x", "--clusterrole=admin", "--user=eve"],
                   ["create", "namespace", "x"], ["get", "nodes"]):
        refused = up.kubectl(*wanted, "--as=eve", check=False)
        assert refused.returncode == 1 and "forbidden" in refused.stderr, refused
    up.kubectl("create", "rolebinding", "o", "--clusterrole=admin", "--user=olga")
    up.kubectl("create", "role", "r", "--verb=get", "--resource=pods", "--as=olga")
    more = up.kubectl("create", "role", "s", "--verb=get", "--resource=nodes", "--as=olga", check=False)
    assert "is attempting to grant RBAC permissions not currently held" in more.stderr


def test_what_was_taken_from_a_default_role_is_back_after_a_start(up):
    up.kubectl("delete", "clusterrole", "system:basic-user")
    up.kubectl("patch", "clusterrole", "system:discovery", "--type=merge", "-p", '{"rules":[]}')
    up.kubectl("patch", "clusterrole", "system:monitoring", "--type=merge", "-p", json.dumps(
        {"metadata": {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}, "rules": []}))
    up.kill()
    up.start()
    up.kubectl("get", "clusterrole", "system:basic-user")
    for name, expected in (("system:discovery", True), ("system:monitoring", False)):
        assert bool(json.loads(up.kubectl("get", "clusterrole", name, "-o", "json").stdout)["rules"]) == expected


def test_a_token_is_its_account_until_that_is_gone(up):
    up.kubectl("create", "serviceaccount", "robot")
    token = up.kubectl("create", "token", "robot", "--duration=1h").stdout.strip()
    said = claims(token)
    assert said["sub"] == "system:serviceaccount:default:robot" and said["exp"] - said["iat"] == 3600
    who = json.loads(with_token(up, token, "auth", "whoami", "-o", "json").stdout)["status"]["userInfo"]
    assert who["username"] == "system:serviceaccount:default:robot"
    assert "system:serviceaccounts:default" in who["groups"]
    assert 'User "system:serviceaccount:default:robot" cannot list' in with_token(up, token, "get", "pods").stderr
    up.kubectl("create", "rolebinding", "r", "--clusterrole=view", "--serviceaccount=default:robot")
    assert with_token(up, token, "get", "pods").returncode == 0
    assert with_token(up, token, "get", "secrets").returncode == 1
    up.kill()
    up.start()
    assert with_token(up, token, "get", "pods").returncode == 0, "the key is kept"
    up.kubectl("delete", "serviceaccount", "robot")
    assert up.get("/api/v1/namespaces/default/pods", token=token)[0] == 401
    up.kubectl("create", "serviceaccount", "robot")
    assert up.get("/api/v1/namespaces/default/pods", token=token)[0] == 401


def test_tokens_of_another_key_and_of_nobody(up):
    token = up.kubectl("create", "token", "default").stdout.strip()
    assert up.get("/version", token=token)[0] == 200
    header, body, signature = token.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    for wrong in (f"{none}.{body}.", f"{none}.{body}.{signature}", f"{header}.{body}.{signature[::-1]}"):
        assert up.get("/version", token=wrong)[0] == 401, wrong
    up.down()
    (up.state / "sa.key").unlink()
    up.start()
    assert up.get("/version", token=token)[0] == 401


def test_namespaces_have_an_account_and_the_trust_of_the_server(up):
    up.kubectl("create", "namespace", "a")
    up.kubectl("wait", "--for=create", "serviceaccount/default", "-n", "a", "--timeout=30s")
    up.kubectl("wait", "--for=create", "configmap/kube-root-ca.crt", "-n", "a", "--timeout=30s")
    trust = json.loads(up.kubectl("get", "configmap", "kube-root-ca.crt", "-n", "a", "-o", "json").stdout)
    assert trust["data"]["ca.crt"] == (up.state / "ca.crt").read_text()
    up.kubectl("delete", "namespace", "a", "--timeout=30s")


def test_what_is_published_checks_a_token(up):
    token = up.kubectl("create", "token", "default", "--audience=vault").stdout.strip()
    assert claims(token)["aud"] == ["vault"]
    assert up.get("/version", token=token)[0] == 401, "it is not for this server"
    keys = json.loads(up.kubectl("get", "--raw", "/openid/v1/jwks").stdout)["keys"]
    header = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))
    assert [key["kid"] for key in keys] == [header["kid"]] and keys[0]["alg"] == header["alg"]
    issuer = json.loads(up.kubectl("get", "--raw", "/.well-known/openid-configuration").stdout)["issuer"]
    assert issuer == claims(token)["iss"]
