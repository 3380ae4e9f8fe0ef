"""The front end of the API server: what clients without credentials can do to it and to clients that have some."""

import collections
import concurrent.futures
import contextlib
import http.client
import json
import resource
import select
import socket
import ssl
import subprocess
import time

import pytest

from daemon import BINARY, MIB, head, parsed, read_all

MAPS = "/api/v1/namespaces/default/configmaps"
ACCEPTS = ["application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io",
           "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/vnd.kubernetes.protobuf", "*/*"]


def nested(depth):
    return '{"a":' * depth + "1" + "}" * depth


def account_of_nobody(up):
    """The token of a service account without a role."""
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    up.send("POST", accounts, {"metadata": {"name": "plain"}})
    return up.send("POST", accounts + "/plain/token", {"spec": {}})["status"]["token"]


# ---- no request ends the server ----

def test_no_request_of_nobody_ends_the_server(up):
    up.start()
    pid = up.pid()
    targets = [b"/%ff", b"/\xff", b"/%c3%28/x", b"/api/v1/namespaces/%ff/pods", b"/api?a=%ff", b"/%", b"/?%ff=%ff", b"*", b"/",
               b"/openapi/v2", b"/openapi/v3/api/v1", b"/version", b"/metrics", b"/apis/" + b"a/" * 2000,
               b"/" + b"%41" * 10_000]
    for target in targets:
        for accept in ACCEPTS:
            for method in ("GET", "POST", "PATCH", "OPTIONS"):
                status, body = up.ask(method, target, f"Accept: {accept}", "Content-Type: application/yaml", body=b"a: [\xff")
                assert 400 <= status < 500 or status == 200, (method, target, accept, body)
                body.decode()  # every answer is UTF-8
    assert up.pid() == pid and up.serves()


