#include "master/master.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/async/first_of.h"
#include "base/async/signal.h"
#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/time/time_limit.h"
#include "job_protocol/protocol.h"
#include "master/master_probe.h"
#include "master/service/services.h"
#include "master/service_registry.h"

namespace muster::master {
namespace {

/// Between attempts to write the record, and between two lines about them.
constexpr Duration kLongestPause = std::chrono::seconds(2);
constexpr Duration kSayAgain = std::chrono::minutes(1);

}  // namespace

struct Master::State {
    /// The stream of one agent, on its newest connection.
    struct Line {
        Line(State& its_state, std::string of)
            : state(its_state), incarnation(std::move(of)), changed(state.executor) {}
        ~Line() {
            const auto found = state.lines.find(incarnation);
            if (found != state.lines.end() && found->second == this) state.lines.erase(found);
            state.line_ended.notify_all();
        }
        Line(const Line&) = delete;
        Line& operator=(const Line&) = delete;

        State& state;
        std::string incarnation;
        Signal changed;
        bool due = true;  ///< the directive may have changed
    };

    State(const asio::any_io_executor& its_executor, Clock& its_clock, Records& its_records,
          MasterOptions given)
        : executor(its_executor),
          clock(its_clock),
          records(its_records),
          options(std::move(given)),
          server(executor, clock,
                 {.token = options.token, .name = options.name, .limits = options.rpc}),
          woken_changed(executor),
          line_ended(executor),
          record_written(executor) {}

    void serve();
    Result<std::unique_ptr<Line>> join(const rpc::PeerPtr& peer, const job::Join& request);
    Task<Result<void>> follow(Result<std::unique_ptr<Line>> joined,
                              rpc::ItemSink<job::Directive> orders);
    Result<void> take(const rpc::PeerPtr& peer, const job::Report& told);
    static Task<Result<job::Left>> take_leave(Result<void> taken);
    Task<Result<job::MasterClaim>> meet(job::MasterClaim other);
    MasterClaim claim() const;
    void met(const MasterClaim& other);
    void gone(const rpc::PeerPtr& peer, const Error& why);
    Task<Result<Verdict>> drive();
    Task<Result<void>> write_record();
    Task<Result<void>> recorded();
    void publish();
    void follow_terms();
    void wake();
    Task<void> wait(Instant until);
    Task<void> all_told();
    Task<void> keep_lines();
    Task<bool> tell_the_end();

