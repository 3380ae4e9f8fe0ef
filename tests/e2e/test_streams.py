"""exec, cp, port-forward and eviction: kubectl itself against `muster up`, with real processes."""

import fcntl
import filecmp
import json
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading

import pytest

from test_up import KUBECTL, needs_kubectl, up  # noqa: F401 (a fixture)

pytestmark = needs_kubectl


@pytest.fixture
def pod(up):  # noqa: F811
    """A pod "p" that runs, with nothing to do."""
    up.start()
    run_pod(up, "p", "exec sleep 1000")
    return up


def run_pod(up, name, script, **more):  # noqa: F811
    up.kubectl("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [
            {"name": "main", "image": "local", "command": ["sh", "-c", script], **more}]}}))
    up.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=30s")


def environment(up):  # noqa: F811
    return {**up.environment, "KUBECONFIG": str(up.kubeconfig)}


def test_exec_has_three_streams_and_an_exit_code(pod):
    done = pod.kubectl("exec", "p", "--", "sh", "-c", "echo out; echo err >&2; exit 3", check=False)
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr == "err\ncommand terminated with exit code 3\n"
    done = pod.kubectl("exec", "-i", "p", "--", "sh", "-c", "cat; echo end", stdin="one\ntwo\n")
    assert done.stdout == "one\ntwo\nend\n"
    done = pod.kubectl("exec", "p", "--", "hostname")
    assert done.stdout == "p\n"
    done = pod.kubectl("exec", "p", "--", "no-such-program", check=False)
    assert done.returncode == 1 and "no-such-program: No such file or directory" in done.stderr
    done = pod.kubectl("exec", "p", "-c", "other", "--", "true", check=False)
    assert done.returncode == 1 and "container other is not valid for pod p" in done.stderr


def test_large_data_passes_both_ways_without_loss(pod):
    sent = pod.directory / "sent"
    sent.write_bytes(os.urandom(1 << 20) * 24)
    received = pod.directory / "received"
    with open(sent, "rb") as into, open(received, "wb") as out:
        done = subprocess.run([KUBECTL, "exec", "-i", "p", "--", "cat"], stdin=into, stdout=out, timeout=100,
                              env=environment(pod), check=False)
    assert done.returncode == 0
    assert filecmp.cmp(sent, received, shallow=False)


