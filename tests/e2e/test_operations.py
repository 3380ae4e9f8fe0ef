"""What whoever runs `muster up` sees of it: /metrics and the audit log."""

import json
import stat

from test_up import up  # noqa: F401 (a fixture)

MAPS = "/api/v1/namespaces/default/configmaps"


def metrics(up):  # noqa: F811
    status, text = up.get("/metrics")
    assert status == 200
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def test_metrics_tell_of_requests_of_objects_and_of_the_process(up):  # noqa: F811
    up.start()
    before = metrics(up)
    for _ in range(3):
        up.get(MAPS)
    after = metrics(up)
    listed = ('apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",'
              'scope="namespace",subresource="",verb="LIST",version="v1"}')
    assert after[listed] - before.get(listed, 0) == 3
    assert after['apiserver_storage_objects{resource="namespaces"}'] == 4
    assert 5e6 < after["process_resident_memory_bytes"] < 1e9
    assert after["process_open_fds"] < after["process_max_fds"]
    assert after["muster_http_connections"] >= 1


def test_the_audit_log_has_a_line_a_request_and_goes_on_after_a_restart(up):  # noqa: F811
    log = up.directory / "audit.log"
    for wanted in (1, 2):
        up.start("--audit-log", "audit.log", "--audit-level", "Request")
        assert up.get(MAPS + "/none")[0] == 404
        up.down()
        events = [json.loads(line) for line in log.read_text().splitlines()]
        ours = [event for event in events if event.get("objectRef", {}).get("name") == "none"]
        assert len(ours) == wanted
    event = ours[-1]
    assert event["verb"] == "get" and event["responseStatus"]["code"] == 404 and event["sourceIPs"] == ["127.0.0.1"]
    assert event["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    refused = up.muster("up", "--state", str(up.state), "--listen", "127.0.0.1:0", "--detach", "--audit-log", "/dev/full",
                        check=False)
    assert refused.returncode == 1 and "/dev/full" in refused.stderr
