"""Attacks on a daemon, each bounded in time and memory, with inputs chosen by a random generator.

An attack takes a Field and a generator. It fails with an AssertionError if an answer is wrong by itself: no status, a fault of
the server (500), or bytes that are not UTF-8. What it does to others is seen by those who watch them."""

import contextlib
import json
import random
import select

from daemon import MIB, head, parsed

NAMESPACE = "/api/v1/namespaces/attacked"
MAPS = NAMESPACE + "/configmaps"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JSON, YAML = "application/json", "application/yaml"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
OPERATIONS, APPLY = "application/json-patch+json", "application/apply-patch+yaml"
ACCEPTS = [JSON, YAML, "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
           "application/vnd.kubernetes.protobuf", "*/*", "", "\t;;,"]
LARGEST = 3 * MIB


class Field:
    """The daemon, and accounts on it that the admin has made: one without rights, one that may do all in its namespace."""

    def __init__(self, up):
        self.up = up
        self.nobody = self.account("nobody")
        up.send("POST", "/api/v1/namespaces", {"metadata": {"name": "attacked"}})
        self.owner = self.account("owner")
        up.send("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "attacker"}, "rules": [
            {"verbs": ["*"], "apiGroups": ["", "a.io"], "resources": ["configmaps", "deeps"]},
            {"verbs": ["create", "get", "delete"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"]},
            {"verbs": ["patch"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"]},
            {"verbs": ["create", "delete"], "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"]}]})
        up.send("POST", f"{RBAC}/clusterrolebindings", {
            "metadata": {"name": "attacker"}, "subjects": [{"kind": "ServiceAccount", "name": "owner", "namespace": "default"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "attacker"}})

    def account(self, name):
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        self.up.send("POST", accounts, {"metadata": {"name": name}})
        return "Authorization: Bearer " + self.up.send("POST", f"{accounts}/{name}/token", {"spec": {}})["status"]["token"]

    def ask(self, method, target, *fields, body=b""):
        """A request whose answer has to be one, and no fault."""
        status, answer = self.up.ask(method, target, *fields, body=body)
        assert status >= 200 and status != 500, (method, target[:200], fields, status, answer[:1000])
        answer.decode()
        return status, answer

    def write(self, method, target, value, kind=JSON, accept=JSON):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask(method, target, self.owner, f"Content-Type: {kind}", f"Accept: {accept}", body=body)


def nested(depth, open_, close):
    return open_ * depth + b"1" + close * depth


def strange_requests(field, rng):
    """Bytes and paths that no client sends."""
    targets = [b"/%ff", b"/\xff", b"/%c3%28/x", b"/api/v1/namespaces/%ff/pods", b"/api?a=%ff", b"/%", b"/?%ff=%ff", b"*", b"/openapi/v2",
               b"/openapi/v3/api/v1", b"/version", b"/apis/" + b"a/" * rng.randrange(2000), b"/" + b"%41" * rng.randrange(10_000),
               bytes(rng.randrange(33, 256) for _ in range(200))]
    for _ in range(20):
        field.ask(rng.choice(["GET", "POST", "PATCH", "OPTIONS", "DELETE"]), rng.choice(targets),
                  f"Accept: {rng.choice(ACCEPTS)}", "Content-Type: " + rng.choice([JSON, YAML]), body=b"a: [\xff")


def bytes_that_are_no_text(field, rng):
    data = b'{"metadata":{"name":"x","annotations":{"a":"PLACE"}}}'
    for place in (b"\xff", b"\\ud800", b"\xc3\x28", bytes(rng.randrange(128, 256) for _ in range(9))):
        status, _ = field.write("POST", MAPS, data.replace(b"PLACE", place))
        assert status in (400, 409, 201, 422), status
    field.ask("POST", MAPS + "?fieldManager=a%ff", field.owner, f"Content-Type: {JSON}", body=b'{"metadata":{"name":"x"}}')
    field.ask("GET", MAPS, field.owner, b"User-Agent: \xff", b"Accept: \xfe")


def half_bodies(field, rng):
    """Many strangers announce large bodies, and send parts of them."""
    with contextlib.ExitStack() as stack:
        for _ in range(rng.randrange(10, 60)):
            connection = stack.enter_context(field.up.connect())
            connection.settimeout(5)
            with contextlib.suppress(OSError):
                connection.sendall(head("POST", MAPS, f"Content-Type: {JSON}", f"Content-Length: {LARGEST - 1}"))
                connection.sendall(b"x" * rng.randrange(MIB // 4))


def idle_strangers(field, rng):
    with contextlib.ExitStack() as stack:
        for _ in range(rng.randrange(50, 200)):
            connection = stack.enter_context(field.up.connect())
            if rng.random() < 0.5:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: " + b"x" * rng.randrange(100))


def deep_bodies(field, rng):
    depth = rng.choice([150, 199, 200, 201, 1000, 100_000])
    for kind, text in ((JSON, nested(depth, b'{"a":', b"}")), (JSON, nested(depth, b"[", b"]")), (YAML, nested(depth, b"{a: ", b"}")),
                       (YAML, nested(depth, b"- ", b"")), (MERGE, nested(depth, b'{"a":', b"}"))):
        method = "PATCH" if kind == MERGE else "POST"
        field.write(method, MAPS + ("/m" if kind == MERGE else ""), text, kind, rng.choice(ACCEPTS[:4]))


def wide_object(rng):
    """Near the largest body, in one of the shapes that cost most for their length."""
    meta = {"metadata": {"name": f"wide-{rng.randrange(4)}"}}
    return rng.choice([
        lambda: {**meta, "data": {f"k{i}": "" for i in range(rng.randrange(200_000))}},
        lambda: {**meta, "data": {"k": "x" * rng.randrange(LARGEST)}},
        lambda: {**meta, **{f"u{i}": 0 for i in range(rng.randrange(200_000))}},
        lambda: {**meta, "data": [0] * rng.randrange(1_000_000)},
        lambda: {**meta, "data": [{}] * rng.randrange(700_000)},
        lambda: {"metadata": {**meta["metadata"], "labels": {f"l{i}": "v" for i in range(rng.randrange(150_000))}}},
        lambda: {"metadata": {**meta["metadata"], "finalizers": [f"a.b/{i}" for i in range(rng.randrange(100_000))]}},
        lambda: {"metadata": {**meta["metadata"], "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": f"{i}"} for i in range(rng.randrange(20_000))]}},
        lambda: {"metadata": {**meta["metadata"], "managedFields": [
            {"manager": f"m{i}", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
             "fieldsV1": {"f:data": {f"f:k{i}": {}}}} for i in range(rng.randrange(10_000))]}},
    ])()


def wide_bodies(field, rng):
    body = wide_object(rng)
    kind = rng.choice([JSON, YAML, "application/vnd.kubernetes.protobuf"])
    field.write("POST", MAPS, body, kind, rng.choice(ACCEPTS[:4]))
    field.write("PUT", f"{MAPS}/{body['metadata']['name']}", body, kind, rng.choice(ACCEPTS[:4]))


def large_patches(field, rng):
    field.write("POST", MAPS, {"metadata": {"name": "patched"}, "data": {f"k{i}": "v" for i in range(20_000)}})
    at = rng.randrange(5000)
    kind, patch = rng.choice([
        (OPERATIONS, [{"op": "move", "from": f"/data/k{i}", "path": f"/data/x{i}"} for i in range(at, at + 10_000)]),
        (OPERATIONS, [{"op": "copy", "from": "", "path": f"/x{i}"} for i in range(30)]),
        (OPERATIONS, [{"op": "test", "path": "/data", "value": {}}] * 9000),
        (OPERATIONS, [{"op": "remove", "path": f"/data/k{i}"} for i in range(10_000)]),
        (MERGE, {"data": {f"k{i}": None for i in range(20_000)}}),
        (STRATEGIC, {"data": {f"k{i}": rng.choice([None, "w"]) for i in range(20_000)}}),
        (STRATEGIC, {"metadata": {"ownerReferences": [{"$patch": "delete", "uid": f"{i}"} for i in range(20_000)]}}),
        (APPLY, {"apiVersion": "v1", "kind": "ConfigMap", "data": {f"k{i}": "v" for i in range(rng.randrange(100_000))}}),
    ])
    query = f"?fieldManager=m{rng.randrange(30)}&force=true" if kind == APPLY else ""
    field.write("PATCH", f"{MAPS}/patched{query}", patch, kind, rng.choice(ACCEPTS[:4]))
    if rng.random() < 0.3:
        field.write("DELETE", f"{MAPS}/patched", b"")


def wide_roles(field, rng):
    names = [f"n{i}" for i in range(rng.randrange(1, 300))]
    status, answer = field.write("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "wide"}, "rules": [
        {"verbs": names, "apiGroups": names, "resources": names}]})
    assert status == 403, answer[:1000]
    status, answer = field.write("PATCH", f"{RBAC}/clusterroles/cluster-admin", {
        "metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}}, MERGE)
    assert status == 403, answer[:1000]


def reviews(field, rng):
    kind = rng.choice(["selfsubjectaccessreviews", "selfsubjectrulesreviews"])
    extra = rng.choice([nested(rng.randrange(190), b'{"a":', b"}"), b"[" + b"0," * rng.randrange(1_000_000) + b"0]"])
    body = (b'{"spec":{"namespace":"default","resourceAttributes":{"verb":"get","resource":"pods"},"x":' + extra + b"}}")
    field.ask("POST", f"/apis/authorization.k8s.io/v1/{kind}", field.nobody, f"Content-Type: {JSON}",
              f"Accept: {rng.choice(ACCEPTS[:4])}", body=body)


def selectors(field, rng):
    terms = rng.choice([",".join(f"!k{i}" for i in range(rng.randrange(200))), "a in (" + ",".join(map(str, range(9000))) + ")",
                        "a" * 60_000, "((((", "a=b," * 99])
    field.ask("GET", f"{MAPS}?labelSelector={terms.replace(' ', '%20')}", field.owner, f"Accept: {rng.choice(ACCEPTS[:4])}")


def many_objects(field, rng):
    """Lists in all forms, a deletion of all, and their owner, which takes the rest with it."""
    prefix = f"many-{rng.randrange(1 << 32):x}"
    status, owner = field.write("POST", MAPS, {"metadata": {"name": prefix}})
    if status != 201:
        return  # there is no memory left for it
    uid = json.loads(owner)["metadata"]["uid"]
    owned = [{"apiVersion": "v1", "kind": "ConfigMap", "name": prefix, "uid": uid}]
    for number in range(rng.randrange(20, 80)):
        field.write("POST", MAPS, {"metadata": {"name": f"{prefix}-{number}", "labels": {"many": prefix}, "ownerReferences": owned},
                                   "data": {"k": "x" * rng.randrange(2000)}})
    for accept in ACCEPTS[:4]:
        field.ask("GET", f"{MAPS}?labelSelector=many%3D{prefix}", field.owner, f"Accept: {accept}")
    field.write("DELETE", f"{MAPS}/{prefix}" if rng.random() < 0.5 else f"{MAPS}?labelSelector=many%3D{prefix}", b"")
    field.write("DELETE", f"{MAPS}/{prefix}", b"")


def answers_that_nobody_takes(field, rng):
    with contextlib.ExitStack() as stack:
        for _ in range(rng.randrange(5, 30)):
            connection = stack.enter_context(field.up.connect())
            connection.sendall(head("GET", rng.choice([MAPS, "/openapi/v2", DEFINITIONS]), field.owner,
                                    f"Accept: {rng.choice(ACCEPTS[:4])}"))
            select.select([connection], [], [], 5)


def watches(field, rng):
    with contextlib.ExitStack() as stack:
        for _ in range(rng.randrange(10, 60)):
            connection = stack.enter_context(field.up.connect())
            connection.sendall(head("GET", f"{MAPS}?watch=1&resourceVersion={rng.choice(['0', '1', '', '99999999999', '-1', 'x'])}",
                                    field.owner, f"Accept: {rng.choice(ACCEPTS[:4])}"))
        field.write("POST", MAPS, {"metadata": {"name": "seen"}, "data": {"k": "x" * rng.randrange(MIB)}})
        field.write("DELETE", f"{MAPS}/seen", b"")


def definitions(field, rng):
    """Kinds whose structure is an attack by itself, and objects of them."""
    schema = rng.choice([
        lambda: {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        lambda: {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(rng.randrange(30_000))}},
        lambda: {"type": "object", "properties": {"x": {"type": "array", "items": {
            "type": "string", "pattern": rng.choice(["^(a+)+$", "(x|x)*y", "^[a-z]{1,500}$"])}}}},
        lambda: {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "object", "properties": {
            f"d{i}": {"type": "string", "default": "x" * 100} for i in range(100)}}}}},
    ])()
    field.write("POST", DEFINITIONS, {"metadata": {"name": "deeps.a.io"}, "spec": {
        "group": "a.io", "scope": "Namespaced", "names": {"plural": "deeps", "kind": "Deep"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})
    deeps = "/apis/a.io/v1/namespaces/attacked/deeps"
    items = rng.choice([["a" * 30 + "!"] * rng.randrange(1000), [{}] * rng.randrange(3000), "x", nested(5, b"[", b"]").decode()])
    field.write("POST", deeps, {"apiVersion": "a.io/v1", "kind": "Deep", "metadata": {"generateName": "d-"}, "x": items},
                accept=rng.choice(ACCEPTS[:4]))
    field.ask("GET", deeps, field.owner, f"Accept: {rng.choice(ACCEPTS[:4])}")
    if rng.random() < 0.5:
        field.write("DELETE", f"{DEFINITIONS}/deeps.a.io", b"")


def documents(field, rng):
    for target in ("/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/kubeflow.org/v1", "/apis", "/api/v1"):
        field.ask("GET", target, field.owner, f"Accept: {rng.choice(ACCEPTS[:4])}")


def broken_http(field, rng):
    """Messages that end early, say two things, or are none."""
    texts = [b"\x16\x03\x01" * 50, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
             b"GET / HTTP/9.9\r\n\r\n", head("POST", "/", "Transfer-Encoding: chunked") + b"ffffffffffffffffff\r\n", b"\r\n" * 10_000,
             head("GET", "/livez") * 200, rng.randbytes(5000)]
    for text in rng.sample(texts, 4):
        with field.up.connect() as connection:
            connection.settimeout(2)
            with contextlib.suppress(OSError):
                connection.sendall(text)
                answer = connection.recv(65536)
                assert not answer or 200 <= parsed(answer)[0] != 500, (text[:100], answer)


ATTACKS = [strange_requests, bytes_that_are_no_text, half_bodies, idle_strangers, deep_bodies, wide_bodies, large_patches, wide_roles,
           reviews, selectors, many_objects, answers_that_nobody_takes, watches, definitions, documents, broken_http]


def play(field, attack, seed):
    """One attack as this seed has it."""
    attack(field, random.Random(f"{attack.__name__} {seed}"))
