"""What `muster manifests` prints, applied as users apply it; what it lets the operator do; what it refuses."""

import copy
import json
import os
import re
import subprocess
import uuid

import pytest
import yaml

from conftest import BINARY, ROOT
from test_access import RBAC, may, until
from test_clients import client, finish

DEPLOY = ROOT / "deploy"
LAST_APPLIED = 262144
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"


def manifests(*flags):
    done = subprocess.run([str(BINARY), "manifests", *flags], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def objects(text):
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [each for each in yaml.load_all(text, Loader=loader) if each]


def all_but_definitions(text):
    """Two megabytes less to read."""
    return "---\n".join(each for each in text.split("---\n") if "kind: CustomResourceDefinition\n" not in each)


def only(kind, all_objects):
    return [each for each in all_objects if each["kind"] == kind]


def name_of(each):
    metadata = each["metadata"]
    return each["kind"], metadata.get("namespace", ""), metadata["name"]


def small(*flags):
    return all_but_definitions(manifests(*flags))


@pytest.fixture(scope="module")
def kubectl(kubeconfig, tmp_path_factory):
    program = client("kubectl")
    home = tmp_path_factory.mktemp("home")

    def run(*words, stdin=None, check=True):
        return finish([program, *words], kubeconfig, home, stdin, check)

    return run


@pytest.fixture(scope="module")
def has_policies(api):
    return api.get(POLICIES).status == 200


@pytest.fixture(scope="module")
def flags(has_policies):
    return () if has_policies else ("--without-admission-policy",)


@pytest.fixture(scope="module")
def installed(api, kubectl, flags):
    """The namespace of an operator that is restricted to it, what was applied, and what kubectl said."""
    namespace = "install-" + uuid.uuid4().hex[:10]
    text = manifests("--mpi", "--namespace", namespace, "--install-namespace", namespace, *flags)
    said = kubectl("apply", "-f", "-", stdin=text).stdout
    yield namespace, text, said
    kubectl("delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin=all_but_definitions(text))


@pytest.fixture(scope="module")
def parts(installed):
    return objects(all_but_definitions(installed[1]))


def test_every_definition_fits_a_client_side_apply():
    definitions = objects(manifests("--crds-only"))
    assert {each["kind"] for each in definitions} == {"CustomResourceDefinition"}
    assert {"pytorchjobs.kubeflow.org", "mpijobs.kubeflow.org"} <= {each["metadata"]["name"] for each in definitions}
    for each in definitions:
        assert len(json.dumps(each, separators=(",", ":"))) < LAST_APPLIED, each["metadata"]["name"]


def test_applied_twice_nothing_changes(api, kubectl, installed):
    namespace, text, said = installed
    assert len(said.splitlines()) == len(objects(text)), said
    budget = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/muster-operator"
    before = api.get(budget).json["metadata"]["generation"]
    again = kubectl("apply", "-f", "-", stdin=text)
    changed = [line for line in again.stdout.splitlines() if not line.endswith(" unchanged")]
    # Where the server's schema says so, kubectl sends a budget's selector each time, and it is found equal.
    assert set(changed) <= {"poddisruptionbudget.policy/muster-operator configured"}, again
    assert api.get(budget).json["metadata"]["generation"] == before
    kubectl("apply", "--dry-run=server", "-f", "-", stdin=all_but_definitions(text))
    for each in only("CustomResourceDefinition", objects(text)):
        for version in each["spec"]["versions"]:
            path = f"/apis/{each['spec']['group']}/{version['name']}/{each['spec']['names']['plural']}"
            until(lambda at=path: (answer := api.get(at), answer.status == 200))


def test_the_whole_cluster_is_accepted(kubectl, flags, namespace):
    # The policies of a whole cluster would judge the jobs of other tests.
    text = all_but_definitions(manifests("--install-namespace", namespace, *flags))
    wide = [each for each in objects(text) if not each["kind"].startswith("ValidatingAdmission")]
    dry = kubectl("apply", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump_all(wide))
    assert len(dry.stdout.splitlines()) == len(wide), dry
    assert "clusterrole.rbac.authorization.k8s.io/muster-operator " in dry.stdout


# ---- what is in it ----

def test_the_operator_runs_with_as_little_as_it_needs():
    deployment, = only("Deployment", objects(small("--image", "a/b:1", "--replicas", "3")))
    assert deployment["metadata"]["namespace"] == "kubeflow" and deployment["spec"]["replicas"] == 3
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    container, = pod["containers"]
    assert container["image"] == "a/b:1" and "--leader-elect" in container["args"]
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                            "capabilities": {"drop": ["ALL"]}}


def test_a_namespace_that_is_restricted_takes_the_operators_pod(api, kubectl, namespace):
    api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    deployment, = only("Deployment", objects(small("--install-namespace", namespace)))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "operator", "namespace": namespace},
           "spec": {**deployment["spec"]["template"]["spec"], "serviceAccountName": "default"}}
    kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(pod))


