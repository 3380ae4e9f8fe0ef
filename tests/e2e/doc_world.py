"""Where the documentation's commands are run: a user's directory, a home, `muster up`, and stand-ins for what is elsewhere."""

import http.server
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading

from conftest import BINARY, LIMIT_S, ROOT, pytorchjob

KUBECTL = shutil.which("kubectl")

# It imports torch in the eyes of Muster, and takes no time.
TRAIN = """\
import os, sys, time

if "LEARN" in os.environ:
    import torch
print("rank", os.environ.get("RANK"), "of", os.environ.get("WORLD_SIZE"), sys.argv[1:], flush=True)
time.sleep(1000 if "STAY" in os.environ else 0)
"""

JOB = pytorchjob("digits", "exec python3 train.py", 2, "exec python3 train.py", restart_policy="OnFailure")
# Its master has failed once, so that there is an earlier log.
STAY = "echo begins; mkdir -p /tmp/out; trap 'exit 0' TERM; sleep 1000 & wait"
STAYS = pytorchjob("digits", f"test -e /tmp/checkpoint || {{ touch /tmp/checkpoint; exit 1; }}\n{STAY}", 3, STAY, restart_policy="OnFailure")
# Of a team: its image has the command.
DEPLOYED = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: deployed}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: pytorch
            image: team/train
            envFrom: [{secretRef: {name: hub-token, optional: true}}]
            volumeMounts: [{name: checkpoints, mountPath: /checkpoints}]
          volumes: [{name: checkpoints, persistentVolumeClaim: {claimName: checkpoints}}]
"""
OLD = """\
apiVersion: kubeflow.org/v1alpha1
kind: MPIJob
metadata: {name: old}
spec:
  replicas: 2
  template: {spec: {containers: [{name: mpi, image: local, command: ["true"]}]}}
"""
PODS = ("web", "notebook")

MUSTER = """\
#!/bin/sh
# The program itself. `up` and `port-forward` take any free port, since others run beside; what is simulated is simulated less often.
case "$1 $*" in
*--help*) ;;
"up "*--listen*) ;;
"up "*) shift; set -- up --listen 127.0.0.1:0 "$@" ;;
"simulate "*" --seeds "*) exec PROGRAM $(echo "$@" | sed -E 's/--seeds [0-9]+/--seeds 3/') ;;
"port-forward "*) exec PYTHON FOLLOW PROGRAM $(echo "$@" | sed -E 's/ [0-9]*:?([0-9]+)/ :\\1/g') ;;
get*" -w"* | get*" --watch"* | events*" -w"* | logs*" -f"* | exec*" -it "* | attach*) exec PYTHON FOLLOW PROGRAM "$@" ;;
esac
exec PROGRAM "$@"
"""
KUBECTL_SHIM = """\
#!/bin/sh
case "$*" in *" -w"* | *" --watch"* | *logs*" -f"* | *exec*" -it "* | *debug*" -it "*) exec PYTHON FOLLOW PROGRAM "$@" ;; esac
exec PROGRAM "$@"
"""
# Ends what never ends by itself as a person does: with Ctrl-C, once it has shown what it is for.
FOLLOW = '''\
import os, pty, signal, subprocess, sys

words = sys.argv[1:]
signal.alarm(40)
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a suite in the background of a shell hears none
if "-it" in words:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(words[0], words)
    os.write(terminal, b"exit\\n")
    try:
        while data := os.read(terminal, 4096):
            os.write(1, data)
    except OSError:
        pass
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
awaited = (b"Running", b"Succeeded") if "get" in words else (b"",)
stopped = False
process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
for line in process.stdout:
    os.write(1, line)
    if any(word in line for word in awaited):
        process.send_signal(signal.SIGINT)
        stopped = True
        break
os.write(1, process.stdout.read())
status = process.wait()
sys.exit(0 if status in (0, 130, -signal.SIGINT) or (stopped and status == 1) else status)  # 1: kubectl
'''
RECORD = """\
#!/bin/sh
for word in "$(basename "$0")" "$@"; do printf '%s\\0' "$word"; done > "$RECORDED/$$"
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def run(words, **more):
    return subprocess.run([str(word) for word in words], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=100, check=False, **more)


def fill(directory):
    """What the pages take for granted in the directory where a user works."""
    directory.mkdir()
    for name, text in {
        "train.py": TRAIN, "job.yaml": JOB, "pytorchjob.yaml": JOB, "old.yaml": OLD,
        "my-faults.yaml": (ROOT / "examples/simulations/spot-nodes.yaml").read_text(),
        "deploy/job.yaml": DEPLOYED,
        "muster-entrypoints.yaml": "team/train: python3 train.py\n", ".env": "TOKEN=1\n", "hub.env": "TOKEN=1\n", "conf/lr": "0.1\n",
        "data.csv": "1,2\n", "data/one": "1\n",
        "out/one": "1\n", "in.dat": "0\n", "input.dat": "0\n",
    }.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    program(directory / "simulate", "#!/bin/sh\ncat \"$1\"\n")
    shutil.copytree(ROOT / "examples", directory / "examples")
    (directory / "examples" / "digits.py").write_text(TRAIN)


