#include "operator/internal/planning/draft.h"

#include "operator/internal/planning/conditions.h"

namespace muster::operators {

bool Draft::set(std::string_view condition, bool value, std::string_view suffix,
                std::string message) {
    return set_condition(status,
                         {.type = condition,
                          .status = value,
                          .reason = kind() + std::string(suffix),
                          .message = std::move(message)},
                         now);
}

void Draft::tell(kube::EventType type, std::string_view suffix, std::string message) {
    events.push_back({type, kind() + std::string(suffix), std::move(message)});
}

}  // namespace muster::operators