def test_one_namespace_is_all_that_it_may_write_to():
    for each in objects(small("--namespace", "team", "--install-namespace", "ops")):
        if each["kind"] != "ClusterRole" or not each["metadata"]["name"].startswith("muster-operator"):
            continue
        for rule in each["rules"]:
            assert set(rule["verbs"]) <= {"get", "list", "watch"} and "secrets" not in rule["resources"], each


# ---- what the operator may do ----

def asked(rules, namespace):
    for rule in rules:
        for resource in rule["resources"]:
            base, _, subresource = resource.partition("/")
            for verb in rule["verbs"]:
                yield {"namespace": namespace, "verb": verb, "group": rule["apiGroups"][0], "resource": base,
                       "subresource": subresource, "name": rule.get("resourceNames", [""])[0]}


def test_the_account_may_do_what_its_roles_say_and_no_more(api, installed, parts):
    namespace = installed[0]
    user = f"system:serviceaccount:{namespace}:muster-operator"
    checked = 0
    for role in only("Role", parts):
        for attributes in asked(role["rules"], namespace):
            until(lambda what=attributes: (answer := may(api, user, what), answer.json["status"]["allowed"]))
            checked += 1
    assert checked > 50
    for verb, group, resource in (("list", "", "secrets"), ("list", "", "pods"), ("create", "", "pods"),
                                  ("list", "kubeflow.org", "pytorchjobs"), ("create", "coordination.k8s.io", "leases")):
        for elsewhere in ("default", ""):
            attributes = {"namespace": elsewhere, "verb": verb, "group": group, "resource": resource}
            assert not may(api, user, attributes).json["status"]["allowed"], attributes
    for verb, resource in (("delete", "secrets"), ("create", "pytorchjobs"), ("deletecollection", "pods"), ("update", "pods")):
        attributes = {"namespace": namespace, "verb": verb, "resource": resource,
                      "group": "kubeflow.org" if resource == "pytorchjobs" else ""}
        assert not may(api, user, attributes).json["status"]["allowed"], attributes


def test_it_may_hand_out_what_launchers_need_and_nothing_else(api, installed):
    namespace = installed[0]
    user = f"system:serviceaccount:{namespace}:muster-operator"
    roles = f"{RBAC}/namespaces/{namespace}/roles"

    def role(name, *rules):
        return {"metadata": {"name": name}, "rules": list(rules)}

    pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
    exec_ = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create", "get"], "resourceNames": ["j-worker-0"]}
    until(lambda: (answer := api.post(roles, role("j-launcher", pods, exec_), Impersonate_User=user), answer.status == 201))
    bound = api.post(f"{RBAC}/namespaces/{namespace}/rolebindings", {
        "metadata": {"name": "j-launcher"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "j-launcher"},
        "subjects": [{"kind": "ServiceAccount", "name": "j-launcher", "namespace": namespace}]}, Impersonate_User=user)
    assert bound.status == 201, bound
    more = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["delete"]}
    refused = api.post(roles, role("more", more), Impersonate_User=user)
    assert refused.status == 403 and "attempting to grant RBAC permissions not currently held" in refused.text, refused