def pod(name):
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "terminationGracePeriodSeconds": 1, "containers": [{"name": "main", "image": "local", "command": ["sleep", "1000"]}]}})


class Hooks:
    """Stands for the servers that people are told at."""

    def __enter__(self):
        told = self.told = []

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class World:
    """A home with at most one `muster up`, and a new directory for each block."""

    def __init__(self, directory, elsewhere=()):
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir(parents=True)
        (self.home / "train.py").write_text(TRAIN)  # what images would have
        self.count = 0
        self.told = []  # what the last block sent to web hooks
        programs = directory / "bin"
        names = {"PYTHON": sys.executable, "FOLLOW": directory / "follow.py"}
        (directory / "follow.py").write_text(FOLLOW)
        for name, text, real in (("muster", MUSTER, BINARY), ("kubectl", KUBECTL_SHIM, KUBECTL)):
            for word, value in {**names, "PROGRAM": real}.items():
                text = text.replace(word, str(value))
            program(programs / name, text)
        (programs / "muster-run").symlink_to(BINARY)
        (programs / "python").symlink_to("/usr/bin/python3")
        for name in elsewhere:
            program(programs / name, "#!/bin/sh\nexit 0\n")
        temporary = directory / "tmp"
        temporary.mkdir()
        self.environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(self.home), "TMPDIR": str(temporary), "CHECKOUT": str(ROOT)}

    def muster(self, *words):
        done = run([BINARY, *words], env=self.environment, cwd=self.home)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def serve(self, *flags, jobs=True):
        self.muster("up", "--detach", "--listen", "127.0.0.1:0", *flags)
        config = self.home / ".kube" / "config"
        config.parent.mkdir()
        shutil.copy(self.home / ".muster" / "kubeconfig", config)
        assert run([KUBECTL, "config", "set-context", "prod", "--cluster=muster", "--user=muster-admin", "--namespace=team"],
                   env=self.environment).returncode == 0
        for name in ("team", "team-a"):
            self.apply(json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
        if jobs:
            self.apply("\n---\n".join([STAYS, *map(pod, PODS)]))
            for name in ("digits-master-0", *(f"digits-worker-{index}" for index in range(3)), *PODS):
                self.muster("wait", f"pod/{name}", "--for", "condition=Ready", "--timeout", "60s")

    def apply(self, text):
        path = self.home / "applied"
        path.write_text(text)
        self.muster("apply", "-f", str(path))

    def type(self, text):
        """Runs the commands one after the other in a new directory; the first that fails ends it."""
        self.count += 1
        directory = self.directory / f"work-{self.count}"
        fill(directory)
        text = text.replace("/tmp/suite", "$PWD/suite")  # others run beside
        with Hooks() as hooks:
            text = re.sub(r"https://hooks\.[\w./-]+", hooks.url, text)
            done = self.in_shell(text, directory)
        self.told = hooks.told
        return done

    def in_shell(self, text, directory):
        """All that it has started ends with it if it takes too long."""
        words = ["bash", "-eu", "-o", "pipefail", "-c", text]
        with subprocess.Popen(words, cwd=directory, env=self.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as shell:
            try:
                shown, _ = shell.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                shown, _ = shell.communicate()
                shown += f"\nnot done within {LIMIT_S} s\n"
        return subprocess.CompletedProcess(words, shell.returncode, shown)

    def close(self):
        for folder in (self.home / ".muster" / "runs").glob("*-*"):
            run([BINARY, "stop", "--force", folder.name], env=self.environment)
        for lock in self.directory.rglob("lock"):
            run([BINARY, "down", "--kill", "--state", lock.parent], env=self.environment)


def recorded(directory, text, names):
    """What the shell makes of the commands: the words of each program, none of which is started."""
    programs = directory / "recorded"
    log = directory / "log"
    shutil.rmtree(log, ignore_errors=True)
    log.mkdir()
    if not programs.exists():
        for name in names:
            program(programs / name, RECORD)
        (directory / "dev").symlink_to(programs / "dev")
    unknown = 'command_not_found_handle() { printf "%s\\0" unknown "$@" > "$RECORDED/$BASHPID"; }\n'
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(directory), "TMPDIR": str(directory), "RECORDED": str(log)}
    done = run(["bash", "-c", unknown + text], cwd=directory, env=environment)
    assert "syntax error" not in done.stdout, done.stdout
    return [path.read_text().split("\0")[:-1] for path in sorted(log.iterdir())], done.stdout
