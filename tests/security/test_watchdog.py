"""What says how long the event loop was held: a daemon that does not say it fails its test."""

import json

import pytest

import holds
from attacked import Daemon

SHOWN = "muster_event_loop_longest_hold_seconds 0.012\nmuster_event_loop_longest_turn_seconds 0.5\n"
LOGGED = "warning: A handler held the event loop for too long ms={ms} passed_ms=80.1 worked_for={work} not_logged_before=0\n"


@pytest.fixture(autouse=True)
def summary_of_this_run(monkeypatch):
    """Has nothing of what these tests make up."""
    for name in ("longest", "longest_turn", "longest_beside"):
        monkeypatch.setattr(holds, name, getattr(holds, name))


def test_a_daemon_without_the_metric_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(holds, "metrics", lambda state: SHOWN)
    assert holds.of(tmp_path).ms == 12
    for text in ("", "muster_event_loop_long_holds_total 0\n", SHOWN.replace("longest_hold", "longest_hole")):
        monkeypatch.setattr(holds, "metrics", lambda state, text=text: text)
        with pytest.raises(AssertionError, match="does not show"):
            holds.of(tmp_path)


def test_a_daemon_that_shows_no_metrics_at_all_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(holds, "ANSWERS_IN_S", 0)
    monkeypatch.setattr(holds, "running", lambda state: True)
    (tmp_path / "lock").write_text(json.dumps({"pid": 1, "address": "https://127.0.0.1:1"}))
    with pytest.raises(AssertionError, match="shows no metrics"):
        holds.of(tmp_path)


def test_of_a_daemon_that_is_gone_the_log_tells(tmp_path):
    assert holds.of(tmp_path).ms == 0
    (tmp_path / "muster.log.1").write_text(LOGGED.format(ms="70.5", work='"GET /a b"'))
    (tmp_path / "muster.log").write_text(LOGGED.format(ms="60.0", work="start"))
    assert holds.of(tmp_path) == holds.Hold(70.5, "GET /a b")
    with pytest.raises(AssertionError, match="GET /a b"):
        holds.note(holds.Hold(holds.LIMIT_MS + 1, "GET /a b"))


def test_a_real_daemon_says_it(tmp_path):
    daemon = Daemon(tmp_path)
    daemon.up()
    try:
        first = holds.METRIC.findall(holds.metrics(daemon.state))
        assert len(first) == 1 and float(first[0]) > 0
        daemon.must("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "m"}, "data": {"k": "x" * 500_000}})
        text = holds.metrics(daemon.state)
        assert "parse a body" in dict(holds.BESIDE.findall(text)), text
        for name in ("muster_side_thread_wait_seconds_total ", "muster_event_loop_long_turns_total "):
            assert f"\n{name}" in text, name
        daemon.kill()
        assert holds.metrics(daemon.state) is None
    finally:
        daemon.down("--kill", check=False)
