"""What Muster itself costs while the real frameworks train."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from figure import Figure
from measure import ROOT, TICKS, Failed, Skipped, cpu_seconds, family_of, runs

sys.path.insert(0, str(ROOT / "tests" / "cluster"))

LIMIT_S = 300


def times_of_ended(pid):
    """CPU seconds of a process that has ended and is not reaped yet: its own, and those of all it has reaped."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS, (int(fields[13]) + int(fields[14])) / TICKS


def ended(pid):
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def cpu_of_run(muster, name):
    """CPU seconds of `muster run` and its pods' inits, and of the example's processes."""
    from examples import TRACES, environment_for, manifest

    environment = environment_for(name)
    shutil.rmtree(TRACES.get(name, "/nonexistent"), ignore_errors=True)
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([muster, "run", manifest(name)], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
        inits, programs = {}, {}
        deadline = time.monotonic() + LIMIT_S
        # Inits end before muster does, so what they cost is looked at while they are there.
        while not ended(process.pid):
            for pid in family_of(process.pid)[1:]:
                seen, other = (inits, programs) if runs(muster, pid) else (programs, inits)
                try:
                    seen[pid] = cpu_seconds(pid)
                    other.pop(pid, None)  # one may become the other
                except (FileNotFoundError, ProcessLookupError):
                    continue
            if time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise Failed(f"{name} did not end within {LIMIT_S} s")
            time.sleep(0.2)
        main, reaped = times_of_ended(process.pid)
        if process.wait() != 0:
            log.seek(0)
            raise Failed(f"{name} ended with {process.returncode}\n{log.read().decode(errors='replace')[-2000:]}")
    own = main + sum(inits.values())
    # The kernel drops the times of what still ran when its pod was killed; what was seen is short of the last moments.
    return own, max(reaped - sum(inits.values()), sum(programs.values()))


def examples_cpu(muster):
    from examples import EXAMPLES
    from programs import Missing

    measured, absent = {}, []
    for name in EXAMPLES:
        try:
            own, example = measured[name] = cpu_of_run(muster, name)
            print(f"examples-cpu: {name}: {own:.2f} s of our own, {example:.1f} s of the example", flush=True)
        except Missing as why:
            absent.append(f"{name}: {why}")
    for line in absent:
        print(f"examples-cpu: not measured, {line}")
    if not measured:
        raise Skipped("no framework is here")
    most = max(measured, key=lambda name: measured[name][0])
    worst = max(measured, key=lambda name: measured[name][0] / measured[name][1])
    own, example = measured[worst]
    every = ", ".join(f"{name.removesuffix('.yaml')} {own:.2f} of {example:.1f} s" for name, (own, example) in measured.items())
    return [
        Figure("Muster's own CPU time while an example runs, the most of all", measured[most][0], 0.2, "s",
               f"of {len(measured)} examples that of {most}; own time against the example's: {every}"),
        Figure("the same against the example's CPU time, the most of all", own / example * 100, 1, "%",
               f"{worst}: {own:.2f} s against {example:.1f} s"),
    ]


CASES = {"examples-cpu": examples_cpu}
