"""What a cluster can have beside its control plane: nodes made by KWOK, and operators that are our peers."""

import base64
import http.client
import json
import os
import pathlib

import yaml

from programs import module_folder

OPERATORS = ("training-operator", "mpi-operator")
PORTS = ("kwok", "operator-metrics", "operator-health", "operator-webhook")
NODE = "kwok-node-0"
KUBEFLOW = "/api/v1/namespaces/kubeflow"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Fixed in training-operator: one of it at a time on a machine.
CERTIFICATES = pathlib.Path("/tmp/k8s-webhook-server/serving-certs")
CERTIFICATE_SECRET = "training-operator-webhook-cert"


# ---- decisions ----

def arguments_of(part, where):
    if part == "kwok":
        return ["--kubeconfig", where.kubeconfig, "--manage-all-nodes=true",
                f"--server-address=127.0.0.1:{where.ports['kwok']}"]
    if part == "training-operator":
        return [f"--metrics-bind-address=127.0.0.1:{where.ports['operator-metrics']}",
                f"--health-probe-bind-address=127.0.0.1:{where.ports['operator-health']}",
                f"--webhook-server-port={where.ports['operator-webhook']}"]
    return ["--kubeConfig", where.kubeconfig, "--lock-namespace=kubeflow"]


def environment_of(part, where):
    return {**os.environ, "KUBECONFIG": str(where.kubeconfig)} if part in OPERATORS else None


def node():
    """Without the taint of nodes that are not ready, which would never be removed from one of KWOK's."""
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": NODE, "annotations": {"kwok.x-k8s.io/node": "fake"},
                         "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "type": "kwok"}},
            "status": {resources: {"cpu": "1k", "memory": "10Ti", "pods": "100k"} for resources in ("allocatable", "capacity")}}


def definitions_in(texts):
    """The CustomResourceDefinitions of some YAML files."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [document for text in texts for document in yaml.load_all(text, loader)
            if document and document.get("kind") == "CustomResourceDefinition"]


def definition_files(part, module):
    base = module / "manifests" / "base"
    return sorted((base / "crds").glob("*.yaml")) if part == "training-operator" else [base / "kubeflow.org_mpijobs.yaml"]


# ---- what they need before they start, and when they have started ----

def must(answer, *good):
    status, text = answer
    if status not in good:
        raise OSError(f"the API answered {status}: {text[:500]}")
    return text


def prepare(part, cluster):
    if part == "kwok":
        must(cluster.call("POST", "/api/v1/nodes", node()), 201)
        return
    if part == "kube-controller-manager" and cluster.peer:
        # Before it starts: its garbage collector looks for new kinds every 30 s only.
        texts = [path.read_text() for path in definition_files(cluster.peer, module_folder(cluster.peer))]
        for definition in definitions_in(texts):
            must(cluster.call("POST", DEFINITIONS, definition), 201)
    if part not in OPERATORS:
        return
    must(cluster.call("POST", "/api/v1/namespaces", {"metadata": {"name": "kubeflow"}}), 201)
    if part == "training-operator":
        # It fills the first in, and wants to tell the second about its authority.
        must(cluster.call("POST", KUBEFLOW + "/secrets", {"metadata": {"name": CERTIFICATE_SECRET}}), 201)
        must(cluster.call("POST", WEBHOOKS, {"metadata": {"name": "validator.training-operator.kubeflow.org"}}), 201)


def ready(part, cluster):
    if part == "kwok":
        return node_ready(cluster)
    if part == "training-operator":
        mount_certificates(cluster)
        return http_ok(cluster.ports["operator-health"], "/readyz")
    return part != "mpi-operator" or "Starting workers" in cluster.log(part).read_text(errors="replace")


def node_ready(cluster):
    """Takes the taint away once the node is ready, as the node controller would for one with a kubelet."""
    status = json.loads(must(cluster.call("GET", f"/api/v1/nodes/{NODE}"), 200))
    if not any(c["type"] == "Ready" and c["status"] == "True" for c in status["status"].get("conditions", [])):
        return False
    must(cluster.call("PATCH", f"/api/v1/nodes/{NODE}", {"spec": {"taints": None}}, "application/merge-patch+json"), 200)
    return True


def mount_certificates(cluster):
    """What a kubelet would do for its pod: the secret as files."""
    data = json.loads(must(cluster.call("GET", f"{KUBEFLOW}/secrets/{CERTIFICATE_SECRET}"), 200)).get("data", {})
    CERTIFICATES.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, value in data.items():
        # At once, as a kubelet does it: whoever reads sees all of one or of the other.
        unfinished = CERTIFICATES / f".{name}-{os.getpid()}"
        unfinished.write_bytes(base64.b64decode(value))
        unfinished.replace(CERTIFICATES / name)


def http_ok(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    finally:
        connection.close()
