"""Go clients send "", 0 and false for what they do not set: which of these count as absent, of every field with a default."""

import copy
import json

from recordings import compare, recorded

POD = {"containers": [{
    "name": "c", "image": "i", "ports": [{"containerPort": 1}], "livenessProbe": {"httpGet": {"port": 1}},
    "readinessProbe": {"grpc": {"port": 1}}, "env": [{"name": "e", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}],
    "volumes": [{"name": "a", "configMap": {"name": "x"}}, {"name": "b", "secret": {"secretName": "x"}},
                {"name": "c", "hostPath": {"path": "/x"}}, {"name": "d", "downwardAPI": {"items": []}},
                {"name": "e", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}, {"name": "f"}]}
LABELED = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
SELECTOR = {"matchLabels": {"a": "b"}}
HOOK = {"name": "a.b.c", "clientConfig": {"service": {"name": "s", "namespace": "n"}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": [
            {"operations": ["CREATE"], "apiGroups": ["x"], "apiVersions": ["v1"], "resources": ["ys"]}]}
SPACE = "/api/v1/namespaces/%s/"
KINDS = {
    "Pod": (SPACE + "pods", {"spec": POD}),
    "Service": (SPACE + "services", {"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}),
    "Secret": (SPACE + "secrets", {"data": {}}),
    "PersistentVolumeClaim": (SPACE + "persistentvolumeclaims", {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}}),
    "PersistentVolume": ("/api/v1/persistentvolumes", {"spec": {
        "capacity": {"storage": "1"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}}),
    "Endpoints": (SPACE + "endpoints", {"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 1}]}]}),
    "LimitRange": (SPACE + "limitranges", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}),
    "ReplicationController": (SPACE + "replicationcontrollers", {"spec": {"template": LABELED}}),
    "Deployment": ("/apis/apps/v1/namespaces/%s/deployments", {"spec": {"selector": SELECTOR, "template": LABELED}}),
    "ReplicaSet": ("/apis/apps/v1/namespaces/%s/replicasets", {"spec": {"selector": SELECTOR, "template": LABELED}}),
    "DaemonSet": ("/apis/apps/v1/namespaces/%s/daemonsets", {"spec": {"selector": SELECTOR, "template": LABELED}}),
    "StatefulSet": ("/apis/apps/v1/namespaces/%s/statefulsets", {"spec": {
        "serviceName": "s", "selector": SELECTOR, "template": LABELED}}),
    "Job": ("/apis/batch/v1/namespaces/%s/jobs", {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}),
    "CronJob": ("/apis/batch/v1/namespaces/%s/cronjobs", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {
        "template": {"spec": {**POD, "restartPolicy": "Never"}}}}}}),
    "HorizontalPodAutoscaler": ("/apis/autoscaling/v2/namespaces/%s/horizontalpodautoscalers", {"spec": {
        "maxReplicas": 2, "scaleTargetRef": {"kind": "D", "name": "d", "apiVersion": "apps/v1"}}}),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1/namespaces/%s/networkpolicies", {"spec": {
        "podSelector": {}, "ingress": [{"ports": [{"port": 1}]}]}}),
    "IngressClass": ("/apis/networking.k8s.io/v1/ingressclasses", {"spec": {"controller": "a.b/c"}}),
    "EndpointSlice": ("/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices", {
        "addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"port": 1}]}),
    "StorageClass": ("/apis/storage.k8s.io/v1/storageclasses", {"provisioner": "a.b/c"}),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 5}),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1/namespaces/%s/rolebindings", {
        "roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
    "ValidatingWebhookConfiguration": ("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {"webhooks": [HOOK]}),
    "MutatingWebhookConfiguration": ("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {"webhooks": [HOOK]}),
}
# What the server makes up, and what it has for other reasons than a default.
LEFT_OUT = ("metadata", "status", "kind", "apiVersion", "clusterIP", "clusterIPs", "nodeName", "serviceAccountName", "serviceAccount",
            "priority", "preemptionPolicy", "tolerations", "volumeMounts",
            # Looked at in all templates but those of StatefulSets.
            "expirationSeconds")


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in LEFT_OUT:
                yield from leaves(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from leaves(each, (*path, index))
    else:
        yield path, value


def at(value, path):
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError):
            return None
    return value


def with_value(document, path, value):
    changed = copy.deepcopy(document)
    parent = changed
    for step, following in zip(path[:-1], path[1:], strict=True):
        if isinstance(parent, dict):
            parent = parent.setdefault(step, [] if isinstance(following, int) else {})
        elif step < len(parent):
            parent = parent[step]
        else:
            return None
    if isinstance(parent, list):
        return None
    parent[path[-1]] = value
    return changed


def is_added(field):
    """The volume with the token of the pod's account."""
    return field[:2] == ("spec", "volumes") and field[2] >= len(POD["volumes"])


def zeros_of(made, named):
    """(field, zero, default) of everything that the server has added to an object."""
    for field, default in sorted(leaves(made), key=str):
        if at(named, field) is None and default is not None and not is_added(field):
            zeros = {str: [""], bool: [False], int: [0], float: [0]}[type(default)]
            for zero in zeros + ([""] if field[-1] == "targetPort" else []):
                if zero != default and with_value(named, field, zero) is not None:
                    yield field, zero, default


def test_zero_values_of_fields_with_a_default(api, namespace):
    answers = {}
    known = [json.loads(key) for key in recorded("zero_values")]
    for kind, (collection, body) in KINDS.items():
        path = (collection % namespace if "%s" in collection else collection) + "?dryRun=All"
        named = {"metadata": {"name": "x"}, **body}
        made = api.post(path, named)
        assert made.status == 201, (kind, made)
        asked = ([(tuple(field), zero, at(made.json, field)) for of, field, zero in known if of == kind]
                 or zeros_of(made.json, named))
        for field, zero, default in asked:
            answer = api.post(path, with_value(named, field, zero))
            got = at(answer.json, field) if answer.status == 201 else None
            answers[json.dumps([kind, field, zero])] = (
                "refused" if answer.status != 201 else "default" if got == default else "kept" if got == zero else repr(got))
    compare("zero_values", answers)
