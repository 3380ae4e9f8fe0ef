#include "sim/internal/simulated_pod.h"

#include <boost/json/object.hpp>

#include "jobs/kind.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

std::string_view uid_of(const json::value& object) { return text_at(object, {"metadata", "uid"}); }

SimulatedPod::SimulatedPod(kube::ObjectPtr shown, std::uint64_t number)
    : object(std::move(shown)), address(number) {
    if (shows_end()) stage = PodStage::kEnded;
}

std::string SimulatedPod::uid() const { return std::string(uid_of(*object)); }

std::string SimulatedPod::name() const {
    return std::string(text_at(*object, {"metadata", "name"}));
}

std::string SimulatedPod::namespace_() const {
    return std::string(text_at(*object, {"metadata", "namespace"}));
}

std::string_view SimulatedPod::bound_to() const { return text_at(*object, {"spec", "nodeName"}); }

bool SimulatedPod::shows_deletion() const {
    return !text_at(*object, {"metadata", "deletionTimestamp"}).empty();
}

bool SimulatedPod::shows_end() const {
    const std::string_view phase = text_at(*object, {"status", "phase"});
    return phase == "Succeeded" || phase == "Failed";
}

Duration SimulatedPod::grace() const {
    const json::value* seconds =
        object->at("metadata").get_object().if_contains("deletionGracePeriodSeconds");
    return std::chrono::seconds(seconds == nullptr ? 30 : seconds->to_number<std::int64_t>());
}

PodIdentity SimulatedPod::identity() const {
    return {.namespace_ = text_at(*object, {"metadata", "namespace"}),
            .name = text_at(*object, {"metadata", "name"}),
            .uid = text_at(*object, {"metadata", "uid"}),
            .job = label_of(*object, jobs::labels::kJobName),
            .replica = label_of(*object, jobs::labels::kReplicaType),
            .index = label_of(*object, jobs::labels::kReplicaIndex),
            .restart_policy = text_at(*object, {"spec", "restartPolicy"})};
}

bool SimulatedPod::restarts_after(std::int32_t exit_code) const {
    const std::string_view policy = text_at(*object, {"spec", "restartPolicy"});
    return policy == "Always" || (policy == "OnFailure" && exit_code != 0);
}

ContainerEnd SimulatedPod::make_end(std::int32_t exit_code, WallTime now) const {
    return {.exit_code = exit_code,
            .reason = exit_code == 0 ? "Completed"
                      : has_run      ? "Error"
                                     : "ContainerStatusUnknown",
            .started_at = has_run ? started_at : now,
            .finished_at = now};
}

PodReport SimulatedPod::report(bool as_running) const {
    PodReport told{.restarts = restarts,
                   .accepted_at = accepted_at,
                   .started_at = started_at,
                   .last = last ? &*last : nullptr,
                   .node = node,
                   .address = address};
    if (stage == PodStage::kEnded && !as_running) {
        told.state = PodReport::State::kEnded;
        told.end = &*end;
        told.evicted = evicted;
    } else if (stage == PodStage::kBackingOff && !as_running) {
        told.state = PodReport::State::kBackingOff;
    } else if (has_run) {
        told.state = PodReport::State::kRunning;
    }
    return told;
}

}  // namespace muster::sim
