"""The pods' network: every pod its own address and ports, names that resolve, and a way to the outside."""

import http.server
import os
import pathlib
import shutil
import socket
import threading
import time

import pytest

from conftest import pytorchjob


def python(script):
    return "python3 - <<'END'\n" + script.strip("\n") + "\nEND\n"


# ---- between pods ----

WILDCARD = python("""
import socket, threading, time
names = ["wild-master-0"] + [f"wild-worker-{i}" for i in range(3)]
listener = socket.create_server(("", 23456))
def serve():
    for _ in names:
        peer, _ = listener.accept()
        peer.sendall(socket.gethostname().encode())
        peer.close()
server = threading.Thread(target=serve)
server.start()
for name in names:
    while True:
        try:
            peer = socket.create_connection((name, 23456), 5)
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    met = peer.recv(100).decode()
    assert met == name, (name, met)
server.join()
print("met all", len(names))
""")


def test_every_pod_listens_on_all_its_addresses_at_the_same_port(muster, user):
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("wild", WILDCARD, 3, WILDCARD)),
                          "--sandbox", "namespaces", limit=60)
    assert finished.status == 0, finished
    assert finished.text.count("met all 4") == 4, finished


NAMES = python("""
import socket
own = socket.gethostbyname(socket.gethostname())
fqdn = socket.getfqdn()
assert "." in fqdn, fqdn
name, aliases, addresses = socket.gethostbyname_ex(socket.gethostname())
for each in [fqdn, name, *aliases]:
    socket.create_server((each, 0)).close()
    assert socket.gethostbyname(each) == own, each
addresses = set()
for pod in ["named-master-0", "named-worker-0", "named-worker-1"]:
    forms = [pod] + [f"{pod}.{rest}" for rest in ("team", "team.svc", "team.svc.cluster.local")]
    found = {socket.gethostbyname(form) for form in forms}
    assert len(found) == 1, (pod, found)
    addresses |= found
assert len(addresses) == 3 and own in addresses, addresses
print("names hold, fqdn", fqdn)
""")


def test_getfqdn_and_every_alias_resolve_and_bind(muster, user):
    manifest = muster.write("job.yaml", pytorchjob("named", NAMES, 2, NAMES, namespace="team"))
    finished = muster.run("run", manifest, "--sandbox", "namespaces", limit=60)
    assert finished.status == 0, finished
    assert finished.text.count("names hold") == 3, finished


# ---- the outside ----


def own_address():
    """An address of this machine that is not loopback, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        return probe.getsockname()[0]


class Server:
    """Answers "outside" on a port of all addresses, or of one."""

    def __init__(self, address=""):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = b"o" * 300000 + b"outside"
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def needs_a_way_out(user):
    if shutil.which("pasta") is None:
        pytest.skip("pasta is not installed")
    if own_address() is None:
        pytest.skip("this machine has no way out itself")
    tun = pathlib.Path("/dev/net/tun")
    if not tun.exists():
        pytest.skip("no /dev/net/tun")
    if user == "nobody" and tun.stat().st_mode & 0o006 != 0o006:
        pytest.skip("/dev/net/tun is not for ordinary users here")


FETCH = """
import socket, time, urllib.request
def fetch(url):
    begin = time.monotonic()
    try:
        answer = urllib.request.urlopen(url, timeout=20).read()[-7:].decode()
    except Exception as error:
        answer = type(getattr(error, "reason", error)).__name__
    return answer, "slow" if time.monotonic() - begin > 2 else "at once"
"""


def test_pods_reach_the_outside_but_not_the_machines_loopback(muster, user):
    needs_a_way_out(user)
    with Server() as everywhere, Server("127.0.0.1") as inside:
        script = python(FETCH + f"""
print("outside:", *fetch("http://{own_address()}:{everywhere.port}/"))
print("loopback:", *fetch("http://127.0.0.1:{inside.port}/"))
for router in ("169.254.1.1", "169.254.2.1", "169.254.2.2"):
    print("router:", *fetch(f"http://{{router}}:{inside.port}/"))
