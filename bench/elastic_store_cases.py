"""The figures of the store that workers meet at: real clients of torch, against torch's own server and ours."""

import contextlib
import subprocess
import tempfile

from elastic_jobs import peers
from figure import Figure
from measure import ROOT, Failed, median, rounds, wait_for


@contextlib.contextmanager
def store_server(words):
    server = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL)
    try:
        port = server.stdout.readline().strip()
        if not port:
            raise Failed(f"{words[0]} serves no store")
        yield int(port)
    finally:
        server.stdin.close()
        if wait_for(server, 20) is None:
            server.kill()
        server.wait()
        server.stdout.close()


# torch looks up the name of each address that connects, or is connected to. Most machines have none for the mapped one, so
# that a name server would be measured.
HOSTS = "127.0.0.1 localhost\n::1 localhost\n::ffff:127.0.0.1 localhost\n"
WITH_HOSTS = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'


def with_hosts(file):
    """What a command begins with to have a file of hosts of its own; nothing where that is not allowed."""
    words = ["unshare", "--mount", "sh", "-c", WITH_HOSTS, "sh", str(file)]
    try:
        allowed = subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    return words if allowed else []


class StoreClients:
    """Some processes of real clients, which import torch once for all servers."""

    def __init__(self, words, processes):
        self.processes = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                          for _ in range(processes)]

    def tell(self, words):
        for number, process in enumerate(self.processes):
            process.stdin.write(words.format(number=number) + "\n")
            process.stdin.flush()

    def answers(self):
        lines = [process.stdout.readline().split() for process in self.processes]
        if not all(lines):
            raise Failed("a client of the store failed")
        return lines

    def rate(self, server, what, count):
        """Operations a second of all at once, each with a count of its own."""
        with store_server(server) as port:
            self.tell(f"{port} {what} {count} client-{{number}}")
            self.answers()
            self.tell("go")
            times = [tuple(map(float, line)) for line in self.answers()]
            self.tell("done")
        return count * len(self.processes) / (max(end for _, end in times) - min(begin for begin, _ in times))

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def compare_stores(clients, servers, how, what, count):
    rates = {title: [] for title in servers}
    for turn in range(rounds(5)):
        for title in (list(servers), list(servers)[::-1])[turn % 2]:
            rates[title].append(clients.rate(servers[title], what, count))
    ours, theirs = median(rates["ours"]), median(rates["torch's"])
    return Figure(f"store: {how}, torch's own server against ours", theirs / ours, 0.667, "times",
                  f"medians of {len(rates['ours'])} in turns: {theirs:.0f} against {ours:.0f} a second")


def store(muster):
    del muster
    python, _ = peers()
    with tempfile.NamedTemporaryFile("w", prefix="mb-hosts-") as hosts:
        hosts.write(HOSTS)
        hosts.flush()
        before = with_hosts(hosts.name)
        if not before:
            print("elastic-store: a name server is asked for each connection, and measured with it", flush=True)
        script = ROOT / "bench" / "elastic_store_server.py"
        servers = {"ours": [ROOT / "build" / "release" / "bench" / "muster_store_server"], "torch's": [*before, python, script]}
        client = [*before, str(python), str(ROOT / "bench" / "elastic_store_client.py")]
        with contextlib.closing(StoreClients(client, 1)) as alone:
            figures = [compare_stores(alone, servers, "set, get, add and wait of one client", "operations", 8000)]
        with contextlib.closing(StoreClients(client, 4)) as clients:
            return [*figures, compare_stores(clients, servers, "clients that connect, set and get", "clients", 500),
                    compare_stores(clients, servers, "set, get, add and wait of 4 clients at once", "operations", 8000)]


CASES = {"elastic-store": store}
