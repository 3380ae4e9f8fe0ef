"""What a step of a pipeline takes: to create its job, to end after it, and to copy the logs of many pods through a connection that breaks."""

import collections
import contextlib
import os
import pathlib
import re
import select
import socket
import subprocess
import tempfile
import threading
import time

from figure import Figure
from measure import ROOT, Failed, exact_cpu_seconds, median, memory_bytes, rounds, wait_for
from up_cases import Up

JOBS = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
LOG_PODS, LOG_RATE, LOG_SECONDS, LOG_BREAKS = 64, 10_000, 30, 5


@contextlib.contextmanager
def server(muster):
    """A `muster up`, and a directory that its pods see too."""
    parent = ROOT / "build" / "bench"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        up = Up(muster, directory)
        try:
            yield up, pathlib.Path(directory)
        finally:
            up.stop()


def begin_step(muster, up, directory, command, number, workers=1, kubeconfig=None):
    """The process, whose output goes to the file `log`."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "KUBECONFIG": str(kubeconfig or up.kubeconfig),
                   "KFJ_RUN_ID": f"run-{number}", "KFJ_TASK_ID": "1", "KFJ_NAMESPACE": "default", "KFJ_TASK_IMAGES": "none"}
    with open(directory / "log", "wb") as log:
        return subprocess.Popen([muster, "step", "pytorch", "--working_dir", str(directory), "--num_worker", str(workers), "--command", command],
                                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def first_request(up, connection, number, begun):
    """Seconds from `begun` (wall clock) to the moment at which a watch shows the job."""
    connection.request("GET", f"{JOBS}?watch=true&timeoutSeconds=30&labelSelector=run-id%3Drun-{number}", headers=up.headers)
    connection.getresponse().readline()
    return time.time() - begun


def step_start(muster):
    """With the search for jobs of an earlier try, the rehearsal, and the watches that come before."""
    seconds = []
    with server(muster) as (up, directory):
        for number in range(rounds(15)):
            connection = up.connect()
            up.call(connection, "GET", JOBS)
            begun = time.time()
            step = begin_step(muster, up, directory, "true", number)
            seconds.append(first_request(up, connection, number, begun))
            if wait_for(step, 60) != 0:
                raise Failed("the step failed", directory / "log")
    return [Figure("muster step, from its start to its job's creation", median(seconds) * 1000, 100, "ms", f"median of {len(seconds)}")]


def step_end(muster):
    """From the last thing that the pod does, which is before the job's end, to the end of the step."""
    seconds = []
    with server(muster) as (up, directory):
        for number in range(rounds(15)):
            stamp = directory / f"ended.{number}"
            step = begin_step(muster, up, directory, f"sleep 0.5; exec date +%s%N > {stamp}", number)
            if wait_for(step, 60) != 0:
                raise Failed("the step failed", directory / "log")
            seconds.append(time.time() - int(stamp.read_text()) / 1e9)
    return [Figure("muster step, from its pod's end to its own", median(seconds) * 1000, 200, "ms", f"median of {len(seconds)}")]


class BreakingProxy:
    """Passes connections on to a port of this machine, and breaks all of them when it is told to."""

    def __init__(self, port):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = {}
        self.lock = threading.Lock()
        self.bytes = 0
        self.stopped = False
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        poll = select.epoll()
        poll.register(self.listener, select.EPOLLIN)
        while not self.stopped:
            for fd, _ in poll.poll(0.1):
                if fd == self.listener.fileno():
                    near, _ = self.listener.accept()
                    far = socket.create_connection(("127.0.0.1", self.target))
                    with self.lock:
                        for one, other in ((near, far), (far, near)):
                            self.pairs[one.fileno()] = (one, other)
                            poll.register(one, select.EPOLLIN)
                    continue
                with self.lock:
                    self.pass_on(fd)

    def pass_on(self, fd):
        if fd not in self.pairs:
            return
        one, other = self.pairs[fd]
        try:
            data = one.recv(1 << 18)
            if data:
                other.sendall(data)
                self.bytes += len(data)
                return
        except OSError:
            pass
        self.close(one, other)

    def close(self, one, other):
        for end in (one, other):
            self.pairs.pop(end.fileno(), None)
            end.close()

    def break_all(self):
        with self.lock:
            for fd in list(self.pairs):
                if fd in self.pairs:
                    self.close(*self.pairs[fd])

    def stop(self):
        self.stopped = True
        self.thread.join()
        self.break_all()
        self.listener.close()


# One line each so often, numbered. All end together: the end of the master would end the others before their last line.
WRITER = """python3 -c '
import os, pathlib, sys, time
begun = time.monotonic()
for number in range({lines}):
    late = begun + number * {pause} - time.monotonic()
    if late > 0: time.sleep(late)
    sys.stdout.write(f"line {{number}} of a training script, as long as such lines are: loss 0.1234 accuracy 0.9876\\n")
    sys.stdout.flush()
pathlib.Path("written." + os.environ["RANK"]).touch()
while len(list(pathlib.Path().glob("written.*"))) < {pods}: time.sleep(0.2)
'"""


def lost_and_doubled(log, lines):
    """Of all pods, from the step's output."""
    seen = collections.defaultdict(collections.Counter)
    line = re.compile(rb"^\[(\S+)\] line (\d+) ")
    with open(log, "rb") as text:
        for one in text:
            if found := line.match(one):
                seen[found[1]][int(found[2])] += 1
    lost = (LOG_PODS - len(seen)) * lines + sum(lines - len(numbers) for numbers in seen.values())
    return lost, sum(count - 1 for numbers in seen.values() for count in numbers.values())


def step_logs(muster):
    lines = LOG_RATE // LOG_PODS * LOG_SECONDS
    with server(muster) as (up, directory):
        proxy = BreakingProxy(up.port)
        kubeconfig = directory / "proxied"
        kubeconfig.write_text(up.kubeconfig.read_text().replace(f":{up.port}", f":{proxy.port}"))
        step = begin_step(muster, up, directory, WRITER.format(lines=lines, pause=LOG_PODS / LOG_RATE, pods=LOG_PODS), 0, LOG_PODS, kubeconfig)
        # All write before it is measured, and none has ended.
        log = directory / "log"
        while log.read_bytes().count(b"] line 0 ") < LOG_PODS and step.poll() is None:
            time.sleep(0.2)
        cpu, begun = exact_cpu_seconds(step.pid), time.monotonic()
        for _ in range(LOG_BREAKS):
            time.sleep(LOG_SECONDS / (LOG_BREAKS + 3))
            proxy.break_all()
        time.sleep(LOG_SECONDS / (LOG_BREAKS + 3))
        share = (exact_cpu_seconds(step.pid) - cpu) / (time.monotonic() - begun)
        memory = memory_bytes(step.pid, "Rss")
        if wait_for(step, 180) != 0:
            raise Failed("the step failed", log)
        proxy.stop()
        lost, doubled = lost_and_doubled(log, lines)
    note = f"{LOG_PODS} pods, {LOG_RATE} lines/s, {LOG_BREAKS} breaks of all connections"
    return [Figure("muster step, lines lost", lost, 0, "", note), Figure("muster step, lines doubled", doubled, 0, "", note),
            Figure("muster step, memory while it follows them", memory / 1e6, 25, "MB"),
            Figure("muster step, CPU while it follows them", share * 100, 5, "% of a core")]


CASES = {"step-start": step_start, "step-end": step_end, "step-logs": step_logs}
