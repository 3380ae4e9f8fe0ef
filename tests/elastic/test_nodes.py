"""Several agents of one job, on one machine."""

import os
import pathlib
import re
import signal

from conftest import free_port, listens


def nodes(job, count, *more, steps=60, size=None):
    """The words of each, and the agents; the first has the endpoint, and so the job's master."""
    port = free_port()
    words = ["--nnodes", size or count, "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-id", "many", "--local-addr", "127.0.0.1", *more]
    agents = [job.start(*words, steps=steps)]
    job.until(lambda: listens(port))
    return words, agents + [job.start(*words, steps=steps) for _ in range(count - 1)]


def port_of(words):
    return int(words[words.index("--rdzv-endpoint") + 1].rpartition(":")[2])


def connected(port):
    """Another agent has reached the one that listens there."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[2].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def test_two_nodes_of_two_workers(job):
    _, agents = nodes(job, 2, "--nproc-per-node", 2)
    assert [agent.wait() for agent in agents] == [0, 0], agents[0].text + agents[1].text
    assert {(line["rank"], line["world"]) for line in job.lines("done")} == {(rank, 4) for rank in range(4)}


def test_nodes_of_unequal_size(job):
    endpoint = f"127.0.0.1:{free_port()}"
    words = ["--nnodes", 2, "--rdzv-endpoint", endpoint, "--local-addr", "127.0.0.1"]
    agents = [job.start(*words, "--nproc-per-node", size) for size in (1, 3)]
    assert [agent.wait() for agent in agents] == [0, 0]
    assert {(line["rank"], line["world"]) for line in job.lines("done")} == {(rank, 4) for rank in range(4)}


def test_nodes_of_a_rack_have_ranks_that_follow_each_other(job):
    endpoint = f"127.0.0.1:{free_port()}"
    racks = ["left", "right"] * 2
    agents = []
    for slot, rack in enumerate(racks):
        agents.append(job.start("--nnodes", 4, "--rdzv-endpoint", endpoint, "--local-addr", "127.0.0.1", "--node-rank", slot, "--rack", rack))
    started = job.until(lambda: len(job.lines("started")) == 4 and job.lines("started"))
    ranks = {line["rank"]: next(rack for agent, rack in zip(agents, racks) if line["pid"] in agent.workers()) for line in started}
    assert [agent.wait() for agent in agents] == [0] * 4, agents[0].text
    assert [ranks[rank] for rank in range(4)] == ["left", "left", "right", "right"]


def test_a_killed_worker_on_either_node(job):
    _, agents = nodes(job, 2, "--max-restarts", 2, steps=120)
    for attempt, rank in enumerate((1, 0)):
        found = job.until(lambda attempt=attempt, rank=rank: job.lines("step", rank=rank, attempt=attempt, step=5))
        os.kill(found[0]["pid"], signal.SIGKILL)
    assert [agent.wait() for agent in agents] == [0, 0], agents[0].text + agents[1].text
    assert {(line["rank"], line["attempt"]) for line in job.lines("done")} == {(0, 2), (1, 2)}


def test_a_node_that_goes_and_comes_back(job):
    words, agents = nodes(job, 2, "--max-restarts", 0, steps=200, size="1:2")
    job.until(lambda: job.lines("step", world=2, step=3))
    agents[1].process.kill()
    agents[1].process.wait()
    job.until(lambda: job.lines("step", world=1, step=3))
    agents.append(job.start(*words, steps=200))
    job.until(lambda: [line for line in job.lines("step", world=2, step=3) if line["attempt"] >= 2])
    assert agents[0].wait() == 0, agents[0].text
    assert agents[2].wait() == 0, agents[2].text
    assert {line["world"] for line in job.lines("done")} == {2}


def test_growth_that_waits_for_a_failure(job):
    words, agents = nodes(job, 1, "--max-restarts", 1, "--grow", "at-failure", "--rdzv-conf", "last_call_timeout=1", steps=400, size="1:2")
    job.until(lambda: job.lines("step", world=1, step=3))
    agents.append(job.start(*words, steps=400))
    job.until(lambda: connected(port_of(words)))
    seen = job.lines("step", world=1)[-1]["step"]
    job.until(lambda: job.lines("step", world=1, step=seen + 20))
    assert {line["world"] for line in job.lines()} == {1}, "a newcomer disturbs no worker"
    os.kill(job.lines("step", world=1)[-1]["pid"], signal.SIGKILL)
    job.until(lambda: len({line["rank"] for line in job.lines("step", world=2, step=3)}) == 2)
    for agent in agents:
        agent.send(signal.SIGTERM)
        assert agent.wait() == 128 + signal.SIGTERM, agent.text


def test_a_standby_node_takes_the_place_of_a_lost_node(job):
    words, agents = nodes(job, 2, steps=200, size="2")
    job.until(lambda: len(job.lines("step", step=3)) == 2)
    agents.append(job.start(*words, steps=200))
    agents[1].process.kill()
    agents[1].process.wait()
    assert agents[0].wait() == 0, agents[0].text
    assert agents[2].wait() == 0, agents[2].text
    assert {line["world"] for line in job.lines()} == {2}


def test_who_is_missing_is_said(job):
    agent = job.start("--nnodes", 2, "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--local-addr", "127.0.0.1",
                      "--rdzv-conf", "join_timeout=3")
    assert agent.wait(30) == 1, agent.text
    assert re.search(r"no world after 3 s \(join_timeout of --rdzv-conf\): 1 of at least 2 nodes have joined; no node has slot 1, for \d+ s now",
                     agent.text), agent.text


def test_another_jobs_agent_is_refused(job):
    words, agents = nodes(job, 1, steps=400, size="1:2")
    stranger = [word if word != "many" else "other" for word in words]
    stranger[stranger.index("--rdzv-id") + 1] = "other"
    refused = job.start(*stranger, "--rdzv-conf", "join_timeout=5", steps=1)
    assert refused.wait(40) == 1, refused.text
    assert "token" in refused.text, refused.text
    agents[0].send(signal.SIGTERM)
    assert agents[0].wait() == 128 + signal.SIGTERM


def test_nobody_notices_that_the_masters_node_dies(job):
    """The first agent, with the master, is killed; its worker was not part of the world's only other node."""
    words, agents = nodes(job, 3, "--max-restarts", 0, steps=150, size="2:3")
    job.until(lambda: len(job.lines("step", world=3, step=3)) == 3)
    agents[0].process.kill()
    agents[0].process.wait()
    job.until(lambda: len({line["rank"] for line in job.lines("step", world=2, step=3)}) == 2)
    agents.append(job.start(*words, steps=150))
    for agent in agents[1:]:
        assert agent.wait() == 0, agent.text
    assert {line["world"] for line in job.lines("done")} <= {2, 3}


