"""Agents and their master over TLS: an agent without a certificate of the job's authority is kept out."""

import os
import shutil
import signal
import subprocess

import pytest

from conftest import free_port, listens

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl here")


def openssl(place, *words):
    subprocess.run(["openssl", *words], cwd=place, check=True, capture_output=True, timeout=60)


def authority(place, name):
    """Its certificate and key, and with them the flags of a node that it has signed for."""
    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl(place, *new, "-x509", "-subj", f"/CN={name}", "-days", "2", "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.crt")
    openssl(place, *new, "-subj", "/CN=node", "-keyout", f"{name}.key", "-out", f"{name}.csr")
    (place / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl(place, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{name}-ca.crt", "-CAkey", f"{name}-ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", f"{name}.crt")
    return ["--tls-cert", place / f"{name}.crt", "--tls-key", place / f"{name}.key", "--tls-ca", place / f"{name}-ca.crt"]


def words(port, tls, size):
    return ["--nnodes", size, "--rdzv-endpoint", f"127.0.0.1:{port}", "--local-addr", "127.0.0.1", *tls]


def test_two_nodes_through_the_death_of_a_worker(job):
    port, tls = free_port(), authority(job.place, "ours")
    agents = [job.start(*words(port, tls, 2), "--max-restarts", 1, steps=60) for _ in range(2)]
    found = job.until(lambda: job.lines("step", rank=1, step=5))
    os.kill(found[0]["pid"], signal.SIGKILL)
    assert [agent.wait() for agent in agents] == [0, 0], agents[0].text + agents[1].text
    assert {(line["rank"], line["attempt"]) for line in job.lines("done")} == {(0, 1), (1, 1)}


@pytest.mark.parametrize("flags", ["none", "theirs"])
def test_who_is_not_of_the_jobs_authority_does_not_come_in(job, flags):
    port = free_port()
    inside = job.start(*words(port, authority(job.place, "ours"), "1:2"), steps=2000)
    job.until(lambda: listens(port))
    tls = [] if flags == "none" else authority(job.place, "theirs")
    outside = job.start(*words(port, tls, "1:2"), "--rdzv-conf", "join_timeout=4", steps=1)
    assert outside.wait(40) == 1, outside.text
    assert "can't be reached" in outside.text, outside.text
    if flags == "theirs":
        assert "certificate" in outside.text, outside.text
    assert {line["world"] for line in job.lines()} <= {1}
    inside.send(signal.SIGTERM)
    assert inside.wait() == 128 + signal.SIGTERM
