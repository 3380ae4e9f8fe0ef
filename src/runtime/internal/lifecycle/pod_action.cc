#include "runtime/internal/lifecycle/pod_action.h"

#include <utility>

namespace muster::runtime {

PodAction make_action(PodAction::Kind kind, std::size_t container) {
    PodAction action;
    action.kind = kind;
    action.container = container;
    return action;
}

PodAction make_event(kube::EventType type, std::string reason, std::string message) {
    PodAction action;
    action.kind = PodAction::Kind::kRecordEvent;
    action.event_type = type;
    action.reason = std::move(reason);
    action.message = std::move(message);
    return action;
}

}  // namespace muster::runtime
