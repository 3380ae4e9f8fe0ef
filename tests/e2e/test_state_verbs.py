"""status of `muster up`, and the metrics of its jobs."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from conftest import BINARY, pytorchjob
from test_verbs import Server

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    made.start()
    yield made
    made.down("--kill")


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
