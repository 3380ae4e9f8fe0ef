#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "operator/internal/cache/job_facts.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/members/index_set.h"
#include "operator/internal/members/members.h"
#include "operator/internal/restart_policy/restart_policy.h"

namespace muster::operators {

/// A pod, service or owned object that has ended or is gone, as far as the pause before its successor depends on
/// it.
struct FormerObject {
    std::int32_t in_a_row = 0;  ///< that went before it
    WallTime created{};
    std::optional<WallTime> ended_at;
    bool counted = false;  ///< its successor is a restart that was counted
    /// Of a kind whose ids rise: it had another id than its successor, or it is unknown which.
    bool id_unused = false;
    std::optional<std::int64_t> ran_out_of = std::nullopt;  ///< as in PodRecord

    friend bool operator==(const FormerObject&, const FormerObject&) = default;
};
FormerObject former(const PodRecord& pod);
FormerObject former(const ServiceRecord& service);

/// The pod and service at one replica's place, and its history.
struct Slot {
    PodPtr pod;  ///< the one that counts, if there are several
    ServicePtr service;
    /// Further pods of the same replica. They are not ours, as our names are deterministic.
    std::unique_ptr<std::vector<PodPtr>> others;
    /// The last one, if it went without the replica being done and none has followed it yet.
    std::unique_ptr<FormerObject> former;
    std::unique_ptr<FormerObject> former_service;  ///< that was not ours to delete
    /// Restarts of this replica that its pod does not account for; negative if another replica
    /// carries those that the pod accounts for.
    std::int32_t carried = 0;
    bool creating_pod = false;
    bool creating_service = false;
    bool done = false;    ///< its pod succeeded and is gone
    bool lapsed = false;  ///< its pod of the current generation vanished without an end

    bool empty() const { return !pod && !service; }
    bool holds(const std::string& uid) const;
    /// Whether this pod is here and has not ended.
    bool has_alive(const std::string& uid) const;
};

/// Requests whose effect the watch has not shown yet.
struct Expectations {
    std::map<SlotId, Instant> pods;
    std::map<SlotId, Instant> services;
    struct PendingDeletion {
        Instant until;
        SlotId slot;
        bool alive = false;  ///< it had not ended then, so we caused its end
    };
    std::unordered_map<std::string, PendingDeletion> deletions;  ///< by uid
    Instant earliest = Instant::max();  ///< not later than the earliest deadline in it

    bool empty() const { return pods.empty() && services.empty() && deletions.empty(); }
};

/// What decides how the pods of a job are counted.
struct CountingRules {
    FactsPtr facts;         ///< null if the job is not known
    JobMembersPtr members;  ///< null: of each type the indices below the wanted number are wanted
    std::int32_t generation = 0;
    std::int32_t group_in_a_row = 0;  ///< restarts of all pods together, up to this generation
    bool paused = false;

    bool wants(SlotId id) const;
    /// How many slots of this type are wanted.
    std::int32_t wanted_slots(const TypeFacts& type) const {
        return members ? (*members)[type.type].ids().size() : type.wanted;
    }
    /// How many slots this type needs: one more than the highest that is wanted, or more.
    std::int32_t slots_of(const TypeFacts& type) const {
        return members ? (*members)[type.type].next() : type.wanted;
    }
    /// Those of replicas of a type that are no members any more.
    std::int32_t former_restarts(std::uint8_t type) const {
        return members && type < members->size() ? (*members)[type].former_restarts() : 0;
    }
    /// What the job says about restarts of a pod of this type.
    RestartRules restart_rules(const PodRecord& pod, const TypeFacts& type) const;
};

/// The totals of the pods and services of one replica type, which a plan reads. All sets contain
/// only slots that the spec wants, unless noted.
struct ReplicaTotals {
    std::int32_t active = 0;
    std::int32_t ready = 0;  ///< of the active ones
    std::int32_t failed = 0;
    std::int32_t lost = 0;       ///< failed for good
    std::int32_t replacing = 0;  ///< failed, and to be replaced
    std::int32_t lapsed = 0;     ///< failed in the current generation, so that all restart
    std::int32_t outdated = 0;   ///< pods of an older generation, being deleted or not
    std::int32_t restarts = 0;   ///< with those of former members
    std::int32_t due = 0;        ///< of these, that wait for the pod which makes them
    std::int32_t pods = 0;       ///< in all slots, wanted or not
    IndexSet succeeded;
    IndexSet pending;   ///< a pod that does not run yet, and was not asked to go
    IndexSet vacant;    ///< no pod, and none is being created
    IndexSet unserved;  ///< no service, and none is being created
    IndexSet replace;   ///< a failed pod that is to be deleted and has not been yet
    // In all slots, wanted or not:
    IndexSet held;     ///< has an object that was not asked to go
    IndexSet surplus;  ///< held, and not wanted
    IndexSet doubled;  ///< more than one pod

    friend bool operator==(const ReplicaTotals&, const ReplicaTotals&) = default;
};

struct SlotsOfType {
    std::vector<Slot> slots;  ///< by index
    ReplicaTotals totals;
};

/// It is being deleted, or its deletion was requested. `expectations` may be null.
bool is_going(const DependentRecord& object, const Expectations* expectations);
/// We requested its deletion before it had ended: however it ends, that says nothing about its
/// replica.
bool was_stopped(const PodRecord& pod, const Expectations* expectations);
/// It ran, so that a deletion stopped it.
bool has_run(const PodRecord& pod);

/// What one slot adds to the totals of its type, or with `sign` -1 takes from them. A pure
/// function: the same arguments take away exactly what they added.
void add_to(ReplicaTotals& totals, const CountingRules& rules, const Expectations* expectations,
            SlotId id, const Slot& slot, int sign);

}  // namespace muster::operators
