"""`muster up` with many clients that watch the same objects."""

import http.client
import json
import ssl
import threading
import urllib.parse

from test_up import up  # noqa: F401

WATCHERS = 200
WRITERS = 4
CHANGES = 50
PATH = "/api/v1/namespaces/default/configmaps"


def connect(up):  # noqa: F811
    port = urllib.parse.urlparse(up.address()).port
    context = ssl.create_default_context(cafile=up.state / "ca.crt")
    return http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)


def call(connection, up, method, path, body=None):  # noqa: F811
    headers = {"Authorization": "Bearer " + (up.state / "admin.token").read_text(),
               "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    assert answer.status < 300, answer.read()
    return answer


class Watcher(threading.Thread):
    """Reads until it has seen so many changes; `seen` is what each object went through."""

    def __init__(self, up, since):  # noqa: F811
        super().__init__()
        self.seen = {}
        self.connection = connect(up)
        self.answer = call(self.connection, up, "GET", f"{PATH}?watch=1&resourceVersion={since}")
        self.start()

    def run(self):
        for _ in range(WRITERS * CHANGES):
            event = json.loads(self.answer.readline())
            self.seen.setdefault(event["object"]["metadata"]["name"], []).append(
                (event["type"], event["object"]["data"]["change"]))


def test_each_watcher_sees_every_change_once_and_in_order(up):  # noqa: F811
    up.start()
    connection = connect(up)
    for writer in range(WRITERS):
        made = json.loads(call(connection, up, "POST", PATH, {"metadata": {"name": f"w{writer}"},
                                                              "data": {"change": ""}}).read())
    watchers = [Watcher(up, made["metadata"]["resourceVersion"]) for _ in range(WATCHERS)]

    def write(writer):
        own = connect(up)
        for change in range(CHANGES):
            call(own, up, "PATCH", f"{PATH}/w{writer}", {"data": {"change": str(change)}}).read()

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in writers:
        thread.start()
    for thread in [*writers, *watchers]:
        thread.join(timeout=100)
    history = [("MODIFIED", str(change)) for change in range(CHANGES)]
    for watcher in watchers:
        assert watcher.seen == {f"w{writer}": history for writer in range(WRITERS)}
