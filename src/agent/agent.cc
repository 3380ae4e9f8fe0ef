#include "agent/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/async/first_of.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/async/then_stop.h"
#include "base/log.h"
#include "base/time/alarm.h"
#include "base/time/restarting_task.h"
#include "base/time/time_limit.h"
#include "job_protocol/protocol.h"

namespace muster::agent {
namespace {

/// Minimum time between reports that only have new step counts.
constexpr Duration kStepsEvery = std::chrono::seconds(1);
/// How often the steps of workers are read.
constexpr Duration kLookAtSteps = std::chrono::seconds(1);
/// Pause after a master that is not in charge, or that closed the stream without a verdict.
constexpr Duration kPause = std::chrono::milliseconds(500);
constexpr Duration kSayAgain = std::chrono::minutes(1);
constexpr Duration kLeaveTime = std::chrono::seconds(2);

bool differ_in_steps_alone(const job_protocol::Report& one, job_protocol::Report other) {
    other.steps = one.steps;
    return one == other;
}

}  // namespace

struct Agent::State {
    State(const asio::any_io_executor& its_executor, Clock& its_clock, Rng& its_rng,
          workers::Workers& its_workers, AgentOptions given, AgentOwner its_owner)
        : executor(its_executor),
          clock(its_clock),
          rng(its_rng),
          workers(its_workers),
          options(std::move(given)),
          owner(std::move(its_owner)),
          here(options.workers, workers.running(), clock.now()),
          woken_changed(executor),
          untold_changed(executor),
          alarm(executor, clock, [this] { wake(); }),
          client(owner.connect, clock, rng, tasks_of_client,
                 {.token = options.token,
                  .name = options.incarnation,
                  .about = "the agent of " + options.name,
                  .limits = options.rpc}) {}

    void begin_tasks(TaskGroup& tasks);
    Task<void> work(TaskGroup& tasks, AgentEnd& end);
    Task<AgentEnd> act(TaskGroup& tasks);
    Task<void> start(job_protocol::World world);
    Task<void> stop(Duration grace);
    Task<void> check(job_protocol::Check what);
    void disconnected(std::string trouble);
    Task<void> follow();
    Task<Result<void>> one_stream();
    Task<void> tell();
    Task<void> watch_ends();
    Task<void> watch_steps();
    Task<void> watch_master();
    void wake();
    Task<void> wait(Instant until);

