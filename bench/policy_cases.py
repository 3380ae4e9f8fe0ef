"""What a policy in CEL adds to the cost of a write."""

import contextlib
import time

from figure import Figure
from measure import median, rounds
from up_cases import Up, place

JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
TERMS = ["object.spec.pytorchReplicaSpecs.Master.replicas == 1", "object.spec.pytorchReplicaSpecs.Worker.replicas <= 100",
         "object.spec.pytorchReplicaSpecs.Worker.template.spec.containers.all(c, c.name == 'pytorch')",
         "object.spec.runPolicy.suspend", "object.spec.runPolicy.cleanPodPolicy != 'All'",
         "object.metadata.name.startsWith('job')", "object.metadata.labels.team in ['a', 'b']",
         "size(object.metadata.name) < 40", "!has(object.spec.elasticPolicy)",
         "object.spec.pytorchReplicaSpecs.Master.restartPolicy == 'Never'"]
POLICY = {"metadata": {"name": "ten-terms"}, "spec": {
    "matchConstraints": {"resourceRules": [{"apiGroups": ["kubeflow.org"], "apiVersions": ["v1"], "operations": ["CREATE"],
                                            "resources": ["pytorchjobs"]}]},
    "validations": [{"expression": " && ".join(TERMS)}]}}
BINDING = {"metadata": {"name": "ten-terms"}, "spec": {"policyName": "ten-terms", "validationActions": ["Deny"]}}


def job(number):
    """Suspended, so that nothing follows from it."""
    replica = {"restartPolicy": "Never", "template": {"spec": {"containers": [
        {"name": "pytorch", "image": "none", "command": ["python3", "train.py"], "env": [{"name": "A", "value": "1"}]}]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
            "metadata": {"name": f"job-{number}", "labels": {"team": "a"}},
            "spec": {"runPolicy": {"suspend": True, "cleanPodPolicy": "None"},
                     "pytorchReplicaSpecs": {"Master": {"replicas": 1, **replica}, "Worker": {"replicas": 2, **replica}}}}


def create_seconds(up, connection, number):
    body, begin = job(number), time.perf_counter()
    up.call(connection, "POST", JOBS, body)
    return time.perf_counter() - begin


def up_policy(muster):
    creates, seen = rounds(3000), {"with": [], "without": []}
    with contextlib.ExitStack() as stack:
        servers = {}
        for kind in seen:
            up = Up(muster, stack.enter_context(place()))
            stack.callback(up.stop)
            servers[kind] = up, up.connect()
        up, connection = servers["with"]
        up.call(connection, "POST", ADMISSION + "/validatingadmissionpolicies", POLICY)
        up.call(connection, "POST", ADMISSION + "/validatingadmissionpolicybindings", BINDING)
        # The first ones fill caches and are not counted.
        for number in range(-200, creates):
            # Each first in turn.
            for kind in list(seen) if number % 2 else reversed(seen):
                took = create_seconds(*servers[kind], number + 200)
                if number >= 0:
                    seen[kind].append(took)
    middle = {kind: median(values) for kind, values in seen.items()}
    return [Figure("create of a PyTorchJob with a policy of ten terms, beyond one without", middle["with"] / middle["without"] - 1,
                   0.05, "times", f"medians of {creates} by turns: {middle['with'] * 1e6:.0f} against "
                   f"{middle['without'] * 1e6:.0f} us")]


CASES = {"up-policy": up_policy}
