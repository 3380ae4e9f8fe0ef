#include "apiserver/internal/quota/pod_priority.h"

#include <fmt/format.h>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

PodPriority priority_of(const json::object& priority_class) {
    PodPriority priority{.class_name = std::string(name_of(priority_class)),
                         .value = int_at(priority_class, "value").value_or(0)};
    const std::string_view policy = string_at(priority_class, "preemptionPolicy");
    if (!policy.empty()) priority.preemption_policy = policy;
    return priority;
}

std::string give_priority(json::object& pod, const PodPriority& priority) {
    json::object& spec = ensure_object(pod, "spec");
    const auto given = int_at(spec, "priority");
    if (given && *given != priority.value)
        return fmt::format(
            "the integer value of priority ({}) must not be provided in pod spec; priority "
            "admission controller computed {} from the given PriorityClass name",
            *given, priority.value);
    const std::string_view policy = string_at(spec, "preemptionPolicy");
    if (!policy.empty() && policy != priority.preemption_policy)
        return fmt::format(
            "the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority "
            "admission controller computed {} from the given PriorityClass name",
            policy, priority.preemption_policy);
    if (!priority.class_name.empty()) spec["priorityClassName"] = priority.class_name;
    spec["priority"] = priority.value;
    spec["preemptionPolicy"] = priority.preemption_policy;
    return {};
}

std::string_view DefaultPriorityClass::name() const {
    return defaults_.empty() ? std::string_view() : std::string_view(defaults_.begin()->second);
}

void DefaultPriorityClass::follow(const json::object* before, const json::object* after) {
    const auto entry = [](const json::object& one) {
        return std::pair(int_at(one, "value").value_or(0), std::string(name_of(one)));
    };
    if (before != nullptr) defaults_.erase(entry(*before));
    if (after != nullptr && bool_at(*after, "globalDefault")) defaults_.insert(entry(*after));
}

}  // namespace muster::apiserver
