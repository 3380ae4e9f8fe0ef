#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "operator/internal/index_set.h"
#include "operator/internal/job_facts.h"
#include "operator/internal/records.h"

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
};

/// The pods and services of one replica type, summed up: what a plan reads. All sets are of slots
/// that the spec wants, unless they say otherwise.
struct Tally {
    std::int32_t active = 0;
    std::int32_t failed = 0;
    std::int32_t lost = 0;       ///< failed for good
    std::int32_t replacing = 0;  ///< failed, and to be made again
    std::int32_t lapsed = 0;     ///< of a group: members of the current generation that failed
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

    friend bool operator==(const Tally&, const Tally&) = default;
};

/// What belongs to one job as far as we know: what the caches show, and what was asked of the API
/// and is not in the caches yet. Without the second part a pass that runs before the watch has
/// caught up would ask again.
///
/// Keeps its tallies current: a change costs what it changes, not the size of the job.
class Dependents {
  public:
    struct OfType {
        std::vector<Slot> slots;  ///< by index
        Tally tally;
    };

    Dependents() = default;
    Dependents(Dependents&&) = default;
    Dependents& operator=(Dependents&&) = default;

    /// Says what the job wants and how it stands. Costs nothing when neither changed; otherwise all
    /// is summed up anew. To be called before a plan is made.
    void configure(const FactsPtr& facts, const jobs::JobStatus& status);

    /// A null `after` removes.
    void apply(const PodPtr* before, const PodPtr* after);
    void apply(const ServicePtr* before, const ServicePtr* after);

    // Requests on their way, from before they are sent until the watch shows their effect, they
    // fail, or expire() gives up on them (the effect may have come and gone unseen).
    void pod_create_sent(SlotId slot, Instant until);
    void service_create_sent(SlotId slot, Instant until);
    void delete_sent(SlotId slot, const std::string& uid, Instant until);
    void pod_create_failed(SlotId slot);
    void service_create_failed(SlotId slot);
    void delete_failed(SlotId slot, const std::string& uid);
    /// Forgets requests that are past their time. Returns when the next is, or Instant::max().
    Instant expire(Instant now);

    /// Null when nothing of this type was ever seen or wanted.
    const OfType* of(std::uint8_t type) const;
    const Slot* at(SlotId slot) const;
    bool is_going(const DependentRecord& object) const {
        return object.deleting || (flight_ && flight_->asked_to_go.contains(object.uid));
    }
    /// Controlled by the job with labels that are not its: to be released. By uid.
    const std::vector<PodPtr>& astray_pods() const { return astray_pods_; }
    const std::vector<ServicePtr>& astray_services() const { return astray_services_; }

    /// Calls f(SlotId, const Slot&) for each slot in which something is and was not asked to go.
    template <class F>
    void for_each_held(F f) const {
        for (std::size_t type = 0; type < types_.size(); ++type)
            for (auto i = types_[type].tally.held.next(0); i >= 0;
                 i = types_[type].tally.held.next(i + 1))
                f(SlotId{static_cast<std::uint8_t>(type), i},
                  types_[type].slots[static_cast<std::size_t>(i)]);
    }
    bool has_pods() const;
    /// True while there is a pod or a service.
    bool has_objects() const { return objects_ > 0; }
    bool is_configured() const { return facts_ != nullptr; }
    /// The job is gone: what it wanted no longer matters.
    void forget_job() { facts_ = nullptr; }

    /// The same made at once from all that the caches show, with nothing of ours but what no cache
    /// has: restarts that pods left behind, requests on their way. To compare with.
    Dependents made_anew(const std::vector<PodPtr>& pods,
                         const std::vector<ServicePtr>& services) const;
    /// The tallies made from nothing but the slots, to compare with.
    std::vector<Tally> tallied_anew() const;

  private:
    struct Flight {
        std::map<SlotId, Instant> pods;
        std::map<SlotId, Instant> services;
        std::unordered_map<std::string, std::pair<Instant, SlotId>> asked_to_go;
        Instant earliest = Instant::max();  ///< at most the earliest deadline in it

        bool empty() const { return pods.empty() && services.empty() && asked_to_go.empty(); }
    };
    class Recount;

    Slot& slot(SlotId id);
    void count(Tally& tally, SlotId id, const Slot& slot, int sign) const;
    void tally_up();
    void settle_restarts(const std::vector<std::int32_t>& known);
    void write_off(SlotId id, Slot& slot) const;
    void pod_left(Slot& slot, const std::string& uid);
    void pod_came(Slot& slot, PodPtr pod);
    void take_from_others(SlotId id, std::int32_t told);
    void choose_pod(Slot& slot);
    Flight& flight();
    void land();
    bool keeps_account(const PodRecord& pod) const;
    bool is_wanted(SlotId id) const;

    FactsPtr facts_;
    std::int32_t generation_ = 0;
    bool paused_ = false;
    std::vector<OfType> types_;  ///< by type
    std::unique_ptr<Flight> flight_;
    std::vector<PodPtr> astray_pods_;
    std::vector<ServicePtr> astray_services_;
    std::int32_t objects_ = 0;
};

}  // namespace muster::operators
