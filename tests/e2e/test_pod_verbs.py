"""exec, cp and port-forward of muster: against `muster up` with real processes, and beside kubectl where both do the same."""

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

from conftest import BINARY, pytorchjob
from test_up import KUBECTL, needs_kubectl
from test_verbs import Server

SERVER = ("import socket, threading\n"
          "s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
          "s.bind(('127.0.0.1', 8123)); s.listen(50)\n"
          "def serve(c):\n"
          "    while data := c.recv(65536): c.sendall(data)\n"
          "    c.close()\n"
          "while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()\n")

ECHO = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "echo"}, "spec": {
    "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [
        {"name": "main", "image": "local", "command": ["python3", "-c", SERVER],
         "ports": [{"name": "echo", "containerPort": 8123}],
         "readinessProbe": {"periodSeconds": 1, "exec": {"command": [
             "python3", "-c", "import socket; socket.create_connection(('127.0.0.1', 8123))"]}}}]}}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with the job "digits" and the pod "echo", which answers at port 8123."""
    made = Server(tmp_path_factory.mktemp("pods"))
    made.start()
    made.apply(pytorchjob("digits", "exec sleep 1000", 2, "exec sleep 1000"))
    made.apply(json.dumps(ECHO))
    made.verb("wait", "pytorchjob/digits", "--for", "condition=Running")
    for name in ("digits-master-0", "digits-worker-0", "digits-worker-1", "echo"):
        made.verb("wait", f"pod/{name}", "--for", "condition=Ready")
    yield made
    made.down("--kill")


def both(server, *args, **more):
    """What muster and kubectl say to the same words."""
    environment = {**server.environment, "KUBECONFIG": str(server.kubeconfig)}
    return [subprocess.run([program, *args], env=environment, cwd=server.directory, capture_output=True,
                           timeout=90, check=False, **more) for program in (BINARY, KUBECTL)]


def test_exec_finds_what_is_meant(server):
    def host(*words):
        return server.verb("exec", *words, "--", "hostname").stdout.strip()

    assert host("digits/worker-1") == "digits-worker-1"
    assert host("digits/Worker") == "digits-worker-0"
    assert host("pytorchjob/digits/master") == "digits-master-0"
    assert host("pod/digits-worker-0") == "digits-worker-0"
    assert host("digits-worker-0") == "digits-worker-0"
    assert host("default/echo") == "echo"
    assert host("digits", "--rank", "2") == "digits-worker-1"
    first = server.verb("exec", "digits", "--", "hostname")
    assert first.stdout == "digits-master-0\n"
    assert "in pod digits-master-0, one of 3" in first.stderr
    refused = server.verb("exec", "digits/ps-0", "--", "true", status=1)
    assert "it has: master-0, worker-0, worker-1" in refused.stderr
    assert "no job and no pod \"nothing\"" in server.verb("exec", "nothing", "--", "true", status=1).stderr
    assert "comes after --" in server.verb("exec", "echo", "ls", status=2).stderr
    assert "no container \"x\"; it has: main" in server.verb("exec", "echo", "-c", "x", "--", "true", status=1).stderr


@needs_kubectl
def test_exec_is_like_kubectls(server):
    for words, given in ((["exec", "echo", "--", "sh", "-c", "echo out; echo err >&2; exit 3"], None),
                         (["exec", "-i", "echo", "--", "sh", "-c", "cat; echo end"], b"one\ntwo\n"),
                         (["exec", "echo", "--", "printf", "%s", "a b\n$HOME \"'"], None),
                         (["exec", "echo", "--", "sh", "-c", "kill -9 $$"], None),
                         (["exec", "echo", "--", "no-such-program"], None)):
        ours, theirs = both(server, *words, input=given)
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout), (words, ours, theirs)
    assert ours.returncode == 1 and b"no-such-program: No such file or directory" in ours.stderr


def test_exec_loses_nothing_of_large_data(server):
    sent = server.directory / "sent"
    sent.write_bytes(os.urandom(1 << 20) * 24)
    received = server.directory / "received"
    with open(sent, "rb") as into, open(received, "wb") as out:
        done = subprocess.run([BINARY, "exec", "-i", "echo", "--", "cat"], stdin=into, stdout=out, timeout=100,
                              env=server.environment, check=False)
    assert done.returncode == 0
    assert filecmp.cmp(sent, received, shallow=False)


def at_a_terminal(server, arguments, typed, resized=None):
    """The exit status and what was to be seen on a terminal of 33 lines and 101 columns; how the terminal was set
    afterwards must be as before."""
    main, program = pty.openpty()
    fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    before = termios.tcgetattr(program)
    client = subprocess.Popen([BINARY, *arguments], stdin=program, stdout=program, stderr=program,
                              env=server.environment, start_new_session=True)
    text = b""

    def until(seen):
        nonlocal text
        while seen not in text:
            text += os.read(main, 4096)

    for keys, answer in typed:
        os.write(main, keys)
        until(answer)
        if resized:
            fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", *resized, 0, 0))
            client.send_signal(signal.SIGWINCH)
            until(b"resized %d %d" % resized)
    status = client.wait(30)
    after = termios.tcgetattr(program)
    os.close(program)
    os.close(main)
    assert before == after
    return status, text


def test_exec_passes_a_terminal_on(server):
    status, text = at_a_terminal(server, ["exec", "-it", "echo", "--", "sh"],
                                 [(b"stty size; tty\n", b"/dev/pts/"), (b"exit 7\n", b"exit 7")])
    assert status == 7
    assert b"33 101\r\n" in text, text


RESIZED = ("import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH}); print('ready')\n"
           "while tuple(os.get_terminal_size()) != (120, 44): signal.sigwait({signal.SIGWINCH})\n"
           "print('resized 44 120'); sys.exit(4)")


def test_exec_passes_the_new_size_of_a_terminal_on(server):
    status, _ = at_a_terminal(server, ["exec", "-it", "echo", "--", "python3", "-u", "-c", RESIZED], [(b"", b"ready")],
                              resized=(44, 120))
    assert status == 4


def test_ctrl_c_goes_to_the_command_of_a_terminal(server):
    script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done"
    status, text = at_a_terminal(server, ["exec", "-it", "echo", "--", "sh", "-c", script],
                                 [(b"", b"ready"), (b"\x03", b"caught")])
    assert status == 9, text


def test_ctrl_c_ends_the_command_without_a_terminal(server):
    fifo = server.directory / "alive"
    os.mkfifo(fifo)
    client = server.follow("exec", "echo", "--", "sh", "-c", f"exec 9>{fifo}; echo up; sleep 1000; true")
    with open(fifo, "rb") as alive:
        assert client.stdout.readline() == "up\n"
        client.send_signal(signal.SIGINT)
        assert alive.read() == b""  # returns when no process has it open
    assert client.wait(30) == 130


def make_tree(path):
    (path / "below" / "er").mkdir(parents=True)
    (path / "small").write_text("hello\n")
    (path / "script").write_text("#!/bin/sh\n")
    (path / "script").chmod(0o755)
    (path / "below" / "large").write_bytes(os.urandom(3 << 20))
    (path / "below" / "er" / ("n" * 150)).write_text("long name\n")
    (path / "link").symlink_to("small")
    return path


@needs_kubectl
@pytest.mark.skipif(shutil.which("tar") is None, reason="there is no tar here")
def test_cp_does_what_kubectl_does(server):
    make_tree(server.directory / "tree")
    seen = []
    for name, program in (("ours", BINARY), ("theirs", KUBECTL)):
        environment = {**server.environment, "KUBECONFIG": str(server.kubeconfig)}

        def cp(*words, program=program, environment=environment):
            done = subprocess.run([program, "cp", *words], env=environment, cwd=server.directory, text=True,
                                  capture_output=True, timeout=90, check=False)
            assert done.returncode == 0, done

        def inside(script):
            return server.verb("exec", "echo", "--", "sh", "-c", script).stdout

        inside(f"mkdir -p /tmp/{name}/existing")
        cp("tree", f"echo:/tmp/{name}/new")
        cp("tree", f"echo:/tmp/{name}/existing")
        cp("tree/small", f"echo:/tmp/{name}/file")
        cp("tree/small", f"default/echo:/tmp/{name}/existing")
        cp(f"echo:/tmp/{name}/new", f"back-{name}")
        cp(f"echo:/tmp/{name}/file", f"deep-{name}/er/file")
        listing = inside(f"cd /tmp/{name} && find . -type f -exec md5sum {{}} + -o -type l -printf '%l %p\\n' | sort;"
                         " find . -type d | sort; stat -c %a new/script")
        here = sorted(str(each.relative_to(server.directory / f"back-{name}"))
                      for each in (server.directory / f"back-{name}").rglob("*"))
        assert (server.directory / f"deep-{name}" / "er" / "file").read_text() == "hello\n"
        assert filecmp.cmp(server.directory / "tree" / "below" / "large",
                           server.directory / f"back-{name}" / "below" / "large", shallow=False)
        seen.append((listing, here))
    assert seen[0] == seen[1]


def test_cp_says_what_it_can_not_do(server):
    (server.directory / "one").write_text("1")
    assert "Cannot open" in server.verb("cp", "one", "echo:/no/where", status=1).stderr
    assert "no directory /tmp/none/" in server.verb("cp", "one", "echo:/tmp/none/", status=1).stderr
    assert "No such file" in server.verb("cp", "none", "echo:/tmp/x", status=1).stderr
    done = server.verb("cp", "echo:/no/where", "x", status=1)
    assert "Cannot stat" in done.stderr and not (server.directory / "x").exists()
    assert "must be in a pod" in server.verb("cp", "a", "b", status=2).stderr
    into = server.directory / "into"
    into.mkdir()
    server.verb("cp", "one", "echo:/tmp/one")
    server.verb("cp", "echo:/tmp/one", "into")
    assert (into / "one").read_text() == "1"
    server.verb("cp", "digits/worker-1:/proc/sys/kernel/hostname", "name", status=0)


HOSTILE = """
import io, sys, tarfile
out = tarfile.open(fileobj=sys.stdout.buffer, mode='w|')
def add(name, kind=tarfile.REGTYPE, link='', data=b'evil'):
    member = tarfile.TarInfo(name); member.type = kind; member.linkname = link
    member.size = len(data) if kind == tarfile.REGTYPE else 0
    out.addfile(member, io.BytesIO(data) if member.size else None)
