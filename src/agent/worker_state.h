#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "failure_policy/policy.h"
#include "job_protocol/directives.h"
#include "workers/workers.h"

namespace muster::agent {

/// How an agent's work ended.
struct AgentEnd {
    enum class Kind : std::uint8_t {
        kSucceeded,  ///< the job
        kFailed,     ///< the job
        kExcluded,   ///< the job goes on without this node
        kGaveUp,     ///< this agent alone: no world, or no master
        kLeft,       ///< it was asked to
    };
    Kind kind = Kind::kSucceeded;
    std::string text = {};                                  ///< for people
    std::optional<job_protocol::FailureReport> cause = {};  ///< of a failure: what happened first

    friend bool operator==(const AgentEnd&, const AgentEnd&) = default;
};

/// What is to be done next.
struct BeginStore {
    job_protocol::World world;  ///< with all of its members
};
struct StartWorkers {
    job_protocol::World world;
};
struct StopWorkers {
    Duration grace;
    std::string why;
};
struct CheckNode {
    job_protocol::Check check;
};
using WorkerAction =
    std::variant<std::monostate, BeginStore, StartWorkers, StopWorkers, CheckNode, AgentEnd>;

struct WorkerStateOptions {
    int local_size = 1;
    /// By which a node that is the whole world decides while no master is there; what it may cost
    /// comes with the world.
    job_protocol::PolicyOptions policy = {};
    Duration broken_grace = std::chrono::seconds(2);
    Duration healthy_grace = std::chrono::seconds(30);
    /// Without a world, and without hope for one. No limit for a spare.
    Duration join_timeout = std::chrono::minutes(10);
};

/// What becomes of the workers of a node: from the order that holds and what they do themselves to
/// the next thing to do, and to what is told to the master.
///
/// - Workers run for as long as the order is to run their world, or no order is known: while no
///   master is there they go on.
/// - Any other order stops them, and only when all have gone others start.
/// - What ended by itself is told, and stays as it is until an order says more. Alone in its world,
///   and without a master, a node begins its workers anew itself, where the policy says so and the
///   budget that came with the world allows it: nobody else could mind. With more nodes it does
///   not: their workers hang on those that died, and only the master can tell all of them.
/// - The store begins anew for each attempt as soon as it is known, before its workers start.
/// - A check is made once, with nothing running, and what it found is told until workers start.
/// - An order of a master that is older than one heard of is refused.
///
/// Pure. next() after each change, and when wake_at() has come; what it says is done, and then told
/// by started() or stopped().
class WorkerState {
  public:
    /// `found`: workers of an agent before this one run already, as members of that world.
    WorkerState(WorkerStateOptions options, std::optional<job_protocol::World> found, Instant now);

    /// kConflict: the master is older than one that was heard of.
    Result<void> ordered(job_protocol::Directive order);
    /// `trouble`: why there is none.
    void connected(bool connected, std::string trouble, Instant now);
    void started(Result<void> outcome, WallTime wall, Instant now);
    void stopped(Instant now);
    void ended(const workers::WorkerEnd& end);
    void stepped(std::uint64_t steps);
    void checked(job_protocol::CheckResult result);
    /// The node is taken away, or the agent is to end.
    void leave(std::string why);
    /// By the master, for ever.
    void refused(std::string why);

    WorkerAction next(Instant now, WallTime wall);
    Instant wake_at() const;

    job_protocol::Report report() const;
    std::uint64_t epoch_seen() const { return epoch_; }
    /// For who hosts the next master: the job's record, as far as it was told. Null: it was not.
    const std::shared_ptr<const job_protocol::JobRecord>& record() const { return record_; }
    /// The master has said how the job ended, or this node's part in it.
    bool knows_the_end() const {
        return order_ && std::holds_alternative<job_protocol::Verdict>(order_->what);
    }
    /// Of the workers that are here, also when they have ended.
    std::optional<job_protocol::Generation> generation() const {
        return holds_ ? std::optional(holds_->generation) : std::nullopt;
    }

  private:
    enum class Phase { kNone, kStarting, kRunning, kStopping };

    void give_up_world();
    const job_protocol::Run* run() const;
    const job_protocol::Check* check() const;
    bool is_wanted() const;
    bool may_restart(WallTime wall);
    const job_protocol::World* next_world() const;
    std::optional<StopWorkers> stop_running(WallTime wall);
    StopWorkers begin_again(job_protocol::World world, std::string why);
    void drop_beginning();
    StartWorkers start(const job_protocol::World& world);
    std::optional<AgentEnd> end_of(Instant now) const;
    Instant give_up_at() const;

    WorkerStateOptions options_;
    std::uint64_t epoch_ = 0;
    std::shared_ptr<const job_protocol::JobRecord> record_;
    std::optional<job_protocol::Directive> order_;
    bool connected_ = false;
    std::string trouble_ = "not connected yet";
    std::string leaving_;
    bool refused_ = false;

    Phase phase_ = Phase::kNone;
    std::optional<job_protocol::World> holds_;  ///< unless kNone
    int ended_well_ = 0;
    std::vector<job_protocol::FailureReport> evidence_;
    std::optional<job_protocol::World> again_;  ///< begun anew here, when what runs has stopped
    std::optional<std::pair<job_protocol::Generation, int>> store_;  ///< the attempt that it is for
    std::optional<job_protocol::Generation> gave_up_;
    std::optional<std::uint64_t> steps_;
    std::optional<std::pair<std::uint64_t, int>> check_begun_;  ///< its epoch and round
    std::optional<job_protocol::CheckResult> checked_;
    failure_policy::FailurePolicy alone_;
    bool had_world_ = false;
    Instant idle_since_;
};

}  // namespace muster::agent