""")
        # Several at once: each gets its own answer.
        finished = muster.run("run", muster.write("job.yaml", pytorchjob("far", script, 2, script)),
                              "--sandbox", "namespaces", limit=60)
    assert finished.status == 0, finished
    assert finished.text.count("outside: outside at once") == 3, finished
    assert finished.text.count("loopback: ConnectionRefusedError at once") == 3, finished
    assert finished.text.count("router: ConnectionRefusedError at once") == 9, finished
    assert "pasta" not in finished.text, finished


def test_names_are_asked_of_a_resolver_on_the_machines_loopback(muster):
    """As with systemd-resolved: pods can't reach it, so pasta asks in their place."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    needs_a_way_out("root")
    resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        resolver.bind(("127.0.0.1", 53))
    except OSError as why:
        pytest.skip(f"port 53 of loopback: {why}")

    def answer():
        while True:
            try:
                question, asker = resolver.recvfrom(2000)
            except OSError:
                return
            # Our question back, with one address for it: 192.0.2.7.
            count = b"\0\1" if question[-4:-2] == b"\0\1" else b"\0\0"
            record = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2\7" if count == b"\0\1" else b""
            resolver.sendto(question[:2] + b"\x81\x80\0\1" + count + b"\0\0\0\0" + question[12:] + record, asker)

    threading.Thread(target=answer, daemon=True).start()
    conf = muster.directory / "resolv.conf"
    conf.write_text("nameserver 127.0.0.1\noptions no-aaaa\n")
    script = python("import socket; print('asked and told', socket.gethostbyname('somewhere.example.org'))")
    muster.prefix = ["unshare", "-m", "sh", "-c", f'mount --bind {conf} /etc/resolv.conf && exec "$@"', "sh"]
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("asks", script)),
                          "--sandbox", "namespaces", limit=60)
    resolver.close()
    assert finished.status == 0, finished
    assert "asked and told 192.0.2.7" in finished.text, finished


def test_without_pasta_the_outside_is_refused_at_once_and_we_say_so(muster, user):
    programs = muster.directory / "bin"
    programs.mkdir()
    for name in ("sh", "python3"):
        (programs / name).symlink_to(os.path.realpath(f"/usr/bin/{name}"))
    muster.environment["PATH"] = str(programs)
    script = python(FETCH + """
print("outside:", *fetch("http://198.51.100.1/"))
print("name:", *fetch("http://somewhere.example.org/"))
""")
    finished = muster.run("run", muster.write("job.yaml", pytorchjob("near", script)),
                          "--sandbox", "namespaces", limit=60)
    assert finished.status == 0, finished
    assert "outside: ConnectionRefusedError at once" in finished.text, finished
    assert "name: gaierror at once" in finished.text, finished
    assert "nothing outside of this machine" in finished.text and "Debian's package passt" in finished.text, finished


def children_of(pid):
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[1]) == pid:
                    found[int(entry.name)] = (entry / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_pasta_goes_with_muster_however_it_ends(muster, user):
    needs_a_way_out(user)
    manifest = muster.write("job.yaml", pytorchjob("goes", "echo up; sleep 1000"))
    for end in ("interrupt", "kill"):
        started = muster.start("run", manifest, "--sandbox", "namespaces")
        started.wait_for("goes-master-0 | up")
        pastas = [pid for pid, comm in children_of(started.process.pid).items() if comm.startswith("pas")]
        assert len(pastas) == 1, children_of(started.process.pid)
        getattr(started, end)()
        started.finish(30)
        deadline = time.monotonic() + 10
        while alive(pastas[0]) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not alive(pastas[0]), end
        muster.wait_for_no_processes()


@pytest.mark.parametrize("verb", ["validate", "run"])
def test_a_clusters_domain_that_is_none_is_refused(muster, verb):
    muster.environment["CUSTOM_CLUSTER_DOMAIN"] = "corp example"
    refused = muster.run(verb, muster.write("job.yaml", pytorchjob("none", "true", 1, "true")))
    assert refused.status == 2, refused
    assert 'CUSTOM_CLUSTER_DOMAIN: "corp example" is not a domain' in refused.err.replace("error: ", ""), refused
