#include "operator/internal/cache/replica_totals.h"

#include <algorithm>

#include "operator/internal/cache/exit_codes.h"

namespace muster::operators {

bool Slot::holds(const std::string& uid) const {
    return (pod && pod->uid == uid) || (service && service->uid == uid) ||
           (others && std::ranges::any_of(*others, [&](const PodPtr& o) { return o->uid == uid; }));
}

bool Slot::has_alive(const std::string& uid) const {
    const auto is = [&](const PodPtr& one) { return one->uid == uid && !one->ended(); };
    return (pod && is(pod)) || (others && std::ranges::any_of(*others, is));
}

bool CountingRules::wants(SlotId id) const {
    const TypeFacts* type = facts ? facts->find(id.type) : nullptr;
    return type != nullptr && id.index < type->wanted;
}

bool CountingRules::keeps_account(const PodRecord& pod) const {
    const TypeFacts* type = facts ? facts->find(pod.slot.type) : nullptr;
    return type != nullptr && !type->restarts_all && !paused &&
           pod.restart_history.generation >= generation;
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

bool is_final(const PodRecord& pod, RestartPolicy policy) {
    return policy == RestartPolicy::kNever ||
           (policy == RestartPolicy::kExitCode && !is_retryable(pod.final_exit_code));
}

void add_to(ReplicaTotals& totals, const CountingRules& rules, const Expectations* expectations,
            SlotId id, const Slot& slot, int sign) {
    const auto mark = [&](IndexSet& set, bool member) {
        if (member) set.set(id.index, sign > 0);
    };
    const bool pod_stays = slot.pod && !is_going(*slot.pod, expectations);
    bool held = pod_stays || (slot.service && !is_going(*slot.service, expectations));
    if (slot.pod) totals.pods += sign;
    if (slot.others) {
        totals.pods += sign * static_cast<std::int32_t>(slot.others->size());
        held |= std::ranges::any_of(*slot.others,
                                    [&](const PodPtr& p) { return !is_going(*p, expectations); });
        mark(totals.doubled, true);
    }
    mark(totals.held, held);
    if (!rules.facts) return;

    const bool outdated = slot.pod && slot.pod->restart_history.generation < rules.generation;
    if (outdated) totals.outdated += sign;
    if (!rules.wants(id)) {
        mark(totals.surplus, held);
        return;
    }
    totals.restarts += sign * slot.carried;
    mark(totals.unserved, rules.facts->kind->services && !slot.service && !slot.creating_service);
    if (!slot.pod) {
        if (slot.lapsed) totals.lapsed += sign;
        mark(totals.vacant, !slot.creating_pod && !slot.done);
        mark(totals.succeeded, slot.done);
        return;
    }
    const PodRecord& pod = *slot.pod;
    totals.restarts += sign * (pod.restart_history.restarts + pod.node_restarts);
    if (outdated) {
        mark(totals.replace, pod_stays);
        return;
    }
    const bool stopped = was_stopped(pod, expectations);
    if (stopped && pod.ended()) return;
    const TypeFacts& type = *rules.facts->find(id.type);
    switch (pod.phase) {
        case PodPhase::kPending:
            return;
        case PodPhase::kSucceeded:
            mark(totals.succeeded, true);
            return;
        case PodPhase::kUnknown:
        case PodPhase::kRunning: {
            const bool running = pod.phase == PodPhase::kRunning;
            if (!pod.deleting) {
                if (running) totals.active += sign;
                if (running && pod.ready) totals.ready += sign;
                return;
            }
            // On its way out without an end of its own: upstream counts it as failed since 1.7. Its
            // slot is filled again once the object is gone.
            if (running) totals.failed += sign;
            if (!stopped && rules.keeps_account(pod)) totals.restarts += sign;
            if (!stopped && type.restarts_all && !rules.paused) totals.lapsed += sign;
            return;
        }
        case PodPhase::kFailed:
            totals.failed += sign;
            if (is_final(pod, type.policy)) {
                totals.lost += sign;
                return;
            }
            totals.replacing += sign;
            if (rules.keeps_account(pod)) totals.restarts += sign;
            if (type.restarts_all) totals.lapsed += sign;
            mark(totals.replace, pod_stays && !type.restarts_all);
            return;
    }
}

}  // namespace muster::operators
