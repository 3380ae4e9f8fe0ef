#include <algorithm>

#include "apiserver/internal/quota/pod_priority.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/strategies/workload_strategies.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kMostOfUsers = 1'000'000'000;
constexpr std::string_view kReservedPrefix = "system-";

bool is_of_system(const json::object& priority) {
    return !bool_at(priority, "globalDefault") &&
           std::ranges::any_of(kSystemPriorityClasses, [&](const SystemPriorityClass& known) {
               return name_of(priority) == known.name && int_at(priority, "value") == known.value;
           });
}

void validate_priority_class(const json::object& priority, FieldErrors& field_errors) {
    if (name_of(priority).starts_with(kReservedPrefix)) {
        if (!is_of_system(priority))
            field_errors.push_back(forbidden_field(
                "metadata.name",
                "priority class names with 'system-' prefix are reserved for system use only"));
    } else if (int_at(priority, "value").value_or(0) > kMostOfUsers) {
        field_errors.push_back(forbidden_field(
            "value",
            fmt::format("maximum allowed value of a user defined priority is {}", kMostOfUsers)));
    }
    const std::string_view policy = string_at(priority, "preemptionPolicy");
    if (policy != "Never" && policy != "PreemptLowerPriority")
        field_errors.push_back(
            not_supported("preemptionPolicy", policy, {"Never", "PreemptLowerPriority"}));
}

void validate_priority_class_update(const json::object& next, const json::object& current,
                                    FieldErrors& field_errors) {
    if (int_at(next, "value").value_or(0) != int_at(current, "value").value_or(0))
        field_errors.push_back(forbidden_field("value", "may not be changed in an update."));
    check_immutable(next, current, "", {"preemptionPolicy"}, field_errors);
}

}  // namespace

Strategy priority_class_strategy() {
    return {.apply_defaults =
                [](json::object& priority) {
                    set_default(priority, "value", json::value(0));
                    set_default(priority, "preemptionPolicy", json::value("PreemptLowerPriority"));
                },
            .validate = validate_priority_class,
            .validate_update = validate_priority_class_update};
}

Strategy controller_revision_strategy() {
    return {
        .apply_defaults =
            [](json::object& revision) { set_default(revision, "revision", json::value(0)); },
        .validate_update =
            [](const json::object& next, const json::object& current, FieldErrors& field_errors) {
                check_immutable(next, current, "", {"data"}, field_errors);
            }};
}

Strategy runtime_class_strategy() {
    return {.validate_update = [](const json::object& next, const json::object& current,
                                  FieldErrors& field_errors) {
        check_immutable(next, current, "", {"handler"}, field_errors);
    }};
}

}  // namespace muster::apiserver
