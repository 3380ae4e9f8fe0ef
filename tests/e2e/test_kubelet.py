"""What a kubelet does around containers, seen from a job: order, probes, hooks, deadlines, messages."""

import json
import os
import textwrap

import pytest

from conftest import NOBODY, may_make_user_namespaces


@pytest.fixture(params=["root", "nobody", "none"])
def sandbox(request, muster):
    """Each test in each kind of sandbox: namespaces of root's, those of an ordinary user, and none."""
    if request.param == "none":
        request.getfixturevalue("machine_network")
        return "none"
    if os.geteuid() != 0:
        pytest.skip("namespaces as root: not root here")
    if request.param == "nobody":
        if not may_make_user_namespaces():
            pytest.skip("ordinary users may not make user namespaces here")
        muster.become(NOBODY)
    return "namespaces"


@pytest.fixture
def place(sandbox, muster, shared):
    """Where pods and the test both read and write."""
    if not muster.identity:
        return shared
    path = muster.directory / "shared"
    path.mkdir()
    os.chown(path, NOBODY, NOBODY)
    return path


def job(name, pod_spec, policy="Never", run_policy="{}"):
    return (f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: {name}}}\n"
            f"spec:\n  runPolicy: {run_policy}\n  pytorchReplicaSpecs:\n    Master:\n      replicas: 1\n"
            f"      restartPolicy: {policy}\n      template:\n        spec:\n"
            + textwrap.indent(textwrap.dedent(pod_spec).strip("\n"), " " * 10) + "\n")


def run(muster, sandbox, text, *more, limit=60):
    return muster.run("run", muster.write("job.yaml", text), "--sandbox", sandbox, *more, limit=limit)


def test_init_containers_sidecars_and_containers_in_their_order(muster, sandbox, place):
    finished = run(muster, sandbox, job("ordered", f"""
        initContainers:
        - name: first
          image: local
          command: [sh, -c, "echo first >> {place}/marks"]
        - name: side
          image: local
          restartPolicy: Always
          command: [sh, -c, "trap 'echo side-ends >> {place}/marks; exit 9' TERM;
            echo side >> {place}/marks; touch {place}/up; while :; do sleep 0.01; done"]
          startupProbe: {{exec: {{command: [test, -e, {place}/up]}}, periodSeconds: 1}}
        - name: second
          image: local
          command: [sh, -c, "echo second >> {place}/marks"]
        containers:
        - name: pytorch
          image: local
          command: [sh, -c, "echo main >> {place}/marks"]
        - name: other
          image: local
          command: ["true"]
        """))
    assert finished.status == 0, finished
    assert (place / "marks").read_text().split() == ["first", "side", "second", "main", "side-ends"], finished
    muster.wait_for_no_processes()


def test_probes_of_three_kinds_reach_the_pod(muster, sandbox, place):
    """Each sidecar lets the next container start when its own kind of startup probe has passed."""
    server = "import http.server as h, time; h.ThreadingHTTPServer(('0.0.0.0', {port}), h.SimpleHTTPRequestHandler).serve_forever()"
    (place / "up").write_text("up")
    probes = {
        "by-exec": f"exec: {{command: [test, -e, {place}/by-exec]}}",
        "by-http": "httpGet: {port: web, path: /up, httpHeaders: [{name: Host, value: up.example}]}",
        "by-tcp": "tcpSocket: {port: 28473}",
    }
    commands = {
        "by-exec": ["sh", "-c", f"touch {place}/by-exec; exec sleep 1000"],
        "by-http": ["python3", "-c", server.format(port=28472)],
        "by-tcp": ["python3", "-c", server.format(port=28473)],
    }
    sidecars = "".join(f"""
        - name: {name}
          image: local
          restartPolicy: Always
          workingDir: {place}
          ports: [{{name: web, containerPort: 28472}}]
          command: {json.dumps(commands[name])}
          startupProbe: {{{probe}, periodSeconds: 1, failureThreshold: 60}}
""" for name, probe in probes.items())
    pod = "        initContainers:" + sidecars.rstrip() + """
        containers:
        - name: pytorch
          image: local
          command: [echo, all are up]
"""
    finished = run(muster, sandbox, job("probed", pod))
    assert finished.status == 0, finished
    assert "all are up" in finished.text, finished
    muster.wait_for_no_processes()


