#include <algorithm>

#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "base/parse_number.h"

namespace muster::apiserver {

namespace {

void begin_status(json::object& budget, WallTime) {
    // The controller has not counted yet, which the missing generation shows.
    budget["status"] = {{"disruptionsAllowed", 0},
                        {"currentHealthy", 0},
                        {"desiredHealthy", 0},
                        {"expectedPods", 0}};
}

/// A number of pods, or a percentage.
void check_amount(const json::object& spec, std::string_view key, FieldErrors& field_errors) {
    const json::value* value = spec.if_contains(key);
    if (value == nullptr) return;
    const std::string field = fmt::format("spec.{}", key);
    if (const std::int64_t* number = value->if_int64(); number != nullptr && *number < 0)
        field_errors.push_back(invalid_value(field, *value, "must be greater than or equal to 0"));
    const json::string* text = value->if_string();
    if (text == nullptr) return;
    const std::string_view percent(*text);
    const bool digits = percent.size() > 1 && percent.ends_with('%') &&
                        std::ranges::all_of(percent.substr(0, percent.size() - 1),
                                            [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) {
        field_errors.push_back(invalid_value(
            field, *value,
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', "
            " or '93%', regex used for validation is '[0-9]+%')"));
        return;
    }
    const auto number = leading_number<int>(percent);
    if (!number || *number > 100)
        field_errors.push_back(invalid_value(field, *value, "must not be greater than 100%"));
}

void validate_budget(const json::object& budget, FieldErrors& field_errors) {
    const json::object* spec = object_at(budget, "spec");
    if (spec == nullptr) return;
    if (spec->contains("minAvailable") && spec->contains("maxUnavailable"))
        field_errors.push_back(invalid_value("spec", json::value(*spec),
                                             "minAvailable and maxUnavailable cannot be both set"));
    check_amount(*spec, "minAvailable", field_errors);
    check_amount(*spec, "maxUnavailable", field_errors);
    if (const json::object* selector = object_at(*spec, "selector"))
        if (const auto read = label_selector_of(selector); !read)
            field_errors.push_back(
                invalid_value("spec.selector", json::value(*selector), read.error().message()));
    const std::string_view policy = string_at(*spec, "unhealthyPodEvictionPolicy");
    if (!policy.empty() && policy != "AlwaysAllow" && policy != "IfHealthyBudget")
        field_errors.push_back(not_supported("spec.unhealthyPodEvictionPolicy", policy,
                                             {"AlwaysAllow", "IfHealthyBudget"}));
}

}  // namespace

Strategy disruption_budget_strategy() {
    return {.prepare_create = begin_status, .validate = validate_budget};
}

}  // namespace muster::apiserver