    asio::any_io_executor executor;
    Clock& clock;
    Rng& rng;
    workers::Workers& workers;
    AgentOptions options;
    AgentOwner owner;
    WorkerState here;
    bool woken = false;
    Signal woken_changed;
    Signal untold_changed;
    Alarm alarm;
    bool open = false;                          ///< whether the stream is open
    std::optional<job_protocol::Report> told;   ///< the last report sent over it
    std::optional<workers::WorkerEnd> noticed;  ///< a worker's end that `here` does not know yet
    TaskGroup tasks_of_client{executor};
    rpc::Client client;
};

void Agent::State::wake() {
    woken = true;
    woken_changed.notify_all();
    untold_changed.notify_all();
}

Task<void> Agent::State::wait(Instant until) {
    alarm.set(until);
    while (!woken) co_await woken_changed.wait();
}

// ---- workers

Task<AgentEnd> Agent::State::act(TaskGroup& tasks) {
    for (;;) {
        woken = false;
        WorkerAction next = here.next(clock.now(), clock.wall_now());
        if (auto* begin = std::get_if<BeginStore>(&next)) {
            owner.begin_store(begin->world);
            wake();
        } else if (auto* world = std::get_if<StartWorkers>(&next)) {
            tasks.spawn("start workers", start(std::move(world->world)),
                        [this](const std::string& what) {
                            here.started(Error(Code::kInternal, what), clock.wall_now());
                            wake();
                        });
            wake();
        } else if (auto* what = std::get_if<StopWorkers>(&next)) {
            // At the end of the job the owner logs more.
            (here.knows_the_end() ? log::info : log::warning)(
                fmt::format("workers stop: {}", what->why), {{"node", options.name}});
            spawn_restarting(tasks, clock, "stop workers",
                             [this, grace = what->grace] { return stop(grace); });
            wake();
        } else if (auto* order = std::get_if<CheckNode>(&next)) {
            const job_protocol::CheckResult nothing{.epoch = order->check.epoch,
                                                    .round = order->check.round};
            tasks.spawn("check the node", check(std::move(order->check)),
                        [this, nothing](const std::string& what) {
                            job_protocol::CheckResult failed = nothing;
                            failed.trouble = what;
                            here.checked(std::move(failed));
                            wake();
                        });
        } else if (auto* end = std::get_if<AgentEnd>(&next)) {
            co_return std::move(*end);
        } else {
            if (const auto waits = here.say_waiting(clock.now()))
                log::warning("no worker runs on this node: " + *waits, {{"node", options.name}});
            co_await wait(here.wake_at());
        }
    }
}

Task<void> Agent::State::start(job_protocol::World world) {
    auto made = owner.make_workers(world, world.own());
    Result<void> outcome;
    if (made)
        outcome = co_await workers.start(std::move(world), *std::move(made));
    else
        outcome = made.error();
    here.started(std::move(outcome), clock.wall_now());
    wake();
}

Task<void> Agent::State::stop(Duration grace) {
    co_await workers.stop(grace);
    here.stopped(clock.now());
    wake();
}

Task<void> Agent::State::check(job_protocol::Check what) {
    here.checked(co_await owner.check(std::move(what)));
    wake();
}

Task<void> Agent::State::watch_ends() {
    for (;;) {
        if (!noticed) noticed = co_await workers.next_end();
        here.ended(*noticed);
        noticed.reset();
        wake();
    }
}

Task<void> Agent::State::watch_steps() {
    for (;;) {
        if (const auto steps = workers.steps()) {
            here.stepped(*steps);
            untold_changed.notify_all();
        }
        co_await clock.sleep_for(kLookAtSteps);
    }
}

// ---- the master

void Agent::State::disconnected(std::string trouble) {
    open = false;
    told.reset();
    here.connected(false, std::move(trouble), clock.now());
    wake();
}

Task<void> Agent::State::follow() {
    for (;;) {
        const Result<void> ended = co_await one_stream();
        disconnected(client.trouble() ? client.trouble()->message()
                     : ended          ? "the master ended the stream"
                                      : ended.error().message());
        if (client.ended()) {
            here.refused("the job's master refuses this agent: " + client.ended()->message() +
                         (client.ended()->code() == Code::kUnauthorized
                              ? "; all nodes of a job need the same token (--token-file or "
                                "MUSTER_TOKEN), or without one the same --rdzv-id"
                              : ""));
            wake();
            co_return;
        }
        if (!ended && ended.error().code() == Code::kBadRequest) {
            here.refused("the job's master rejects the report of this agent: " +
                         ended.error().message());
            wake();
            co_return;
        }
        if (ended || ended.error().code() != Code::kUnavailable) co_await clock.sleep_for(kPause);
    }
}

/// Carries out directives as they come, until the stream ends.
Task<Result<void>> Agent::State::one_stream() {
    while (!client.connected() && !client.ended()) {
        co_await client.changed();
        if (client.trouble()) here.connected(false, client.trouble()->message(), clock.now());
    }
    if (client.ended()) co_return *client.ended();
    const job_protocol::Report report = here.report();
    AgentPlace place = owner.place();
    const job_protocol::Hello hello{.incarnation = options.incarnation,
                                    .slot = options.slot,
                                    .local_size = options.workers.local_size,
                                    .address = std::move(place.address),
                                    .store_port = options.store_port,
                                    .rack = options.rack,
                                    .name = options.name,
                                    .epoch_seen = here.epoch_seen(),
                                    .report = report,
                                    .check_port = options.check_port,
                                    .can_host_master = place.can_host_master,
                                    .addresses = std::move(place.addresses),
                                    .terms = options.terms,
                                    .pod = options.pod,
                                    .host = options.host};
    CO_TRY(auto orders,
           co_await rpc::open(client, job_protocol::kJoin, job_protocol::to_wire(hello)));
    open = true;
    told = report;
    here.connected(true, "", clock.now());
    wake();
    for (;;) {
        CO_TRY(const auto item, co_await orders->next());
        if (!item) co_return Result<void>();
        CO_TRY(job_protocol::Directive order, job_protocol::from_wire(*item));
        CO_TRY_VOID(here.ordered(std::move(order)));
        wake();
    }
}

/// Reports each change, but step counts alone at most once a second.
Task<void> Agent::State::tell() {
    Instant steps_next = clock.now();
    for (;;) {
        const job_protocol::Report report = here.report();
        if (!open || report == told) {
            co_await untold_changed.wait();
            continue;
        }
        if (told && clock.now() < steps_next && differ_in_steps_alone(report, *told)) {
            co_await first_of(untold_changed.wait(), clock.sleep_until(steps_next));
            continue;
        }
        told = report;
        steps_next = clock.now() + kStepsEvery;
        const auto sent =
            co_await rpc::tell(client, job_protocol::kReport, job_protocol::to_wire(report));
        // The connection has ended; the next one begins with a full report.
        if (!sent && open) co_await untold_changed.wait();
    }
}

Task<void> Agent::State::watch_master() {
    for (;;) {
        while (client.connected() && !client.ended()) co_await client.changed();
        if (client.ended()) co_return;
        const Instant since = clock.now();
        Instant say = since + options.say_unreachable;
        bool said = false;
        while (!client.connected() && !client.ended()) {
            co_await first_of(client.changed(), clock.sleep_until(say));
            if (client.connected() || clock.now() < say) continue;
            log::warning(
                here.has_workers() ? "the job's master can't be reached; running workers continue"
                                   : "the job's master can't be reached, and no worker runs here",
                {{"node", options.name},
                 {"seconds",
                  std::chrono::duration_cast<std::chrono::seconds>(clock.now() - since).count()},
                 {"error", client.trouble() ? client.trouble()->message() : ""}});
            say = clock.now() + kSayAgain;
            said = true;
        }
        if (said) log::info("the job's master is reachable again", {{"node", options.name}});
    }
}

/// The workers, which run on, and the other nodes count on all of these.
void Agent::State::begin_tasks(TaskGroup& tasks) {
    spawn_restarting(
        tasks, clock, "follow the master", [this] { return follow(); },
        [this](const std::string& what) { disconnected(what); });
    // A report may have been lost; another one with the same content does no harm.
    spawn_restarting(
        tasks, clock, "tell the master", [this] { return tell(); },
        [this](const std::string&) { told.reset(); });
    spawn_restarting(tasks, clock, "watch workers", [this] { return watch_ends(); });
    spawn_restarting(tasks, clock, "watch steps", [this] { return watch_steps(); });
    spawn_restarting(tasks, clock, "watch the master", [this] { return watch_master(); });
    spawn_restarting(tasks, clock, "watch the time", [this] { return alarm.run(); });
}

Task<void> Agent::State::work(TaskGroup& tasks, AgentEnd& end) {
    begin_tasks(tasks);
    end = co_await act(tasks);
    if (end.kind != AgentEnd::Kind::kLeft || !open) co_return;
    // Otherwise the master would find out by itself and charge it.
    const auto left = co_await rpc::call(client, job_protocol::kLeave,
                                         job_protocol::to_wire(here.report()), kLeaveTime);
    if (!left)
        log::warning("the master may not know that this node has left",
                     {{"node", options.name}, {"error", left.error().message()}});
}

// ---- Agent

Agent::Agent(const asio::any_io_executor& executor, Clock& clock, Rng& rng,
             workers::Workers& workers, AgentOptions options, AgentOwner owner)
    : state_(std::make_unique<State>(executor, clock, rng, workers, std::move(options),
                                     std::move(owner))) {}

Agent::~Agent() = default;

Task<AgentEnd> Agent::run() {
    State& state = *state_;
    AgentEnd end;
    TaskGroup tasks(state.executor);
    state.client.start();
    co_await then_stop(then_stop(state.work(tasks, end), tasks), state.tasks_of_client);
    co_return end;
}

void Agent::leave(std::string why) {
    state_->here.leave(std::move(why));
    state_->wake();
}

Result<KvClient> Agent::keys() {
    const auto generation = state_->here.generation();
    if (!generation)
        return Error(Code::kUnavailable, "no workers run on this node, and keys belong to a world");
    return KvClient(state_->client, {.epoch = state_->here.epoch_seen(), .generation = generation});
}

const WorkerState& Agent::state() const { return state_->here; }

}  // namespace muster::agent
