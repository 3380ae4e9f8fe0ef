#include "operator/internal/planning/beside.h"

#include <algorithm>
#include <chrono>

#include "kube/values/time.h"

namespace muster::operators {
namespace {

constexpr std::chrono::seconds kFarewell{10};

}  // namespace

std::span<const ReplicaTypeState> of_the_job(const jobs::JobKind& kind,
                                             std::span<const ReplicaTypeState> states) {
    const auto first_beside = std::ranges::find_if(states, [&](const ReplicaTypeState& state) {
        return kind.replica_types[state.facts.type].beside;
    });
    return {states.begin(), first_beside};
}

IdleBeside idle_beside(const JobRecord& job, const jobs::JobStatus& status,
                       const Dependents& dependents, WallTime now) {
    IdleBeside idle;
    bool serves = false;
    std::optional<WallTime> since = kube::parse_time(status.completion_time);
    const auto look_at = [&](SlotId id, const PodPtr& pod) {
        if (job.kind->replica_types[id.type].beside) {
            if (!pod->ended()) idle.pods.push_back(pod);
        } else {
            serves = serves || !pod->ended();
            since = std::max(since, pod->ended_at);
        }
    };
    dependents.for_each_held([&](SlotId id, const Slot& slot) {
        if (slot.pod) look_at(id, slot.pod);
        if (!slot.others) return;
        for (const PodPtr& pod : *slot.others) look_at(id, pod);
    });
    if (serves || idle.pods.empty()) return {};
    if (since && now < *since + kFarewell) return {.pods = {}, .look_at = *since + kFarewell};
    return idle;
}

}  // namespace muster::operators