def test_a_failed_liveness_probe_restarts_and_is_told(muster, sandbox, place):
    finished = run(muster, sandbox, job("sick", f"""
        containers:
        - name: pytorch
          image: local
          command: [sh, -c, "test -e {place}/once && exit 0; touch {place}/once {place}/sick;
            trap 'rm {place}/sick; exit 1' TERM; while :; do sleep 0.01; done"]
          livenessProbe:
            exec: {{command: [sh, -c, "if test -e {place}/sick; then echo unwell; exit 1; fi"]}}
            periodSeconds: 1
            failureThreshold: 1
        """, policy="OnFailure"))
    assert finished.status == 0, finished
    assert "Liveness probe failed: unwell" in finished.text, finished
    assert "succeeded" in finished.text and "1 restart" in finished.text, finished


def test_hooks_run_around_a_container(muster, sandbox, place):
    finished = run(muster, sandbox, job("hooked", f"""
        initContainers:
        - name: side
          image: local
          restartPolicy: Always
          command: [sh, -c, "trap 'echo term >> {place}/marks; exit 0' TERM; while :; do sleep 0.01; done"]
          lifecycle:
            postStart: {{exec: {{command: [sh, -c, "sleep 0.2; echo post-start >> {place}/marks"]}}}}
            preStop: {{exec: {{command: [sh, -c, "echo pre-stop >> {place}/marks"]}}}}
        containers:
        - name: pytorch
          image: local
          command: [sh, -c, "echo main >> {place}/marks"]
        """))
    assert finished.status == 0, finished
    assert (place / "marks").read_text().split() == ["post-start", "main", "pre-stop", "term"], finished


def test_a_failed_hook_says_what_it_said(muster, sandbox):
    finished = run(muster, sandbox, job("unhooked", """
        containers:
        - name: pytorch
          image: local
          command: [sleep, "1000"]
          lifecycle: {postStart: {exec: {command: [sh, -c, "echo no luck; exit 4"]}}}
        """))
    assert finished.status == 143, finished
    assert "PostStart hook of container pytorch failed: no luck (exit code 4)" in finished.text, finished


def test_the_deadline_of_a_pod_fails_it(muster, sandbox):
    finished = run(muster, sandbox, job("late", """
        activeDeadlineSeconds: 1
        containers:
        - name: pytorch
          image: local
          command: [sleep, "1000"]
        """))
    assert finished.status != 0, finished
    assert "active on the node longer than the specified deadline" in finished.text, finished
    muster.wait_for_no_processes()


def test_a_termination_message_is_told(muster, sandbox):
    where = "/dev/termination-log" if sandbox == "namespaces" else "/dev/null"
    finished = run(muster, sandbox, job("says", f"""
        containers:
        - name: pytorch
          image: local
          command: [sh, -c, "echo it was the disk > {where}; echo it was the log; exit 5"]
          terminationMessagePolicy: FallbackToLogsOnError
        """))
    assert finished.status == 5, finished
    said = "it was the disk" if sandbox == "namespaces" else "it was the log"
    assert f"exited with code 5: {said}" in finished.text, finished


def test_a_container_that_only_fails_backs_off(muster, sandbox):
    started = muster.start("run", muster.write("job.yaml", job("loops", """
        containers:
        - name: pytorch
          image: local
          command: ["false"]
        """, policy="OnFailure")), "--sandbox", sandbox)
    started.wait_for("CrashLoopBackOff: back-off 10s restarting failed container")
    started.interrupt()
    started.finish()
    muster.wait_for_no_processes()


def test_a_grpc_probe_is_refused_with_what_to_use(muster, sandbox):
    started = muster.start("run", muster.write("job.yaml", job("asks", """
        containers:
        - name: pytorch
          image: local
          command: ["true"]
          livenessProbe: {grpc: {port: 9000}}
        """)), "--sandbox", sandbox)
    started.wait_for("livenessProbe.grpc")
    started.wait_for("grpc_health_probe")
    started.interrupt()
    started.finish()
    muster.wait_for_no_processes()


def test_the_pods_of_a_job_say_how_many_start_together(muster, sandbox):
    """What the operator writes and the node places by."""
    text = job("wide", """
        containers:
        - name: pytorch
          image: local
          command: [sh, -c, "echo $NAME starts with $SIZE"]
          env:
          - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
          - {name: SIZE, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['muster.dev/gang-size']"}}}
        """)
    text += text[text.index("    Master:"):].replace("Master:", "Worker:").replace("replicas: 1", "replicas: 2")
    finished = run(muster, sandbox, text)
    assert finished.status == 0, finished
    for name in ("master-0", "worker-0", "worker-1"):
        assert f"wide-{name} starts with 3" in finished.text, finished
