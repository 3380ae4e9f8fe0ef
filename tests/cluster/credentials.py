"""Keys, certificates, tokens and kubeconfigs of one cluster, as files that only their owner reads."""

import base64
import os
import pathlib
import secrets
import subprocess

DAYS = "30"


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def write_private(path, text):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


class Credentials:
    """In `folder`: ca.crt, server.crt with its key (for servers and for clients of etcd), sa.key, admin.token;
    front-proxy-client.crt with its key, by which servers behind APIServices know kube-apiserver, of front-proxy-ca.crt."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.authority("ca", "/CN=cluster-ca")
        self.authority("front-proxy-ca", "/CN=front-proxy-ca")
        self.issue("server", "/CN=kube-apiserver", "DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.0.1")
        self.issue("front-proxy-client", "/CN=front-proxy-client", "DNS:front-proxy-client", "front-proxy-ca")
        openssl("genrsa", "-out", self["sa.key"], "2048")
        openssl("rsa", "-in", self["sa.key"], "-pubout", "-out", self["sa.pub"])
        self.token = secrets.token_urlsafe(32)
        write_private(self["tokens.csv"], f'{self.token},admin,admin,"system:masters"\n')

    def __getitem__(self, name):
        return self.folder / name

    def authority(self, name, subject):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self[f"{name}.key"])
        openssl("req", "-x509", "-new", "-key", self[f"{name}.key"], "-subj", subject, "-days", DAYS,
                "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
                "-out", self[f"{name}.crt"])

    def issue(self, name, subject, names, authority="ca"):
        extensions = self[f"{name}.ext"]
        extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\n")
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self[f"{name}.key"])
        openssl("req", "-new", "-key", self[f"{name}.key"], "-subj", subject, "-out", self[f"{name}.csr"])
        openssl("x509", "-req", "-in", self[f"{name}.csr"], "-CA", self[f"{authority}.crt"],
                "-CAkey", self[f"{authority}.key"], "-CAcreateserial", "-days", DAYS, "-extfile", extensions, "-out", self[f"{name}.crt"])

    def kubeconfig(self, path, url):
        authority = base64.b64encode(self["ca.crt"].read_bytes()).decode()
        write_private(path, f"""apiVersion: v1
kind: Config
current-context: cluster
contexts: [{{name: cluster, context: {{cluster: cluster, user: admin}}}}]
clusters: [{{name: cluster, cluster: {{server: "{url}", certificate-authority-data: "{authority}"}}}}]
users: [{{name: admin, user: {{token: "{self.token}"}}}}]
""")
