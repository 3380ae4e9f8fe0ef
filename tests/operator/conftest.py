"""A kube-apiserver for the session, an operator and a namespace for each test, and a node that does what the test says."""

import contextlib
import datetime
import http.client
import itertools
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))
sys.path.insert(0, str(ROOT / "tests" / "cluster"))
sys.path.append(str(ROOT / "tests" / "e2e"))

import cluster  # noqa: E402
from machine_files import unchanged_machine  # noqa: E402, F401  (a fixture of every test)
from programs import BuildFailed, Missing  # noqa: E402

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# Far longer than anything here takes, so that a wait that ends by it is a failure and no measurement.
PATIENCE = 60


def told_of(now):
    """{replica type: what the job's status says of it}; nothing before the operator's first write."""
    return (now or {}).get("status", {}).get("replicaStatuses", {})


class Server(cluster.Cluster):
    """With answers as JSON, and waits that end with an event."""

    def ask(self, method, path, body=None, content="application/json"):
        status, text = self.call(method, path, body, content)
        return status, json.loads(text) if text.startswith("{") else text

    def must(self, method, path, body=None, content="application/json"):
        status, answer = self.ask(method, path, body, content)
        assert status in (200, 201), (method, path, status, answer)
        return answer

    def merge(self, path, patch):
        return self.must("PATCH", path, patch, "application/merge-patch+json")

    def until(self, path, wanted, patience=PATIENCE):
        """What is at `path` as soon as wanted(it); None stands for nothing there. Follows the events of the collection."""
        collection, name = path.rsplit("/", 1)
        there = self.until_listed(f"{collection}?fieldSelector=metadata.name%3D{name}", lambda all: wanted(all.get(name)), patience)
        return there.get(name)

    def until_listed(self, path, wanted, patience=PATIENCE):
        """The objects of a collection by name, as soon as wanted(them)."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            listed = self.must("GET", path)
            there = {item["metadata"]["name"]: item for item in listed["items"]}
            if wanted(there):
                return there
            for event in self.events(path, listed["metadata"]["resourceVersion"], patience):
                if event["type"] == "ERROR":
                    break  # of a kind that was defined just now: from a list on again
                name = event["object"]["metadata"]["name"]
                if event["type"] == "DELETED":
                    there.pop(name, None)
                else:
                    there[name] = event["object"]
                if wanted(there):
                    return there
        raise AssertionError(f"{path} did not become what was wanted; it is {json.dumps(there)[:3000]}")

    def events(self, path, version, patience):
        mark = "&" if "?" in path else "?"
        with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", self.ports["kube-apiserver"], context=self.context,
                                                            timeout=patience + 5)) as connection:
            answer = self.watch(connection, f"{path}{mark}watch=1&resourceVersion={version}&timeoutSeconds={patience}")
            while line := answer.readline():
                yield json.loads(line)

    def watch(self, connection, path):
        """The server's answer. It puts those off who ask about a kind that was defined just now."""
        while True:
            connection.request("GET", path, headers={"Authorization": "Bearer " + self.credentials.token})
            answer = connection.getresponse()
            if answer.status == 200:
                return answer
            text = answer.read()
            assert answer.status == 429, text
            time.sleep(float(answer.headers["Retry-After"]))

    def define(self, definitions):
        for definition in definitions:
            self.must("POST", DEFINITIONS, definition)
        for definition in definitions:
            self.until(f"{DEFINITIONS}/{definition['metadata']['name']}", lambda now: now and any(
                c["type"] == "Established" and c["status"] == "True" for c in now.get("status", {}).get("conditions") or []))
            # kube-apiserver serves it a moment later, and mpi-operator gives up if it is not there.
            spec = definition["spec"]
            for version in spec["versions"]:
                if version["served"]:
                    self.until_served(f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}?limit=1")

    def until_served(self, path, patience=PATIENCE, status=200):
        """Asks as clients of a kind that is new have to: nothing tells when its server has it. 404: until it has it no more."""
        deadline = time.monotonic() + patience
        while self.call("GET", path)[0] != status:
            assert time.monotonic() < deadline, f"{path} is not answered {status} after {patience} s"
            time.sleep(0.05)

    def make_priorities(self, values):
        """Classes, once pods can have them."""
        for name, value in values.items():
            self.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
            # Admission hears of a class from a watch.
            probe = {"metadata": {"name": name}, "spec": {"priorityClassName": name, "containers": [{"name": "c", "image": "i"}]}}
            deadline = time.monotonic() + PATIENCE
            while "no PriorityClass" in self.call("POST", "/api/v1/namespaces/default/pods?dryRun=All", probe)[1]:
                assert time.monotonic() < deadline, f"the class {name} is not known"
                time.sleep(0.02)


