"""A server behind an APIService, on loopback: it answers only who shows the certificate of a front proxy, and tells what it got."""

import base64
import http.server
import json
import ssl
import tempfile
import threading

from webhook_server import Certificates

GROUP, VERSION = "wardle.example.org", "v1alpha1"


class ExtensionServer:
    """Serves flunders of GROUP/VERSION. `front_proxy`: the PEM of the authority that its clients have to have.

    `answer(handler)` may answer itself, and then returns True."""

    def __init__(self, front_proxy, service, namespace, answer=None):
        self.answer, self.requests, self.release = answer, [], threading.Event()
        self.folder = tempfile.TemporaryDirectory()
        self.certificates = OwnCertificates(self.folder.name, f"{service}.{namespace}.svc")
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                server.requests.append(self)
                if server.answer and server.answer(self):
                    return
                path = self.path.partition("?")[0]
                if path == f"/apis/{GROUP}/{VERSION}":
                    self.send(200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/{VERSION}",
                                    "resources": [{"name": "flunders", "singularName": "flunder", "namespaced": True,
                                                   "kind": "Flunder", "shortNames": ["fl"],
                                                   "verbs": ["create", "delete", "get", "list", "watch"]}]})
                elif "flunders" in path:
                    self.send(200, {"kind": "Flunder", "apiVersion": f"{GROUP}/{VERSION}", "metadata": {"name": "seen"},
                                    "method": self.command, "target": self.path, "body": self.body.decode(),
                                    "headers": [[name.lower(), value] for name, value in self.headers.items()],
                                    "subject": self.connection.getpeercert()["subject"][0][0][1]})
                else:
                    self.send(404, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                                    "message": "not found", "reason": "NotFound", "code": 404})

            def send(self, status, body, **headers):
                text = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def send_pieces(self, *pieces):
                """An answer of which the pieces come one by one, each when the one before was released."""
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for piece in pieces:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
                    server.release.wait(30)
                    server.release.clear()
                self.wfile.write(b"0\r\n\r\n")

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # a client without the certificate

        self.http = Server(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        leaf = self.certificates.directory / "leaf.crt"
        context.load_cert_chain(leaf, leaf.with_suffix(".key"))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=front_proxy)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def bundle(self, name="root"):
        return base64.b64encode(self.certificates.pem(name).encode()).decode()

    def stop(self):
        self.release.set()
        self.http.shutdown()
        self.http.server_close()


class OwnCertificates(Certificates):
    """root signs leaf, for one name; other is an authority that signs nothing."""

    def __init__(self, directory, name):
        self.name = name
        super().__init__(directory)

    def make(self, name, issuer, extensions):
        if name == "middle":
            return
        if name == "leaf":
            issuer = "root"
            extensions = f"basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName=DNS:{self.name}\n"
        super().make(name, issuer, extensions)

    def pem(self, name):
        return "" if name == "middle" else super().pem(name)
