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

bool Standing::wants(SlotId id) const {
    const TypeFacts* type = facts ? facts->find(id.type) : nullptr;
    return type != nullptr && id.index < type->wanted;
}

bool Standing::keeps_account(const PodRecord& pod) const {
    const TypeFacts* type = facts ? facts->find(pod.slot.type) : nullptr;
    return type != nullptr && !type->restarts_all && !paused &&
           pod.restart_history.generation >= generation;
}

bool is_going(const DependentRecord& object, const Flight* flight) {
    return object.deleting || (flight != nullptr && flight->asked_to_go.contains(object.uid));
}

bool was_stopped(const PodRecord& pod, const Flight* flight) {
    if (flight == nullptr) return false;
    const auto asked = flight->asked_to_go.find(pod.uid);
    return asked != flight->asked_to_go.end() && asked->second.alive;
}

bool has_run(const PodRecord& pod) {
    return pod.phase == PodPhase::kRunning || pod.phase == PodPhase::kUnknown;
}

bool is_final(const PodRecord& pod, RestartPolicy policy) {
    return policy == RestartPolicy::kNever ||
           (policy == RestartPolicy::kExitCode && !is_retryable(pod.final_exit_code));
}

void add_to(Tally& tally, const Standing& standing, const Flight* flight, SlotId id,
            const Slot& slot, int sign) {
    const auto mark = [&](IndexSet& set, bool member) {
        if (member) set.set(id.index, sign > 0);
    };
    const bool pod_stays = slot.pod && !is_going(*slot.pod, flight);
    bool held = pod_stays || (slot.service && !is_going(*slot.service, flight));
    if (slot.pod) tally.pods += sign;
    if (slot.others) {
        tally.pods += sign * static_cast<std::int32_t>(slot.others->size());
        held |= std::ranges::any_of(*slot.others,
                                    [&](const PodPtr& p) { return !is_going(*p, flight); });
        mark(tally.doubled, true);
    }
    mark(tally.held, held);
    if (!standing.facts) return;

    const bool outdated = slot.pod && slot.pod->restart_history.generation < standing.generation;
    if (outdated) tally.outdated += sign;
    if (!standing.wants(id)) {
        mark(tally.surplus, held);
        return;
    }
    tally.restarts += sign * slot.carried;
    mark(tally.unserved, standing.facts->kind->services && !slot.service && !slot.creating_service);
    if (!slot.pod) {
        if (slot.lapsed) tally.lapsed += sign;
        mark(tally.vacant, !slot.creating_pod && !slot.done);
        mark(tally.succeeded, slot.done);
        return;
    }
    const PodRecord& pod = *slot.pod;
    tally.restarts += sign * (pod.restart_history.restarts + pod.node_restarts);
    if (outdated) {
        mark(tally.replace, pod_stays);
        return;
    }
    const bool stopped = was_stopped(pod, flight);
    if (stopped && pod.ended()) return;
    const TypeFacts& type = *standing.facts->find(id.type);
    switch (pod.phase) {
        case PodPhase::kPending:
            return;
        case PodPhase::kSucceeded:
            mark(tally.succeeded, true);
            return;
        case PodPhase::kUnknown:
        case PodPhase::kRunning: {
            const bool running = pod.phase == PodPhase::kRunning;
            if (!pod.deleting) {
                if (running) tally.active += sign;
                if (running && pod.ready) tally.ready += sign;
                return;
            }
            // On its way out without an end of its own: upstream counts it as failed since 1.7. Its
            // slot is filled again once the object is gone.
            if (running) tally.failed += sign;
            if (!stopped && standing.keeps_account(pod)) tally.restarts += sign;
            if (!stopped && type.restarts_all && !standing.paused) tally.lapsed += sign;
            return;
        }
        case PodPhase::kFailed:
            tally.failed += sign;
            if (is_final(pod, type.policy)) {
                tally.lost += sign;
                return;
            }
            tally.replacing += sign;
            if (standing.keeps_account(pod)) tally.restarts += sign;
            if (type.restarts_all) tally.lapsed += sign;
            mark(tally.replace, pod_stays && !type.restarts_all);
            return;
    }
}

}  // namespace muster::operators