add('tmp/x/good', data=b'good')
add('tmp/x/../../escaped')
add('/etc/escaped')
add('tmp/x/link', tarfile.SYMTYPE, OUTSIDE)
add('tmp/x/link/escaped')
add('tmp/x/hard', tarfile.LNKTYPE, OUTSIDE + '/precious')
add('tmp/x/hard')
add('other')
out.close()
"""


def test_a_hostile_archive_writes_nothing_outside(server):
    """The container's tar is a program that sends what it likes."""
    outside = server.directory / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    script = "OUTSIDE = %r\n%s" % (str(outside), HOSTILE)
    server.verb("exec", "-i", "echo", "--", "sh", "-c", "mkdir -p /tmp/bin; cat > /tmp/bin/evil.py", stdin=script)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hostile"}, "spec": {
        "restartPolicy": "Never", "containers": [{
            "name": "main", "image": "local",
            "command": ["sh", "-c", "mkdir -p /tmp/bin; printf '#!/bin/sh\\nexec python3 /tmp/bin/evil.py\\n' > /tmp/bin/tar;"
                        " chmod +x /tmp/bin/tar; exec sleep 1000"],
            "env": [{"name": "PATH", "value": "/tmp/bin:" + os.environ["PATH"]}]}]}}
    server.apply(json.dumps(pod))
    server.verb("wait", "pod/hostile", "--for", "condition=Ready")
    server.verb("exec", "-i", "hostile", "--", "sh", "-c", "cat > /tmp/bin/evil.py", stdin=script)
    done = server.verb("cp", "hostile:/tmp/x", "target")
    target = server.directory / "target"
    assert {str(each.relative_to(target)) for each in target.rglob("*")} == {"good", "link", "link/escaped", "hard"}
    assert not (target / "link").is_symlink() and not (target / "hard").is_symlink()
    assert os.listdir(outside) == ["precious"] and (outside / "precious").read_text() == "precious"
    assert not (server.directory / "escaped").exists()
    assert done.stderr.count("left out") == 5, done.stderr


