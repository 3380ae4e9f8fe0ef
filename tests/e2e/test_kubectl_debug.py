"""`kubectl debug`: containers that are added to a pod while it runs."""

import json

from test_up import needs_kubectl, up  # noqa: F401 (a fixture)

pytestmark = needs_kubectl

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
       "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "volumes": [{"name": "v", "emptyDir": {}}],
                "containers": [{"name": "main", "image": "x", "command": ["sh", "-c", "echo kept > /v/file; exec sleep 1000"],
                                "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}


def running(up):  # noqa: F811
    up.start()
    up.kubectl("create", "-f", "-", stdin=json.dumps(POD))
    up.kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=30s")


def statuses(up):  # noqa: F811
    return json.loads(up.kubectl("get", "pod", "p", "-o", "json").stdout)["status"]["ephemeralContainerStatuses"]


def until_ended(up, name):  # noqa: F811
    up.kubectl("wait", "pod/p", "--timeout=30s",
               f'--for=jsonpath={{.status.ephemeralContainerStatuses[?(@.name=="{name}")].state.terminated.exitCode}}')


def test_a_command_sees_the_processes_of_the_pod(up):  # noqa: F811
    running(up)
    up.kubectl("debug", "p", "--image=busybox", "--profile=general", "-c", "look", "--target=main", "--", "ps", "-eo", "args")
    until_ended(up, "look")
    assert "sleep 1000" in up.kubectl("logs", "p", "-c", "look").stdout
    assert "sleep 1000" in up.muster("logs", "pod/p", "-c", "look", "--kubeconfig", str(up.kubeconfig)).stdout
    pod = json.loads(up.kubectl("get", "pod", "p", "-o", "json").stdout)
    assert pod["status"]["phase"] == "Running"
    assert all(c["status"] == "True" for c in pod["status"]["conditions"])


def test_without_a_command_it_is_a_shell_that_reads_what_is_typed(up):  # noqa: F811
    running(up)
    shown = up.kubectl("debug", "p", "--image=busybox", "--profile=general", "-c", "shell", "-i", stdin="echo $((40+2)); exit 7\n")
    assert "42" in shown.stdout
    until_ended(up, "shell")
    state = statuses(up)[0]
    assert (state["state"]["terminated"]["exitCode"], state["restartCount"]) == (7, 0)


def test_one_outlives_the_daemon_and_can_be_entered(up):  # noqa: F811
    running(up)
    patch = {"spec": {"ephemeralContainers": [{"name": "stays", "image": "x", "command": ["sleep", "1000"],
                                               "volumeMounts": [{"name": "v", "mountPath": "/mnt/v"}]}]}}
    up.kubectl("patch", "pod", "p", "--subresource=ephemeralcontainers", "-p", json.dumps(patch))
    up.kubectl("wait", "pod/p", "--timeout=30s", "--for=jsonpath={.status.ephemeralContainerStatuses[0].state.running}")
    up.kill()
    up.start()
    assert "running" in statuses(up)[0]["state"]
    assert up.kubectl("exec", "p", "-c", "stays", "--", "cat", "/mnt/v/file").stdout == "kept\n"
    kubeconfig = ("--kubeconfig", str(up.kubeconfig))
    assert up.muster("exec", "pod/p", "-c", "stays", *kubeconfig, "--", "cat", "/mnt/v/file").stdout == "kept\n"
    assert up.kubectl("delete", "pod", "p", "--timeout=30s").returncode == 0


def test_who_may_run_pods_may_not_debug_them_without_a_right_to(up):  # noqa: F811
    running(up)
    up.kubectl("create", "serviceaccount", "ci")
    up.kubectl("create", "rolebinding", "ci", "--clusterrole=edit", "--serviceaccount=default:ci")
    refused = up.kubectl("debug", "p", "--image=busybox", "--profile=general", "--as=system:serviceaccount:default:ci", "--", "ps",
                         check=False)
    assert refused.returncode != 0 and 'cannot patch resource "pods/ephemeralcontainers"' in refused.stderr
