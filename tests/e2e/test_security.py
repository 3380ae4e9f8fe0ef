"""Security drills against `muster up`: who may not come in, and what a hostile client can't do to those who may."""

import base64
import concurrent.futures
import json
import pathlib
import random
import resource
import select
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import urllib.parse

import pytest

from test_streams import run_pod
from test_up import Up, needs_kubectl, up  # noqa: F401 (a fixture)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "security"))

import holds  # noqa: E402

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(autouse=True)
def short_holds(up):  # noqa: F811
    """No test may make the daemon hold its event loop for too long."""
    yield
    holds.note(holds.of(up.state))


def endpoint(up):  # noqa: F811
    address = urllib.parse.urlparse(up.address())
    return address.hostname, address.port


def connect(up, certificate=None):  # noqa: F811
    """A TLS connection; certificate: paths of one and its key."""
    context = ssl.create_default_context(cafile=up.state / "ca.crt")
    if certificate:
        context.load_cert_chain(*certificate)
    plain = socket.create_connection(endpoint(up), timeout=30)
    return context.wrap_socket(plain, server_hostname=endpoint(up)[0])


def token(up):  # noqa: F811
    return (up.state / "admin.token").read_text().strip()


def read_all(connection):
    """What comes until the other side ends the connection."""
    text = b""
    try:
        while piece := connection.recv(65536):
            text += piece
    except (ConnectionResetError, BrokenPipeError, ssl.SSLError):
        pass  # an end as well
    return text


def exchange(up, request, certificate=None):  # noqa: F811
    """Sends these bytes and returns all that comes back; the server has to end the connection."""
    with connect(up, certificate) as connection:
        connection.sendall(request)
        return read_all(connection)


def head(up, method, target, *fields):  # noqa: F811
    lines = [f"{method} {target} HTTP/1.1", "Host: here", f"Authorization: Bearer {token(up)}", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def statuses(answer):
    return [int(line.split()[1]) for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


def memory(up, field="VmRSS"):  # noqa: F811
    for line in pathlib.Path(f"/proc/{up.pid()}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(field)


def serves(up):  # noqa: F811
    status, _ = up.get("/api/v1/namespaces/default")
    return status == 200


# ---- who comes in ----

PATHS = ["/api", "/metrics", "/openapi/v3", MAPS, MAPS + "?watch=1", "/api/v1/namespaces/default/secrets",
         "/api/v1/namespaces/default/pods/p/exec?command=id", "/api/v1/namespaces/default/pods/p/log"]


def test_nobody_gets_anything_without_the_right_token(up):  # noqa: F811
    up.start()
    for path in PATHS:
        assert up.get(path, token="")[0] == 403, path
        for wrong in ("wrong", token(up)[:-1], token(up) + "x", token(up).swapcase(), "null", "'"):
            assert up.get(path, token=wrong)[0] == 401, (path, wrong)
    for scheme in ("Basic " + base64.b64encode(("admin:" + token(up)).encode()).decode(), token(up), "Bearer"):
        answer = exchange(up, f"GET {MAPS} HTTP/1.1\r\nHost: h\r\nAuthorization: {scheme}\r\n"
                              "Connection: close\r\n\r\n".encode())
        assert statuses(answer)[0] in (401, 403), (scheme, answer)


def openssl(*arguments, directory):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True, timeout=60)


def client_certificate(directory, name, ca, days):
    """Of an admin, signed by that CA (paths of certificate and key); days < 0: it is over."""
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/O=system:masters/CN=intruder", "-keyout", f"{name}.key", "-out", f"{name}.csr", directory=directory)
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", str(ca[0]), "-CAkey", str(ca[1]), "-CAcreateserial",
            "-days", str(days), "-out", f"{name}.crt", directory=directory)
    return directory / f"{name}.crt", directory / f"{name}.key"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here")
def test_a_certificate_that_has_expired_or_is_of_another_authority_opens_nothing(up):  # noqa: F811
    up.start()
    ours = up.state / "ca.crt", up.state / "ca.key"
    ask = f"GET {MAPS} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode()

    def asked(certificate):
        try:
            return statuses(exchange(up, ask, certificate))
        except ssl.SSLError:
            return []  # refused in the handshake

    assert asked(client_certificate(up.directory, "good", ours, 1)) == [200]
    assert asked(client_certificate(up.directory, "old", ours, -1)) in ([], [401])
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=kubernetes",
            "-keyout", "other-ca.key", "-out", "other-ca.crt", directory=up.directory)
    other = up.directory / "other-ca.crt", up.directory / "other-ca.key"
    assert asked(client_certificate(up.directory, "foreign", other, 1)) in ([], [401], [403])
    assert serves(up)


