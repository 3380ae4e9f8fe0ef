#include "sim/internal/elastic_pod.h"

#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "muster_run/hosting/agent_options.h"
#include "muster_run/hosting/master_seat.h"
#include "sim/internal/programs/job_token.h"
#include "sim/internal/programs/shared_listener.h"

namespace muster::sim {

namespace {

constexpr int kFailed = 1;
constexpr int kSignalled = 128;

/// What has a limit is kept, and can be counted.
launch::LaunchPlan counted(launch::LaunchPlan plan) {
    constexpr int kMore = 1000;  // than happens
    for (job_protocol::Budget& budget : plan.budgets)
        if (!budget.incidents) budget.incidents = kMore;
    return plan;
}

}  // namespace

/// One start of the pod's containers.
struct ElasticPod::Container {
    Container(const asio::any_io_executor& executor, launch::LaunchPlan its_plan,
              run::RecordPlace its_record, std::function<void(std::int32_t)> when_ended)
        : plan(std::move(its_plan)),
          record(std::move(its_record)),
          ended(std::move(when_ended)),
          tasks(executor) {}

    launch::LaunchPlan plan;
    run::RecordPlace record;
    std::function<void(std::int32_t)> ended;
    bool terminated = false;
    bool hosts = false;  ///< it has the job's endpoint
    std::shared_ptr<net::MemoryListener> listener = {};
    std::optional<run::MasterSeat> seat = {};
    TaskGroup tasks;
};

ElasticPod::ElasticPod(const Job& job, std::string its_name, std::string address,
                       elastic::ElasticNode::Options options, const FaultWindows& its_machine)
    : name(std::move(its_name)),
      node(job.nodes, std::move(address), std::move(options)),
      machine(its_machine),
      job_(job) {
    job_.nodes.invariants.of_node(node.name, machine);
}

ElasticPod::~ElasticPod() = default;

bool ElasticPod::is_host_of(const launch::Rendezvous& rendezvous) const {
    const auto seats =
        launch::hosted_here(rendezvous, {.names = {name}, .addresses = {node.name}}, {});
    return rendezvous.where == launch::Rendezvous::Where::kHere ||
           (!seats.empty() && seats.front() == 0);
}

const run::HostedMaster* ElasticPod::master() const {
    return container_ ? container_->seat->hosted() : nullptr;
}

void ElasticPod::start(const launch::LaunchPlan& plan, std::function<void(std::int32_t)> ended) {
    container_ = std::make_shared<Container>(job_.nodes.executor, counted(plan), job_.new_record(),
                                             std::move(ended));
    container_->hosts = is_host_of(plan.rendezvous);
    // The first endpoint is the only one, so there is no turn to wait for.
    container_->seat.emplace(
        job_.nodes.clock,
        run::MasterSeat::Ways{
            .elsewhere = [this] { return node.link.connect(job_.reach_master); },
            .make = [this, container = container_.get()](
                        std::optional<std::size_t>) { return make_master(*container); },
            .ended =
                [this](const Error& error) {
                    job_.nodes.invariants.say(node.name +
                                              ": its master gives up: " + error.message());
                    job_.masters_changed();
                }},
        run::TakeoverTurn(
            container_->hosts ? std::vector<std::size_t>{0} : std::vector<std::size_t>{},
            plan.times.silence));
    if (container_->hosts) begin_to_host();
    node.start_agent({.options = run::agent_options(container_->plan, kJobToken),
                      .connect = [this, from = std::weak_ptr(container_)] { return connect(from); },
                      .can_host_master = container_->hosts,
                      .may_be_excluded = {},
                      .ended = [this, from = std::weak_ptr(container_)](
                                   const agent::AgentEnd& end) { look_at_end(from.lock(), end); }});
}

void ElasticPod::begin_to_host() {
    if (!std::exchange(was_host_, true)) {
        job_.nodes.invariants.masters_moved();
        job_.nodes.invariants.of_master_place(node.fault_windows);
        job_.nodes.invariants.of_master_place(machine);
    }
    const auto hosts = container_->seat->host(0, run::HostedMaster::Start::kAsFirst, {});
    CHECK(hosts && *hosts, "nothing else has a pod's endpoint");
    job_.masters_changed();
}

/// The job's master, at that pod's endpoint.
std::unique_ptr<run::HostedMaster> ElasticPod::make_master(Container& container) {
    const auto& executor = job_.nodes.executor;
    run::MasterPlace place{.ask_others_every = container.plan.times.silence};
    if (container.plan.rendezvous.where != launch::Rendezvous::Where::kHere) {
        container.listener = std::make_shared<net::MemoryListener>(executor);
        place.listener = std::make_unique<SharedListener>(container.listener);
    }
    master::MasterOptions options = run::master_options(container.plan, kJobToken);
    job_.nodes.invariants.of_job(options.job, false);
    job_.nodes.invariants.say(node.name + ": a master starts");
    job_.nodes.invariants.master_began();
    return std::make_unique<run::HostedMaster>(executor, job_.nodes.clock, job_.nodes.rng,
                                               container.record, std::move(options),
                                               std::move(place));
}

Task<Result<std::unique_ptr<net::ByteStream>>> ElasticPod::connect(std::weak_ptr<Container> from) {
    const auto container = from.lock();
    if (!container) co_return Error(Code::kUnavailable, "the pod is gone");
    auto reached = co_await container->seat->reach();
    if (reached || container_ != container || !node.agent) co_return reached;
    auto taken =
        co_await container->seat->take_over(node.agent->agent->state(), std::move(reached).error());
    if (taken) job_.masters_changed();
    co_return taken;
}

Task<Result<std::unique_ptr<net::ByteStream>>> ElasticPod::accept() {
    return node.link.accept([this] {
        return container_ ? container_->listener : std::shared_ptr<net::MemoryListener>();
    });
}

void ElasticPod::look_at_end(std::shared_ptr<Container> container, const agent::AgentEnd& end) {
    if (container && container == container_)
        container->tasks.spawn("container", finish(container, end));
}

Task<void> ElasticPod::finish(std::shared_ptr<Container> container, agent::AgentEnd end) {
    using Kind = agent::AgentEnd::Kind;
    // Other nodes go on, or want to hear how it ended.
    if (end.kind != Kind::kLeft && end.kind != Kind::kGaveUp) co_await container->seat->join();
    co_await container->seat->stop();
    node.link.cut();
    job_.nodes.invariants.store_ended(node.name);
    job_.nodes.graves.spawn("bury", [](std::shared_ptr<Container> ended) -> Task<void> {
        co_await ended->tasks.stop();
    }(container));
    container_.reset();
    job_.masters_changed();
    const auto told = std::move(container->ended);
    told(end.kind == Kind::kSucceeded                       ? EXIT_SUCCESS
         : end.kind == Kind::kLeft && container->terminated ? kSignalled + SIGTERM
                                                            : kFailed);
}

void ElasticPod::terminate() {
    if (!container_ || std::exchange(container_->terminated, true)) return;
    node.leave("SIGTERM was sent to its agent");
}

void ElasticPod::kill(PodProgram::Death death) {
    if (!container_) return;
    job_.masters_changed();  // what it had is seen before it is gone
    auto container = std::exchange(container_, nullptr);
    if (death == PodProgram::Death::kOfMachine) node.link.go_dark();
    node.workers.vanish();
    if (!node.kill_agent()) node.link.cut();
    if (container->listener) container->listener->close();
    container->tasks.cancel();
    job_.nodes.graves.spawn("bury", [](std::shared_ptr<Container> killed) -> Task<void> {
        co_await killed->tasks.stop();
        co_await killed->seat->stop();
    }(std::move(container)));
    job_.masters_changed();
}

}  // namespace muster::sim
