"""Two replicas: one works and the other waits."""

import json
import signal
import time

import pytest
import yaml

from conftest import PATIENCE, job

NAMESPACE, NAME = "kubeflow", "muster-operator.kubeflow.org"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"


def lease_flags(duration, deadline):
    return ["--leader-elect", f"--leader-elect-lease-duration={duration}s", f"--leader-elect-renew-deadline={deadline}s",
            "--leader-elect-retry-period=1s"]


@pytest.fixture
def flags(stage, server):
    # What a leader of the test before left that was killed.
    server.call("DELETE", f"{LEASES}/{NAME}")
    return [f"--namespace={stage.namespace}", f"--leader-election-namespace={NAMESPACE}"]


@pytest.fixture
def two(start, flags):
    leader = start(*flags, *lease_flags(4, 3)).works()
    return leader, start(*flags, *lease_flags(4, 3))


def holder(server):
    return server.must("GET", f"{LEASES}/{NAME}")["spec"]["holderIdentity"]


def ready(operator):
    operator.said("waiting for leadership")
    assert operator.get("/readyz") == (200, "ok\n")


def until_the_next_leaders_pod(stage, end_leader):
    """Seconds from the leader's end to the first pod that another one makes."""
    stage.post(job("PyTorchJob", name="before", replicas={"Master": 1}))
    stage.pods(1)
    began = time.monotonic()
    end_leader()
    stage.post(job("PyTorchJob", name="after", replicas={"Master": 1}))
    stage.pods(2)
    took = time.monotonic() - began
    print(f"a pod of the next leader after {took:.2f} s")
    return took


def test_one_works_and_the_other_is_ready(two, server, stage):
    leader, other = two
    ready(other)
    stage.post(job("PyTorchJob", replicas={"Master": 1}))
    stage.pods(1)
    assert leader.metrics()["muster_is_leader"] == 1
    assert other.metrics()["muster_is_leader"] == 0
    assert leader.said("leadership acquired")["identity"] == holder(server)


def test_after_a_crash_the_other_leads_when_the_lease_has_ended(two, server, stage):
    leader, other = two
    ready(other)
    took = until_the_next_leaders_pod(stage, leader.kill)
    assert took < 15, "longer than the lease by far"
    assert other.said("leadership acquired")["identity"] == holder(server)


def test_after_a_clean_stop_the_other_leads_at_once(two, server, stage):
    leader, other = two
    ready(other)
    def stop():
        assert leader.stop() == 0

    took = until_the_next_leaders_pod(stage, stop)
    assert took < 4, "no sooner than after a crash"
    assert other.said("leadership acquired")["identity"] == holder(server)


def test_a_leader_that_is_deposed_goes_on_as_a_candidate(two, server, stage):
    leader, other = two
    ready(other)
    lease = f"{LEASES}/{NAME}"
    server.merge(lease, {"spec": {"holderIdentity": "somebody else"}})
    leader.said("leadership lost", leader="somebody else")
    # Nobody renews it: after its duration one of the two takes it.
    server.until(lease, lambda now: now["spec"]["holderIdentity"] != "somebody else")
    stage.post(job("PyTorchJob", replicas={"Master": 1}))
    stage.pods(1)
    assert leader.process.poll() is None and other.process.poll() is None


# ---- a leader that is lost in the middle of its work ----

class Births:
    """The pods of a namespace as they come; none may go. A busy machine may take as long as it likes, as long as one comes in each PATIENCE."""

    def __init__(self, stage):
        self.stage, self.uids = stage, {}
        self.version = stage.server.must("GET", stage.pods_path)["metadata"]["resourceVersion"]
        self.events = iter(())

    def next(self):
        event = next(self.events, None)
        if event is None:
            self.events = self.stage.server.events(self.stage.pods_path, self.version, PATIENCE)
            event = next(self.events, None)
        assert event, f"{len(self.uids)} pods, and no news of any in {PATIENCE} s"
        self.version = event["object"]["metadata"]["resourceVersion"]
        return event

    def until(self, count):
        while len(self.uids) < count:
            event = self.next()
            assert event["type"] in ("ADDED", "MODIFIED"), event
            metadata = event["object"]["metadata"]
            assert self.uids.setdefault(metadata["name"], metadata["uid"]) == metadata["uid"]