# ---- what is refused ----

def job(kind, field, types, name="j", version="v1", container=None, **spec):
    """Each type with one container, and what stands for it: how many, or fields of its own."""
    replicas = {}
    for each, of_it in types.items():
        of_it = {"replicas": of_it} if isinstance(of_it, int) else of_it
        replicas[each] = {"template": {"spec": {"containers": [{"name": container or "main", "image": "x"}]}}, **of_it}
    return {"apiVersion": f"kubeflow.org/{version}", "kind": kind, "metadata": {"name": name},
            "spec": {field: replicas, **spec}}


def pytorch(types, **more):
    return job("PyTorchJob", "pytorchReplicaSpecs", types, container="pytorch", **more)


def tensorflow(types, **more):
    return job("TFJob", "tfReplicaSpecs", types, container="tensorflow", **more)


def mpi(types, version="v2beta1", **more):
    return job("MPIJob", "mpiReplicaSpecs", types, version=version, **more)


def elastic(types, **more):
    return {**job("ElasticJob", "replicaSpecs", types, **more), "apiVersion": "elastic.iml.github.io/v1alpha1"}


def shell(manifest, way):
    manifest["metadata"]["annotations"] = {"muster.dev/remote-shell": way}
    return manifest


NO_IMAGE = {"template": {"spec": {"containers": [{"name": "pytorch"}]}}}
REFUSED = [
    (pytorch({"Master": 1}, name="1st"), "metadata.name: it takes lower-case letters"),
    (pytorch({"Master": 1}, name="a" * 64), "metadata.name"),
    (pytorch({"Master": 1, "Worker": 11}, name="a" * 54), "the name has 54 characters, and that of its last Worker pod"),
    (pytorch({"Master": 1}, name="a" * 55), "the name has 55 characters, and that of its last Master pod"),
    (mpi({"Launcher": 1}, name="a" * 55), "that of its last Launcher pod"),
    (pytorch({}), 'there are no replicas; add "Master" or "Worker"'),
    (pytorch({"Master": 1, "Wroker": 1}), "spec.pytorchReplicaSpecs: Wroker is not a replica type of a PyTorchJob"),
    (pytorch({"Worker": 1, "worker": 1}), "in two spellings"),
    (pytorch({"Master": 2}), "spec.pytorchReplicaSpecs.Master.replicas: must be 1"),
    (job("XGBoostJob", "xgbReplicaSpecs", {"Worker": 1}, container="xgboost"), "xgbReplicaSpecs.Master: a XGBoostJob needs"),
    (job("JAXJob", "jaxReplicaSpecs", {"Worker": 1}, container="other"), 'named "jax"'),
    (pytorch({"Master": NO_IMAGE}), "a container has no image"),
    (mpi({"Launcher": {"template": {"spec": {"containers": []}}}}), "no containers; add one"),
    (pytorch({"Master": 1}, nprocPerNode="0"), "spec.nprocPerNode: must be auto"),
    (pytorch({"Master": 1}, nprocPerNode="-2"), "spec.nprocPerNode: must be auto"),
    (pytorch({"Master": 1}, elasticPolicy={"minReplicas": 1}), "an elasticPolicy needs workers"),
    (pytorch({"Worker": 2}, elasticPolicy={"minReplicas": 3, "maxReplicas": 2}), "must not be above maxReplicas"),
    (pytorch({"Worker": 2}, nprocPerNode="2", elasticPolicy={"nProcPerNode": 2}), "keep only that one"),
    (job("PaddleJob", "paddleReplicaSpecs", {"Worker": 1}, container="paddle",
         elasticPolicy={"minReplicas": 3, "maxReplicas": 2}), "must not be above maxReplicas"),
    (tensorflow({"Chief": 1, "Master": 1}), "two names of one role"),
    (tensorflow({"PS": 1}), "no replica here can make the job succeed"),
    (tensorflow({"Chief": 3}), "Chief.replicas: must be 1"),
    (job("MXJob", "mxReplicaSpecs", {"Server": 1}, container="mxnet", jobMode="MXTrain"), "no replica here can make the job succeed"),
    (mpi({"Worker": 1}), "Launcher: a MPIJob needs"),
    (mpi({"Launcher": 1, "Worker": 0}), "at least 1"),
    (mpi({"Launcher": {"restartPolicy": "Always"}}), 'restartPolicy: write "Never" or "OnFailure"'),
    (mpi({"Launcher": 1}, version="v1", cleanPodPolicy="All", runPolicy={"cleanPodPolicy": "None"}), "spec.cleanPodPolicy"),
    (mpi({"Launcher": 1}, version="v1", backoffLimit=1, runPolicy={"backoffLimit": 2}), "spec.backoffLimit"),
    (mpi({"Launcher": 1}, version="v1alpha2", mpiDistribution="MPICH", mpiImplementation="Intel"), "spec.mpiDistribution"),
    (mpi({"Launcher": 1}, sshAuthMountPath="keys"), "must be a path from the root"),
    (mpi({"Launcher": 1, "Worker": 1}, version="v1", mainContainer="other"), "no container of this name"),
    (elastic({"ps": 1}), "no replica here can make the job succeed"),
    (elastic({"worker": 2}, distributionStrategy="Local"), "the strategy Local has one worker"),
    (elastic({"worker": {"priority": "first"}}), 'a priority is "high"'),
    (elastic({"worker": 1}, name="a" * 36), "the name of the pod of its master would be too long"),
    (elastic({"worker": {"template": {"spec": {"containers": [{"name": "main"}]}}}}), "a container has no image"),
    (shell(mpi({"Launcher": 1}), "kubexec"), 'write "rsh" or "ssh"'),
    (shell(mpi({"Launcher": 1}, version="v1"), "ssh"), 'write "rsh" or "kubexec"'),
]

