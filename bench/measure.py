"""Starting processes and reading what they cost, with little of our own in between."""

import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
ROOT = pathlib.Path(__file__).resolve().parents[1]


def median(values):
    return statistics.median(values)


def rounds(usual):
    """How often something is measured: as --rounds says, or as usual."""
    return int(os.environ.get("MUSTER_BENCH_ROUNDS") or usual)


def run_quietly(argv, env=None):
    """Starts argv with its output thrown away and waits: (seconds, exit code)."""
    sink = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    begin = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ if env is None else env, file_actions=sink)
    _, status = os.waitpid(pid, 0)
    return time.perf_counter() - begin, os.waitstatus_to_exitcode(status)


def wait_for(process, limit):
    """The exit status, known at once: Popen.wait with a timeout looks every 50 ms. None after `limit` s."""
    fd = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return process.wait() if poll.poll(limit * 1000) else None
    finally:
        os.close(fd)


def run_built(name, *arguments):
    """What a program of this folder, of the release build, printed: lines of JSON."""
    program = ROOT / "build" / "release" / "bench" / name
    if not program.exists():
        raise Failed(f"{name} is not built")
    run = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=600)
    if run.returncode != 0:
        raise Failed(f"{name} {' '.join(map(str, arguments))} ended with {run.returncode}\n{run.stderr[-2000:]}")
    return list(map(json.loads, run.stdout.splitlines()))


class Job:
    """A `muster run` whose output goes to a file; wall-clock times of its start and its end."""

    def __init__(self, muster, args, directory, cwd=None):
        self.log = pathlib.Path(directory) / "log"
        with open(self.log, "wb") as log:
            self.begin = time.time()
            self.process = subprocess.Popen(
                [muster, "run", *map(str, args)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=cwd)

    @property
    def pid(self):
        return self.process.pid

    def wait(self, limit=120):
        """Seconds from start to end. A job that fails or hangs is no measurement."""
        status = wait_for(self.process, limit)
        self.end = time.time()
        if status is None:
            self.stop()
            raise Failed(f"muster run did not end within {limit} s", self.log)
        if status != 0:
            raise Failed(f"muster run ended with exit status {status}", self.log)
        return self.end - self.begin

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        if wait_for(self.process, 20) is None:
            self.process.kill()
            self.process.wait()


class Skipped(Exception):
    """This machine can't measure it, and why."""


class Failed(Exception):
    """A run that can't be measured, with the end of what it said."""

    def __init__(self, what, log=None):
        tail = log.read_text(errors="replace")[-2000:] if log and log.exists() else ""
        super().__init__(what + ("\n" + tail if tail else ""))


def family_of(root_pid):
    """The process and all of its descendants."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = [root_pid]
    for pid in found:
        found.extend(children.get(pid, []))
    return found


def runs(program, pid):
    """Whether the process is there and runs the program."""
    try:
        return os.path.samefile(f"/proc/{pid}/exe", program)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def processes_of(muster, root_pid):
    """muster and those of its descendants that are muster themselves (each pod's init), not the jobs'."""
    return [pid for pid in family_of(root_pid) if runs(muster, pid)]


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def exact_cpu_seconds(pid):
    """The same to the microsecond, of the threads that there are now."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def memory_bytes(pid, field):
    """A field of smaps_rollup: Rss, or Pss, in which shared pages count once for all sharers."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise Failed(f"no {field} for process {pid}")
