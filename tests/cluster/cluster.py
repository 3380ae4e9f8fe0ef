"""A real Kubernetes control plane on loopback: etcd, kube-apiserver, and what else is asked for. ./dev cluster

`Cluster` owns the processes and a state folder; it begins empty each time. Nothing outlives it: the kernel ends
each process with the thread that started it, so a Cluster is made and used in a main thread.
"""

import argparse
import contextlib
import ctypes
import fcntl
import http.client
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import peers
from credentials import Credentials
from programs import BuildFailed, Missing, build, fetch, find

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATE = ROOT / "build" / "cluster"
PR_SET_PDEATHSIG = 1
START_LIMIT = 120


class Failed(Exception):
    """A cluster that did not come up, with the end of what the part said."""


# ---- decisions ----

def parts_of(bare=False, with_kwok=False, peer=None):
    """The programs of a cluster, in the order of their start."""
    parts = ["etcd", "kube-apiserver"]
    if not bare:
        parts += ["kube-controller-manager", "kube-scheduler"]
    return parts + (["kwok"] if with_kwok else []) + ([peer] if peer else [])


def arguments_of(part, where):
    """The arguments of a program; `where` has its paths and ports."""
    etcd = f"https://127.0.0.1:{where.ports['etcd']}"
    secret = where.credentials
    if part == "etcd":
        peer = f"http://127.0.0.1:{where.ports['etcd-peer']}"
        return ["--data-dir", where.state / "etcd", "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
                "--cert-file", secret["server.crt"], "--key-file", secret["server.key"], "--client-cert-auth",
                "--trusted-ca-file", secret["ca.crt"]]
    if part == "kube-apiserver":
        admission = ["--disable-admission-plugins=ServiceAccount"] if where.bare else []
        return ["--etcd-servers", etcd, "--etcd-cafile", secret["ca.crt"], "--etcd-certfile", secret["server.crt"],
                "--etcd-keyfile", secret["server.key"], "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                f"--secure-port={where.ports['kube-apiserver']}", "--tls-cert-file", secret["server.crt"],
                "--tls-private-key-file", secret["server.key"], "--client-ca-file", secret["ca.crt"],
                "--token-auth-file", secret["tokens.csv"], "--authorization-mode=Node,RBAC",
                "--requestheader-client-ca-file", secret["front-proxy-ca.crt"],
                "--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
                "--requestheader-group-headers=X-Remote-Group", "--requestheader-uid-headers=X-Remote-Uid",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                "--proxy-client-cert-file", secret["front-proxy-client.crt"],
                "--proxy-client-key-file", secret["front-proxy-client.key"],
                "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file", secret["sa.pub"],
                "--service-account-signing-key-file", secret["sa.key"], "--service-cluster-ip-range=10.0.0.0/16",
                "--endpoint-reconciler-type=none", "--cert-dir", where.state / "certs", *admission, *where.more]
    if part == "kube-controller-manager":
        return ["--kubeconfig", where.kubeconfig, "--leader-elect=false", "--secure-port=0",
                "--service-account-private-key-file", secret["sa.key"], "--root-ca-file", secret["ca.crt"],
                # It makes this folder, by default one of the machine.
                "--flex-volume-plugin-dir", where.state / "volume-plugins",
                "--cert-dir", where.state / "certs"]
    if part == "kube-scheduler":
        return ["--kubeconfig", where.kubeconfig, "--leader-elect=false", "--secure-port=0",
                "--cert-dir", where.state / "certs"]
    return peers.arguments_of(part, where)


# ---- processes ----

