"""status, backup and restore of `muster up`, and the metrics of its jobs."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

from conftest import BINARY, pytorchjob
from test_verbs import Server, pod

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {a: VALUE}\n"


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    made.start()
    yield made
    made.down("--kill")


def config_map(server, name, value):
    server.apply(CONFIG_MAP.replace("NAME", name).replace("VALUE", json.dumps(value)))


def value_of(server, name, status=0):
    return server.verb("get", "configmap", name, "-o", "jsonpath={.data.a}", status=status).stdout


def test_status_says_what_is_there(server):
    server.apply(pytorchjob("good", "true"))
    server.apply(pytorchjob("bad", "false"))
    server.apply(pytorchjob("long", "exec sleep 1000"))
    server.verb("wait", "pytorchjob/good", "--for", "condition=Succeeded")
    server.verb("wait", "pytorchjob/bad", "--for", "condition=Failed")
    said = json.loads(server.verb("status", "-o", "json").stdout)
    assert said["state"] == "up" and said["ready"] is True
    assert said["jobs"] == {"unfinished": 1, "succeeded": 1, "failed": 1}
    assert said["stateDirectory"] == str(server.state)
    assert said["kubeconfig"] == str(server.kubeconfig)
    assert said["server"].startswith("https://127.0.0.1:") and said["metrics"] == said["server"] + "/metrics"
    assert said["version"] == subprocess.run([BINARY, "version"], capture_output=True, text=True,
                                             check=True).stdout.split()[1]
    assert os.path.exists(f"/proc/{said['process']}")
    assert said["disk"]["objectBytes"] > 1000 and said["disk"]["freeBytes"] > 0
    text = server.verb("status").stdout
    assert text.startswith(f"muster is up at {said['server']}: process {said['process']}")
    assert "jobs     1 unfinished, 1 succeeded, 1 failed" in text
    server.down()
    assert json.loads(server.verb("status", "-o", "json", status=3).stdout)["state"] == "down"
    assert "--output wants json" in server.verb("status", "-o", "yaml", status=2).stderr


def asked_by(dashboard):
    """The metrics that its panels ask for, as they are named on /metrics."""
    board = json.loads(dashboard.read_text())
    asked = set()
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            asked.update(re.findall(r"\b((?:training_operator|mpi_operator|muster)_[a-z_]+)", target["expr"]))
    return asked


def test_the_dashboard_works_on_one_machine(server):
    """Every metric that it asks for is there once there were jobs of each kind of end."""
    server.apply(pytorchjob("good", "true"))
    server.apply(pytorchjob("bad", "false"))
    server.apply(pytorchjob("again", "test -e $HOME/e2e-again && exit 0; touch $HOME/e2e-again; exit 1".replace(
        "$HOME", str(server.directory)), restart_policy="OnFailure"))
    server.verb("wait", "pytorchjob/good", "--for", "condition=Succeeded")
    server.verb("wait", "pytorchjob/bad", "--for", "condition=Failed")
    server.verb("wait", "pytorchjob/again", "--for", "condition=Succeeded", "--timeout", "60s")
    text = metrics_of(server)
    there = set(re.findall(r"^([a-z_]+)(?:\{| )", text, re.MULTILINE))
    assert len(asked_by(ROOT / "deploy/grafana/muster.json")) > 10
    assert asked_by(ROOT / "deploy/grafana/muster.json") - there == set()
    assert 'training_operator_jobs_created_total{framework="pytorch",job_namespace="default"} 3' in text
    assert 'training_operator_jobs_failed_total{framework="pytorch",job_namespace="default"} 1' in text
    assert re.search(r'^muster_job_restarts_total\{cause="replica",.*\} [1-9]', text, re.MULTILINE)
    assert re.search(r"^muster_is_leader 1$", text, re.MULTILINE)


def metrics_of(server):
    """As a scraper of Prometheus gets them."""
    said = json.loads(server.verb("status", "-o", "json").stdout)
    token = (server.state / "admin.token").read_text().strip()
    return subprocess.run(["curl", "-sS", "--fail", "--cacert", server.state / "ca.crt", "-H", f"Authorization: Bearer {token}",
                           said["metrics"]], capture_output=True, text=True, timeout=30, check=True).stdout


def test_a_backup_is_of_one_moment_and_comes_back(server):
    config_map(server, "a", "1")
    server.apply(pod("runs"))
    server.verb("wait", "pod/runs", "--for", "condition=Ready")
    file = server.directory / "one.backup"
    said = server.verb("backup", "one.backup").stdout
    assert str(server.state) in said and "with its keys" in said
    assert file.stat().st_mode & 0o777 == 0o600
    with tarfile.open(file) as archive:
        names = archive.getnames()
        assert all(member.mode == 0o600 for member in archive)
    # What is left out is made anew, or tells of pods and programs.
    there = {each.name for each in server.state.iterdir()}
    assert names[0] == "muster-backup.json"
    assert there - set(names) == {"kubeconfig", "lock", "logs", "muster.log", "node", "reserve", "store.db-lock",
                                  "store.db-shm", "store.db-wal"}
    assert not (server.directory / "one.backup.partial").exists()

    config_map(server, "a", "2")
    config_map(server, "b", "2")
    assert "--force replaces it" in server.verb("backup", "one.backup", status=1).stderr
    assert "muster is up already" in server.verb("restore", "one.backup", "--force", status=1).stderr
    kubeconfig = server.kubeconfig.read_text()
    server.down()
    assert "--force replaces it" in server.verb("restore", "one.backup", status=1).stderr
    said = server.verb("restore", "one.backup", "--force").stdout
    assert str(server.state / "replaced") in said
    server.start()
    assert value_of(server, "a") == "1"
    value_of(server, "b", status=1)
    strip = re.compile(r"server: .*")
    assert strip.sub("", server.kubeconfig.read_text()) == strip.sub("", kubeconfig), "clients keep their access"
    server.down()
    # What was replaced was kept as a whole.
    shutil.copy(server.state / "replaced" / "store.db", server.state / "store.db")
    server.start()
    assert value_of(server, "b") == "2"


def test_a_backup_while_much_is_written_holds_nothing_up(server):
    writer = subprocess.Popen([BINARY, "apply", "-f", "-"], env=server.environment, cwd=server.directory, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    maps = "---\n".join(CONFIG_MAP.replace("NAME", f"m{i}").replace("VALUE", json.dumps("x" * 2000)) for i in range(300))
    writer.stdin.write(maps)
    writer.stdin.close()
    for i in range(5):
        server.verb("backup", f"{i}.backup")
    assert writer.wait(60) == 0, writer.stderr.read()
    server.down()
    for i in range(5):
        server.verb("restore", f"{i}.backup", "--state", f"restored-{i}")
        assert (server.directory / f"restored-{i}" / "store.db").stat().st_mode & 0o777 == 0o600


def test_what_is_no_backup_changes_nothing(server):
    config_map(server, "a", "1")
    server.verb("backup", "good.backup")
    good = (server.directory / "good.backup").read_bytes()
    server.down()
    present = {each.name: each.read_bytes() for each in server.state.iterdir() if each.is_file() and each.name != "reserve"}

    def refused(name, data, why):
        (server.directory / name).write_bytes(data)
        assert why in server.verb("restore", name, "--force", status=1).stderr
        after = {each.name: each.read_bytes() for each in server.state.iterdir() if each.is_file() and each.name != "reserve"}
        assert {k: v for k, v in after.items() if "lock" not in k} == {k: v for k, v in present.items() if "lock" not in k}
        assert not (server.state / "restoring").exists()

    refused("cut", good[:len(good) // 2], "cut short")
    refused("other", b"x" * 5000, "damaged")
    flipped = bytearray(good)
    flipped[len(flipped) // 2] ^= 1
    refused("flipped", bytes(flipped), "damaged")
    hostile = server.directory / "hostile"
    with tarfile.open(hostile, "w") as archive:
        member = tarfile.TarInfo("../escaped")
        archive.addfile(member)
    refused("hostile", hostile.read_bytes(), "not a backup")
    newer = good.replace(b'"format":1', b'"format":7', 1)
    refused("newer", newer, "has format 7")
    assert "there is no file" in server.verb("restore", "none", "--force", status=1).stderr
    assert not (server.directory.parent / "escaped").exists()


def test_a_backup_without_keys_keeps_those_that_are_there(server):
    config_map(server, "a", "1")
    server.verb("backup", "objects.backup", "--no-keys")
    with tarfile.open(server.directory / "objects.backup") as archive:
        assert archive.getnames() == ["muster-backup.json", "store.db"]
    token = (server.state / "admin.token").read_text()
    server.down()
    server.verb("restore", "objects.backup", "--force")
    assert (server.state / "admin.token").read_text() == token
    server.start()
    assert value_of(server, "a") == "1"


def test_pods_that_still_run_are_not_forgotten(server):
    server.apply(pod("runs"))
    server.verb("wait", "pod/runs", "--for", "condition=Ready")
    server.verb("backup", "one.backup")
    server.down("--keep-pods")
    assert "'muster down' ends them" in server.verb("restore", "one.backup", "--force", status=1).stderr
    server.down()
    server.verb("restore", "one.backup", "--force")


def test_there_is_nothing_to_back_up_without_a_state(server):
    assert "there is no state" in server.verb("backup", "x", "--state", "none", status=1).stderr
    assert not (server.directory / "x").exists()
    assert "name the file" in server.verb("backup", status=2).stderr
    limited = subprocess.run(["bash", "-c", f"ulimit -f 8; exec {BINARY} backup full.backup"], env=server.environment,
                             cwd=server.directory, capture_output=True, text=True, timeout=60, check=False)
    assert limited.returncode != 0
    assert not (server.directory / "full.backup").exists()


def test_a_backup_that_was_killed_is_in_no_ones_way(server):
    left = server.directory / "one.backup.partial"
    left.mkdir()
    (left / "store.db").write_text("half")
    server.verb("backup", "one.backup")
    assert not left.exists()
    # What is not a backup's stays.
    left.mkdir()
    (left / "thesis.tex").write_text("mine")
    assert "is in the way" in server.verb("backup", "one.backup", "--force", status=1).stderr
    assert (left / "thesis.tex").read_text() == "mine"
