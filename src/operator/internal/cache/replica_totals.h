#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "operator/internal/cache/index_set.h"
#include "operator/internal/cache/job_facts.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/restart_policy/restart_policy.h"

namespace muster::operators {

/// What is at one replica's place.
struct Slot {
    PodPtr pod;  ///< the one that counts, if there are several
    ServicePtr service;
    /// Further pods of the same replica: somebody else made them, for our names are deterministic.
    std::unique_ptr<std::vector<PodPtr>> others;
    /// Restarts of this replica that its pod does not account for; below zero where another replica
    /// carries those that the pod tells of.
    std::int32_t carried = 0;
    bool creating_pod = false;
    bool creating_service = false;
    bool done = false;    ///< its pod succeeded and is gone
    bool lapsed = false;  ///< its pod of the current generation vanished without an end

    bool empty() const { return !pod && !service; }
    bool holds(const std::string& uid) const;
    /// A pod that has not ended.
    bool has_alive(const std::string& uid) const;
};

/// Requests whose effect the watch has not shown yet.
struct Expectations {
    std::map<SlotId, Instant> pods;
    std::map<SlotId, Instant> services;
    struct PendingDeletion {
        Instant until;
        SlotId slot;
        bool alive = false;  ///< it had not ended then, so its end is our doing
    };
    std::unordered_map<std::string, PendingDeletion> deletions;  ///< by uid
    Instant earliest = Instant::max();  ///< at most the earliest deadline in it

    bool empty() const { return pods.empty() && services.empty() && deletions.empty(); }
};

/// What of a job decides how its pods count.
struct CountingRules {
    FactsPtr facts;  ///< null: the job is not known
    std::int32_t generation = 0;
    bool paused = false;

    bool wants(SlotId id) const;
    /// What the job says about restarts of a pod of this type.
    RestartRules restart_rules(const PodRecord& pod, const TypeFacts& type) const;
};

/// The pods and services of one replica type, summed up: what a plan reads. All sets are of slots
/// that the spec wants, unless they say otherwise.
struct ReplicaTotals {
    std::int32_t active = 0;
    std::int32_t ready = 0;  ///< of those that are active
    std::int32_t failed = 0;
    std::int32_t lost = 0;       ///< failed for good
    std::int32_t replacing = 0;  ///< failed, and to be made again
    std::int32_t lapsed = 0;     ///< failed in the current generation, and all restart for it
    std::int32_t outdated = 0;   ///< pods of an older generation, on their way out or not
    std::int32_t restarts = 0;
    std::int32_t pods = 0;  ///< of all slots, wanted or not
    IndexSet succeeded;
    IndexSet vacant;    ///< no pod, and none being created
    IndexSet unserved;  ///< no service, and none being created
    IndexSet replace;   ///< a failed pod that is to go and was not asked to
    // Of all slots, wanted or not:
    IndexSet held;     ///< something is there that was not asked to go
    IndexSet surplus;  ///< held, and not wanted
    IndexSet doubled;  ///< more than one pod

    friend bool operator==(const ReplicaTotals&, const ReplicaTotals&) = default;
};

/// It goes, or was asked to. `expectations` may be null.
bool is_going(const DependentRecord& object, const Expectations* expectations);
/// We asked it to go before it had ended: however it ends, that says nothing of its replica.
bool was_stopped(const PodRecord& pod, const Expectations* expectations);
/// It ran, so that a deletion stopped it.
bool has_run(const PodRecord& pod);

/// What one slot adds to the sums of its type, or takes from them with `sign` -1. A pure function:
/// what was added is taken away by the same arguments.
void add_to(ReplicaTotals& totals, const CountingRules& rules, const Expectations* expectations,
            SlotId id, const Slot& slot, int sign);

}  // namespace muster::operators