ACCOUNT = "system:serviceaccount:kubeflow:muster-operator"
RIGHTS = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
# A file of what operators asked for as that account, in whichever process of the suite: VERB RESOURCE TEST_FILE, a line each.
USED = "MUSTER_USED_RIGHTS"


def pytest_configure(config):
    if USED not in os.environ:
        file = tempfile.NamedTemporaryFile(prefix="muster-used-rights-")  # noqa: SIM115 (as long as the run)
        config.add_cleanup(file.close)
        os.environ[USED] = file.name


def record_used(asked):
    test_file = pathlib.PurePath(os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]).name
    with open(os.environ[USED], "a") as file:
        file.write("".join(f"{verb} {resource} {test_file}\n" for verb, resource in sorted(asked)))


@pytest.fixture(scope="session")
def manifests():
    """What `muster manifests` installs, by kind."""
    made = subprocess.run([BINARY, "manifests", "--mpi", "--agent-tokens", "--without-admission-policy"], capture_output=True, text=True, check=True)
    by_kind = {}
    for each in yaml.load_all(made.stdout, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        by_kind.setdefault(each["kind"], []).append(each)
    return by_kind


@pytest.fixture(scope="session")
def definitions(manifests):
    return manifests["CustomResourceDefinition"]


# Each write that the server has answered, with who asked for it.
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
    {"level": "Metadata", "verbs": ["create", "update", "patch", "delete"]}, {"level": "None"}]}


@contextlib.contextmanager
def installed(place, definitions, manifests, **options):
    """A server with what `muster manifests` installs. What can't be had is skipped."""
    try:
        with Server(place, **options) as made:
            made.define(definitions)
            made.must("POST", "/api/v1/namespaces", {"metadata": {"name": "kubeflow"}})
            for each in itertools.chain.from_iterable(manifests.get(kind, []) for kind in RIGHTS):
                scope = f"namespaces/{each['metadata']['namespace']}/" if "namespace" in each["metadata"] else ""
                made.must("POST", f"/apis/rbac.authorization.k8s.io/v1/{scope}{each['kind'].lower()}s", each)
            # The operator's account, with the rights that it has when it is installed and no others.
            config = yaml.safe_load(made.kubeconfig.read_text())
            config["users"][0]["user"].update({"as": ACCOUNT})
            made.account = made.state / "operator.kubeconfig"
            made.account.write_text(yaml.safe_dump(config))
            yield made
    except Missing as why:
        pytest.skip(str(why))
    except (cluster.Failed, BuildFailed) as why:
        pytest.fail(str(why))


@pytest.fixture(scope="session")
def server(tmp_path_factory, definitions, manifests):
    place = tmp_path_factory.mktemp("operator")
    (place / "audit.yaml").write_text(yaml.safe_dump(AUDIT))
    audit = ["--audit-policy-file", place / "audit.yaml", "--audit-log-path", place / "audit.log"]
    with installed(place / "cluster", definitions, manifests, bare=True, more=audit) as made:
        made.audit = place / "audit.log"
        yield made


numbers = itertools.count()


@pytest.fixture
def namespace(server):
    name = f"test-{next(numbers)}"
    server.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    return name


def ports():
    """Free ones below those that the kernel gives to connections, one of which could take a port before its operator does. Each
    process of the suite has a range of its own."""
    first = 20_000 + 2_000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for port in itertools.cycle(range(first, first + 2_000)):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        yield port


PORTS = ports()