def test_a_client_that_goes_away_ends_its_command(pod):
    for arguments in (["p"], ["-i", "p"]):
        fifo = pod.directory / f"alive{len(arguments)}"
        os.mkfifo(fifo)
        client = subprocess.Popen(
            [KUBECTL, "exec", *arguments, "--", "sh", "-c", f"exec 9>{fifo}; echo up; sleep 1000; true"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(pod))
        with open(fifo, "rb") as alive:
            assert client.stdout.readline() == b"up\n"
            client.send_signal(signal.SIGKILL)
            assert alive.read() == b""  # returns when no process has it open
        client.wait()


def at_a_terminal(pod, arguments, typed):
    """The exit code and what was to be seen on a terminal of 33 lines and 101 columns."""
    main, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    client = subprocess.Popen([KUBECTL, *arguments], stdin=program, stdout=program, stderr=program,
                              env=environment(pod), start_new_session=True)
    os.close(program)
    os.write(main, typed)
    text = b""
    while True:
        try:
            piece = os.read(main, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    return client.wait(30), text


def test_a_terminal_has_the_size_of_the_clients(pod):
    status, text = at_a_terminal(pod, ["exec", "-it", "p", "--", "sh"], b"stty size; tty; exit 7\n")
    assert status == 7
    assert b"33 101\r\n" in text and b"/dev/pts/0\r\n" in text, text


@pytest.mark.skipif(shutil.which("tar") is None, reason="there is no tar here")
def test_cp_copies_both_ways(pod):
    tree = pod.directory / "tree"
    (tree / "below").mkdir(parents=True)
    (tree / "small").write_text("hello\n")
    (tree / "below" / "large").write_bytes(os.urandom(3 << 20))
    pod.kubectl("cp", str(tree), "p:/tmp/there")
    assert pod.kubectl("exec", "p", "--", "cat", "/tmp/there/small").stdout == "hello\n"
    pod.kubectl("cp", "p:/tmp/there", str(pod.directory / "back"))
    assert filecmp.cmp(tree / "below" / "large", pod.directory / "back" / "below" / "large", shallow=False)
    assert not (pod.directory.parent / "there").exists()


SERVER = ("import socket, threading\n"
          "s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
          "s.bind(('127.0.0.1', 8123)); s.listen(50); print('listening', flush=True)\n"
          "def serve(c):\n"
          "    while data := c.recv(65536): c.sendall(data)\n"
          "    c.close()\n"
          "while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()\n")


class Forward:
    """A `kubectl port-forward`, and the port that it listens at."""

    def __init__(self, up, pod, port):  # noqa: F811
        self.process = subprocess.Popen([KUBECTL, "port-forward", f"pod/{pod}", f":{port}"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(up))
        self.port = int(re.search(r"127.0.0.1:(\d+) ->", self.process.stdout.readline()).group(1))

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def test_port_forward_carries_many_connections(up):  # noqa: F811
    up.start()
    run_pod(up, "p", f'exec python3 -c "{SERVER}"',
            readinessProbe={"exec": {"command": ["python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 8123))"]},
                            "periodSeconds": 1})
    with Forward(up, "p", 8123) as forward:
        data = os.urandom(1 << 20)
        failures = []

        def one():
            with forward.connect() as connection:
                sender = threading.Thread(target=lambda: (connection.sendall(data),
                                                          connection.shutdown(socket.SHUT_WR)))
                sender.start()
                received = b""
                while piece := connection.recv(65536):
                    received += piece
                sender.join()
                if received != data:
                    failures.append(len(received))

        for _ in range(2):
            workers = [threading.Thread(target=one) for _ in range(8)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join(60)
        assert failures == []


def test_port_forward_says_when_nobody_listens(pod):
    with Forward(pod, "p", 8124) as forward:
        with forward.connect() as connection:
            assert connection.recv(10) == b""
        said = forward.process.stderr.readline()
        assert "8124" in said and "Connection refused" in said, said


def test_drain_evicts_what_runs_on_the_node(pod):
    node = pod.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}").stdout
    refused = pod.kubectl("drain", node, "--timeout=30s", check=False)
    assert refused.returncode == 1 and "--force" in refused.stderr
    pod.kubectl("drain", node, "--force", "--timeout=50s")
    assert "not found" in pod.kubectl("get", "pod", "p", check=False).stderr
    pod.kubectl("uncordon", node)


def test_drain_waits_for_what_a_budget_holds(pod):
    pod.kubectl("label", "pod", "p", "app=p")
    pod.kubectl("create", "poddisruptionbudget", "keep", "--selector=app=p", "--min-available=1")
    pod.kubectl("wait", "pdb/keep", "--for=jsonpath={.status.currentHealthy}=1", "--timeout=30s")
    node = pod.kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}").stdout
    held = pod.kubectl("drain", node, "--force", "--timeout=2s", check=False)
    assert held.returncode == 1, held
    assert "Cannot evict pod as it would violate the pod's disruption budget." in held.stderr, held.stderr
    assert pod.kubectl("get", "pod", "p", "-o", "jsonpath={.metadata.deletionTimestamp}").stdout == ""
    pod.kubectl("patch", "pdb", "keep", "--type=merge", "-p", '{"spec":{"minAvailable":0}}')
    pod.kubectl("drain", node, "--force", "--timeout=50s")
    assert "not found" in pod.kubectl("get", "pod", "p", check=False).stderr
    pod.kubectl("uncordon", node)
    pod.kubectl("delete", "pdb", "keep")


def test_top_shows_what_pods_and_the_node_use(pod):
    run_pod(pod, "busy", "while :; do :; done")
    lines = pod.kubectl("top", "pod").stdout.splitlines()
    assert lines[0].split() == ["NAME", "CPU(cores)", "MEMORY(bytes)"]
    used = {name: (int(cpu.removesuffix("m")), int(memory.removesuffix("Mi")))
            for name, cpu, memory in (line.split() for line in lines[1:])}
    assert used.keys() == {"p", "busy"}
    assert used["busy"][0] > used["p"][0]
    assert "busy" in pod.kubectl("top", "pod", "busy", "--containers").stdout
    node = pod.kubectl("top", "node").stdout.splitlines()
    assert node[0].split()[:2] == ["NAME", "CPU(cores)"] and "%" in node[1]


def test_attach_reaches_the_program_itself(pod):
    run_pod(pod, "reader", "while read line; do echo got $line; done", stdin=True)
    client = subprocess.Popen([KUBECTL, "attach", "-i", "reader"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=environment(pod))
    client.stdin.write(b"one\n")
    client.stdin.flush()
    assert client.stdout.readline() == b"got one\n"
    client.kill()
    client.wait()
    assert pod.kubectl("logs", "reader").stdout == "got one\n"
    assert pod.kubectl("get", "pod", "reader", "-o", "jsonpath={.status.phase}").stdout == "Running"


def test_run_with_input_is_a_filter(pod):
    done = pod.kubectl("run", "filter", "-i", "--rm", "--quiet", "--restart=Never", "--image=local", "--command", "--",
                       "sh", "-c", "while read line; do echo got $line; done; exit 4", stdin="one\ntwo\n", check=False)
    assert done.returncode == 4 and done.stdout == "got one\ngot two\n", done


def test_run_with_a_terminal_goes_when_its_shell_ends(pod):
    # The size is told beside what is typed, before or after it.
    sized = 'until [ "$(stty size)" != "0 0" ]; do sleep 0.01; done; stty size'
    status, text = at_a_terminal(pod, ["run", "shell", "-it", "--rm", "--restart=Never", "--image=local", "--command",
                                       "--", "sh", "-c", f"read first; {sized}; tty; read second; echo got $second"],
                                 b"one\ntwo\n")
    assert status == 0 and b"33 101\r\n" in text and b"/dev/pts/0\r\n" in text and b"got two\r\n" in text, text
    assert b'pod "shell" deleted' in text, text
    assert pod.kubectl("get", "pod", "shell", check=False).returncode == 1