def test_the_next_master_knows_what_was_charged(job):
    """Its node is another than that of the master before, which is lost with its record."""
    _, agents = nodes(job, 2, "--max-restarts", 1, steps=10_000, size="1:2")

    def kill_the_worker_of(agent, world, attempt):
        steps = job.until(lambda: [line for line in job.lines("step", world=world, attempt=attempt)
                                   if line["step"] > 3 and line["pid"] in agent.workers()])
        os.kill(steps[0]["pid"], signal.SIGKILL)

    kill_the_worker_of(agents[1], world=2, attempt=0)
    job.until(lambda: {line["rank"] for line in job.lines("step", world=2, attempt=1)} == {0, 1})
    agents[0].process.kill()
    agents[0].process.wait()
    kill_the_worker_of(agents[1], world=1, attempt=2)
    assert agents[1].wait() == 1, agents[1].text
    assert "charged before this master: 1 of 1 worker failures (--max-restarts), the last at 2" in agents[1].text, agents[1].text
    assert "--max-restarts" in agents[1].text, agents[1].text


def test_the_master_goes_back_to_a_node_that_hosted_it_before(job):
    """Whose record is older than what the other node claimed meanwhile."""
    words, agents = nodes(job, 2, "--max-restarts", 0, steps=10_000, size="1:2")

    def steps_of(world):
        begun = len(job.lines())
        job.until(lambda: {line["rank"] for line in job.lines()[begun:]
                           if line["what"] == "step" and line["world"] == world} == set(range(world)))

    steps_of(2)
    for place in (0, 1):
        agents[place].process.kill()
        agents[place].process.wait()
        steps_of(1)
        agents[place] = job.start(*words, steps=10_000)
        steps_of(2)