class Operator:
    """A process of `muster operator`. Its log is kept and shown when a test fails."""

    def __init__(self, kubeconfig, directory, *flags, environment=None):
        self.health, self.metrics_port = next(PORTS), next(PORTS)
        self.log = directory / f"operator-{self.health}.log"
        self.command = [BINARY, "operator", "--kubeconfig", kubeconfig, f"--health-probe-bind-address=127.0.0.1:{self.health}",
                        f"--metrics-bind-address=127.0.0.1:{self.metrics_port}", *flags]
        self.environment = {**os.environ, **(environment or {})}
        self.lines, self.changed = [], threading.Condition()
        self.start()

    def start(self):
        self.process = subprocess.Popen(list(map(str, self.command)), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        env=self.environment, preexec_fn=cluster.end_with_parent)
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()

    def read(self, process):
        with open(self.log, "a") as log:
            for line in process.stderr:
                log.write(line)
                log.flush()
                with self.changed:
                    self.lines.append(json.loads(line) if line.startswith("{") else {"msg": line.strip()})
                    self.changed.notify_all()
        with self.changed:
            self.lines.append({"msg": "the process ended"})
            self.changed.notify_all()

    def said(self, message, after=0, **fields):
        """The first line with this message and fields from line `after` on, once there is one."""
        def find():
            return next((line for line in self.lines[after:] if message in line["msg"] and
                         all(text in str(line.get(key, "")) for key, text in fields.items())), None)
        with self.changed:
            assert self.changed.wait_for(lambda: find() or self.process.poll() is not None, PATIENCE), self.lines[-20:]
            assert find(), self.lines[-20:]
            return find()

    def works(self):
        self.said("operator ready")
        return self

    def get(self, path, port=None):
        """(status, text)"""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port or self.health}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def metrics(self):
        """{name{labels}: value}"""
        lines = self.get("/metrics", self.metrics_port)[1].splitlines()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}

    def counts(self, name, value):
        """Returns once it has counted so many: a status that it wrote is seen by others before it hears that it is written."""
        self.has_counted(lambda now: now.get(name) == value)

    def has_counted(self, holds):
        deadline = time.monotonic() + PATIENCE
        while not holds(metrics := self.metrics()):
            assert time.monotonic() < deadline, metrics

    def ended(self, limit=PATIENCE):
        """Its exit status."""
        descriptor = os.pidfd_open(self.process.pid)
        try:
            assert select.select([descriptor], [], [], limit)[0], "the operator goes on"
        finally:
            os.close(descriptor)
        return self.process.wait()

    @staticmethod
    def asked(metrics):
        """{(verb, resource)} of what was answered."""
        labels = (dict(part.split("=", 1) for part in name[name.index("{") + 1:-1].split(","))
                  for name in metrics if name.startswith("muster_api_requests_total{"))
        return {(each["verb"].strip('"'), each["resource"].strip('"')) for each in labels}

    def has_asked(self, verb, resource):
        """Returns once it was answered: others see before it what it wrote."""
        self.has_counted(lambda now: (verb, resource) in self.asked(now))

    def note_used(self):
        """What it asked for, before it ends."""
        if self.process.poll() is None and self.account is not None:
            record_used(self.asked(self.metrics()))

    def kill(self):
        with contextlib.suppress(OSError):
            self.note_used()
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.note_used()
        self.process.send_signal(signal.SIGTERM)
        return self.ended()


@pytest.fixture
def start(server, tmp_path, request):
    """Starts operators; all end with the test."""
    started = []

    def begin(*flags, kubeconfig=None, environment=None):
        started.append(Operator(kubeconfig or server.account, tmp_path, *flags, environment=environment))
        started[-1].account = None if kubeconfig else ACCOUNT
        return started[-1]

    yield begin
    for operator in started:
        operator.kill()
        print(f"--- log of {' '.join(map(str, operator.command[4:]))}\n{operator.log.read_text()[-6000:]}")


@pytest.fixture
def operator(start, namespace):
    """One that works in the test's namespace alone."""
    return start(f"--namespace={namespace}").works()


