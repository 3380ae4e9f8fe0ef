"""`muster up --secret` and `--config`: what pods get of a Secret or a ConfigMap that does not exist."""

import json

from test_up import needs_kubectl, up  # noqa: F401 (a fixture)

pytestmark = needs_kubectl


def pod(name, namespace="default"):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": {
        "restartPolicy": "Never", "volumes": [{"name": "c", "configMap": {"name": "settings"}}],
        "containers": [{"name": "main", "image": "x", "command": ["sh", "-c", "echo $TOKEN; cat /etc/settings/*"],
                        "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}],
                        "volumeMounts": [{"name": "c", "mountPath": "/etc/settings"}]}]}}


def output(up, name, namespace="default"):  # noqa: F811
    up.kubectl("create", "-f", "-", stdin=json.dumps(pod(name, namespace)))
    up.kubectl("wait", "-n", namespace, "--for=jsonpath={.status.phase}=Succeeded", f"pod/{name}", "--timeout=30s")
    return up.kubectl("logs", "-n", namespace, name).stdout


def test_pods_get_what_does_not_exist_and_no_one_else_does(up):  # noqa: F811
    (up.directory / "hub.env").write_text("token=from-a-file\n")
    said = up.start("--secret", "hub=hub.env", "--config", "settings=a=1", "--secret", "ml/hub=token=of-ml").stdout
    assert "get from the flags what does not exist in their namespace: ConfigMap settings, Secret hub, Secret ml/hub" in said
    up.kubectl("create", "namespace", "ml")
    assert output(up, "p") == "from-a-file\n1"
    assert output(up, "p", "ml") == "of-ml\n1"
    assert up.kubectl("get", "secrets", "-A", "-o", "name").stdout == ""
    # An object goes before a flag.
    up.kubectl("create", "secret", "generic", "hub", "--from-literal=token=of-the-object")
    assert output(up, "q") == "of-the-object\n1"
    # Read anew at the next start.
    up.kubectl("delete", "secret", "hub")
    up.down()
    (up.directory / "hub.env").write_text("token=newer\n")
    up.start("--secret", "hub=hub.env", "--config", "settings=a=1")
    assert output(up, "r") == "newer\n1"


def test_what_is_wrong_is_told_before_the_start(up):  # noqa: F811
    for words, told in ((("--secret", "hub=none.env"), "--secret hub=none.env: "),
                        (("--secret", "hub=k=@-"), "standard input can be read once only"),
                        (("--config", "c=b/d=1"), "can't be a key")):
        refused = up.muster("up", "--state", str(up.state), "--listen", "127.0.0.1:0", "--detach", *words, check=False)
        assert refused.returncode == 1 and told in refused.stderr, refused
    assert "hunter2" not in up.muster("up", "--state", str(up.state), "--secret", "s=b/d=hunter2", check=False).stderr
    refused = up.muster("up", "--api-only", "--secret", "a=b=c", check=False)
    assert refused.returncode == 2 and "--secret is about pods" in refused.stderr, refused
    assert up.muster("up", "--secret", "a", check=False).returncode == 2