# ---- names that are paths ----

TRAVERSALS = ["..", "../..", "%2e%2e", "..%2f..%2f..%2fadmin.token", "%2e%2e%2f%2e%2e%2fadmin.token", "....//admin.token",
              "..%5c..%5cadmin.token", "%00", "a%00b", "%252e%252e%252fadmin.token", "..%c0%af..%c0%afadmin.token"]


def test_no_name_leads_out_of_the_place_of_names(up):  # noqa: F811
    up.start()
    secret = token(up)
    for evil in TRAVERSALS:
        targets = [f"{MAPS}/{evil}", f"/api/v1/namespaces/{evil}/pods", f"/api/v1/namespaces/default/pods/{evil}/log",
                   f"/api/v1/namespaces/default/pods/p/log?container={evil}", f"/openapi/v3/{evil}", f"/api/{evil}",
                   f"/api/v1/nodes/{evil}/proxy/logs/{evil}", f"/{evil}", f"/apis/{evil}/v1"]
        for target in targets:
            answer = exchange(up, head(up, "GET", target, "Connection: close"))
            # A namespace that is only oddly named is one without pods.
            assert b'"items":[]}' in answer or statuses(answer)[0] in (400, 403, 404, 405), (target, answer)
            assert secret.encode() not in answer
        for body in ({"metadata": {"name": urllib.parse.unquote(evil, errors="replace")}},
                     {"metadata": {"generateName": urllib.parse.unquote(evil, errors="replace") + "/"}}):
            text = json.dumps(body)
            answer = exchange(up, head(up, "POST", MAPS, "Connection: close", "Content-Type: application/json",
                                       f"Content-Length: {len(text)}") + text.encode())
            assert statuses(answer)[0] in (400, 422), (body, answer)


# ---- one request that two programs could read as different ones ----

INSIDE = '{"metadata":{"name":"smuggled"}}'


def smuggled(up):  # noqa: F811
    """The request that nobody is to see."""
    return head(up, "POST", MAPS, "Content-Type: application/json", f"Content-Length: {len(INSIDE)}") + INSIDE.encode()