# At the edge of a rule, and in spellings that the operator takes.
ADMITTED = [
    pytorch({"Master": 1, "Worker": 10}, name="a" * 54), pytorch({"master": 1, "worker": 3}), pytorch({"Worker": 0}),
    pytorch({"Master": {}}), pytorch({"Master": 1}, nprocPerNode="gpu"), pytorch({"Master": 1}, nprocPerNode="+2"),
    pytorch({"Worker": 2}, elasticPolicy={"minReplicas": 2, "maxReplicas": 2}), tensorflow({"Worker": 3, "PS": 1}),
    mpi({"Launcher": 1}), mpi({"Launcher": 1, "Worker": 0}, version="v1"), mpi({"Launcher": {"restartPolicy": "Always"}}, version="v1"),
    mpi({"Launcher": 1}, version="v1", backoffLimit=2, runPolicy={"backoffLimit": 2}), mpi({"Launcher": 1}, name="a" * 54),
    elastic({"worker": {"priority": "0.5"}}, name="a" * 35), elastic({"worker": 1}, distributionStrategy="Local", name="a" * 40),
    elastic({"worker": 1, "dlrover-master": {"template": {"spec": {"containers": [{"name": "main"}]}}}}),
    shell(mpi({"Launcher": 1}, version="v1"), "rsh"), job("MXJob", "mxReplicaSpecs", {"Tuner": 1}, container="mxnet", jobMode="MXTune"),
]


def written():
    """The jobs of the examples and of the golden files that are of a version which is served."""
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        for each in objects(path.read_text()):
            if each["apiVersion"].startswith("kubeflow.org/"):
                yield path.name, each
    for path in sorted((ROOT / "src" / "jobs" / "golden").glob("*.json")):
        yield path.name, json.loads(path.read_text())["manifest"]


def jobs_path(manifest, namespace):
    return f"/apis/{manifest['apiVersion']}/namespaces/{namespace}/{manifest['kind'].lower()}s"