class Stage:
    """What users and kubelets do in one namespace."""

    def __init__(self, server, namespace):
        self.server, self.namespace = server, namespace
        self.pods_path = f"/api/v1/namespaces/{namespace}/pods"

    def jobs_path(self, plural, version="v1"):
        return f"/apis/kubeflow.org/{version}/namespaces/{self.namespace}/{plural}"

    def post(self, job):
        plural = job["kind"].lower() + "s"
        version = job["apiVersion"].split("/")[1]
        self.server.must("POST", self.jobs_path(plural, version), job)
        return f"{self.jobs_path(plural, version)}/{job['metadata']['name']}"

    def pods(self, count, patience=PATIENCE):
        """The pods by name, once there are so many that are not going."""
        def living(there):
            return {name: pod for name, pod in there.items() if "deletionTimestamp" not in pod["metadata"]}
        return living(self.server.until_listed(self.pods_path, lambda there: len(living(there)) == count, patience))

    def run(self, *names):
        for name in names:
            self.status(name, {"phase": "Running", "podIP": "10.1.0.1", "conditions": [{"type": "Ready", "status": "True"}],
                               "containerStatuses": [self.container(name, {"running": {"startedAt": self.now()}}, ready=True)]})

    def run_all(self, names):
        """Runs pods as they come: some kinds make some of them only when others run."""
        count = 0
        while count < len(names):
            come = self.server.until_listed(self.pods_path, lambda now, before=count: len(now) > before)
            count = len(come)
            self.run(*(name for name, pod in come.items() if pod["status"].get("phase") == "Pending"))

    def end(self, code, *names):
        for name in names:
            ended = {"terminated": {"exitCode": code, "startedAt": self.now(), "finishedAt": self.now(), "reason": "Completed"}}
            self.status(name, {"phase": "Failed" if code else "Succeeded", "containerStatuses": [self.container(name, ended)]})

    def container(self, pod, state, ready=False):
        spec = self.server.must("GET", f"{self.pods_path}/{pod}")["spec"]["containers"][0]
        return {"name": spec["name"], "image": spec["image"], "imageID": "", "ready": ready, "restartCount": 0, "state": state}

    @staticmethod
    def now():
        return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def status(self, pod, status):
        self.server.merge(f"{self.pods_path}/{pod}/status", {"status": status})

    def condition(self, path, condition, status="True", patience=PATIENCE):
        """The job, once it has the condition."""
        return self.server.until(path, lambda job: job and any(
            each["type"] == condition and each["status"] == status for each in job.get("status", {}).get("conditions", [])), patience)

    def told(self, job_path, reason):
        """The first event about a job with that reason, once there is one."""
        name = job_path.rsplit("/", 1)[1]

        def find(events):
            return next((event for event in events.values() if event["involvedObject"]["name"] == name and event["reason"] == reason), None)
        return find(self.server.until_listed(f"/api/v1/namespaces/{self.namespace}/events", find))


@pytest.fixture
def stage(server, namespace):
    return Stage(server, namespace)


CONTAINERS = {"PyTorchJob": "pytorch", "TFJob": "tensorflow", "MXJob": "mxnet", "XGBoostJob": "xgboost", "PaddleJob": "paddle",
              "JAXJob": "jax", "MPIJob": "mpi"}
FIELDS = {"PyTorchJob": "pytorchReplicaSpecs", "TFJob": "tfReplicaSpecs", "MXJob": "mxReplicaSpecs", "XGBoostJob": "xgbReplicaSpecs",
          "PaddleJob": "paddleReplicaSpecs", "JAXJob": "jaxReplicaSpecs", "MPIJob": "mpiReplicaSpecs"}


def job(kind, name="demo", replicas=None, policy="Never", version="v1", **spec):
    """A job with so many replicas of each type, and further fields of its spec."""
    container = {"name": CONTAINERS[kind], "image": "train:1", "command": ["python", "train.py"]}
    types = {type_: {"replicas": count, "restartPolicy": policy, "template": {"spec": {"containers": [container]}}}
             for type_, count in (replicas or {"Worker": 2}).items()}
    more = {"jobMode": "MXTrain"} if kind == "MXJob" else {}
    return {"apiVersion": f"kubeflow.org/{version}", "kind": kind, "metadata": {"name": name}, "spec": {FIELDS[kind]: types, **more, **spec}}


# Kind, version, replicas, the pods that there are once all run.
KINDS = [
    ("PyTorchJob", "v1", {"Master": 1, "Worker": 2}, ["demo-master-0", "demo-worker-0", "demo-worker-1"]),
    ("TFJob", "v1", {"Chief": 1, "PS": 1, "Worker": 1}, ["demo-chief-0", "demo-ps-0", "demo-worker-0"]),
    ("MXJob", "v1", {"Scheduler": 1, "Server": 1, "Worker": 1}, ["demo-scheduler-0", "demo-server-0", "demo-worker-0"]),
    ("XGBoostJob", "v1", {"Master": 1, "Worker": 1}, ["demo-master-0", "demo-worker-0"]),
    ("PaddleJob", "v1", {"Worker": 2}, ["demo-worker-0", "demo-worker-1"]),
    ("JAXJob", "v1", {"Worker": 2}, ["demo-worker-0", "demo-worker-1"]),
    ("MPIJob", "v1", {"Launcher": 1, "Worker": 2}, ["demo-launcher", "demo-worker-0", "demo-worker-1"]),
    ("MPIJob", "v2beta1", {"Launcher": 1, "Worker": 2}, ["demo-launcher", "demo-worker-0", "demo-worker-1"]),
]
each_kind = pytest.mark.parametrize("kind, version, replicas, pods", KINDS, ids=[f"{kind}-{version}" for kind, version, *_ in KINDS])