def test_no_depth_that_is_let_in_is_too_deep_for_an_answer(up):
    up.start()
    token = account_of_nobody(up)
    review = '{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"},"x":' + nested(150) + "}}"
    definition = {"metadata": {"name": "deeps.a.io"}, "spec": {
        "group": "a.io", "scope": "Namespaced", "names": {"plural": "deeps", "kind": "Deep"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    up.send("POST", definitions, definition)
    deeps = "/apis/a.io/v1/namespaces/default/deeps"
    deep = '{"apiVersion":"a.io/v1","kind":"Deep","metadata":{"name":"d"},"x":' + nested(150) + "}"
    assert up.ask("POST", deeps, up.admin(), "Content-Type: application/json", body=deep.encode())[0] == 201
    for accept in ACCEPTS:
        status, body = up.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                              f"Authorization: Bearer {token}", f"Accept: {accept}", "Content-Type: application/json",
                              body=review.encode())
        assert status in (201, 406), (accept, body)
        for target in (deeps, deeps + "/d", definitions, definitions + "/pytorchjobs.kubeflow.org", "/openapi/v2",
                       "/openapi/v3/apis/kubeflow.org/v1"):
            status, body = up.ask("GET", target, up.admin(), f"Accept: {accept}")
            assert status in (200, 406), (target, accept, body[:1000])
    assert up.serves()


# ---- bytes that are not UTF-8 ----

def test_no_bytes_get_into_what_others_read(up):
    up.start()
    data = b'{"metadata":{"name":"x"}}'
    kind = "Content-Type: application/json"
    for target, fields, body in [
            (MAPS + "?fieldManager=a%ff", [], data), (MAPS, [b"User-Agent: a\xff/1"], data),
            (MAPS + "?fieldValidation=%ff", [], data), (MAPS, [b"Impersonate-User: a\xff"], data),
            (MAPS, [], data.replace(b'"x"', b'"x","annotations":{"a":"\xff"}')),
            (MAPS, [], data.replace(b'"x"', b'"x","annotations":{"a":"\\ud800"}')),
            (MAPS, [], data.replace(b'"x"', b'"x","labels":{"\xff":"a"}'))]:
        status, answer = up.ask("POST", target, up.admin(), kind, *fields, body=body)
        assert status in (400, 403, 422), (target, fields, body, answer)
        json.loads(answer.decode())
    for text in (b"metadata: {name: x, annotations: {a: \xff}}", b'metadata: {name: x, annotations: {a: "\\ud800"}}'):
        status, answer = up.ask("POST", MAPS, up.admin(), "Content-Type: application/yaml", body=text)
        assert status == 400, (text, answer)
        json.loads(answer.decode())
    status, answer = up.ask("GET", MAPS, up.admin(), b"User-Agent: \xff")
    assert status == 200 and all(item["metadata"]["name"] != "x" for item in json.loads(answer.decode())["items"])


# ---- bodies ----

def send_slowly(connection, size):
    with contextlib.suppress(OSError):
        connection.sendall(b"x" * size)


def test_bodies_of_strangers_are_not_kept(up):
    up.start()
    assert up.serves()
    before = up.memory()
    size = 3 * MIB - 1
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(32) as pool:
        many = [stack.enter_context(up.connect()) for _ in range(200)]
        for connection in many:
            connection.settimeout(5)
            connection.sendall(head("POST", MAPS, "Content-Type: application/json", f"Content-Length: {size}"))
        for done in [pool.submit(send_slowly, connection, size - 1) for connection in many]:
            done.result()
        assert up.memory() - before < 60 * MIB, (up.memory() - before) // MIB
        assert up.serves()
    assert up.memory("VmHWM") - before < 60 * MIB


def test_who_may_not_send_a_body_is_told_before_it_is_sent(up):
    up.start()
    token = account_of_nobody(up)
    for credential, status in ((None, 403), (f"Authorization: Bearer {token}", 403), ("Authorization: Bearer wrong", 401)):
        for expects in ([], ["Expect: 100-continue"]):
            with up.connect() as connection:
                connection.sendall(head("POST", MAPS, *([credential] if credential else []), *expects,
                                        "Content-Type: application/json", "Content-Length: 1000000"))
                answer = read_all(connection)
                assert parsed(answer)[0] == status, (credential, expects, answer)
    # A client that may send it is told to continue.
    with up.connect() as connection:
        body = b'{"metadata":{"name":"large"},"data":{"k":"' + b"x" * 500_000 + b'"}}'
        connection.sendall(head("POST", MAPS, up.admin(), "Expect: 100-continue", "Content-Type: application/json",
                                f"Content-Length: {len(body)}", "Connection: close"))
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert parsed(read_all(connection))[0] == 201


def test_where_certificates_are_demanded_nobody_gets_behind_the_handshake(up):
    up.start(listen="0.0.0.0:0")
    port = up.endpoint()[1]

    def connect(stack, *certificate):
        context = ssl.create_default_context(cafile=up.state / "ca.crt")
        if certificate:
            context.load_cert_chain(*certificate)
        plain = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        return stack.enter_context(context.wrap_socket(plain, server_hostname="127.0.0.1"))

    with contextlib.ExitStack() as stack:
        # The alert follows the handshake; what is sent before it is read could make the kernel drop it.
        with pytest.raises(ssl.SSLError, match="(?i)certificate.required"):
            connect(stack).recv(1000)
        connection = connect(stack, up.state / "admin.crt", up.state / "admin.key")
        connection.sendall(head("GET", "/livez", up.admin(), "Connection: close"))
        assert parsed(read_all(connection))[0] == 200


# ---- answers ----

def with_large_maps(up):
    """Starts it with 18 MB of ConfigMaps; the token of an account that may read them."""
    up.start()
    for number in range(20):
        up.send("POST", MAPS, {"metadata": {"name": f"m{number}"}, "data": {"k": "x" * 900_000}})
    up.ask("GET", MAPS, up.admin())
    return viewer(up)


def viewer(up):
    """The token of an account that may read. Only administrators are served whatever is in memory."""
    token = account_of_nobody(up)
    up.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": "viewer"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "plain", "namespace": "default"}]})
    return token


def test_answers_that_nobody_takes_have_a_bound(up):
    token = with_large_maps(up)
    before = up.memory()
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            connection = stack.enter_context(up.connect())
            connection.sendall(head("GET", MAPS, f"Authorization: Bearer {token}"))
            # So that the answer is made, but only a few buffers of it are received.
            assert select.select([connection], [], [], 30)[0]
        assert up.memory() - before < 400 * MIB, (up.memory() - before) // MIB
        assert up.ask("GET", MAPS, f"Authorization: Bearer {token}")[0] == 429
        assert up.serves() and up.ask("GET", MAPS, up.admin())[0] == 200
    deadline = time.monotonic() + 30
    while up.ask("GET", MAPS, f"Authorization: Bearer {token}")[0] == 429:
        assert time.monotonic() < deadline, "the memory of answers whose clients are gone must be given back"


def test_answers_that_are_asked_for_at_once_have_a_bound(up):
    token = with_large_maps(up)
    before = up.memory()
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(up.connect()) for _ in range(40)]
        for connection in many:
            connection.sendall(head("GET", MAPS, f"Authorization: Bearer {token}"))
        answers = []
        for connection in many:
            connection.settimeout(30)
            answers.append(connection.recv(12))
        assert set(answers) == {b"HTTP/1.1 200", b"HTTP/1.1 429"}, answers
        assert answers.count(b"HTTP/1.1 200") < 20, answers
        assert up.memory("VmHWM") - before < 400 * MIB, (up.memory("VmHWM") - before) // MIB
        assert up.serves() and up.ask("GET", MAPS, up.admin())[0] == 200


def test_answers_that_were_taken_are_not_kept(up):
    token = with_large_maps(up)
    before = up.memory()
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(up.connect())
            connection.sendall(head("GET", MAPS, f"Authorization: Bearer {token}"))
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            assert len(answer.read()) > 18_000_000
        assert up.memory() - before < 100 * MIB, (up.memory() - before) // MIB


def test_watches_that_nobody_reads_have_a_bound(up):
    token = with_large_maps(up)
    before = up.memory()
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(up.connect()) for _ in range(600)]
        for connection in many:
            connection.sendall(head("GET", MAPS + "?watch=true", f"Authorization: Bearer {token}"))
        begun = 0
        for connection in many:
            # The head is sent before anything is held: what follows it is a piece, or the end.
            connection.settimeout(30)
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(1)
            begun += connection.recv(2) != b"0\r"
        # Those that the kernel took whole are held no more, and others had their turn.
        assert 100 < begun < 600, begun
        assert up.memory("VmHWM") - before < 400 * MIB, (up.memory("VmHWM") - before) // MIB
        assert up.serves() and up.ask("GET", MAPS, up.admin())[0] == 200


