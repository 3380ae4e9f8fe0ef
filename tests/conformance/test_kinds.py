"""The built-in kinds beside pods: deployments, jobs, claims, ingresses and the like. Those that a server has no controllers for
are stored, and it says so to whoever makes one."""

import json

import pytest

from test_clients import kubectl  # noqa: F401

SPEC = {"containers": [{"name": "c", "image": "busybox:1"}]}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": SPEC}
ONCE = {"spec": {**SPEC, "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"app": "a"}}
# The kinds that a muster has controllers for.
ATTENDED = {"apps/v1 Deployment", "batch/v1 CronJob", "batch/v1 Job"}


@pytest.fixture(scope="session")
def ours(api):
    """Whether this is a muster, which has controllers for some of these kinds only."""
    return "muster_" in api.get("/metrics").text


@pytest.fixture
def warns(ours):
    """Checks what a server says beside an answer to a creation."""
    def check(text, kind):
        said = f"{kind} is stored, but this server has no controller for it"
        lacks = ours and kind not in ATTENDED
        assert (said in text and "unless a controller of yours acts on it" in text) == lacks, text
    return check


def deployment(**spec):
    # No pods are wanted of it: there may be something that would make them.
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {"replicas": 0, "selector": SELECTOR, "template": TEMPLATE, **spec}}


# Kubectl sends all of these as protobuf.
@pytest.mark.parametrize("words, resource, kind", [
    (("deployment", "x", "--image=busybox:1", "--replicas=0"), "deployments.apps", "apps/v1 Deployment"),
    (("job", "x", "--image=busybox:1"), "jobs.batch", "batch/v1 Job"),
    (("cronjob", "x", "--image=busybox:1", "--schedule=0 0 1 1 *"), "cronjobs.batch", "batch/v1 CronJob"),
    (("quota", "x", "--hard=cpu=100,pods=100"), "resourcequotas", None),
    (("ingress", "x", "--rule=a.example/*=s:80"), "ingresses.networking.k8s.io", "networking.k8s.io/v1 Ingress"),
])
def test_kubectl_creates_and_shows(kubectl, warns, words, resource, kind):  # noqa: F811
    made = kubectl("create", *words)
    assert " created" in made.stdout
    if kind:
        warns(made.stderr, kind)
    else:
        assert "is stored, but" not in made.stderr
    assert "x" in kubectl("get", resource).stdout.splitlines()[1]
    assert "Name:" in kubectl("describe", resource, "x").stdout
    assert " deleted" in kubectl("delete", resource, "x").stdout


def test_kubectl_creates_a_priority_class(kubectl, namespace):  # noqa: F811
    made = kubectl("create", "priorityclass", namespace, "--value=5")
    try:
        assert not made.stderr
        shown = json.loads(kubectl("get", "pc", namespace, "-o", "json").stdout)
        assert shown["value"] == 5 and shown["preemptionPolicy"] == "PreemptLowerPriority"
        assert "Value:" in kubectl("describe", "pc", namespace).stdout
    finally:
        kubectl("delete", "pc", namespace)


def test_kubectl_scales_and_looks_after_a_deployment(kubectl):  # noqa: F811
    kubectl("create", "-f", "-", stdin=deployment())
    assert "scaled" in kubectl("scale", "deployment", "d", "--replicas=0", "--current-replicas=0").stdout
    assert "restarted" in kubectl("rollout", "restart", "deployment", "d").stdout
    assert "updated" in kubectl("set", "image", "deployment/d", "c=busybox:2").stdout
    wide = kubectl("get", "deploy", "d", "-o", "wide").stdout.splitlines()
    assert wide[0].split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"]
    assert wide[1].split()[:4] == ["d", "0/0", "0", "0"] and wide[1].split()[-3:] == ["c", "busybox:2", "app=a"]
    assert "deployment.apps/d" in kubectl("get", "all").stdout
    made = kubectl("autoscale", "deployment", "d", "--min=1", "--max=3", "--cpu-percent=50")
    assert "autoscaled" in made.stdout
    scaler = json.loads(kubectl("get", "horizontalpodautoscalers.v2.autoscaling", "d", "-o", "json").stdout)
    assert scaler["spec"]["metrics"] == [{"type": "Resource", "resource": {
        "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]
    old = json.loads(kubectl("get", "horizontalpodautoscalers.v1.autoscaling", "d", "-o", "json").stdout)
    assert old["spec"]["targetCPUUtilizationPercentage"] == 50 and "metrics" not in old["spec"]
    assert "Deployment/d" in kubectl("get", "hpa", "d").stdout
    assert "Max replicas:" in kubectl("describe", "hpa", "d").stdout
    waited = kubectl("rollout", "status", "deployment", "d", "--timeout=60s")
    assert "successfully rolled out" in waited.stdout, waited


def test_apply_prunes_what_its_default_list_has(kubectl):  # noqa: F811
    labelled = {"metadata": {"name": "d", "labels": {"of": "us"}}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"of": "us"}}}
    both = {"apiVersion": "v1", "kind": "List", "items": [{**deployment(), **labelled}, config]}
    applied = kubectl("apply", "--prune", "-l", "of=us", "-f", "-", stdin=both)
    assert "deployment.apps/d created" in applied.stdout and "configmap/c created" in applied.stdout
    pruned = kubectl("apply", "--prune", "-l", "of=us", "-f", "-", stdin=config)
    assert "deployment.apps/d pruned" in pruned.stdout and "configmap/c unchanged" in pruned.stdout


def test_strict_validation_and_explain(kubectl):  # noqa: F811
    refused = kubectl("create", "-f", "-", stdin=deployment(replica=1), check=False)
    assert refused.returncode == 1 and 'unknown field "spec.replica"' in refused.stderr, refused
    for field in ("deployment.spec.template.spec.containers", "job.spec.backoffLimit", "cronjob.spec.schedule",
                  "hpa.spec.metrics", "ingress.spec.rules", "networkpolicy.spec", "pvc.spec.resources",
                  "pv.spec", "storageclass.provisioner", "endpointslice.endpoints", "sts.spec.volumeClaimTemplates"):
        assert "FIELD" in kubectl("explain", field).stdout, field


def test_defaults_that_clients_read(api, namespace):
    made = api.post(f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment()).json
    assert made["spec"]["revisionHistoryLimit"] == 10 and made["spec"]["progressDeadlineSeconds"] == 600
    assert made["spec"]["strategy"] == {"type": "RollingUpdate",
                                        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
    pod = made["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Always" and pod["terminationGracePeriodSeconds"] == 30
    assert pod["containers"][0]["imagePullPolicy"] == "IfNotPresent" and "serviceAccountName" not in pod
    assert made["metadata"]["generation"] == 1 and made["status"] == {}
    jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    job = api.post(jobs, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": ONCE}}).json
    assert {key: job["spec"][key] for key in ("backoffLimit", "completions", "parallelism", "completionMode")} == {
        "backoffLimit": 6, "completions": 1, "parallelism": 1, "completionMode": "NonIndexed"}
    uid = job["metadata"]["uid"]
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert job["spec"]["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "j", "controller-uid": uid,
        "job-name": "j"}


@pytest.mark.parametrize("group, plural, spec, field", [
    ("apps/v1", "deployments", {"template": TEMPLATE}, "spec.selector"),
    ("apps/v1", "deployments", {"selector": SELECTOR}, "spec.template.spec.containers"),
    ("apps/v1", "deployments", {"selector": {"matchLabels": {"app": "b"}}, "template": TEMPLATE},
     "spec.template.metadata.labels"),
    ("apps/v1", "statefulsets", {"selector": {}, "template": TEMPLATE}, "spec.selector"),
    ("apps/v1", "daemonsets", {"selector": SELECTOR, "template": {**TEMPLATE, "spec": ONCE["spec"]}},
     "spec.template.spec.restartPolicy"),
    ("batch/v1", "jobs", {"template": TEMPLATE}, "spec.template.spec.restartPolicy"),
    ("batch/v1", "jobs", {"template": ONCE, "selector": SELECTOR}, "spec.selector"),
    ("batch/v1", "cronjobs", {"schedule": "* * *", "jobTemplate": {"spec": {"template": ONCE}}}, "spec.schedule"),
    ("networking.k8s.io/v1", "ingresses", {}, "spec"),
    ("autoscaling/v2", "horizontalpodautoscalers",
     {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 1, "minReplicas": 2}, "spec.maxReplicas"),
])
def test_common_slips_are_refused(api, namespace, group, plural, spec, field):
    refused = api.post(f"/apis/{group}/namespaces/{namespace}/{plural}", {"metadata": {"name": "x"}, "spec": spec})
    assert refused.status == 422, refused
    assert field in [cause["field"] for cause in refused.json["details"]["causes"]], refused


def test_a_selector_can_not_be_changed(api, namespace):
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    api.post(path, deployment())
    other = {"app": "b"}
    refused = api.patch(path + "/d", [{"op": "replace", "path": "/spec/selector/matchLabels", "value": other},
                                      {"op": "replace", "path": "/spec/template/metadata/labels", "value": other}], "json")
    assert refused.status == 422 and refused.json["details"]["causes"][0]["field"] == "spec.selector", refused


def test_a_namespace_takes_them_along(api, namespace):
    for path, body in (("/apis/apps/v1/namespaces/{}/deployments", deployment()),
                       ("/api/v1/namespaces/{}/persistentvolumeclaims",
                        {"metadata": {"name": "p"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                                             "resources": {"requests": {"storage": "1Gi"}}}})):
        assert api.post(path.format(namespace), body).status == 201
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    watch = api.watch(f"{deployments}?watch=1&resourceVersion={api.get(deployments).json['metadata']['resourceVersion']}")
    assert api.delete(f"/api/v1/namespaces/{namespace}").status == 200
    watch.until(lambda event: event["type"] == "DELETED")
    watch.close()