def free_ports(names):
    """A port for each name. Another program may take one before its owner does; that start then fails."""
    with contextlib.ExitStack() as stack:
        sockets = {name: stack.enter_context(socket.create_server(("127.0.0.1", 0))) for name in names}
        return {name: each.getsockname()[1] for name, each in sockets.items()}


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Cluster:
    """A running cluster. `processes` by name; `kubeconfig` has the rights of system:masters.

    `bare`: etcd and kube-apiserver alone, without the admission that waits for a controller's service accounts.
    `more`: further arguments of kube-apiserver.
    Raises Missing when a program can't be had, Failed when one does not come up.
    """

    def __init__(self, state, bare=False, with_kwok=False, peer=None, more=()):
        self.state, self.bare, self.peer, self.more = pathlib.Path(state), bare, peer, more
        self.processes = {}
        parts = parts_of(bare, with_kwok, peer)
        self.programs = {name: build(name) for name in parts}
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir(mode=0o700, parents=True)
        self.credentials = Credentials(self.state / "secrets")
        self.ports = free_ports(("etcd", "etcd-peer", "kube-apiserver", *peers.PORTS))
        self.url = f"https://127.0.0.1:{self.ports['kube-apiserver']}"
        self.kubeconfig = self.state / "kubeconfig"
        self.credentials.kubeconfig(self.kubeconfig, self.url)
        self.context = ssl.create_default_context(cafile=self.credentials["ca.crt"])
        try:
            for part in parts:
                peers.prepare(part, self)
                self.start(part)
                self.wait_for(part)
        except BaseException:
            self.stop()
            raise

    def log(self, part):
        return self.state / f"{part}.log"

    def start(self, part):
        with open(self.log(part), "wb") as log:
            self.processes[part] = subprocess.Popen(
                [self.programs[part], *map(str, arguments_of(part, self))], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd=self.state, preexec_fn=end_with_parent, env=peers.environment_of(part, self))

    def wait_for(self, part):
        deadline = time.monotonic() + START_LIMIT
        while not self.ready(part):
            status = self.processes[part].poll()
            if status is not None or time.monotonic() > deadline:
                why = f"ended with status {status}" if status is not None else f"was not ready after {START_LIMIT} s"
                raise Failed(f"{part} {why}; the end of {self.log(part)}:\n"
                             + self.log(part).read_text(errors="replace")[-2000:])
            time.sleep(0.05)

    def ready(self, part):
        try:
            if part == "etcd":
                # kube-apiserver looks by itself whether etcd answers; that it listens is enough.
                socket.create_connection(("127.0.0.1", self.ports["etcd"]), 1).close()
                return True
            if part == "kube-apiserver":
                # `default` is made a moment after the server calls itself ready.
                return self.call("GET", "/readyz")[0] == 200 and self.call("GET", "/api/v1/namespaces/default")[0] == 200
            if part == "kube-controller-manager":
                return self.call("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200
            return peers.ready(part, self)
        except OSError:
            return False

    def call(self, method, path, body=None, content="application/json"):
        """(status, text) of one request to the API."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.ports["kube-apiserver"], context=self.context, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Authorization": "Bearer " + self.credentials.token, "Content-Type": content})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def stop(self):
        """Ends all of it at once: nothing of a cluster is kept."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


# ---- up, down, run ----

def lock_of(state):
    """Beside the state folder, which each cluster makes again; holds the process id of its server."""
    return state.parent / (state.name + ".lock")


def serve(options):
    """Holds a cluster until it is told to stop or a part of it dies. Says one line when it is up."""
    options.state.parent.mkdir(parents=True, exist_ok=True)
    with open(lock_of(options.state), "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(f"a cluster is up already in {options.state}; ./dev cluster down stops it") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with Cluster(options.state, with_kwok=options.with_kwok, peer=options.peer) as cluster:
            print(f"up {cluster.kubeconfig}", flush=True)
            watched = {os.pidfd_open(process.pid): name for name, process in cluster.processes.items()}
            dead = [watched[each] for each in select.select(watched, [], [])[0]]
            print(f"{dead[0]} died, so the cluster ends; see {cluster.log(dead[0])}", file=sys.stderr, flush=True)
    return 1


def up(options):
    log = options.state.parent / (options.state.name + ".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, __file__, "serve", "--state", options.state]
    command += ["--with", "kwok"] if options.with_kwok else []
    command += ["--peer", options.peer] if options.peer else []
    with open(log, "wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   start_new_session=True)
    for line in process.stdout:
        if line.startswith("up "):
            print(f"The cluster is up. export KUBECONFIG={line[3:].strip()}")
            return 0
        print(line, end="", flush=True)
    print(log.read_text(errors="replace"), end="", file=sys.stderr)
    return process.wait() or 1


def down(options):
    try:
        with open(lock_of(options.state), "r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                print("No cluster is up.")
                return 0
            except BlockingIOError:
                watched = os.pidfd_open(int(lock.read()))
    except FileNotFoundError:
        print("No cluster is up.")
        return 0
    signal.pidfd_send_signal(watched, signal.SIGTERM)
    if not select.select([watched], [], [], 30)[0]:
        raise Failed("the cluster did not end within 30 s")
    shutil.rmtree(options.state, ignore_errors=True)
    print("The cluster is down.")
    return 0


def run(options):
    """A command's status, with a cluster of its own for as long as it runs."""
    if not options.command:
        raise Failed("run needs a command: ./dev cluster run -- COMMAND")
    with (tempfile.TemporaryDirectory(prefix="muster-cluster-", dir="/var/tmp") as place,
          Cluster(pathlib.Path(place) / "cluster", with_kwok=options.with_kwok, peer=options.peer) as cluster):
        return subprocess.run(options.command, check=False, env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
                              preexec_fn=end_with_parent).returncode


def each_program(action):
    def verb(options):
        for name in options.command or parts_of(with_kwok=options.with_kwok, peer=options.peer):
            action(name)
        return 0

    return verb


def built(options):
    return 0 if all(map(find, options.command)) else 1


VERBS = {"up": up, "down": down, "run": run, "fetch": each_program(fetch), "build": each_program(build), "built": built,
         "serve": serve}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev cluster", description="A real Kubernetes control plane on loopback.")
    parser.add_argument("verb", choices=VERBS, metavar="up|down|run|fetch|build",
                        help="start it and print its kubeconfig; stop it; run a command with one of its own (KUBECONFIG "
                        "says where); fetch, or build, what it needs and no more")
    parser.add_argument("--with", choices=["kwok"], dest="extra", help="a node whose pods run in the API alone")
    parser.add_argument("--peer", choices=peers.OPERATORS, help="an operator for its jobs")
    parser.add_argument("--state", type=pathlib.Path, default=STATE, help="its folder (build/cluster)")
    parser.add_argument("command", nargs="*", help="for run, after --: the command; for fetch and build: programs")
    # argparse reads options behind a -- as its own where positional arguments can be few or many.
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options = parser.parse_args(arguments[:cut])
    options.command += arguments[cut + 1:]
    options.with_kwok = options.extra == "kwok"
    options.state = options.state.absolute()
    return options


# The exit status that says: skipped, for a reason that was printed.
SKIPPED = 77


def main():
    options = parse(sys.argv[1:])
    try:
        return VERBS[options.verb](options)
    except Missing as why:
        print(f"cluster: {why}", file=sys.stderr)
        return SKIPPED
    except (Failed, BuildFailed) as why:
        print(f"cluster: {why}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