    asio::any_io_executor executor;
    Clock& clock;
    Records& records;
    MasterOptions options;
    Services services;
    rpc::Server server;
    std::vector<std::pair<std::unique_ptr<net::Listener>, net::TlsServerContext*>> listeners;
    std::optional<Job> job;
    std::unordered_map<std::string, Line*> lines;  ///< by incarnation
    bool woken = false;
    Signal woken_changed;
    Signal line_ended;
    Signal record_written;
    std::optional<Duration> silence;  ///< of the terms that the server keeps to
    std::optional<Error> deposed;
    std::optional<std::uint64_t> superseded_by;
};

// ---- agents

void Master::State::serve() {
    // An agent may report as soon as it has joined, on the same connection.
    rpc::serve(server, job_protocol::kJoin,
               [this](const rpc::PeerPtr& peer, const job::Join& request,
                      rpc::ItemSink<job::Directive> orders) {
                   return follow(join(peer, request), orders);
               });
    rpc::serve(server, job_protocol::kReport,
               [this](const rpc::PeerPtr& peer, const job::Report& told) {
                   if (auto taken = take(peer, told); !taken)
                       log::warning("a report was dropped",
                                    {{"from", peer->about}, {"error", taken.error().message()}});
               });
    rpc::serve(server, job_protocol::kLeave,
               [this](const rpc::PeerPtr& peer, const job::Report& told) {
                   return take_leave(take(peer, told));
               });
    rpc::serve(server, job_protocol::kMasterClaim,
               [this](rpc::PeerPtr, job::MasterClaim other) -> Task<Result<job::MasterClaim>> {
                   return meet(std::move(other));
               });
    services.serve(server);
    server.on_gone([this](const rpc::PeerPtr& peer, const Error& why) { gone(peer, why); });
    for (auto& [listener, tls] : listeners) server.serve(std::move(listener), tls);
    listeners.clear();
}

Result<std::unique_ptr<Master::State::Line>> Master::State::join(const rpc::PeerPtr& peer,
                                                                 const job::Join& request) {
    TRY(Hello hello, job_protocol::from_wire(request));
    if (hello.incarnation != peer->client)
        return Error(Code::kBadRequest, "an agent joins under the name of its connection");
    if (job->is_for_next_attempt(hello))
        return Error(Code::kGone, "the job has failed, and its next master begins it again");
    if (!peer->reached.empty()) job->reached_at(peer->reached);
    if (auto joined = job->joined(std::move(hello), clock.now(), clock.wall_now()); !joined) {
        deposed = joined.error();
        wake();
        return joined.error();
    }
    follow_terms();
    auto line = std::make_unique<Line>(*this, peer->client);
    lines[peer->client] = line.get();
    wake();
    return line;
}

/// Sends an agent its directives, until its end or that of its connection.
Task<Result<void>> Master::State::follow(Result<std::unique_ptr<Line>> joined,
                                         rpc::ItemSink<job::Directive> orders) {
    if (!joined) co_return joined.error();
    Line& line = **joined;
    std::optional<Directive> told;
    for (;;) {
        // While a record is being written, nothing that follows from it may be sent.
        while (!line.due || job->unwritten()) co_await line.changed.wait();
        line.due = false;
        const std::optional<Directive> order = job->directive_for(line.incarnation);
        if (!order || order == told) continue;
        CO_TRY_VOID(co_await orders.write(job_protocol::to_wire(*order)));
        if (std::holds_alternative<Verdict>(order->what)) co_return Result<void>();
        told = order;
    }
}

Result<void> Master::State::take(const rpc::PeerPtr& peer, const job::Report& told) {
    TRY(Report report, job_protocol::from_wire(told));
    job->reported(peer->client, std::move(report), clock.now(), clock.wall_now());
    wake();
    return {};
}

Task<Result<job::Left>> Master::State::take_leave(Result<void> taken) {
    CO_TRY_VOID(std::move(taken));
    co_return job::Left();
}

/// Agents ping as often as their own terms say.
void Master::State::follow_terms() {
    const std::optional<Terms>& terms = job->terms();
    if (!terms || terms->silence == silence) return;
    silence = terms->silence;
    server.keep_to({.dead_after = terms->silence});
}

// ---- other masters

MasterClaim Master::State::claim() const {
    const World* const world = job->world();
    return {.epoch = job->record().epoch,
            .nodes = world == nullptr ? 0 : world->nodes,
            .settled = !job->is_rejoining() && !job->end()};
}

Task<Result<job::MasterClaim>> Master::State::meet(job::MasterClaim other) {
    const MasterClaim own = claim();
    met(job_protocol::from_wire(other));
    co_return to_wire(own);
}

void Master::State::met(const MasterClaim& other) {
    if (deposed) return;
    switch (stance(claim(), other)) {
        case Stance::kGoOn:
            return;
        case Stance::kYield:
            deposed = Error(Code::kConflict,
                            fmt::format("another master of the job is in charge, of epoch {} and "
                                        "with {} nodes",
                                        other.epoch, other.nodes));
            break;
        case Stance::kClaimAnew:
            superseded_by = other.epoch;
            deposed = Error(Code::kConflict,
                            fmt::format("another master of the job, of epoch {}, has only {} nodes "
                                        "and must give way to a newer one",
                                        other.epoch, other.nodes));
            break;
    }
    wake();
}

void Master::State::gone(const rpc::PeerPtr& peer, const Error& why) {
    // kTimeout: it was silent, which may be the end of its process or a broken cable.
    if (why.code() == Code::kTimeout)
        job->timed_out(peer->client, why.message(), clock.now(), clock.wall_now());
    else
        job->disconnected(peer->client, why.message(), clock.now());
    wake();
}

void Master::State::publish() {
    services.runs(job->end() ? nullptr : job->world(), job->why());
    const Job::Changed changed = job->take_changed();
    const auto tell = [](Line& line) {
        line.due = true;
        line.changed.notify_all();
    };
    if (changed.all) {
        for (const auto& [incarnation, line] : lines) tell(*line);
        return;
    }
    for (const std::string& incarnation : changed.some)
        if (const auto line = lines.find(incarnation); line != lines.end()) tell(*line->second);
}

// ---- the loop

void Master::State::wake() {
    woken = true;
    woken_changed.notify_all();
}

Task<void> Master::State::wait(Instant until) {
    while (!woken) {
        if (clock.now() >= until) co_return;
        if (until == Instant::max())
            co_await woken_changed.wait();
        else
            co_await first_of(woken_changed.wait(), clock.sleep_until(until));
    }
}

Task<Result<void>> Master::State::write_record() {
    Duration pause = options.record_retry;
    Instant say = clock.now();
    while (job->unwritten()) {
        const std::uint64_t version = job->record_version();
        const Result<void> written = co_await records.write(job->record());
        if (written) {
            job->written(version);
            record_written.notify_all();
            pause = options.record_retry;
            continue;
        }
        if (written.error().code() == Code::kConflict) co_return written.error();
        if (clock.now() >= say) {
            log::error("the job's record can't be written: what has to be in it waits until it can",
                       {{"error", written.error().message()}});
            say = clock.now() + kSayAgain;
        }
        co_await clock.sleep_for(pause);
        pause = std::max(options.record_retry, std::min(2 * pause, kLongestPause));
    }
    co_return Result<void>();
}

/// Returns when the record in its current state is written. If it can't be, the server stops, and
/// the call that waits with it.
Task<Result<void>> Master::State::recorded() {
    const std::uint64_t version = job->record_version();
    wake();
    while (job->written_version() < version) co_await record_written.wait();
    co_return Result<void>();
}

Task<Result<Verdict>> Master::State::drive() {
    for (;;) {
        if (deposed) co_return *deposed;
        TaskFault::strike("decide");
        woken = false;
        job->advance(clock.now(), clock.wall_now());
        follow_terms();
        if (job->unwritten()) {
            CO_TRY_VOID(co_await write_record());
            continue;
        }
        for (const Notice& notice : job->take_notices())
            notice.warns ? log::warning(notice.text) : log::info(notice.text);
        publish();
        if (job->end()) co_return *job->end();
        co_await wait(job->wake_at());
    }
}

Task<void> Master::State::all_told() {
    while (!lines.empty() || job->away() > 0) co_await line_ended.wait();
}

/// A disconnected agent may come back in time; then it is told like the others.
Task<void> Master::State::keep_lines() {
    for (;;) {
        woken = false;
        job->advance(clock.now(), clock.wall_now());
        publish();
        line_ended.notify_all();
        co_await wait(job->wake_at());
    }
}

Task<bool> Master::State::tell_the_end() {
    co_await first_of(all_told(), keep_lines());
    co_return true;
}

// ---- Master

Master::Master(const asio::any_io_executor& executor, Clock& clock, Records& records,
               MasterOptions options)
    : state_(std::make_unique<State>(executor, clock, records, std::move(options))) {}

Master::~Master() = default;

void Master::listen(std::unique_ptr<net::Listener> listener, net::TlsServerContext* tls) {
    state_->listeners.emplace_back(std::move(listener), tls);
}

Task<Result<Verdict>> Master::run() {
    State& state = *state_;
    CO_TRY(JobRecord record, co_await state.records.claim());
    log::info("a master is in charge", {{"epoch", record.epoch}});
    const bool had_ended = record.end.has_value();
    state.job.emplace(state.options.job, std::move(record), state.clock.now(), state.services);
    // Budgets outlive a master, and so the first failure that this one sees may be the last.
    const std::string charged = state.job->charged_before(state.clock.wall_now());
    if (!charged.empty() && !had_ended) log::warning(charged);
    add_services(state.services, state.options,
                 {.executor = state.executor,
                  .job = *state.job,
                  .recorded = [&state] { return state.recorded(); },
                  .wake = [&state] { state.wake(); }});
    state.serve();
    const Result<Verdict> ended = co_await state.drive();
    // Agents that the master which ended the job did not reach may still come.
    if (ended && had_ended) co_await state.clock.sleep_for(state.options.farewell);
    if (ended) co_await within(state.clock, state.options.farewell, state.tell_the_end());
    co_await state.server.stop();
    co_return ended;
}

Task<void> Master::stop() { co_await state_->server.stop(); }

MasterClaim Master::claim() const {
    return state_->job ? state_->claim() : MasterClaim{.settled = false};
}

void Master::met(const MasterClaim& other) {
    if (state_->job) state_->met(other);
}

std::optional<std::uint64_t> Master::superseded_by() const { return state_->superseded_by; }

const Job* Master::job() const { return state_->job ? &*state_->job : nullptr; }

}  // namespace muster::master
