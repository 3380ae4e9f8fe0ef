#include "sim/elastic/elastic_world.h"

#include <algorithm>
#include <utility>

#include "job_protocol/protocol.h"

namespace muster::sim::elastic {
namespace {

job_protocol::Terms terms_of(const master::JobOptions& job) {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    job_protocol::Terms terms{.min_nodes = job.membership.min_nodes,
                              .max_nodes = job.membership.max_nodes,
                              .node_unit = job.membership.node_unit,
                              .grow_at_failure = job.membership.grow_at_failure,
                              .last_call = duration_cast<milliseconds>(job.membership.last_call),
                              .broken_grace = duration_cast<milliseconds>(job.broken_grace),
                              .healthy_grace = duration_cast<milliseconds>(job.healthy_grace),
                              .policy = job.policy};
    for (std::size_t i = 0; i < job.budgets.size(); ++i)
        if (job.budgets[i].incidents)
            terms.budgets.push_back({.charge = static_cast<job_protocol::Charge>(i),
                                     .incidents = *job.budgets[i].incidents});
    return terms;
}

}  // namespace

/// Shims end their workers when no agent has come by then.
constexpr Duration kShimsWait = std::chrono::seconds(1);

struct ElasticWorld::MasterLife {
    explicit MasterLife(const asio::any_io_executor& executor) : tasks(executor) {}
    std::unique_ptr<master::Master> master;
    const net::MemoryListener* listener = nullptr;
    TaskGroup tasks;
};

ElasticWorld::ElasticWorld(SimulatedLoop& its_loop, Options given)
    : loop(its_loop),
      options(std::move(given)),
      ledger(
          loop.clock, {},
          {.violated = [this](const Violation& one) { write_down("WRONG: " + one.what); },
           .said = [this](const std::string&, std::string what) { write_down(std::move(what)); }}),
      invariants(loop.clock, ledger, ""),
      rng(options.seed),
      records(loop.clock, options.record_time),
      watched_(records, invariants, tasks_),
      graves_(loop.context.get_executor()),
      tasks_(loop.context.get_executor()) {
    invariants.of_job(options.job, options.node_check.has_value());
    invariants.of_masters([this] { look_at_masters(); });
}

void ElasticWorld::write_down(std::string line) {
    lines_.emplace_back(loop.clock.now(), std::move(line));
}

std::string ElasticWorld::trace() const {
    std::string text;
    for (const auto& [at, line] : lines_)
        text += fmt::format(
            "{:>9} ms  {}\n",
            std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count(),
            line);
    return text;
}

std::string ElasticWorld::broken() const {
    return ledger.violations().empty() ? "" : ledger.violations().front().what;
}

ElasticWorld::~ElasticWorld() = default;

ElasticWorld::Node& ElasticWorld::add_node(NodeOptions given) {
    return nodes.emplace_back(
        ElasticNode::Job{loop.context.get_executor(), loop.clock, rng, invariants, graves_},
        fmt::format("n{}", nodes.size()), std::move(given));
}

bool ElasticWorld::shares_slot(const Node& node) const {
    return node.options.slot && std::ranges::count(nodes, node.options.slot, [](const Node& one) {
                                    return one.options.slot;
                                }) > 1;
}

// ---- masters

void ElasticWorld::start_master() {
    const auto& executor = loop.context.get_executor();
    if (master_ != nullptr) {
        look_at_masters();
        older_.push_back(std::exchange(master_, nullptr));
        invariants.masters().gone(loop.clock.now());
    }
    auto life = std::make_shared<MasterLife>(executor);
    life->master = std::make_unique<master::Master>(
        executor, loop.clock, watched_,
        master::MasterOptions{.job = options_of_master(),
                              .node_check = options.node_check,
                              .token = "secret",
                              .name = fmt::format("master-{}", ++masters_)});
    auto listening = std::make_unique<net::MemoryListener>(executor);
    life->listener = listener_ = listening.get();
    life->master->listen(std::move(listening));
    master_ = life;
    invariants.say(fmt::format("master {} starts", masters_));
    invariants.master_began();
    life->tasks.spawn("master", run_master(life));
}

master::JobOptions ElasticWorld::options_of_master() const {
    if (!options.terms_of_nodes) return options.job;
    return {.first_epoch = options.job.first_epoch,
            .reconnect = options.job.reconnect,
            .terms_of_nodes = true};
}

Task<void> ElasticWorld::run_master(std::shared_ptr<MasterLife> life) {
    auto ended = co_await life->master->run();
    invariants.say(ended ? "the master ends: " + ended->text
                         : "the master gives up: " + ended.error().message());
    if (ended && ended.value() != invariants.end())
        invariants.wrong("verdict", "a master ends as the job has not ended");
    if (master_ == life) {
        listener_ = nullptr;
        master_.reset();
        graves_.spawn("bury", bury(life));
    } else if (std::erase(older_, life) > 0) {
        graves_.spawn("bury", bury(life));
        if (older_.empty()) invariants.masters().back(loop.clock.now());
    }
    verdict = std::move(ended);
}

void ElasticWorld::kill_master() {
    if (master_ == nullptr) return;
    invariants.say("the master is killed");
    look_at_masters();
    listener_ = nullptr;
    for (Node& node : nodes) node.link.cut();
    kill(std::exchange(master_, nullptr));
}

void ElasticWorld::kill_older_masters() {
    if (older_.empty()) return;
    invariants.say("older masters are killed");
    look_at_masters();
    for (const auto& life : older_) {
        for (Node& node : nodes) node.link.cut_to(life->listener);
        kill(life);
    }
    older_.clear();
    invariants.masters().back(loop.clock.now());
}

void ElasticWorld::kill(std::shared_ptr<MasterLife> life) {
    life->tasks.cancel();
    graves_.spawn("bury", bury(std::move(life)));
}

/// What they have made shows in what agents are told, which may come late.
void ElasticWorld::look_at_masters() {
    const auto look = [&](const MasterLife& life) {
        const master::Job* const job = life.master->job();
        if (job != nullptr && job->world() != nullptr) invariants.made(*job->world());
    };
    if (master_) look(*master_);
    for (const auto& life : older_) look(*life);
}

Task<void> ElasticWorld::bury(std::shared_ptr<MasterLife> life) {
    co_await life->tasks.stop();
    co_await life->master->stop();
}

const master::Job* ElasticWorld::job() const { return master_ ? master_->master->job() : nullptr; }

void ElasticWorld::set_records(master::MemoryRecords::Faults faults, Duration time) {
    invariants.say("records fail, or take long");
    invariants.records().partition(true, loop.clock.now());
    records.set_faults(std::move(faults));
    records.set_time(time);
}

void ElasticWorld::heal_records() {
    invariants.records().partition(false, loop.clock.now());
    records.set_faults({});
    records.set_time(options.record_time);
}

// ---- agents

void ElasticWorld::start_agent(Node& node) {
    agent::AgentOptions given;
    given.token = "secret";
    given.workers.join_timeout = options.join_timeout;
    given.workers.policy = options.job.policy;
    if (options.terms_of_nodes) given.terms = terms_of(options.job);
    node.start_agent(
        {.options = std::move(given),
         .connect = [this, &node] { return node.link.connect(listener_); },
         .may_be_excluded = [this, &node] { return shares_slot(node) || options.node_check; }});
}

void ElasticWorld::kill_agent(Node& node) {
    if (node.kill_agent()) tasks_.spawn("shims", end_without_agent(node, node.lives));
}

Task<void> ElasticWorld::end_without_agent(Node& node, int life) {
    co_await loop.clock.sleep_for(kShimsWait);
    if (!node.agent && node.lives == life) node.workers.vanish();
}

void ElasticWorld::leave(Node& node) { node.leave("the platform takes the node away"); }

void ElasticWorld::lose_node(Node& node, bool silent) {
    if (!node.has_power) return;
    invariants.say(node.name + (silent ? ": the node falls silent" : ": the node is lost"));
    node.has_power = false;
    node.workers.vanish();
    if (silent) node.link.go_dark();
    kill_agent(node);
}

void ElasticWorld::return_node(Node& node) {
    if (node.has_power) return;
    node.has_power = true;
    start_agent(node);
}

void ElasticWorld::finish() {
    invariants.say("the program's work is done");
    is_done_ = true;
    for (Node& node : nodes) node.workers.finish();
}

void ElasticWorld::close() {
    for (Node& node : nodes) kill_agent(node);
    kill_master();
    kill_older_masters();
    for (Node& node : nodes) loop.await(node.link.close());
    loop.await(graves_.join());
    loop.await(tasks_.stop());
    for (Node& node : nodes) loop.await(node.workers.close());
}

std::size_t ElasticWorld::live_workers() const {
    std::size_t live = 0;
    for (const Node& node : nodes) live += node.workers.live();
    return live;
}

bool ElasticWorld::runs(std::size_t workers) const {
    std::optional<Invariants::Attempt> one;
    for (const Node& node : nodes) {
        if (node.workers.live() == 0) continue;
        const job_protocol::World world = *node.workers.running();
        const Invariants::Attempt attempt{world.generation, world.restarts};
        if (one && *one != attempt) return false;
        one = attempt;
        if (static_cast<std::size_t>(world.ranks) != workers) return false;
    }
    return live_workers() == workers;
}

}  // namespace muster::sim::elastic
