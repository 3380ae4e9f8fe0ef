"""`muster-in-pods`, which the init container `muster` copies into pods: one static file, in a root directory that has
nothing else."""

import contextlib
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import threading

import pytest

from conftest import IN_PODS as PROGRAM

IN_ROOT = "/usr/local/bin/muster-in-pods"
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
A, AAAA = 1, 28


class Dns:
    """A server of one zone at a loopback address of its own. What is too long for UDP is told by TCP."""

    def __init__(self, address, zone, truncated=()):
        self.zone, self.truncated, self.asked = zone, truncated, []
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind((address, 53))
        self.tcp = socket.create_server((address, 53))
        for serve in (self.serve_udp, self.serve_tcp):
            threading.Thread(target=serve, daemon=True).start()

    def close(self):
        for one in (self.udp, self.tcp):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def answer(self, question, by_udp):
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode())
            at += 1 + question[at]
        name, kind = ".".join(labels), struct.unpack_from("!H", question, at + 1)[0]
        self.asked.append((name, kind, "udp" if by_udp else "tcp"))
        found = self.zone.get(name, {})
        addresses = found.get(kind, [])
        truncated = by_udp and name in self.truncated
        flags = 0x8180 | (0x0200 if truncated else 0) | (0 if found else 3)
        addresses = [] if truncated else addresses
        family = socket.AF_INET if kind == A else socket.AF_INET6
        records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 5, len(socket.inet_pton(family, one)))
                           + socket.inet_pton(family, one) for one in addresses)
        return question[:2] + struct.pack("!5H", flags, 1, len(addresses), 0, 0) + question[12:at + 5] + records

    def serve_udp(self):
        with contextlib.suppress(OSError):
            while True:
                question, client = self.udp.recvfrom(4096)
                if not question:
                    return
                self.udp.sendto(self.answer(question, True), client)

    def serve_tcp(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.tcp.accept()
                with connection, connection.makefile("rwb") as stream:
                    while head := stream.read(2):
                        answer = self.answer(stream.read(struct.unpack("!H", head)[0]), False)
                        stream.write(struct.pack("!H", len(answer)) + answer)
                        stream.flush()


@pytest.fixture
def root(tmp_path):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    if os.geteuid() != 0:
        pytest.skip("another root directory needs root")
    target = tmp_path / "root"
    (target / "usr/local/bin").mkdir(parents=True)
    (target / "etc").mkdir()
    (target / "opt/muster").mkdir(parents=True)
    shutil.copy2(PROGRAM, str(target) + IN_ROOT)
    (target / "token").write_text("0123456789abcdef" * 4)
    for folder in ("dev", "proc", "tmp"):
        (target / folder).mkdir()
    os.mknod(target / "dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    return target


def call(root, *words, program=IN_ROOT):
    return subprocess.run([CHROOT, root, program, *map(str, words)], check=False, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, env={})


@contextlib.contextmanager
def server(root, address, inside):
    """`rsh --serve` at a free port, within the empty root or beside it; gives the port."""
    with socket.create_server((address, 0)) as probe:
        port = probe.getsockname()[1]
    program = [CHROOT, str(root), IN_ROOT] if inside else [str(PROGRAM)]
    token = "/token" if inside else str(root / "token")
    process = subprocess.Popen([*program, "rsh", "--serve", "--listen", address, "--port", str(port), "--token-file", token],
                               env={"PATH": os.environ["PATH"], "WHERE": "there"})
    try:
        yield port
    finally:
        process.terminate()
        assert process.wait(30) == 0


def run_at(root, host, port, *command):
    return call(root, "rsh", "--token-file", "/token", "--port", port, "--patience", "20s", host, *command)


def test_it_is_static():
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    headers = subprocess.run(["readelf", "--program-headers", "--dynamic", "--wide", PROGRAM], capture_output=True, text=True,
                             check=True).stdout
    assert "INTERP" not in headers and "(NEEDED)" not in headers and "DYN" in headers, headers
    assert PROGRAM.stat().st_size < 12 << 20, "each pod copies it"


def test_it_copies_itself_where_nothing_else_is(root):
    made = call(root, "copy", "/opt/muster/muster")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", ""), made
    copy = root / "opt/muster/muster"
    assert copy.read_bytes() == PROGRAM.read_bytes() and copy.stat().st_mode & 0o7777 == 0o755
    assert os.listdir(root / "opt/muster") == ["muster"]
    again = call(root, "copy", "/opt/muster/muster", program="/opt/muster/muster")
    assert again.returncode == 0, "by another name, over itself"
    assert copy.read_bytes() == PROGRAM.read_bytes()
    lost = call(root, "copy", "/nowhere/muster")
    assert lost.returncode == 1 and "writing /nowhere/muster: No such file" in lost.stderr, lost
    assert call(root, "copy").returncode == 2 and call(root, "cpoy", "/x").returncode == 2


def call_in_pod(root, *words):
    """With the /proc that a container runtime adds to each image, as it adds /dev."""
    return subprocess.run(["unshare", "--fork", "--pid", "--kill-child", f"--mount-proc={root}/proc", CHROOT, root, *map(str, words)],
                          check=False, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, env={})


def test_the_agent_runs_where_nothing_else_is(root):
    """Its workers are the only other program there."""
    made = call(root, "copy", "/opt/muster")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", ""), made
    assert (root / "opt/muster/muster").read_bytes() == PROGRAM.read_bytes()
    assert sorted(os.listdir(root / "opt/muster/bin")) == ["dlrover-run", "muster-run", "muster-start", "python", "python3", "torchrun"]
    again = call(root, "copy", "/opt/muster", program="/opt/muster/muster")
    assert again.returncode == 0, again
    start = "/opt/muster/bin/muster-start"
    for words in (["muster-run", "--standalone", "--nproc-per-node=2"], ["dlrover-run"],
                  ["torchrun"], ["/opt/muster/muster", "muster-run"]):
        done = call_in_pod(root, start, *words, "--no-python", "muster-start", "--help")
        workers = 2 if "--standalone" in words else 1
        assert (done.returncode, done.stdout.count("Usage: muster-start")) == (0, workers), (words, done)
    no_python = call_in_pod(root, start, "torchrun", "train.py")
    assert no_python.returncode == 2 and "PATH has neither python nor python3" in no_python.stderr, no_python
    failed = call_in_pod(root, start, "torchrun", "--no-python", "muster-start", "no-such-program")
    assert failed.returncode == 1 and "no-such-program: not found" in failed.stderr, failed


def test_two_agents_meet_at_a_name_of_dns(root):
    """Each node in an empty root. What an image has for its own programs' names would want the libc of that image."""
    call(root, "copy", "/opt/muster")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    (root / "etc/resolv.conf").write_text("search ml.svc.cluster.local svc.cluster.local cluster.local\n"
                                          "nameserver 127.77.4.1\noptions ndots:5\n")
    (root / "etc/nsswitch.conf").write_text("hosts: myhostname\n")
    name = "job-worker-0.job.ml.svc"
    dns = Dns("127.77.4.1", {f"{name}.cluster.local": {A: ["127.0.0.1"]}})
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    ended = []

    def node(rank):
        ended.append(call_in_pod(
            root, "/opt/muster/bin/torchrun", "--nnodes=2", f"--node-rank={rank}", f"--master-addr={name}", f"--master-port={port}",
            "--token-file=/token", "--no-python", "/opt/muster/bin/muster-start", "--help"))

    with contextlib.closing(dns):
        nodes = [threading.Thread(target=node, args=(rank,)) for rank in range(2)]
        for one in nodes:
            one.start()
        for one in nodes:
            one.join()
    assert [(one.returncode, one.stdout.count("Usage: muster-start")) for one in ended] == [(0, 1)] * 2, (ended, dns.asked)
    assert (f"{name}.cluster.local", A, "udp") in dns.asked, dns.asked


def test_a_name_of_the_file_of_hosts_is_reached(root):
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n127.77.0.9 ring-worker-0.ring.ml.svc ring-worker-0\n")
    (root / "etc/resolv.conf").write_text("nameserver 127.77.0.254\n")  # nobody is there
    with server(root, "127.77.0.9", inside=False) as port:
        for host in ("ring-worker-0", "ring-worker-0.ring.ml.svc", "127.77.0.9"):
            done = run_at(root, host, port, "echo $WHERE; exit 7")
            assert (done.returncode, done.stdout) == (7, "there\n"), done


def test_a_name_of_dns_is_reached(root):
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    (root / "etc/resolv.conf").write_text(
        "search ml.svc.cluster.local svc.cluster.local cluster.local\nnameserver 127.77.1.1\noptions ndots:5\n")
    name = "ring-worker-0.ring.ml.svc.cluster.local"
    dns = Dns("127.77.1.1", {name: {A: ["127.77.1.9"]}, "long.ml.svc.cluster.local": {A: ["127.77.1.9"] * 3}},
              truncated=["long.ml.svc.cluster.local"])
    with contextlib.closing(dns), server(root, "127.77.1.9", inside=False) as port:
        for host in ("ring-worker-0.ring.ml.svc", "ring-worker-0.ring", name, "long"):
            done = run_at(root, host, port, "echo $WHERE")
            assert (done.returncode, done.stdout) == (0, "there\n"), (host, done, dns.asked)
    assert ("long.ml.svc.cluster.local", A, "tcp") in dns.asked, dns.asked
    assert (name, AAAA, "udp") in dns.asked, dns.asked


def test_the_server_needs_nothing_but_a_shell(root):
    (root / "etc/hosts").write_text("127.77.2.9 worker\n")
    with server(root, "127.77.2.9", inside=True) as port:
        done = run_at(root, "worker", port, "true")
    assert done.returncode == 126 and re.search("worker: .*/bin/sh", done.stderr), done


def test_an_unknown_name_is_told(root):
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    (root / "etc/resolv.conf").write_text("nameserver 127.77.3.1\n")
    with contextlib.closing(Dns("127.77.3.1", {})):
        done = call(root, "rsh", "--token-file", "/token", "--patience", "300ms", "no-such-worker", "true")
    assert done.returncode == 255 and "the name is not known" in done.stderr, done


def test_the_master_of_a_job_runs_in_any_image(root):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = ["master", "--job", "a", "--records", "/record", "--port", str(port), "--token-file", "/token"]
    for epoch in range(2):
        master = subprocess.Popen([CHROOT, root, IN_ROOT, *words], env={}, text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = ""
        while "a master is in charge" not in said:
            line = master.stderr.readline()
            assert line, said
            said += line
        with socket.create_connection(("127.0.0.1", port), 30):
            pass
        (master.kill if epoch == 0 else master.terminate)()
        said += master.stderr.read()
        assert master.wait(30) == (-9 if epoch == 0 else 143), said
        master.stderr.close()
    assert (root / "record").stat().st_size > 0


def test_a_master_that_nothing_can_be_kept_for_says_so(root):
    outside = call(root, "master", "--job", "a", "--record-object", "b", "--token-file", "/token")
    assert (outside.returncode, outside.stderr) == (
        2, "muster master: --record-object needs an API server, and this is no pod with a token of its "
           "service account\n")
    person = call(root, "master", "--job", "a", "--record-object", "b", "--kubeconfig", "c")
    assert person.returncode == 2
    assert "--kubeconfig needs 'muster master'" in person.stderr
    assert "Usage: muster master" in call(root, "master", "--help").stdout
