"""What programs with parameter servers ask of their master, against a program that says what the lines of `muster ask-master` say. With the
real one: tests/elastic/test_servers.py."""

import stat
import sys

import pytest

from conftest import SOURCES, good, run

INSTEAD = f"{SOURCES}:{SOURCES}/muster/instead"
# Answers each question as it is told to by the file named ANSWERS: lines of Python, in which `asked` is the question.
STAND_IN = """#!{python}
import json, os, sys
def say(line):
    os.write(1, json.dumps(line).encode() + b"\\n")
assert sys.argv[1:] == ["ask-master"], sys.argv
exec({begin!r})
for line in sys.stdin:
    asked = json.loads(line)
    exec({answer!r})
"""
ONE = 'say({"cluster": {"version": 1, "servers": ["ps-0:2222", "ps-1:2222"], "complete": True}})\n'
TWO = ONE.replace('"version": 1', '"version": 2')


@pytest.fixture
def master(tmp_path):
    """Makes a program that stands in for the connection."""
    def make(begin="", answer=""):
        path = tmp_path / "muster"
        path.write_text(STAND_IN.format(python=sys.executable, begin=begin, answer=answer))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path
    return make


def test_the_cluster_and_its_changes(master):
    program = master(ONE, 'say({"id": asked["id"], "number": 7})\n' + TWO)
    said = good(run("-c", """
import threading
import muster
print(muster.cluster())
heard = threading.Event()
@muster.on_ps_change
def changed(old, new):
    print(old.version, new.version, new.ps, muster.local_version())  # it may ask the master itself
    heard.set()
muster.set_local_version(7)
assert heard.wait(60)
""", MUSTER_ASK_MASTER=program, NODE_TYPE="worker", NODE_RANK=1))
    assert said.splitlines() == ["Cluster(ps=('ps-0:2222', 'ps-1:2222'), version=1, complete=True)",
                                 "1 2 ('ps-0:2222', 'ps-1:2222') 7"], said


def test_a_new_master_that_has_not_seen_the_servers_takes_none_away(master):
    program = master(ONE, 'say({"cluster": {"version": 1, "servers": [], "complete": False}})\nsay({"id": asked["id"], "number": 0})\n')
    said = good(run("-c", """
import muster
muster.cluster()
muster.local_version()
print(muster.cluster())
""", MUSTER_ASK_MASTER=program))
    assert said == "Cluster(ps=('ps-0:2222', 'ps-1:2222'), version=1, complete=False)\n", said


def test_keys_barriers_and_points(master):
    program = master("keys = {}", """
kind, answer = asked["ask"], {"id": asked["id"]}
if kind == "set": keys[asked["key"]] = asked["value"]
if kind == "get": answer["value"] = keys.get(asked["key"])
if kind == "add": answer["number"] = asked["amount"]
if kind == "delete": answer["yes"] = keys.pop(asked["key"], None) is not None
if kind == "join": answer["yes"] = asked["name"] == "all"
if kind in ("barrier", "wait", "joined") and asked["seconds"] < 1: answer.update(error="late", code="timeout")
say(answer)
""")
    said = good(run("-c", r"""
import muster
keys = muster.keys()
keys.set("k", b"\x00\xff")
print(keys.get("k"), keys.get("none"), keys.add("n", -2), keys.delete("k"), keys.delete("k"))
keys.wait_for("a", "b")
muster.barrier()
print(muster.join_sync("all"), muster.join_sync("some"), muster.join_sync("some", timeout=5), muster.join_sync("some", timeout=0.5))
for call in (lambda: muster.barrier("b", timeout=0.5), lambda: keys.wait_for("a", timeout=0.5)):
    try:
        call()
    except TimeoutError as error:
        print(error)
""", MUSTER_ASK_MASTER=program))
    assert said.splitlines() == [r"b'\x00\xff' None -2 True False", "True False True False", "late",
                                 "not all of the keys exist after 0.5 s"], said


def test_a_child_asks_for_itself(master):
    program = master(ONE, 'say({"id": asked["id"], "value": "%02x" % (os.getppid() % 256)})\n')
    said = good(run("-c", """
import os, muster
def own():
    return muster.keys().get("k") == bytes([os.getpid() % 256])
assert own()
child = os.fork()
if child == 0:
    os._exit(0 if own() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and own()
print("each its own")
""", MUSTER_ASK_MASTER=program))
    assert said == "each its own\n"