EXTRA = "example.com/replica"


def named(server, tmp_path, name):
    """The operator's account, with a mark that the audit shows."""
    config = yaml.safe_load(server.account.read_text())
    config["users"][0]["user"]["as-user-extra"] = {EXTRA: [name]}
    path = tmp_path / f"{name}.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture
def slow_and_next(start, flags, server, tmp_path):
    """A leader that takes a dozen seconds and more for a few hundred pods, so that a busy machine stops it in time, and who comes after it.

    A server that is kept from its work for some seconds must not depose either: the first has a lease as short as that allows, since
    the test waits for its end, and the second one that outlasts the test."""
    slow = start(*flags, *lease_flags(8, 6), "--kube-api-qps=40", "--kube-api-burst=10", kubeconfig=named(server, tmp_path, "slow")).works()
    other = start(*flags, *lease_flags(120, 100), kubeconfig=named(server, tmp_path, "next"))
    ready(other)
    return slow, other


TOTAL = 300
LOADS = [(20, 15), (1, TOTAL)]


def load(stage, jobs, replicas):
    """The names of the pods that there will be."""
    for number in range(jobs):
        stage.post(job("PyTorchJob", name=f"job-{number}", replicas={"Master": 1, "Worker": replicas - 1}))
    return {f"job-{number}-{name}" for number in range(jobs) for name in ("master-0", *(f"worker-{each}" for each in range(replicas - 1)))}


def all_made_once(stage, births, wanted):
    """By a watch that began before the first: each of them, no other, and none anew. One that comes later is the last of them all."""
    births.until(TOTAL)
    stage.post(job("PyTorchJob", name="later", replicas={"Master": 1}))
    births.until(TOTAL + 1)
    assert births.uids.keys() == wanted | {"later-master-0"}
    assert {name: pod["metadata"]["uid"] for name, pod in stage.pods(TOTAL + 1).items()} == births.uids
    stage.server.until_listed(stage.pods_path.replace("/pods", "/services"), lambda there: there.keys() == births.uids.keys())


def writes(server, name, since):
    """(when the server took it, when it was done with it) of each write of this replica that it granted."""
    told = [json.loads(line) for line in server.audit.read_text()[since:].splitlines()]
    return [(each["requestReceivedTimestamp"], each["stageTimestamp"]) for each in told if each["responseStatus"]["code"] < 300
            and each.get("impersonatedUser", {}).get("extra", {}).get(EXTRA) == [name]]


@pytest.mark.parametrize("jobs, replicas", LOADS)
def test_a_leader_that_is_killed_in_the_middle_is_followed_without_a_pod_too_many_or_too_few(slow_and_next, stage, jobs, replicas):
    slow, other = slow_and_next
    births = Births(stage)
    wanted = load(stage, jobs, replicas)
    births.until(TOTAL // 3)
    slow.process.kill()
    slow.process.wait()
    assert len(stage.server.must("GET", stage.pods_path)["items"]) < TOTAL
    all_made_once(stage, births, wanted)


@pytest.mark.parametrize("jobs, replicas", LOADS)
def test_a_leader_that_sleeps_through_its_end_wakes_up_and_writes_nothing(slow_and_next, stage, server, jobs, replicas):
    slow, other = slow_and_next
    since = len(server.audit.read_text())
    births = Births(stage)
    wanted = load(stage, jobs, replicas)
    births.until(TOTAL // 3)
    slow.process.send_signal(signal.SIGSTOP)
    assert len(stage.server.must("GET", stage.pods_path)["items"]) < TOTAL
    other.said("leadership acquired")
    slow.process.send_signal(signal.SIGCONT)
    slow.said("leadership lost")
    all_made_once(stage, births, wanted)
    assert holder(server) == other.said("leadership acquired")["identity"] and slow.get("/readyz") == (200, "ok\n")
    before, after = writes(server, "slow", since), writes(server, "next", since)
    assert before and after
    assert max(done for _, done in before) < min(taken for taken, _ in after)
