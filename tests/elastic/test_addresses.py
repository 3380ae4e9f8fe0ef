"""Nodes with several addresses, and names that have one late."""

import pytest

from two_nodes import TwoNodes, Unavailable

# Meets the others in the workers' store, by as much of torch's protocol as that needs.
WORKER = """
    import os, socket, struct, sys, time
    import json
    host, port, world = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), int(os.environ["WORLD_SIZE"])
    store = socket.create_connection((host, port))
    store.sendall(struct.pack("<BI", 0, 0x3C85F7CE))
    def add(amount):
        store.sendall(struct.pack("<BQ4sq", 4, 4, b"here", amount))
        answer = b""
        while len(answer) < 8:
            more = store.recv(8)
            assert more, "the store has ended the connection"
            answer += more
        return struct.unpack("<q", answer)[0]
    add(1)
    while add(0) < world:
        time.sleep(0.02)
    with open(sys.argv[2], "a") as said:
        said.write(json.dumps({"what": "done", "rank": int(os.environ["RANK"]), "at": host, "from": store.getsockname()[0]}) + "\\n")
"""


@pytest.fixture
def two_nodes(tmp_path):
    try:
        made = TwoNodes(tmp_path)
    except Unavailable as why:
        pytest.skip(f"no networks can be made here: {why}")
    yield made
    made.close()


@pytest.fixture
def nodes(two_nodes):
    return two_nodes.nodes


def start(job, node, *words):
    """Agents without a rank have one in the order in which they join: where a test asks for the first node's address, the second has rank 1."""
    script = job.write("meet.py", WORKER)
    return job.start("--nnodes", 2, "--rdzv-id", "many", "--rdzv-conf", "join_timeout=20", *words, script=script, within=node.within)


def ends_well(job, *agents):
    assert [agent.wait(60) for agent in agents] == [0, 0], "\n---\n".join(agent.text for agent in agents)
    return {line["rank"]: line for line in job.lines("done")}


@pytest.mark.parametrize("endpoint,told", [("10.88.1.1:29400", "10.88.2.1"), ("[fd00:88:1::1]:29400", "fd00:88:2::1")])
def test_a_worker_may_come_from_each_address_of_its_node(job, nodes, endpoint, told):
    first = start(job, nodes[0], "--rdzv-endpoint", endpoint, "--local-addr", told)
    second = start(job, nodes[1], "--rdzv-endpoint", endpoint, "--node-rank", 1)
    done = ends_well(job, first, second)
    assert done[1]["at"] == told
    assert done[1]["from"] == told[:-1] + "2", "it knows its node by the other one"


@pytest.mark.parametrize("network", [1, 2])
def test_the_node_whose_name_is_loopback_has_the_address_that_others_reach(job, nodes, network):
    nodes[0].name_is("127.0.1.1")
    nodes[1].name_is(f"10.88.{network}.1")
    first = start(job, nodes[0], "--rdzv-endpoint", "first-node:29400")
    second = start(job, nodes[1], "--rdzv-endpoint", "first-node:29400", "--node-rank", 1)
    assert ends_well(job, first, second)[1]["at"] == f"10.88.{network}.1"


def test_answers_may_take_another_network_than_what_they_answer(job, two_nodes):
    two_nodes.route_one_way_each()
    nodes = two_nodes.nodes
    first = start(job, nodes[0], "--rdzv-endpoint", "10.88.9.1:29400")
    second = start(job, nodes[1], "--rdzv-endpoint", "10.88.9.1:29400", "--node-rank", 1)
    done = ends_well(job, first, second)
    assert done[1]["at"] == "10.88.9.1" and done[1]["from"] == "10.88.9.2"
    (sent, not_received), (not_sent, received) = (nodes[0].bytes_of(network) for network in (0, 1))
    assert sent > 5 * not_sent and received > 5 * not_received, (sent, not_sent, received, not_received)


def test_a_name_that_comes_late_is_looked_up_again(job, nodes):
    agents = [start(job, node, "--rdzv-endpoint", "first-node:29400") for node in nodes]
    job.until(lambda: all("can't be reached" in agent.text for agent in agents))
    for node in nodes:
        node.name_is("10.88.2.1")
    # The workers meet on the node whose agent joins first.
    assert ends_well(job, *agents)[1]["at"] in ("10.88.2.1", "10.88.2.2")
    assert "takes its place" not in agents[0].text, agents[0].text