def dry(api, manifest, namespace):
    mine = copy.deepcopy(manifest)
    mine["metadata"]["namespace"] = namespace
    return api.post(jobs_path(mine, namespace) + "?dryRun=All", mine)


@pytest.fixture(scope="module")
def policed(api, has_policies, installed, parts):
    """The namespace, once its policies are in force."""
    if not has_policies:
        pytest.skip("this server has no ValidatingAdmissionPolicy: a muster up judges jobs by its operator alone")
    namespace = installed[0]
    for policy in only("ValidatingAdmissionPolicy", parts):
        kind = next(each for each, _ in REFUSED if each["kind"].lower() + "s" == policy["metadata"]["name"][len("muster-"):])
        until(lambda what=kind: (answer := dry(api, what, namespace), answer.status == 422))
    return namespace


def judged(manifest, folder):
    """The exit status of `muster validate`, whose rules are the operator's."""
    path = folder / "job.json"
    path.write_text(json.dumps(manifest))
    return subprocess.run([str(BINARY), "validate", "--anywhere", "--quiet", str(path)], timeout=60, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def test_policies_refuse_in_words_what_the_operator_refuses(api, policed, tmp_path):
    wrong = []
    for manifest, words in REFUSED:
        refused = dry(api, manifest, policed)
        by_policy = refused.status == 422 and "denied request: " in refused.text
        if not by_policy or words not in refused.json["message"] or judged(manifest, tmp_path) != 2:
            wrong.append((manifest, words, refused))
    assert wrong == []


def test_policies_admit_what_the_operator_admits(api, policed, tmp_path):
    wrong = [(manifest, judged(manifest, tmp_path), dry(api, manifest, policed)) for manifest in ADMITTED]
    assert [each for each in wrong if each[1] != 0 or each[2].status != 201] == []
    served = {version["groupVersion"] + "/" + each["kind"] for version in (
        api.get(f"/apis/kubeflow.org/{name}").json for name in ("v1", "v1alpha2", "v2beta1")) for each in version["resources"]}
    examples = [(name, each) for name, each in written() if f"{each['apiVersion']}/{each['kind']}" in served]
    answers = [(name, dry(api, each, policed)) for name, each in examples]
    assert [(name, answer) for name, answer in answers if answer.status != 201] == [] and len(answers) > 25


def test_policies_are_about_the_spec(api, policed):
    good = pytorch({"Worker": 2}, runPolicy={"managedBy": "kueue.x-k8s.io/multikueue", "schedulingPolicy": {"queue": "a"}})
    path = jobs_path(good, policed)
    assert api.post(path, good).status == 201
    for spec, words in (({"runPolicy": {"managedBy": "kubeflow.org/training-operator"}},
                         'spec.runPolicy.managedBy: can\'t change while the job exists; it is "kueue.x-k8s.io/multikueue"'),
                        ({"runPolicy": {"schedulingPolicy": {"queue": "b"}}}, "schedulingPolicy.queue: can't change"),
                        ({"pytorchReplicaSpecs": {"Worker": {"template": None}}}, "container")):
        refused = api.patch(path + "/j", {"spec": spec})
        assert refused.status == 422 and words in refused.json["message"], refused
    assert api.patch(path + "/j", {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 5}}}}).status == 200
    assert api.patch(path + "/j", {"metadata": {"labels": {"a": "b"}}}).status == 200
    assert api.patch(path + "/j/status", {"status": {"conditions": []}}).status == 200


def test_jobs_of_other_namespaces_are_not_judged(api, policed):
    assert dry(api, pytorch({"Master": 2}), "default").status == 201


def test_a_version_is_judged_by_its_own_rules_wherever_it_is_sent(api, policed):
    first = mpi({"Launcher": 1, "Worker": 0}, version="v1")
    assert api.post(jobs_path(first, policed), first).status == 201
    second = f"/apis/kubeflow.org/v2beta1/namespaces/{policed}/mpijobs/j"
    assert api.patch(second, {"spec": {"slotsPerWorker": 2}}).status == 200