class Forward:
    def __init__(self, server, *words):
        self.process = server.follow("port-forward", *words)
        line = self.process.stdout.readline()
        self.port = int(re.match(r"Forwarding from 127.0.0.1:(\d+) -> \d+\n", line).group(1))

    def connect(self, address="127.0.0.1"):
        return socket.create_connection((address, self.port), timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=30)
        assert self.process.returncode == 130


def exchange(forward, data, failures):
    with forward.connect() as connection:
        sender = threading.Thread(target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR)))
        sender.start()
        received = b""
        while piece := connection.recv(65536):
            received += piece
        sender.join()
        if received != data:
            failures.append(len(received))


def test_port_forward_carries_many_connections(server):
    with Forward(server, "echo", ":echo") as forward:
        data = os.urandom(1 << 20)
        failures = []
        for _ in range(2):
            workers = [threading.Thread(target=exchange, args=(forward, data, failures)) for _ in range(8)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join(60)
        assert failures == []


def test_port_forward_is_for_this_machine_alone(server):
    with Forward(server, "echo", ":8123") as forward:
        listening = subprocess.run(["ss", "-Hltn", f"sport = :{forward.port}"], capture_output=True, text=True,
                                   check=False).stdout
        assert all(re.search(r"(127\.0\.0\.1|\[::1\]):", line) for line in listening.splitlines()), listening


def test_port_forward_ends_a_connection_alone_and_says_why(server):
    with Forward(server, "digits/worker-0", ":8124") as forward:
        for _ in range(2):
            with forward.connect() as connection:
                assert connection.recv(10) == b""
            assert "refused" in forward.process.stderr.readline()


def test_port_forward_reaches_the_pod_that_came_after(server):
    with Forward(server, "echo", ":8123") as forward:
        failures = []
        exchange(forward, b"first", failures)
        server.verb("delete", "pod", "echo")
        with forward.connect() as connection:
            assert connection.recv(10) == b""
        assert "echo" in forward.process.stderr.readline()
        server.apply(json.dumps(ECHO))
        server.verb("wait", "pod/echo", "--for", "condition=Ready")
        exchange(forward, b"second", failures)
        assert failures == []


def test_port_forward_says_what_is_wrong(server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = server.verb("port-forward", "echo", f"{taken.getsockname()[1]}:8123", status=1)
    assert "another program listens there" in done.stderr
    assert "no port with the name web" in server.verb("port-forward", "echo", ":web", status=1).stderr
    assert "is no port" in server.verb("port-forward", "echo", "80:80:80", status=2).stderr
    assert "say which ports" in server.verb("port-forward", "echo", status=2).stderr


def workers_of(server, name):
    path = "jsonpath={.spec.pytorchReplicaSpecs.Worker.replicas}"
    return server.verb("get", "pytorchjob", name, "-o", path).stdout


@needs_kubectl
def test_scale_changes_a_type_or_what_the_kind_calls_its_scale(server):
    server.apply(pytorchjob("scaled", "exec sleep 1000", 1, "exec sleep 1000"))
    said = server.verb("scale", "scaled", "--replicas", "Worker=2").stdout
    assert said == "pytorchjob.kubeflow.org/scaled scaled\n"
    server.kubectl("wait", "pod/scaled-worker-1", "--for=create", "--timeout=60s")
    server.verb("wait", "pod/scaled-worker-1", "--for", "condition=Ready")
    for count in ("3", "1"):
        ours, theirs = both(server, "scale", "pytorchjob/scaled", f"--replicas={count}")
        assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout) == (0, said.encode())
        assert workers_of(server, "scaled") == count
    server.verb("wait", "pod/scaled-worker-1", "--for", "delete")
    assert "it has: Master, Worker" in server.verb("scale", "scaled", "--replicas", "PS=1", status=1).stderr
    assert "Master.replicas" in server.verb("scale", "scaled", "--replicas", "Master=2", status=1).stderr
    assert "has no scale of its own" in server.verb("scale", "pod/echo", "--replicas", "2", status=1).stderr
    assert "no job \"nothing\"" in server.verb("scale", "nothing", "--replicas", "2", status=1).stderr
    assert "say how many" in server.verb("scale", "scaled", status=2).stderr
    assert "wants a number" in server.verb("scale", "scaled", "--replicas", "Worker=-1", status=2).stderr
    server.verb("delete", "pytorchjob", "scaled")


def test_who_may_only_look_may_not_reach_into_pods(server):
    """The server's roles decide, and its reason is told."""
    server.kubectl("create", "serviceaccount", "looker")
    server.kubectl("create", "rolebinding", "looker", "--clusterrole=view", "--serviceaccount=default:looker")
    token = server.kubectl("create", "token", "looker").stdout.strip()
    config = server.directory / "looker.kubeconfig"
    config.write_text(server.kubeconfig.read_text())
    server.kubectl("--kubeconfig", config, "config", "set-credentials", "looker", "--token", token)
    server.kubectl("--kubeconfig", config, "config", "set-context", "muster", "--user", "looker")
    for words in (["exec", "echo", "--", "true"], ["cp", "echo:/etc/hostname", "stolen"]):
        refused = server.verb(*words[:1], "--kubeconfig", str(config), *words[1:], status=1)
        assert "cannot create resource \"pods/exec\"" in refused.stderr or "cannot get resource \"pods/exec\"" in refused.stderr
    assert not (server.directory / "stolen").exists()
