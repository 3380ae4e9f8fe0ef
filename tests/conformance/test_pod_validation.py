"""Pods that a real server accepts, and those that it refuses, with the fields and the reasons (recorded/pods.json)."""

import json

from recordings import path_of


def wrong(api, namespace, spec):
    answer = api.post(f"/api/v1/namespaces/{namespace}/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": spec})
    assert answer.status in (201, 422), answer
    causes = answer.json["details"]["causes"] if answer.status == 422 else []
    return sorted(f"{cause['field']}: {cause['message']}" for cause in causes)


def test_what_is_wrong_with_pods(api, namespace):
    pods = json.loads(path_of("pods").read_text())
    found = {name: wrong(api, namespace, pod["spec"]) for name, pod in pods.items()}
    differ = [f"{name}:\n  answered {found[name]}\n  recorded {pod['wrong']}"
              for name, pod in pods.items() if found[name] != pod["wrong"]]
    assert not differ, f"{len(differ)} of {len(pods)} differ\n" + "\n".join(differ)


def test_a_negative_grace_period_is_a_second(api, namespace):
    spec = {"terminationGracePeriodSeconds": -5, "containers": [{"name": "c", "image": "i"}]}
    pod = api.post(f"/api/v1/namespaces/{namespace}/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": spec})
    assert pod.status == 201 and pod.json["spec"]["terminationGracePeriodSeconds"] == 1
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    made = api.post(f"/apis/apps/v1/namespaces/{namespace}/deployments?dryRun=All", {
        "metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}})
    assert made.status == 201 and made.json["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == -5