def ambiguous(up):  # noqa: F811
    hidden = smuggled(up)
    chunks = b"0\r\n\r\n" + hidden
    length = f"Content-Length: {len(chunks)}"

    def post(*fields, body=chunks):
        return head(up, "POST", MAPS, *fields) + body

    yield "length and chunks", post(length, "Transfer-Encoding: chunked")
    yield "chunks and length", post("Transfer-Encoding: chunked", length)
    yield "two lengths", post("Content-Length: 0", length)
    yield "twice the same length", post("Content-Length: 5", "Content-Length: 5", body=b"0\r\n\r\n" + hidden)
    yield "a list of lengths", post("Content-Length: 5, 5")
    yield "a signed length", post("Content-Length: +5")
    yield "a length in hexadecimal", post("Content-Length: 0x5")
    yield "a length beyond 64 bits", post("Content-Length: 18446744073709551621")
    yield "another coding", post("Transfer-Encoding: xchunked")
    yield "chunked is not the last", post("Transfer-Encoding: chunked, identity")
    yield "chunked twice", post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")
    yield "a blank before the colon", post("Content-Length : 5")
    yield "a folded line", post("X-A: b\r\n Content-Length: 5")
    yield "a folded coding", post("Transfer-Encoding:\r\n chunked")
    yield "a bare line feed", post("X-A: b\nContent-Length: 5")
    yield "a bare carriage return", post("X-A: b\rContent-Length: 5")
    yield "a zero byte", post("X-A: b\0c")
    yield "a line without a colon", post("nothing")
    yield "a name that is empty", post(": x")
    yield "bare line feeds alone", head(up, "GET", MAPS).replace(b"\r\n", b"\n") + hidden
    yield "a chunk's size that overflows", post("Transfer-Encoding: chunked", body=b"10000000000000005\r\n" + hidden)
    yield "a chunk's size that is none", post("Transfer-Encoding: chunked", body=b"x\r\n" + hidden)
    yield "a chunk that ends in a line feed", post("Transfer-Encoding: chunked", body=b"1\n{\r\n0\r\n\r\n" + hidden)
    yield "a chunk that is longer than it says", post("Transfer-Encoding: chunked", body=b"1\r\n{}\r\n0\r\n\r\n" + hidden)
    yield "blanks in the request line", head(up, "GET", MAPS).replace(b"GET /", b"GET  /", 1) + hidden
    yield "another protocol", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + hidden


def test_nothing_is_smuggled_behind_a_request(up):  # noqa: F811
    up.start()
    for what, request in ambiguous(up):
        answer = exchange(up, request)
        assert len(statuses(answer)) == 1 and statuses(answer)[0] in (400, 413, 501), (what, answer)
        assert up.get(MAPS + "/smuggled")[0] == 404, what
    # The request that was hidden is one that would be served.
    assert statuses(exchange(up, smuggled(up).replace(b"Host: here", b"Host: here\r\nConnection: close"))) == [201]


# ---- much of everything ----

def test_clients_that_dawdle_keep_nobody_waiting_and_are_let_go(up):  # noqa: F811
    up.start()
    slow = [connect(up) for _ in range(100)]
    for connection in slow:
        connection.sendall(b"GET /api HTTP/1.1\r\nX-Slow: ")
    half = head(up, "POST", MAPS, "Content-Length: 1000") + b"{"
    body = connect(up)
    body.sendall(half)
    for _ in range(20):
        assert serves(up)
    # A byte now and then buys no time: the head has to be there 15 seconds after its first byte.
    left = set(slow)
    while left:
        ready = select.select(list(left), [], [], 1)[0]
        for connection in ready:
            assert statuses(read_all(connection)) in ([], [408])
            left.remove(connection)
        for connection in left:
            try:
                connection.sendall(b"x")
            except OSError:
                pass  # it is ended, and select() says so
    assert serves(up)


