#include "agent/worker_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::agent {
namespace {

using job_protocol::Directive;
using job_protocol::FailureKind;
using job_protocol::FailureReport;
using job_protocol::World;

/// Per attempt; more evidence adds nothing new.
constexpr std::size_t kMostEvidence = 64;

long long seconds(Duration time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

/// The end of a limit that may not have begun, or may be none.
Instant end_of_limit(std::optional<Instant> since, Duration limit) {
    return since && limit != Duration::max() ? *since + limit : Instant::max();
}

std::pair<job_protocol::Generation, int> attempt(const World& world) {
    return {world.generation, world.restarts};
}

}  // namespace

WorkerState::WorkerState(WorkerStateOptions options, std::optional<World> found, Instant now)
    : options_(std::move(options)),
      phase_(found ? Phase::kRunning : Phase::kNone),
      holds_(std::move(found)),
      alone_(options_.policy, failure_policy::Budgets({})) {
    look_at_waiting(now);
}

// ---- events

Result<void> WorkerState::ordered(Directive order) {
    if (order.epoch < epoch_)
        return Error(
            Code::kConflict,
            fmt::format(
                "the master of epoch {} is no longer in charge: there is a newer one of epoch {}",
                order.epoch, epoch_));
    epoch_ = order.epoch;
    if (order.record) record_ = order.record;
    order_ = std::move(order);
    return {};
}

void WorkerState::connected(bool connected, std::string trouble, Instant now) {
    connected_ = connected;
    trouble_ = std::move(trouble);
    look_at_waiting(now);
}

void WorkerState::started(Result<void> outcome, WallTime wall) {
    if (phase_ != Phase::kStarting) return;
    phase_ = Phase::kRunning;
    if (outcome) return;
    ended_ = options_.local_size;
    evidence_.push_back({.kind = FailureKind::kNotStarted,
                         .generation = holds_->generation,
                         .restarts = holds_->restarts,
                         .error = outcome.error().message(),
                         .when = wall});
}

void WorkerState::stopped(Instant now) {
    if (phase_ != Phase::kStopping) return;
    phase_ = Phase::kNone;
    steps_.reset();
    if (!again_) {
        evidence_.clear();
        holds_.reset();
    }
    ended_ = ended_well_ = 0;
    look_at_waiting(now);
}

void WorkerState::ended(const workers::WorkerEnd& end) {
    if (!holds_ || end.generation != holds_->generation || phase_ == Phase::kStopping) return;
    // Counts the steps that it made just before it died and that were not read yet.
    stepped(end.steps);
    ++ended_;
    if (end.exit_code == 0) {
        ++ended_well_;
        return;
    }
    if (evidence_.size() >= kMostEvidence) return;
    evidence_.push_back(
        {.kind = end.out_of_memory ? FailureKind::kOutOfMemory : FailureKind::kWorkerExited,
         .generation = holds_->generation,
         .restarts = holds_->restarts,
         .rank = end.rank,
         .exit_code = end.exit_code,
         .signal = end.signal,
         .error = end.error,
         .when = end.when});
}

void WorkerState::stepped(std::uint64_t steps) {
    if (!holds_ || steps <= steps_.value_or(0)) return;
    steps_ = steps;
    alone_.progress_is_seen();
    alone_.stepped(holds_->generation, holds_->restarts);
}

void WorkerState::checked(job_protocol::CheckResult result) {
    // A new master may have ordered another check meanwhile.
    if (check_begun_ == std::pair(result.epoch, result.round)) checked_ = std::move(result);
}

void WorkerState::leave(std::string why) {
    if (leaving_.empty()) leaving_ = std::move(why);
}

void WorkerState::refused(std::string why) {
    if (leaving_.empty()) gives_up_ = true;
    leave(std::move(why));
}

// ---- actions

/// Once they are told to stop, these workers no longer belong to the world.
void WorkerState::give_up_world() {
    gave_up_ = std::max(gave_up_.value_or(job_protocol::Generation()), holds_->generation);
}

const job_protocol::Run* WorkerState::run() const {
    return order_ ? std::get_if<job_protocol::Run>(&order_->what) : nullptr;
}

const job_protocol::Check* WorkerState::check() const {
    return order_ ? std::get_if<job_protocol::Check>(&order_->what) : nullptr;
}

/// Whether what runs may continue.
bool WorkerState::is_wanted() const {
    if (!leaving_.empty()) return false;
    if (!order_) return true;
    return run() != nullptr && run()->world.generation == holds_->generation;
}

/// The master can't be asked, and no other node is affected.
bool WorkerState::may_restart(WallTime wall) {
    if (connected_ || run() == nullptr || holds_->nodes != 1) return false;
    const auto failed = std::ranges::find_if(
        evidence_, [&](const FailureReport& seen) { return seen.restarts == holds_->restarts; });
    if (failed == evidence_.end() || holds_->restarts >= run()->most_restarts) return false;
    const auto decision = alone_.decide(*failed, holds_->generation, wall);
    return decision && decision->action == failure_policy::Action::kRestart;
}

/// The world whose workers are to start here once nothing else runs; null if there is none.
const World* WorkerState::next_world() const {
    if (!leaving_.empty()) return nullptr;
    if (again_ && is_wanted()) return &*again_;
    if (run() == nullptr) return nullptr;
    const World& ordered = run()->world;
    return !holds_ || again_ || ordered.generation != holds_->generation ? &ordered : nullptr;
}

/// For running workers.
std::optional<StopWorkers> WorkerState::stop_running(WallTime wall) {
    if (!is_wanted()) {
        phase_ = Phase::kStopping;
        give_up_world();
        if (!leaving_.empty()) return StopWorkers{.grace = options_.healthy_grace, .why = leaving_};
        return StopWorkers{.grace = order_->grace,
                           .why = order_->why.empty() ? "the job's master wants it" : order_->why};
    }
    if (may_restart(wall)) {
        World again = *holds_;
        ++again.restarts;
        return begin_again(std::move(again), "a worker died while the master can't be reached");
    }
    if (run() != nullptr && run()->world.restarts > holds_->restarts)
        return begin_again(run()->world, "an earlier agent had begun to restart it");
    return std::nullopt;
}

/// The same world, in its next attempt.
StopWorkers WorkerState::begin_again(World world, std::string why) {
    again_ = std::move(world);
    phase_ = Phase::kStopping;
    return {.grace = options_.broken_grace, .why = std::move(why)};
}

/// Something other than the attempt that was about to begin is wanted by now.
void WorkerState::drop_beginning() {
    give_up_world();
    again_.reset();
    holds_.reset();
    evidence_.clear();
}

StartWorkers WorkerState::start(const World& world) {
    checked_.reset();
    if (!again_) evidence_.clear();
    holds_ = world;
    again_.reset();
    ended_ = ended_well_ = 0;
    phase_ = Phase::kStarting;
    return {.world = *holds_};
}

WorkerAction WorkerState::next(Instant now, WallTime wall) {
    look_at_waiting(now);
    const bool moves = phase_ == Phase::kStarting || phase_ == Phase::kStopping;
    // In these phases only a store may begin: it need not wait for workers to start or stop.
    if (moves && run() == nullptr) return {};
    const World* const world = next_world();
    if (world != nullptr && world->own_rank == 0 && store_ != attempt(*world)) {
        store_ = attempt(*world);
        return BeginStore{.world = *world};
    }
    if (moves) return {};
    if (phase_ == Phase::kRunning) {
        if (auto stop = stop_running(wall)) return *std::move(stop);
        if (now < give_up_at()) return {};
        return give_up_master();
    }
    if (const auto end = end_of(now)) return *end;
    if (again_ && !is_wanted()) {
        drop_beginning();
        return next(now, wall);
    }
    if (const job_protocol::Check* const what = check();
        what != nullptr && check_begun_ != std::pair(what->epoch, what->round)) {
        check_begun_.emplace(what->epoch, what->round);
        return CheckNode{.check = *what};
    }
    if (world == nullptr) return {};
    return start(*world);
}

/// For people, with what the master would have added.
FailureReport WorkerState::on_this_node(FailureReport evidence) const {
    evidence.slot = holds_->own().slot;
    evidence.node = holds_->own().address;
    return evidence;
}

/// No worker runs, and no master has said what follows. What they left behind has time to end.
StopWorkers WorkerState::give_up_master() {
    const bool well = ended_well_ >= options_.local_size;
    const auto failed = std::ranges::find_if(
        evidence_, [&](const FailureReport& seen) { return seen.restarts == holds_->restarts; });
    std::string more = "Only the master decides what follows";
    if (well)
        more =
            "Only the master knows whether the others have finished too or need this node again, "
            "so this is no success";
    else if (failed != evidence_.end())
        more = "First, " + describe(on_this_node(*failed));
    refused(fmt::format(
        "the workers of this node have ended{}, and the job's master could not be reached for {} s "
        "(join_timeout of --rdzv-conf): {}. {}",
        well ? " with 0" : "", seconds(options_.join_timeout), trouble_, more));
    phase_ = Phase::kStopping;
    give_up_world();
    return {.grace = options_.healthy_grace, .why = "the job's master does not come back"};
}

/// Only when nothing runs.
std::optional<AgentEnd> WorkerState::end_of(Instant now) const {
    if (const auto* verdict =
            order_ ? std::get_if<job_protocol::Verdict>(&order_->what) : nullptr) {
        using Kind = job_protocol::Verdict::Kind;
        return AgentEnd{.kind = verdict->kind == Kind::kSucceeded ? AgentEnd::Kind::kSucceeded
                                : verdict->kind == Kind::kFailed  ? AgentEnd::Kind::kFailed
                                                                  : AgentEnd::Kind::kExcluded,
                        .text = verdict->text,
                        .cause = verdict->cause};
    }
    if (!leaving_.empty())
        return AgentEnd{.kind = gives_up_ ? AgentEnd::Kind::kGaveUp : AgentEnd::Kind::kLeft,
                        .text = leaving_,
                        .had_joined = gave_up_.has_value()};
    if (now >= stop_standing_by_at())
        return AgentEnd{.kind = AgentEnd::Kind::kGaveUp,
                        .text = fmt::format("no place for this node after {} s as a standby node "
                                            "(pend_timeout of --rdzv-conf): the others run "
                                            "without it",
                                            seconds(options_.pend_timeout)),
                        .had_joined = true};
    if (now < give_up_at()) return std::nullopt;
    return AgentEnd{.kind = AgentEnd::Kind::kGaveUp,
                    .text = fmt::format("no world after {} s (join_timeout of --rdzv-conf): {}",
                                        seconds(options_.join_timeout), waits_for())};
}

// ---- waiting

bool WorkerState::is_waiting() const {
    if (all_have_ended()) return !connected_;
    if (phase_ != Phase::kNone || again_) return false;
    if (!connected_) return true;
    const auto* wait = order_ ? std::get_if<job_protocol::Wait>(&order_->what) : nullptr;
    return run() == nullptr && check() == nullptr && (wait == nullptr || !wait->standby);
}

bool WorkerState::stands_by() const {
    const auto* wait = order_ ? std::get_if<job_protocol::Wait>(&order_->what) : nullptr;
    return phase_ == Phase::kNone && wait != nullptr && wait->standby;
}

/// The time counts from when it begins to wait, whatever it was before.
void WorkerState::look_at_waiting(Instant now) {
    if (!stands_by())
        standby_since_.reset();
    else if (!standby_since_)
        standby_since_ = now;
    if (!is_waiting()) {
        waiting_since_.reset();
    } else if (!waiting_since_) {
        waiting_since_ = now;
        say_next_ = now + options_.say_waiting;
    }
}

std::string WorkerState::waits_for() const {
    if (!connected_) return "the job's master can't be reached: " + trouble_;
    const auto* wait = order_ ? std::get_if<job_protocol::Wait>(&order_->what) : nullptr;
    return wait != nullptr && !wait->text.empty() ? wait->text : "the master has not answered";
}

/// Whoever watches the connection says that there is none.
Instant WorkerState::say_at() const {
    return waiting_since_ && connected_ && leaving_.empty() ? say_next_ : Instant::max();
}

std::optional<std::string> WorkerState::say_waiting(Instant now) {
    if (now < say_at()) return std::nullopt;
    say_next_ = now + options_.say_again;
    return waits_for();
}

Instant WorkerState::give_up_at() const {
    return end_of_limit(waiting_since_, options_.join_timeout);
}

Instant WorkerState::stop_standing_by_at() const {
    return end_of_limit(standby_since_, options_.pend_timeout);
}

Instant WorkerState::wake_at() const {
    return std::min({give_up_at(), stop_standing_by_at(), say_at()});
}

job_protocol::Report WorkerState::report() const {
    // For the master a restart has already begun: it must not decide one again.
    job_protocol::Report report{.holds = again_ ? again_ : holds_,
                                .gave_up = gave_up_,
                                .evidence = evidence_,
                                .steps = steps_,
                                .leaving = leaving_};
    // The generation without the attempt is all that the master needs.
    if (store_) report.store_ready = store_->first;
    report.checked = checked_;
    report.done = phase_ == Phase::kRunning && !again_ && ended_well_ >= options_.local_size;
    return report;
}

}  // namespace muster::agent
