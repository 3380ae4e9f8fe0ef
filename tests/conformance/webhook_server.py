"""An HTTPS server for webhooks on loopback, with an authority of its own, an intermediate one and a certificate of that."""

import base64
import http.server
import json
import pathlib
import ssl
import subprocess
import tempfile
import threading

AUTHORITY = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
LEAF = ("basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n"
        "subjectAltName=DNS:localhost,DNS:hook.default.svc,IP:127.0.0.1\n")


class Certificates:
    """root signs middle, middle signs leaf; other is an authority that signs nothing."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        for name, issuer, extensions in (("root", None, AUTHORITY), ("middle", "root", AUTHORITY),
                                         ("leaf", "middle", LEAF), ("other", None, AUTHORITY)):
            self.make(name, issuer, extensions)
        self.chain = self.directory / "chain.pem"
        self.chain.write_text(self.pem("leaf") + self.pem("middle"))

    def make(self, name, issuer, extensions):
        at = self.directory / name
        at.with_suffix(".ext").write_text(extensions)
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", f"/CN={name}", "-keyout", at.with_suffix(".key"), "-out", at.with_suffix(".csr")],
                       check=True, capture_output=True)
        signed_by = ["-signkey", at.with_suffix(".key")]
        if issuer:
            signer = self.directory / issuer
            signed_by = ["-CA", signer.with_suffix(".crt"), "-CAkey", signer.with_suffix(".key"), "-CAcreateserial"]
        subprocess.run(["openssl", "x509", "-req", "-in", at.with_suffix(".csr"), "-days", "1", "-extfile",
                        at.with_suffix(".ext"), "-out", at.with_suffix(".crt"), *signed_by], check=True, capture_output=True)

    def pem(self, name):
        return (self.directory / f"{name}.crt").read_text()

    def bundle(self, *names):
        return base64.b64encode("".join(map(self.pem, names)).encode()).decode()


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.headers, self.body = method, headers, body
        self.path, _, self.query = target.partition("?")

    @property
    def json(self):
        return json.loads(self.body)


class WebhookServer:
    """Answers what `answer(request)` returns: a body, or (status, headers, body). It shows the whole chain, or the leaf alone."""

    def __init__(self, certificates, answer, chain=True):
        self.certificates, self.answer, self.requests = certificates, answer, []
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, self.path, self.headers, body)
                server.requests.append(request)
                answer = server.answer(request)
                status, headers, body = answer if isinstance(answer, tuple) else (200, {}, answer)
                text = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = respond

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # a client that does not trust it goes away

        self.http = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        leaf = certificates.directory / "leaf.crt"
        context.load_cert_chain(certificates.chain if chain else leaf, leaf.with_suffix(".key"))
        # The handshake is made in the thread of the connection.
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def url(self, path="", host="127.0.0.1"):
        return f"https://{host}:{self.port}{path}"

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


def certificates_in_a_folder():
    folder = tempfile.TemporaryDirectory()
    made = Certificates(folder.name)
    made.folder = folder  # removed with the last reference
    return made
