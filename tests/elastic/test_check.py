"""The check of nodes before the first world."""

import re

from conftest import free_port, listens

# Reserved for documentation: no machine has it, so a node that announces it can't be reached.
NOBODYS_ADDRESS = "192.0.2.1"


def pair(job, *more, size="2", other_address="127.0.0.1", steps=5):
    """Two agents; the first has the endpoint, and so the job's master."""
    port = free_port()
    words = ["--nnodes", size, "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-conf", "last_call_timeout=1,join_timeout=60", *more]
    agents = [job.start(*words, "--local-addr", "127.0.0.1", steps=steps)]
    job.until(lambda: listens(port))
    return agents + [job.start(*words, "--local-addr", other_address, steps=steps)]


def test_two_good_nodes_and_their_link(job):
    agents = pair(job, "--comm-perf-test")
    assert [agent.wait() for agent in agents] == [0, 0], agents[0].text + agents[1].text
    assert {(line["rank"], line["world"]) for line in job.lines("done")} == {(0, 2), (1, 2)}
    text = agents[0].text
    assert re.search(r"node check: 2 nodes in \d+\.\d\d s; 0 faulty", text), text
    assert re.search(r"node +GFLOP/s +memory GB/s +best link MB/s", text), text
    figures = re.findall(r"node [01] \(127\.0\.0\.1\) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d)$", text, re.M)
    assert len(figures) == 2 and all(float(figure) > 0 for row in figures for figure in row), text
    assert re.search(r"link +round trip us +out MB/s +in MB/s", text), text
    assert re.search(r"node 0 \(127\.0\.0\.1\) to node 1 \(127\.0\.0\.1\) +\d+\.\d +\d+\.\d\d +\d+\.\d\d$", text, re.M), text
    assert "node check" not in agents[1].text, agents[1].text


def test_a_node_that_nobody_reaches_is_left_out(job):
    agents = pair(job, "--network-check", size="1:2", other_address=NOBODYS_ADDRESS)
    assert agents[1].wait() == 1, agents[1].text
    assert f"node 1 ({NOBODYS_ADDRESS}) failed the check" in agents[1].text, agents[1].text
    assert agents[0].wait() == 0, agents[0].text
    assert "1 faulty" in agents[0].text, agents[0].text
    assert {(line["rank"], line["world"]) for line in job.lines("done")} == {(0, 1)}
    assert not job.lines("started", world=2)


def test_too_few_are_left(job):
    agents = pair(job, "--precheck", "1", other_address=NOBODYS_ADDRESS)
    assert [agent.wait() for agent in agents] == [1, 1], agents[0].text + agents[1].text
    assert "the node check leaves 1 of at least 2 nodes: node 1" in agents[0].text, agents[0].text
    assert not job.lines("started")


def test_one_node_checks_itself(job):
    agent = job.start("--standalone", "--precheck", "1", steps=3)
    assert agent.wait() == 0, agent.text
    assert "node check: 1 node in" in agent.text, agent.text
