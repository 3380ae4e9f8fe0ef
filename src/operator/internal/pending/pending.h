#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "jobs/kind.h"

namespace muster::operators {

// What becomes of a job some of whose pods don't run yet: a pure function of who waits, since when and
// why, of what the job needs, and of the time. (DLRover v0.6: dlrover/python/master/node/
// dist_job_manager.py, should_early_stop. It counts any pod that is not running, from its creation;
// here only what a scheduler has refused counts against the time limit for waiting.)

/// A replica with a pod that does not run yet.
struct WaitingReplica {
    std::string_view pod;  ///< its name
    std::int32_t rank = 0;
    WallTime since;             ///< of the refusal, or of the pod's creation
    bool refused = false;       ///< a scheduler has found no node for it
    bool joins = false;         ///< the job has run without it: more replicas are wanted since
    std::string_view why = {};  ///< in the scheduler's words
};

/// The replicas of one type.
struct TypeInWait {
    std::string_view name;
    std::int32_t wanted = 0;
    std::int32_t running = 0;
    std::int32_t lost = 0;  ///< given up: they will not run again
    jobs::PendingPolicy::Need need = {};
    std::vector<WaitingReplica> waiting = {};  ///< in any order
};

struct PendingSituation {
    const jobs::PendingPolicy& policy;
    /// Since when the job runs; unset: none of its deciding replicas has run.
    std::optional<WallTime> runs_since;
    WallTime now;
    std::span<const TypeInWait> types;  ///< those with replicas that wait
};

/// Upstream's reasons for an end of this kind.
inline constexpr std::string_view kPendingTimeout = "PendingTimeout";
inline constexpr std::string_view kUncompletedTimeout = "UncompletedTimeout";

struct PendingDecision {
    /// The job ends now for this reason; empty: it continues.
    std::string_view end = {};
    /// What waits, by name and amount, since when, and what becomes of it; empty: there is nothing to
    /// tell.
    std::string message = {};
    /// The scheduler's words about the first pod that waits.
    std::string words = {};
    bool unschedulable = false;  ///< for lack of nodes, at least for one
    /// When to decide again, if nothing else changes.
    std::optional<WallTime> look_at = std::nullopt;

    /// Of a condition. `told`: what it says so far, which stays if only numbers in the scheduler's
    /// words differ: those of a busy cluster change with every pod that comes or goes.
    std::string condition(std::string_view told) const;

    friend bool operator==(const PendingDecision&, const PendingDecision&) = default;
};

PendingDecision decide_pending(const PendingSituation& situation);

}  // namespace muster::operators
