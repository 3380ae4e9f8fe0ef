"""A `muster up` to attack, and raw connections to it."""

import contextlib
import json
import os
import pathlib
import socket
import ssl
import subprocess
import urllib.parse

import holds

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The release build of this checkout, or another.
BINARY = pathlib.Path(os.environ.get("MUSTER_BIN", ROOT / "build" / "release" / "src" / "cli" / "muster"))

MIB = 1 << 20


class Target:
    """With a state directory of its own."""

    def __init__(self, directory):
        self.directory = directory
        self.state = directory / "state"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "TMPDIR": str(directory)}

    def muster(self, *args, check=True):
        done = subprocess.run([BINARY, *args], env=self.environment, cwd=self.directory, text=True, capture_output=True,
                              timeout=60, check=False)
        assert not check or done.returncode == 0, done
        return done

    def start(self, *args, listen="127.0.0.1:0"):
        return self.muster("up", "--state", str(self.state), "--listen", listen, "--detach", *args)

    def down(self):
        """Fails if it held its event loop for too long."""
        hold = holds.of(self.state)
        done = self.muster("down", "--state", str(self.state), "--kill", check=False)
        holds.note(hold)
        return done

    def address(self):
        return json.loads((self.state / "lock").read_text())["address"]

    def pid(self):
        return json.loads((self.state / "lock").read_text())["pid"]

    def send(self, method, path, body=None):
        """The answer to a request of the admin."""
        status, text = self.ask(method, path, self.admin(), "Content-Type: application/json",
                                body=b"" if body is None else json.dumps(body).encode())
        assert status < 300, (method, path, status, text)
        return json.loads(text)

    def endpoint(self):
        address = urllib.parse.urlparse(self.address())
        return address.hostname, address.port

    def connect(self):
        """Without any credential."""
        context = ssl.create_default_context(cafile=self.state / "ca.crt")
        plain = socket.create_connection(self.endpoint(), timeout=30)
        return context.wrap_socket(plain, server_hostname=self.endpoint()[0])

    def admin(self):
        return f"Authorization: Bearer {(self.state / 'admin.token').read_text().strip()}"

    def ask(self, method, target, *fields, body=b""):
        """Status and body of the answer to one request, which may have any bytes."""
        with self.connect() as connection:
            connection.sendall(head(method, target, *fields, "Connection: close", f"Content-Length: {len(body)}"))
            with contextlib.suppress(OSError):  # refused before all of it was sent
                connection.sendall(body)
            return parsed(read_all(connection))

    def memory(self, field="VmRSS"):
        for line in pathlib.Path(f"/proc/{self.pid()}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
        raise AssertionError(field)

    def serves(self):
        return self.ask("GET", "/api/v1/namespaces/default", self.admin())[0] == 200


def head(method, target, *fields):
    return b"\r\n".join([b" ".join([method.encode(), target if isinstance(target, bytes) else target.encode(), b"HTTP/1.1"]),
                         b"Host: here",
                         *(field if isinstance(field, bytes) else field.encode() for field in fields)]) + b"\r\n\r\n"


def read_all(connection):
    """Everything until the other side ends the connection."""
    text = b""
    with contextlib.suppress(OSError):  # a reset is an end, too
        while piece := connection.recv(65536):
            text += piece
    return text


def parsed(answer):
    """Status and body of a complete answer; status 0 if it is not one."""
    if not answer.startswith(b"HTTP/1.1 "):
        return 0, answer
    top, _, body = answer.partition(b"\r\n\r\n")
    return int(top.split()[1]), body
