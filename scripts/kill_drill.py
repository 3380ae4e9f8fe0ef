"""kill -9 of muster, of its cleanup process, of a pod's init, a supervisor or a program, at random moments: nothing may be left.

kill_drill.py MUSTER [--count N] [--seed N]. Exits 1 with what was left over. After each kill: no process that
came of the run, no mount or interface of the machine, no cgroup without an owner, no file. The random moment is
what is rehearsed; nothing that is waited for is waited for by time.
"""

import argparse
import fcntl
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from processes import become_subreaper, children_of, command_line, kill, reap

JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: drill}
spec:
  pytorchReplicaSpecs:
    Master: &replica
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          terminationGracePeriodSeconds: 1
          containers:
          - name: pytorch
            image: local
            command: [sh, -c]
            args:
            - |
              trap '' TERM
              (setsid sh -c 'sleep 1000 & exec sleep 1000' &)
              echo written > "$$TMPDIR_OF_POD/file"; seq 1 20000
              exec sleep 0.4
            env: [{name: TMPDIR_OF_POD, value: /tmp}]
            resources: {limits: {memory: 200Mi}}
    Worker:
      <<: *replica
      replicas: 2
"""
NOBODY = 65534
GONE_WITHIN_S = 60  # a hang is a failure, not a stuck drill
VICTIMS = ["muster", "muster", "init", "program", "supervisor", "cleanup", "muster and cleanup"]


def choose(kind, muster, rng):
    """The processes to kill. What does not exist yet (or any more) is not killed."""
    cleanups = [pid for pid in children_of(muster) if command_line(pid).startswith("muster-cleanup")]
    inits = [pid for pid in children_of(muster) if command_line(pid).startswith("muster-pod ")]
    supervisors = [pid for init in inits for pid in children_of(init)]
    programs = [pid for supervisor in supervisors for pid in children_of(supervisor)]
    if kind == "muster":
        return [muster]
    if kind == "muster and cleanup":
        return [muster, *cleanups]
    among = {"cleanup": cleanups, "init": inits, "supervisor": supervisors, "program": programs}[kind]
    return [rng.choice(among)] if among else []


def unclaimed_groups():
    found = []
    # What vanishes meanwhile, as groups of somebody else's run do, is passed over.
    groups = [pathlib.Path(folder, name) for folder, names, _ in os.walk("/sys/fs/cgroup") for name in names
              if re.fullmatch(r"muster-[0-9a-f]{16}(-self)?", name)]
    for group in groups:
        try:
            descriptor = os.open(group, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found.append(str(group))
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)
    return found


def groups_that_stay(before):
    """Those without an owner that are new. Others' runs have such, too, for the moment between two of their steps."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while (found := set(unclaimed_groups()) - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    return sorted(found)


def of_the_machine():
    """Mounts and interfaces; those of pods belong to namespaces of their own."""
    return ({f"mount {line}" for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()}
            | {f"interface {name}" for name in os.listdir("/sys/class/net")})


def see_no_mounts_of_others():
    """What others mount on the machine meanwhile must not look like something that a kill left: root sees its own mounts only."""
    if os.geteuid() == 0 and "MUSTER_DRILL_MOUNTS" not in os.environ:
        os.environ["MUSTER_DRILL_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def one_kill(binary, rng, directory, user, sandbox, kind):
    """What was left, as a list of words."""
    temporary = directory / "tmp"
    temporary.mkdir()
    if user:
        os.chown(temporary, user, user)
    work = directory / "work"
    work.mkdir()
    before, groups_before = of_the_machine(), set(unclaimed_groups())
    arguments = [binary, "run", "--quiet", "--sandbox", sandbox, str(directory / "job.yaml")]
    process = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=work,
        env=dict(os.environ, TMPDIR=str(temporary)), start_new_session=True,
        **({"user": user, "group": user, "extra_groups": []} if user else {}))
    time.sleep(rng.uniform(0, 0.6))
    for pid in choose(kind, process.pid, rng):
        kill(pid)
    said = process.stderr.read().decode(errors="replace")
    process.wait()
    stayed = reap(GONE_WITHIN_S)
    left = [f"process {pid}: {command_line(pid)}" for pid in stayed]
    for pid in stayed:
        kill(pid)
    if kind == "muster and cleanup":
        # Only the verb for it is left to clean up.
        subprocess.run([binary, "clean"], env=dict(os.environ, TMPDIR=str(temporary)), check=True,
                       stdout=subprocess.DEVNULL, **({"user": user, "group": user} if user else {}))
    left += [f"file {path}" for path in temporary.iterdir()]
    left += [f"cgroup {group}" for group in groups_that_stay(groups_before)]
    now = of_the_machine()
    left += [f"new on the machine: {thing}" for thing in sorted(now - before)]
    left += [f"gone from the machine: {thing}" for thing in sorted(before - now)]
    if any(work.iterdir()):
        left.append("files in the working directory")
    if left and said:
        left.append("it said: " + said[-500:])
    shutil.rmtree(temporary, ignore_errors=True)
    shutil.rmtree(work, ignore_errors=True)
    return left


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("muster")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    see_no_mounts_of_others()
    become_subreaper()
    rng = random.Random(options.seed)
    users = [0, NOBODY] if os.geteuid() == 0 else [0]
    failures = 0
    counts = {}
    with tempfile.TemporaryDirectory(prefix="muster-kills-", dir="/var/tmp") as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        (directory / "job.yaml").write_text(JOB)
        shutil.copy(options.muster, directory / "muster")
        for turn in range(options.count):
            kind = rng.choice(VICTIMS)
            user = rng.choice(users)
            sandbox = rng.choice(["auto", "auto", "auto", "none"])
            left = one_kill(str(directory / "muster"), rng, directory, user, sandbox, kind)
            counts[kind] = counts.get(kind, 0) + 1
            if left:
                failures += 1
                print(f"kill {turn + 1} ({kind}, sandbox {sandbox}, uid {user}) left:", *left, sep="\n  ", flush=True)
    done = ", ".join(f"{count} of {kind}" for kind, count in sorted(counts.items()))
    print(f"{options.count} kills ({done}), seed {options.seed}: "
          f"{'nothing was left' if not failures else f'{failures} left something'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
