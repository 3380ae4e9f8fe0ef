#include "sim/elastic/elastic_node.h"

#include <fmt/format.h>

#include <utility>

namespace muster::sim::elastic {

namespace {

Task<void> bury(std::shared_ptr<ElasticNode::Life> life) { co_await life->tasks.stop(); }

}  // namespace

ElasticNode::ElasticNode(Job job, std::string its_name, Options given)
    : name(std::move(its_name)),
      options(std::move(given)),
      workers(job.executor, job.clock, job.invariants, name, options.times),
      link(job.executor, job.clock, fault_windows),
      job_(std::move(job)) {
    job_.invariants.of_node(name, fault_windows);
}

void ElasticNode::start_agent(AgentStart given) {
    auto life = std::make_shared<Life>(job_.executor, workers, job_.clock.now());
    ++lives;
    end.reset();
    fault_windows.back(job_.clock.now());
    given.options.incarnation = fmt::format("{}.{}", name, lives);
    given.options.slot = options.slot;
    given.options.store_port = 29500;
    given.options.check_port = options.check ? 29600 : 0;
    given.options.rack = options.rack;
    given.options.name = name;
    given.options.workers.local_size = options.local_size;
    const Duration join_timeout = given.options.workers.join_timeout;
    agent::AgentOwner owner{
        .connect = std::move(given.connect),
        .make_workers =
            [](const job_protocol::World&, const job_protocol::Member& own) {
                return std::vector<launch::WorkerStart>(static_cast<std::size_t>(own.local_size),
                                                        launch::WorkerStart{.command = {"train"}});
            },
        .place =
            [this, can_host = given.can_host_master] {
                return agent::AgentPlace{.address = name, .can_host_master = can_host};
            },
        .begin_store =
            [this](const job_protocol::World& world) { job_.invariants.store_began(name, world); },
        .check = options.check};
    job_.invariants.say(name + ": an agent starts");
    workers.found_again();
    life->agent = std::make_unique<agent::Agent>(job_.executor, job_.clock, job_.rng, life->workers,
                                                 std::move(given.options), std::move(owner));
    agent = life;
    life->tasks.spawn(
        "agent", run(life, join_timeout, std::move(given.may_be_excluded), std::move(given.ended)));
}

Task<void> ElasticNode::run(std::shared_ptr<Life> life, Duration join_timeout,
                            std::function<bool()> may_be_excluded,
                            std::function<void(const agent::AgentEnd&)> ended) {
    using Kind = agent::AgentEnd::Kind;
    const agent::AgentEnd how = co_await life->agent->run();
    Invariants& invariants = job_.invariants;
    invariants.agent_ended(name, how);
    if (workers.running())
        invariants.wrong("agent-end", name + ": an agent ended before its workers");
    if ((how.kind == Kind::kGaveUp && job_.clock.now() - life->began < join_timeout) ||
        (how.kind == Kind::kExcluded && !(may_be_excluded && may_be_excluded())))
        invariants.wrong("agent-end", name + ": an agent is turned away");
    fault_windows.gone(job_.clock.now());
    end = how;
    if (agent != life) co_return;
    agent.reset();
    job_.graves.spawn("bury", bury(life));
    if (ended) ended(how);
}

bool ElasticNode::kill_agent() {
    if (!agent) return false;
    job_.invariants.say(name + ": the agent is killed");
    fault_windows.gone(job_.clock.now());
    job_.invariants.store_ended(name);
    link.cut();
    auto life = std::exchange(agent, nullptr);
    life->workers.kill();
    life->tasks.cancel();
    job_.graves.spawn("bury", bury(std::move(life)));
    return true;
}

void ElasticNode::leave(std::string why) {
    if (!agent) return;
    job_.invariants.say(name + ": the platform takes the node away");
    job_.invariants.leaves(name);
    fault_windows.gone(job_.clock.now());
    agent->agent->leave(std::move(why));
}

}  // namespace muster::sim::elastic
