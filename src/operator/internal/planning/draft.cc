#include "operator/internal/planning/draft.h"

#include "operator/internal/planning/conditions.h"

namespace muster::operators {

std::string Draft::reason(std::string_view suffix) const {
    return job.kind->condition_prefix() + std::string(suffix);
}

bool Draft::set(std::string_view condition, bool value, std::string_view suffix,
                std::string message) {
    return set_condition(status,
                         {.type = condition,
                          .status = value,
                          .reason = reason(suffix),
                          .message = std::move(message)},
                         now);
}

void Draft::tell(kube::EventType type, std::string_view suffix, std::string message) {
    events.push_back({type, reason(suffix), std::move(message)});
}

}  // namespace muster::operators
