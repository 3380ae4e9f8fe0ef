#include "operator/internal/cache/replica_totals.h"

#include <algorithm>

namespace muster::operators {

FormerObject former(const PodRecord& pod) {
    return {.in_a_row = pod.restart_history.in_a_row,
            .created = pod.created,
            .ended_at = pod.ended_at,
            .ran_out_of = pod.ran_out_of};
}

FormerObject former(const ServiceRecord& service) {
    return {.in_a_row = service.in_a_row, .created = service.created, .ended_at = {}};
}

bool Slot::holds(const std::string& uid) const {
    return (pod && pod->uid == uid) || (service && service->uid == uid) ||
           (others && std::ranges::any_of(*others, [&](const PodPtr& o) { return o->uid == uid; }));
}

bool Slot::has_alive(const std::string& uid) const {
    const auto is = [&](const PodPtr& one) { return one->uid == uid && !one->ended(); };
    return (pod && is(pod)) || (others && std::ranges::any_of(*others, is));
}

namespace {

/// How `muster master` ends then; with anything else it has failed itself.
constexpr std::int32_t kSaysThatTheJobFailed = 1;

bool kept_up(const PodRecord& pod) {
    return pod.ended_at && *pod.ended_at - pod.created >= kKeptUp;
}

}  // namespace

bool CountingRules::wants(SlotId id) const {
    const TypeFacts* type = facts ? facts->find(id.type) : nullptr;
    if (type == nullptr) return false;
    return members ? (*members)[id.type].contains(id.index) : id.index < type->wanted;
}

RestartRules CountingRules::restart_rules(const PodRecord& pod, const TypeFacts& type) const {
    // That a master of ours has died concerns no other pod, and says nothing about the job.
    const bool outlived = type.own_program && pod.final_exit_code != kSaysThatTheJobFailed;
    const bool restarts_all = type.restarts_all && !outlived;
    const std::int32_t in_a_row = restarts_all ? group_in_a_row : pod.restart_history.in_a_row;
    // A pod that was evicted, or lost with its node, has no exit code: that is no failure of its
    // program.
    return {.policy = outlived ? RestartPolicy::kOnFailure : type.policy,
            .exhausted = type.most_in_a_row && pod.final_exit_code && !outlived &&
                         in_a_row >= *type.most_in_a_row && !kept_up(pod),
            .restarts_all = restarts_all,
            .paused = paused,
            .current = pod.restart_history.generation >= generation};
}

bool is_going(const DependentRecord& object, const Expectations* expectations) {
    return object.deleting ||
           (expectations != nullptr && expectations->deletions.contains(object.uid));
}

bool was_stopped(const PodRecord& pod, const Expectations* expectations) {
    if (expectations == nullptr) return false;
    const auto asked = expectations->deletions.find(pod.uid);
    return asked != expectations->deletions.end() && asked->second.alive;
}

bool has_run(const PodRecord& pod) {
    return pod.phase == PodPhase::kRunning || pod.phase == PodPhase::kUnknown;
}

namespace {

/// What one slot adds to the totals, or takes from them.
class Share {
  public:
    Share(ReplicaTotals& totals, const CountingRules& rules, const Expectations* expectations,
          SlotId id, const Slot& slot, int sign)
        : totals_(totals),
          rules_(rules),
          expectations_(expectations),
          id_(id),
          slot_(slot),
          sign_(sign),
          pod_stays_(slot.pod && !is_going(*slot.pod, expectations)) {}

    void count() {
        const bool held = count_objects();
        if (!rules_.facts) return;
        const bool outdated =
            slot_.pod && slot_.pod->restart_history.generation < rules_.generation;
        if (outdated) totals_.outdated += sign_;
        if (!rules_.wants(id_)) return mark(totals_.surplus, held);
        totals_.restarts += sign_ * slot_.carried;
        mark(totals_.unserved,
             rules_.facts->find(id_.type)->services && !slot_.service && !slot_.creating_service);
        if (!slot_.pod) return count_without_pod();
        totals_.restarts +=
            sign_ * (slot_.pod->restart_history.restarts + slot_.pod->node_restarts);
        if (outdated) return mark(totals_.replace, pod_stays_);
        count_pod(*slot_.pod, *rules_.facts->find(id_.type));
    }

  private:
    void mark(IndexSet& set, bool member) {
        if (member) set.set(id_.index, sign_ > 0);
    }

    /// For any slot, wanted or not. True if it has an object that was not asked to go.
    bool count_objects() {
        bool held = pod_stays_ || (slot_.service && !is_going(*slot_.service, expectations_));
        if (slot_.pod) totals_.pods += sign_;
        if (slot_.others) {
            totals_.pods += sign_ * static_cast<std::int32_t>(slot_.others->size());
            held |= std::ranges::any_of(*slot_.others, [&](const PodPtr& other) {
                return !is_going(*other, expectations_);
            });
            mark(totals_.doubled, true);
        }
        mark(totals_.held, held);
        return held;
    }

    void count_without_pod() {
        if (slot_.lapsed) totals_.lapsed += sign_;
        if (slot_.former && slot_.former->counted) totals_.due += sign_;
        mark(totals_.vacant, !slot_.creating_pod && !slot_.done);
        mark(totals_.succeeded, slot_.done);
    }

    void count_pod(const PodRecord& pod, const TypeFacts& type) {
        const bool stopped = was_stopped(pod, expectations_);
        if (stopped && pod.ended()) return;
        switch (pod.phase) {
            case PodPhase::kPending:
                return mark(totals_.pending, pod_stays_);
            case PodPhase::kSucceeded:
                return mark(totals_.succeeded, true);
            case PodPhase::kUnknown:
            case PodPhase::kRunning:
                return pod.deleting ? count_leaving(pod, type, stopped) : count_running(pod);
            case PodPhase::kFailed:
                return count_failed(pod, type);
        }
    }

    void count_running(const PodRecord& pod) {
        if (pod.phase != PodPhase::kRunning) return;
        totals_.active += sign_;
        if (pod.ready) totals_.ready += sign_;
    }

    /// A pod that is being deleted without having ended by itself: upstream counts it as failed
    /// since 1.7. Its slot is filled again once the object is gone.
    void count_leaving(const PodRecord& pod, const TypeFacts& type, bool stopped) {
        if (pod.phase == PodPhase::kRunning) totals_.failed += sign_;
        if (!stopped)
            add_restart(
                consequence_of(PodEnd::kStopped, std::nullopt, rules_.restart_rules(pod, type)));
    }

    void count_failed(const PodRecord& pod, const TypeFacts& type) {
        totals_.failed += sign_;
        const Consequence next =
            consequence_of(PodEnd::kFailed, pod.final_exit_code, rules_.restart_rules(pod, type));
        if (next.lost) {
            totals_.lost += sign_;
            return;
        }
        totals_.replacing += sign_;
        add_restart(next);
        mark(totals_.replace, pod_stays_ && !next.restarts_all);
    }

    void add_restart(const Consequence& next) {
        if (next.counts) totals_.restarts += sign_;
        if (next.counts) totals_.due += sign_;
        if (next.restarts_all) totals_.lapsed += sign_;
    }

    ReplicaTotals& totals_;
    const CountingRules& rules_;
    const Expectations* expectations_;
    SlotId id_;
    const Slot& slot_;
    int sign_;
    bool pod_stays_;
};

}  // namespace

void add_to(ReplicaTotals& totals, const CountingRules& rules, const Expectations* expectations,
            SlotId id, const Slot& slot, int sign) {
    Share(totals, rules, expectations, id, slot, sign).count();
}

}  // namespace muster::operators
