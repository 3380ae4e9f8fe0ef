"""What an agent does with a spare: the other side of zygote.py's protocol."""

import array
import json
import socket
import subprocess
import sys

from conftest import SOURCES, environment

ZYGOTE = SOURCES / "muster" / "zygote.py"


class Spare:
    """A spare of `command`; use it as a context, which leaves no process behind."""

    def __init__(self, *target, modules=(), learnt=None, cwd=None, options=(), variables=None, **more):
        self.environment = environment(PYTHONPATH=SOURCES) if variables is None else variables
        ours, theirs = socket.socketpair()
        self.control = ours
        command = [sys.executable, *options, *map(str, target)]
        words = [word for name in modules for word in ("--module", name)] + (["--learnt", str(learnt)] if learnt else [])
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, *options, str(ZYGOTE), "--control", str(theirs.fileno()), *words, "--", *command], pass_fds=[theirs.fileno()],
                env=self.environment, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.ready = None

    def __enter__(self):
        self.ready = self.hear()
        return self

    def __exit__(self, *_):
        self.control.close()
        self.process.kill()
        self.process.communicate()

    def hear(self):
        header = self.exactly(4)
        return json.loads(self.exactly(int.from_bytes(header, "little"))) if header else None

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.control.recv(count - len(data))
            if not part:
                return b""
            data += part
        return data

    def say(self, message, descriptors=()):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send(len(data).to_bytes(4, "little") + data, descriptors)

    def send(self, data, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.control.sendmsg([data], rights)

    def start(self, *args, cwd, descriptors=None, variables=None, **more):
        """`descriptors`: number there -> descriptor here."""
        descriptors = descriptors or {}
        variables = self.environment if variables is None else variables
        self.say({"start": True, "version": 1, "args": list(args), "env": {**variables, **more}, "cwd": str(cwd), "fds": list(descriptors)},
                 list(descriptors.values()))
        return self.hear()

    def finish(self):
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err