def raise_open_files(count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        pytest.skip(f"only {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def test_ten_thousand_idle_connections_cost_little_and_shut_nobody_out_who_is_in(up):  # noqa: F811
    raise_open_files(10_600)
    up.start()
    before = memory(up)
    with connect(up) as early:
        ask = head(up, "GET", "/api/v1/namespaces/default")

        def asked():
            early.sendall(ask)
            return early.recv(65536)

        assert asked().startswith(b"HTTP/1.1 200")
        idle = []
        for _ in range(10_000):
            idle.append(socket.create_connection(endpoint(up), timeout=30))
        each = (memory(up) - before) / len(idle)
        assert asked().startswith(b"HTTP/1.1 200")
        assert each < 12 * 1024, f"{each:.0f} bytes a connection"
        print(f"{each:.0f} bytes a connection")
        # The idle ones make room for new clients.
        with connect(up) as late:
            late.sendall(ask)
            assert late.recv(65536).startswith(b"HTTP/1.1 200")
        # Who does not begin to speak has to go.
        assert all(connection.recv(1) == b"" for connection in idle)
        for connection in idle:
            connection.close()
    assert serves(up)


def test_a_body_of_a_hundred_megabytes_is_refused_before_it_is_taken(up):  # noqa: F811
    up.start()
    assert serves(up)
    before = memory(up, "VmHWM")
    size = 100 << 20
    answer = exchange(up, head(up, "POST", MAPS, "Content-Type: application/json", f"Content-Length: {size}"))
    assert statuses(answer) == [413]
    piece = b"%x\r\n" % (1 << 16) + b" " * (1 << 16) + b"\r\n"
    with connect(up) as connection:
        connection.sendall(head(up, "POST", MAPS, "Content-Type: application/json", "Transfer-Encoding: chunked"))
        try:
            for _ in range(size >> 16):
                connection.sendall(piece)
        except OSError:
            pass  # it listens no longer
        else:
            pytest.fail("all of it was taken")
    deep = '{"metadata":{"name":"x"},"data":' + "[" * 1_000_000 + "]" * 1_000_000 + "}"
    answer = exchange(up, head(up, "POST", MAPS, "Connection: close", "Content-Type: application/json",
                               f"Content-Length: {len(deep)}") + deep.encode())
    assert statuses(answer)[0] in (400, 413, 422)
    assert memory(up, "VmHWM") - before < 64 << 20
    assert serves(up)


# ---- a WebSocket that speaks nonsense ----

def frame(rng):
    """A frame of a client's, mostly wrong in some way."""
    opcode, payload = rng.randrange(16), rng.randbytes(rng.choice([0, 1, 5, 125, 126, 300]))
    first = rng.choice([0x00, 0x80, 0x80, 0xC0, 0xF0]) | opcode
    masked = rng.random() < 0.8
    size = len(payload) if rng.random() < 0.8 else rng.choice([0, 1 << 15, 1 << 40, (1 << 64) - 1])
    text = bytes([first])
    if size < 126:
        text += bytes([size | masked << 7])
    elif size < 1 << 16:
        text += bytes([126 | masked << 7]) + struct.pack(">H", size)
    else:
        text += bytes([127 | masked << 7]) + struct.pack(">Q", size)
    return text + (rng.randbytes(4) if masked else b"") + payload


def nonsense(up, target, protocol, seed):  # noqa: F811
    rng = random.Random(seed)
    with connect(up) as connection:
        connection.sendall(head(up, "GET", target, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                                "Sec-WebSocket-Key: " + base64.b64encode(rng.randbytes(16)).decode(),
                                f"Sec-WebSocket-Protocol: {protocol}"))
        answer = connection.recv(4096)
        assert answer.startswith(b"HTTP/1.1 101"), answer
        try:
            for _ in range(rng.randrange(1, 20)):
                connection.sendall(frame(rng) if rng.random() < 0.9 else rng.randbytes(rng.randrange(1, 200)))
            # The end of what we send: whatever it understood, it has to end as well.
            connection.unwrap()
        except OSError:
            pass  # it had enough


@needs_kubectl
def test_nonsense_in_a_web_socket_hurts_nobody(up):  # noqa: F811
    up.start()
    run_pod(up, "p", "exec sleep 1000")
    pod = "/api/v1/namespaces/default/pods/p"
    kinds = [(pod + "/exec?command=cat&stdin=1&stdout=1", "v5.channel.k8s.io"),
             (pod + "/exec?command=cat&stdin=1&stdout=1&tty=1", "v4.channel.k8s.io"),
             (pod + "/portforward?ports=1", "v4.channel.k8s.io"), (pod + "/portforward", "SPDY/3.1+portforward.k8s.io")]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(nonsense, up, *kinds[seed % len(kinds)], seed) for seed in range(200)]:
            done.result()
    assert serves(up)
    assert up.kubectl("exec", "p", "--", "echo", "here").stdout == "here\n"
