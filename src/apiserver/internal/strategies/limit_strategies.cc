#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/internal/strategies/workload_strategies.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kMostOfUsers = 1'000'000'000;
constexpr std::string_view kReservedPrefix = "system-";

/// For a container: its maximum is its default limit, and that is its default request.
void set_range_defaults(json::object& range) {
    json::array* items = array_at(ensure_object(range, "spec"), "limits");
    if (items == nullptr) return;
    for (json::value& item : *items) {
        json::object* limit = item.if_object();
        if (limit == nullptr || string_at(*limit, "type") != "Container") continue;
        const auto fill = [&](std::string_view into, std::string_view from) {
            const json::object given = child(*limit, from);
            if (given.empty()) return;
            json::object& filled = ensure_object(*limit, into);
            for (const auto& entry : given) filled.emplace(entry.key(), entry.value());
        };
        fill("default", "max");
        fill("defaultRequest", "default");
        fill("defaultRequest", "min");
    }
}

void validate_priority_class(const json::object& priority, FieldErrors& field_errors) {
    if (name_of(priority).starts_with(kReservedPrefix))
        field_errors.push_back(forbidden_field(
            "metadata.name",
            "priority class names with 'system-' prefix are reserved for system use only"));
    if (int_at(priority, "value").value_or(0) > kMostOfUsers)
        field_errors.push_back(forbidden_field(
            "value",
            fmt::format("maximum allowed value of a user defined priority is {}", kMostOfUsers)));
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

Strategy resource_quota_strategy() {
    return {
        .prepare_create = [](json::object& quota, WallTime) { quota["status"].emplace_object(); }};
}

Strategy limit_range_strategy() { return {.apply_defaults = set_range_defaults}; }

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