def test_the_server_finds_nothing_doubtful_in_the_rules(api, policed, parts):
    for policy in only("ValidatingAdmissionPolicy", parts):
        path = f"{POLICIES}/{policy['metadata']['name']}"
        seen = until(lambda at=path: (answer := api.get(at),
                                      "observedGeneration" in answer.json.get("status", {}))).json["status"]
        assert seen.get("typeChecking", {}).get("expressionWarnings", []) == [], (path, seen)


# ---- layouts ----

def without_order(each):
    return json.dumps(each, sort_keys=True)


def test_kustomize_builds_what_the_verb_prints(kubectl):
    built = objects(kubectl("kustomize", str(DEPLOY / "kustomize" / "base")).stdout)
    assert sorted(map(without_order, built)) == sorted(map(without_order, objects(manifests())))


def test_the_overlay_is_the_operator_of_one_namespace(kubectl):
    built = objects(kubectl("kustomize", str(DEPLOY / "kustomize" / "overlays" / "namespaced")).stdout)
    printed = objects(manifests("--namespace", "kubeflow"))
    for each in printed:
        if each["kind"] == "Deployment":
            arguments = each["spec"]["template"]["spec"]["containers"][0]["args"]
            arguments[:] = [re.sub("=kubeflow$", "=$(MY_POD_NAMESPACE)", word) for word in arguments]
        if each["kind"] == "ValidatingAdmissionPolicyBinding":
            each["metadata"]["name"] = each["metadata"]["name"].removesuffix("-kubeflow")
    assert {name_of(each) for each in built} == {name_of(each) for each in printed}
    assert sorted(map(without_order, built)) == sorted(map(without_order, printed))


@pytest.mark.parametrize("whole, component", [("base", "mpi"), ("overlays/namespaced", "mpi-namespaced")])
def test_the_component_adds_mpijobs(kubectl, tmp_path, whole, component):
    folder = tmp_path / "installation"
    folder.mkdir()
    up = os.path.relpath(DEPLOY / "kustomize", folder)
    (folder / "kustomization.yaml").write_text(f"resources: [{up}/{whole}]\ncomponents: [{up}/components/{component}]\n")
    built = objects(kubectl("kustomize", str(folder)).stdout)
    plain = objects(kubectl("kustomize", str(DEPLOY / "kustomize" / whole)).stdout)
    added = {name_of(each) for each in built} - {name_of(each) for each in plain}
    assert {(kind.removeprefix("Cluster"), name) for kind, _, name in added} == {
        ("Role", "muster-operator-mpi"), ("RoleBinding", "muster-operator-mpi")}
    had = deployment_of(plain)["containers"][0]["args"]
    assert deployment_of(built)["containers"][0]["args"] == [word for word in had if not word.startswith("--enable-scheme")]
    assert any(word.startswith("--enable-scheme") for word in had)


@pytest.mark.parametrize("whole, component", [("base", "agent-tokens"), ("overlays/namespaced", "agent-tokens-namespaced")])
def test_the_component_adds_tokens_of_agents(kubectl, tmp_path, whole, component):
    folder = tmp_path / "installation"
    folder.mkdir()
    up = os.path.relpath(DEPLOY / "kustomize", folder)
    (folder / "kustomization.yaml").write_text(f"resources: [{up}/{whole}]\ncomponents: [{up}/components/{component}]\n")
    built = objects(kubectl("kustomize", str(folder)).stdout)
    plain = objects(kubectl("kustomize", str(DEPLOY / "kustomize" / whole)).stdout)
    added = {name_of(each): each for each in built if name_of(each) not in {name_of(other) for other in plain}}
    assert {(kind.removeprefix("Cluster"), name) for kind, _, name in added} == {
        ("Role", "muster-operator-tokens"), ("RoleBinding", "muster-operator-tokens")}
    [rules] = [each["rules"] for each in added.values() if "rules" in each]
    assert rules == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch", "create"]}]
    assert deployment_of(built)["containers"][0]["args"] == [*deployment_of(plain)["containers"][0]["args"], "--agent-tokens"]


