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
        kSucceeded,  ///< the job succeeded
        kFailed,     ///< the job failed
        kExcluded,   ///< the job continues without this node
        kGaveUp,     ///< this agent alone gave up: no world, no place in it, or no master
        kLeft,       ///< it was asked to leave
    };
    Kind kind = Kind::kSucceeded;
    std::string text = {};                                  ///< for people
    std::optional<job_protocol::FailureReport> cause = {};  ///< if it failed: the first failure
    bool had_joined = false;  ///< if it gave up: the job was found, and this node was part of it

    friend bool operator==(const AgentEnd&, const AgentEnd&) = default;
};

/// What to do next.
struct BeginStore {
    job_protocol::World world;  ///< lists all of its members
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
    /// The policy by which a node that is the whole world decides while the master is unreachable.
    /// Its budgets come with the world.
    job_protocol::PolicyOptions policy = {};
    Duration broken_grace = std::chrono::seconds(2);
    Duration healthy_grace = std::chrono::seconds(30);
    /// How long to wait without a world and without a prospect of one, for the first one and for
    /// each later one; and for the master when no worker is left that runs.
    Duration join_timeout = std::chrono::minutes(10);
    /// How long a standby node waits for a place; Duration::max(): as long as it takes.
    Duration pend_timeout = Duration::max();
    /// How long to wait for the master's world before this is said, and how often it is repeated.
    Duration say_waiting = std::chrono::seconds(5);
    Duration say_again = std::chrono::minutes(1);
};

/// Decides what happens to the workers of a node, and what to report to the master, from the
/// master's current directive and from what the workers do.
///
/// - Workers run as long as the directive is to run their world, or no directive is known: they
///   continue while the master is unreachable.
/// - Any other directive stops them. Others start only when all of them are gone.
/// - A worker that ended by itself is reported, and nothing else happens until a new directive.
///   Exception: a node that is the whole world and can't reach the master restarts its workers
///   itself, if the policy says so and the budget that came with the world allows it; no other node
///   is affected. With more nodes it does not: their workers depend on those that died, and only
///   the master can tell all of them.
/// - When no worker runs any more, only the master knows what follows, so one that stays out of reach
///   is given up after join_timeout. That is no success, also where all workers ended with 0: others
///   may still train.
/// - The store is reset for each attempt as soon as the attempt is known, before its workers start.
/// - A check runs once, while nothing else runs; its result is reported until workers start.
/// - A directive from a master older than the newest one known is refused.
///
/// Pure. Call next() after each change and when wake_at() has come; carry out what it returns, then
/// call started() or stopped().
class WorkerState {
  public:
    /// `found`: the world of workers that an earlier agent left running.
    WorkerState(WorkerStateOptions options, std::optional<job_protocol::World> found, Instant now);

    /// kConflict: the master is older than the newest one known.
    Result<void> ordered(job_protocol::Directive order);
    /// `trouble`: why there is no connection.
    void connected(bool connected, std::string trouble, Instant now);
    void started(Result<void> outcome, WallTime wall);
    void stopped(Instant now);
    void ended(const workers::WorkerEnd& end);
    void stepped(std::uint64_t steps);
    void checked(job_protocol::CheckResult result);
    /// Takes the node out of the job, or ends the agent.
    void leave(std::string why);
    /// The master refuses this agent, permanently.
    void refused(std::string why);

    WorkerAction next(Instant now, WallTime wall);
    /// For people, when it is time to say it: what this node waits for. After next().
    std::optional<std::string> say_waiting(Instant now);
    /// Whether there are workers that have not ended, starting and stopping ones included.
    bool has_workers() const { return phase_ != Phase::kNone && !all_have_ended(); }
    Instant wake_at() const;

    job_protocol::Report report() const;
    std::uint64_t epoch_seen() const { return epoch_; }
    /// The job's record as the master last sent it, for a process that can run the next master;
    /// null if it was never sent.
    const std::shared_ptr<const job_protocol::JobRecord>& record() const { return record_; }
    /// Whether the master has said how the job, or this node's part in it, ended.
    bool knows_the_end() const {
        return order_ && std::holds_alternative<job_protocol::Verdict>(order_->what);
    }
    /// The generation of the workers that are here, even if they have ended.
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
    job_protocol::FailureReport on_this_node(job_protocol::FailureReport evidence) const;
    StopWorkers give_up_master();
    std::optional<AgentEnd> end_of(Instant now) const;
    /// By themselves; nothing is decided yet.
    bool all_have_ended() const {
        return phase_ == Phase::kRunning && ended_ >= options_.local_size;
    }
    bool is_waiting() const;
    bool stands_by() const;
    void look_at_waiting(Instant now);
    std::string waits_for() const;
    Instant give_up_at() const;
    Instant stop_standing_by_at() const;
    Instant say_at() const;

    WorkerStateOptions options_;
    std::uint64_t epoch_ = 0;
    std::shared_ptr<const job_protocol::JobRecord> record_;
    std::optional<job_protocol::Directive> order_;
    bool connected_ = false;
    std::string trouble_ = "not connected yet";
    std::string leaving_;
    bool gives_up_ = false;  ///< it leaves since it can't stay

    Phase phase_ = Phase::kNone;
    std::optional<job_protocol::World> holds_;  ///< set unless kNone
    int ended_ = 0;
    int ended_well_ = 0;  ///< of those
    std::vector<job_protocol::FailureReport> evidence_;
    /// restarted by this agent, once the running workers have stopped
    std::optional<job_protocol::World> again_;
    /// the attempt for which the store was reset
    std::optional<std::pair<job_protocol::Generation, int>> store_;
    std::optional<job_protocol::Generation> gave_up_;
    std::optional<std::uint64_t> steps_;
    std::optional<std::pair<std::uint64_t, int>> check_begun_;  ///< epoch and round of the check
    std::optional<job_protocol::CheckResult> checked_;
    failure_policy::FailurePolicy alone_;
    std::optional<Instant> waiting_since_;  ///< for a world or the master, without a prospect of it
    Instant say_next_;                      ///< while it waits
    std::optional<Instant> standby_since_;
};

}  // namespace muster::agent
