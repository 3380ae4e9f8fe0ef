#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "operator/internal/cache/owned_object_history.h"
#include "operator/internal/cache/replica_totals.h"

namespace muster::operators {

struct Legacy;

/// The dependents of one job as far as we know: those in the caches, and requests to the API whose
/// effect is not in the caches yet. Without the latter, a plan made before the watch has caught up
/// would request the same again.
///
/// Keeps its totals current: a change costs as much as it changes, not the size of the job.
class Dependents {
  public:
    using OfType = SlotsOfType;

    Dependents() = default;
    Dependents(Dependents&&) = default;
    Dependents& operator=(Dependents&&) = default;

    /// Sets what the job wants and its status. Costs nothing if neither changed, and little if only
    /// some replicas are followed by others; otherwise all totals are recomputed. To be called
    /// before a plan is made.
    void configure(const FactsPtr& facts, const jobs::JobStatus& status);

    /// A null `after` removes the pod.
    void apply(const PodPtr* before, const PodPtr* after);
    void apply(const ServicePtr* before, const ServicePtr* after);

    // Requests in flight, from before they are sent until the watch shows their effect, they fail,
    // or expire() gives up on them (the effect may have come and gone unseen).
    void pod_create_sent(SlotId slot, Instant until);
    void service_create_sent(SlotId slot, Instant until);
    void delete_sent(SlotId slot, const std::string& uid, Instant until);
    void pod_create_failed(SlotId slot);
    void service_create_failed(SlotId slot);
    void delete_failed(SlotId slot, const std::string& uid);
    /// Forgets requests that have expired. Returns when the next one expires, or Instant::max().
    Instant expire(Instant now);

    /// Null if nothing of this type was ever seen or wanted.
    const OfType* of(std::uint8_t type) const;
    const Slot* at(SlotId slot) const;
    bool is_going(const DependentRecord& object) const {
        return operators::is_going(object, expectations_.get());
    }
    /// Pods that the job controls but whose labels are not its own: to be released. By uid.
    const std::vector<PodPtr>& mismatched_pods() const { return mismatched_pods_; }
    const std::vector<ServicePtr>& mismatched_services() const { return mismatched_services_; }

    /// Calls f(SlotId, const Slot&) for each slot with an object that was not asked to go.
    template <class F>
    void for_each_held(F f) const {
        for (std::size_t type = 0; type < types_.size(); ++type)
            for (auto i = types_[type].totals.held.next(0); i >= 0;
                 i = types_[type].totals.held.next(i + 1))
                f(SlotId{static_cast<std::uint8_t>(type), i},
                  types_[type].slots[static_cast<std::size_t>(i)]);
    }
    bool has_pods() const;
    bool wants(SlotId slot) const { return rules_.wants(slot); }
    /// What a replica has had, with those before it in its rank.
    std::int32_t restarts_of(SlotId slot) const;
    /// Null for kinds whose ids don't rise.
    const Members* members(std::uint8_t type) const {
        return rules_.members ? &(*rules_.members)[type] : nullptr;
    }

    // OwnedObjects are made from the job's spec and its running pods. Each change of either, or of
    // an owned object, raises this version; objects that were compared at a version need not be
    // compared again at the same one.
    std::uint64_t owned_objects_version() const { return owned_objects_version_; }
    bool owned_objects_due() const { return owned_objects_version_ != ensured_version_; }
    bool owned_objects_ensured_before() const { return ensured_version_ != 0; }
    void owned_objects_changed() { ++owned_objects_version_; }
    /// All were as they should be. Clears the obstacle.
    void owned_objects_ensured(std::uint64_t version) {
        ensured_version_ = version;
        obstacle_.reset();
    }
    /// Null if nothing has happened to them.
    OwnedObjectHistory* known_owned_history() { return owned_history_.get(); }
    const OwnedObjectHistory* known_owned_history() const { return owned_history_.get(); }
    OwnedObjectHistory& owned_history();

    /// Why they can't be made, for people; null if no reason is known.
    const std::string* obstacle() const { return obstacle_.get(); }
    void obstructed(std::string why) {
        obstacle_ = std::make_shared<const std::string>(std::move(why));
    }

    /// Whether there is a pod or a service.
    bool has_objects() const { return objects_ > 0; }
    bool is_configured() const { return rules_.facts != nullptr; }
    /// The job is gone: what it wanted no longer matters.
    void forget_job() { rules_.facts = nullptr; }

    /// The same recomputed from everything that the caches show, taking over only what no cache
    /// has: restarts left by former pods, and requests in flight. For comparison.
    Dependents rebuilt_from(const std::vector<PodPtr>& pods,
                            const std::vector<ServicePtr>& services) const;
    /// The totals computed from the slots alone, for comparison.
    std::vector<ReplicaTotals> recomputed_totals() const;

  private:
    class Recount;

    Slot& slot(SlotId id);
    void count(ReplicaTotals& totals, SlotId id, const Slot& slot, int sign) const {
        add_to(totals, rules_, expectations_.get(), id, slot, sign);
    }
    void sum_up();
    std::vector<std::int32_t> known_restarts(const JobFacts& facts,
                                             const jobs::JobStatus& status) const;
    void change_rules(CountingRules next, const jobs::JobStatus& status);
    void change_members(JobMembersPtr members, const jobs::JobStatus& status);
    void hand_over(const Legacy& legacy);
    void settle_restarts(const std::vector<std::int32_t>& known);
    void note_former_pods(const std::vector<std::int32_t>& known, const jobs::JobStatus& status);
    void note_predecessors();
    void write_off(SlotId id, Slot& slot) const;
    void forget_restarts(SlotId id, Slot& slot) const;
    void keep_restarts(const CountingRules& before, SlotId id, Slot& slot) const;
    void pod_left(Slot& slot, const std::string& uid);
    void pod_came(Slot& slot, PodPtr pod);
    void pod_shown_again(const PodPtr& pod);
    void take_from_others(SlotId id, std::int32_t told);
    void choose_pod(Slot& slot);
    Expectations& expectations();
    void drop_met_expectations();

    CountingRules rules_;
    std::vector<OfType> types_;  ///< by type
    std::unique_ptr<Expectations> expectations_;
    std::vector<PodPtr> mismatched_pods_;
    std::vector<ServicePtr> mismatched_services_;
    std::int32_t objects_ = 0;
    std::uint64_t owned_objects_version_ = 1;
    std::uint64_t ensured_version_ = 0;
    std::shared_ptr<const std::string> obstacle_;
    std::unique_ptr<OwnedObjectHistory> owned_history_;  ///< null for most jobs
};

}  // namespace muster::operators