@pytest.mark.parametrize("begin, answer, said", [
    ("", "sys.exit()", "ConnectionError: the job's master can't be asked any more"),
    ('say({"trouble": "no route"})\nsys.exit()', "", "ConnectionError: the job's master can't be asked any more: no route"),
    ("", 'say({"id": asked["id"], "error": "they are lost", "code": "gone"})', "ConnectionError: they are lost"),
    ("", 'say({"id": asked["id"], "error": "too long", "code": "error"})', "ValueError: too long"),
])
def test_what_went_wrong_is_said(master, begin, answer, said):
    ended = run("-c", "import muster; muster.keys().get('k')", MUSTER_ASK_MASTER=master(begin, answer))
    assert ended.returncode == 1 and said in ended.stderr, ended


def test_without_a_cluster_it_says_what_is_missing(master):
    ended = run("-c", "import muster; muster.cluster(timeout=0.2)", MUSTER_ASK_MASTER=master('say({"trouble": "no route"})'))
    assert ended.returncode == 1 and "TimeoutError: the parameter servers are not all there after 0.2 s: no route" in ended.stderr, ended
    ended = run("-c", "import muster; muster.cluster()")
    assert ended.returncode == 1 and "RuntimeError: parameter servers are known to the master" in ended.stderr, ended


def test_a_worker_of_an_agent_asks_that(master):
    ended = run("-c", "import muster; muster.barrier()", MUSTER_ASK_MASTER=master(), MUSTER_GENERATION="1.1", RANK=0, WORLD_SIZE=1)
    assert ended.returncode == 0, ended


def test_dlrovers_names_lead_to_the_same(master):
    program = master(ONE + "versions, keys = {}, {}", """
kind, answer = asked["ask"], {"id": asked["id"]}
if kind == "version":
    of = (asked["kind"], asked["type"], asked["rank"]) if asked["kind"] != "global" else "global"
    if "set" in asked: versions[of] = asked["set"]
    answer["number"] = versions.get(of, {"global": 1, "local": 0, "restored": -1}[asked["kind"]])
if kind == "set": keys[asked["key"]] = asked["value"]
if kind == "get": answer["value"] = keys.get(asked["key"])
if kind == "join": answer["yes"] = True
say(answer)
""")
    said = good(run("-c", """
from dlrover.python.elastic_agent.tensorflow.elastic_ps import ElasticPsClient
from dlrover.python.elastic_agent.sychronization.sync_client import SyncClient
from dlrover.python.elastic_agent.master_client import MasterClient
from dlrover.trainer.tensorflow.failover.failover_client import FailoverClient
client = ElasticPsClient("worker", 1)
print(client.get_global_cluster_version(), client.get_local_cluster_version(), client.get_restored_version())
client.update_local_cluster_version(4)
client.update_restored_version(3)
print(client.get_local_cluster_version(), client.get_restored_version(), ElasticPsClient("worker", 2).get_local_cluster_version())
nodes, failure = client.get_all_ps_nodes()
print([node.addr for node in nodes], failure, client.ready_for_ps_relaunch())
failover = FailoverClient("worker:1")
failover.init_version()
print(failover.get_local_version(), failover.get_global_version(), failover.get_training_ps_addr(), FailoverClient("chief:0").task_id)
sync = SyncClient()
print(sync.join_sync("p"), sync.wait_sync_finished("p"), MasterClient.singleton_instance().barrier("b"), sync.notify_barrier("b"), sync.barrier("b"))
""", PYTHONPATH=INSTEAD, MUSTER_ASK_MASTER=program, TF_CONFIG='{"cluster": {}, "task": {"type": "worker", "index": 0}}'))
    assert said.splitlines() == ["1 0 -1", "4 3 0", "['ps-0:2222', 'ps-1:2222'] False True",
                                 "1 1 (['ps-0:2222', 'ps-1:2222'], False) 0", "True True False True True"], said


def test_an_installed_dlrover_is_found_first(tmp_path):
    """As pods have the folder."""
    ours, theirs = tmp_path / "python", tmp_path / "site"
    for folder in (ours, theirs / "dlrover"):
        folder.mkdir(parents=True)
    (ours / "sitecustomize.py").symlink_to(SOURCES / "muster" / "pods" / "sitecustomize.py")
    (ours / "muster").symlink_to(SOURCES / "muster")
    (theirs / "dlrover" / "__init__.py").write_text("")
    program = "import dlrover; print(dlrover.__file__)"
    installed = good(run("-c", program, PYTHONPATH=f"{ours}:{theirs}", MUSTER_ASK_MASTER="x"))
    assert installed == f"{theirs}/dlrover/__init__.py\n"
    missing = good(run("-c", program, PYTHONPATH=ours, MUSTER_ASK_MASTER="x"))
    assert missing == f"{ours}/muster/instead/dlrover/__init__.py\n"
    ended = run("-c", program, PYTHONPATH=ours)
    assert ended.returncode == 1 and "No module named 'dlrover'" in ended.stderr, "in another job nothing is found that is not there"