# ---- connections ----

def raise_open_files(count):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        pytest.skip(f"only {hard} files may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def test_idle_strangers_lock_nobody_out(up):
    raise_open_files(11_000)  # the daemon inherits it
    up.start()
    with contextlib.ExitStack() as stack, up.connect() as early:
        ask = head("GET", "/api/v1/namespaces/default", up.admin())
        early.sendall(ask)
        assert early.recv(65536).startswith(b"HTTP/1.1 200")
        for number in range(10_200):
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_connection(up.endpoint(), timeout=30))
            if number % 1000 == 999 or number > 10_000 and number % 20 == 0:
                assert up.serves(), number
        early.sendall(ask)
        assert early.recv(65536).startswith(b"HTTP/1.1 200"), "known clients keep their places"
    assert up.serves()


def test_heads_of_strangers_have_a_bound(up):
    raise_open_files(6_000)
    up.start()
    assert up.serves()
    before = up.memory()
    unfinished = head("GET", MAPS, "X-Long: " + "x" * 60_000)[:-4]

    def begin():
        connection = up.connect()
        with contextlib.suppress(OSError):  # it made room already
            connection.sendall(unfinished)
        return connection

    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(16) as pool:
        many = [pool.submit(begin) for _ in range(2_000)]
        for number, done in enumerate(many):
            stack.enter_context(done.result())
            if number % 200 == 0:
                assert up.serves(), number
        # What is shorter than usual credentials is not in the way.
        assert up.ask("GET", "/livez", "X-Short: " + "x" * 3_000)[0] == 200
        assert up.memory("VmHWM") - before < 80 * MIB, (up.memory("VmHWM") - before) // MIB
    assert up.serves()


def test_large_heads_of_known_clients_have_a_bound(up):
    raise_open_files(6_000)
    up.start()
    token = viewer(up)
    before = up.memory()
    watch = head("GET", MAPS + "?watch=1", f"Authorization: Bearer {token}", "X-Long: " + "x" * 60_000)

    def begin():
        connection = up.connect()
        connection.sendall(watch)
        return connection, int(connection.recv(12).split()[1])

    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = []
        for done in [pool.submit(begin) for _ in range(2_500)]:
            connection, status = done.result()
            stack.enter_context(connection)
            statuses.append(status)
        assert set(statuses) == {200, 429} and statuses.count(200) > 1_000, collections.Counter(statuses)
        assert up.memory("VmHWM") - before < 450 * MIB, (up.memory("VmHWM") - before) // MIB
        assert up.ask("GET", MAPS, f"Authorization: Bearer {token}")[0] == 200, "what is small needs no room"
        assert up.serves()


def test_a_stranger_that_has_asked_is_not_waited_for(up):
    up.start()
    with up.connect() as connection:
        connection.sendall(head("GET", "/livez"))
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
        began = time.monotonic()
        assert select.select([connection], [], [], 60)[0] and connection.recv(1000) == b""
        assert time.monotonic() - began < 45


# ---- the operator's ports ----

def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def test_ports_of_the_operator_take_no_bodies(up):
    up.start()
    health, metrics = free_port(), free_port()
    operator = subprocess.Popen(
        [BINARY, "operator", "--kubeconfig", up.state / "kubeconfig", "--leader-elect=false",
         f"--health-probe-bind-address=127.0.0.1:{health}", f"--metrics-bind-address=127.0.0.1:{metrics}"],
        env=up.environment, cwd=up.directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def ask(port, request):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(request)
                return parsed(read_all(connection))[0]

        deadline = time.monotonic() + 30
        while True:
            try:
                assert ask(health, head("GET", "/healthz", "Connection: close")) == 200
                break
            except ConnectionRefusedError:
                assert operator.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
        for port, path in ((health, "/healthz"), (metrics, "/metrics")):
            for length in ("Content-Length: 3000000", "Transfer-Encoding: chunked"):
                assert ask(port, head("POST", path, length) + b"1\r\na\r\n") == 413, (path, length)
            assert ask(port, head("GET", path, "Connection: close")) == 200
        assert operator.poll() is None
    finally:
        operator.kill()
        operator.wait(30)