def test_without_mpijobs_it_may_not_read_a_secret_or_run_a_command():
    for flags in ((), ("--namespace", "team")):
        for each in objects(small(*flags)):
            if each["kind"] in ("Role", "ClusterRole") and each["metadata"]["name"].startswith("muster-operator"):
                granted = {resource for rule in each["rules"] for resource in rule["resources"]}
                assert not granted & {"secrets", "pods/exec"}, each


def chart(tmp_path, *flags):
    """What Helm makes of the chart for a cluster that has policies."""
    done = finish([client("helm"), "template", "muster", DEPLOY / "helm" / "muster", "--namespace", "kubeflow", "--kube-version", "1.33.0",
                   "--api-versions", "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy", *flags], "none", tmp_path)
    return objects(done.stdout)


def deployment_of(all_objects):
    return only("Deployment", all_objects)[0]["spec"]["template"]["spec"]


@pytest.mark.parametrize("flags, values", [
    ((), ()),
    (("--namespace", "team"), ("--set", "watchNamespace=team")),
    (("--mpi",), ("--set", "mpi=true")),
    (("--mpi", "--namespace", "team"), ("--set", "mpi=true", "--set", "watchNamespace=team")),
    (("--agent-tokens",), ("--set", "agentTokens=true")),
    (("--agent-tokens", "--mpi", "--namespace", "team"), ("--set", "agentTokens=true", "--set", "mpi=true", "--set", "watchNamespace=team")),
    (("--without-admission-policy", "--replicas", "3", "--image", "a/b:1"),
     ("--set", "admissionPolicies=false", "--set", "replicas=3", "--set", "image=a/b:1")),
])
def test_helm_renders_what_the_verb_prints(tmp_path, flags, values):
    rendered = chart(tmp_path, *values)
    pod = deployment_of(rendered)
    own = {name: pod.pop(name) for name in ("nodeSelector", "tolerations", "imagePullSecrets")}
    assert own == {"nodeSelector": {}, "tolerations": [], "imagePullSecrets": []}
    assert pod["containers"][0].pop("imagePullPolicy") == "IfNotPresent"
    printed = [each for each in objects(small(*flags)) if each["kind"] != "Namespace"]
    assert sorted(map(without_order, rendered)) == sorted(map(without_order, printed))


def test_a_chart_takes_lists_and_maps(tmp_path):
    given = {"extraArgs": ["--gang-scheduler-name=volcano", "--kube-api-qps=5"], "nodeSelector": {"a": "b"}, "userRoles": False,
             "tolerations": [{"key": "k", "operator": "Exists"}], "imagePullSecrets": [{"name": "s"}],
             "resources": {"limits": {"memory": "2Gi"}}}
    values = tmp_path / "values.yaml"
    values.write_text(json.dumps(given))
    rendered = chart(tmp_path, "--values", values)
    pod = deployment_of(rendered)
    assert pod["containers"][0]["args"][-2:] == given["extraArgs"]
    # Helm lays given maps over the chart's own: what nobody names stays.
    assert pod["containers"][0]["resources"] == {"limits": given["resources"]["limits"], "requests": {"cpu": "100m", "memory": "128Mi"}}
    assert all(pod[name] == given[name] for name in ("nodeSelector", "tolerations", "imagePullSecrets"))
    assert [each for each in rendered if each["metadata"]["name"].startswith("kubeflow-training")] == []


def test_helm_finds_nothing_wrong_with_the_chart(tmp_path):
    done = finish([client("helm"), "lint", "--strict", DEPLOY / "helm" / "muster"], "none", tmp_path, check=False)
    assert done.returncode == 0 and "[ERROR]" not in done.stdout and "[WARNING]" not in done.stdout, done
