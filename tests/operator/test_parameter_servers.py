"""ElasticJobs with parameter servers, of which one fails: its address is that of its rank."""

import json

GROUP = "/apis/elastic.iml.github.io/v1alpha1/namespaces"


def servers_job():
    template = {"spec": {"containers": [{"name": "main", "image": "train:1", "command": ["python", "train.py"]}]}}
    return {"apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ElasticJob", "metadata": {"name": "ctr"},
            "spec": {"distributionStrategy": "ParameterServerStrategy",
                     "replicaSpecs": {"ps": {"replicas": 2, "template": template}, "chief": {"replicas": 1, "template": template}}}}


def environment(pod):
    return {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}


def selects(service, pod):
    return service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()


def test_a_replaced_server_answers_at_the_address_that_pods_were_told(operator, server, stage):
    server.must("POST", f"{GROUP}/{stage.namespace}/elasticjobs", servers_job())
    names = ["ctr-edljob-chief-0", "ctr-edljob-ps-0", "ctr-edljob-ps-1", "elasticjob-ctr-dlrover-master-0"]
    before = stage.pods(4)
    assert sorted(before) == names
    stage.run(*names)
    config = json.loads(environment(before["ctr-edljob-chief-0"])["TF_CONFIG"])
    assert [address.split(".")[0] for address in config["cluster"]["ps"]] == ["ctr-edljob-ps-0", "ctr-edljob-ps-1"]
    path = f"{stage.pods_path.removesuffix('pods')}services/ctr-edljob-ps-1"
    service = server.until(path, lambda there: there)
    assert selects(service, before["ctr-edljob-ps-1"]) and not selects(service, before["ctr-edljob-ps-0"])

    stage.end(137, "ctr-edljob-ps-1")
    after = server.until_listed(stage.pods_path, lambda there: "ctr-edljob-ps-2" in there and "ctr-edljob-ps-1" not in there)
    replacement = after["ctr-edljob-ps-2"]
    told = environment(replacement)
    assert (told["NODE_ID"], told["NODE_RANK"]) == ("2", "1")
    assert json.loads(told["TF_CONFIG"]) == {**config, "task": {"type": "ps", "index": 1}}
    kept = server.must("GET", path)
    assert selects(kept, replacement) and kept["metadata"]["resourceVersion"] == service["metadata"]["resourceVersion"]
    services = server.must("GET", path.rsplit("/", 1)[0])["items"]
    assert sorted(each["metadata"]["name"] for each in services) == [
        "ctr-edljob-chief-0", "ctr-edljob-ps-0", "ctr-edljob-ps-1", "elasticjob-ctr-dlrover-master"]
