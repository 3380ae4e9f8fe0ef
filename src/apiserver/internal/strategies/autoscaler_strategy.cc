#include "apiserver/internal/conversions/autoscaler_versions.h"
#include "apiserver/internal/strategies/strategies.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

/// The speed of an autoscaler where a behavior does not set it.
void set_behavior_defaults(json::object& spec) {
    json::object* behavior = object_at(spec, "behavior");
    if (behavior == nullptr) return;
    const auto policy = [](std::string_view type, std::int64_t value) {
        return json::object{{"type", type}, {"value", value}, {"periodSeconds", 15}};
    };
    json::object& up = ensure_object(*behavior, "scaleUp");
    set_default(up, "stabilizationWindowSeconds", json::value(0));
    set_default(up, "selectPolicy", json::value("Max"));
    set_default(up, "policies", json::array{policy("Pods", 4), policy("Percent", 100)});
    json::object& down = ensure_object(*behavior, "scaleDown");
    set_default(down, "selectPolicy", json::value("Max"));
    set_default(down, "policies", json::array{policy("Percent", 100)});
}

/// For both versions, which have the same rules.
void validate_autoscaler(const json::object& autoscaler, FieldErrors& field_errors) {
    const json::object& spec = child(autoscaler, "spec");
    const json::object& target = child(spec, "scaleTargetRef");
    for (const char* key : {"kind", "name"})
        if (string_at(target, key).empty())
            field_errors.push_back(required(fmt::format("spec.scaleTargetRef.{}", key)));
    const std::int64_t least = int_at(spec, "minReplicas").value_or(1);
    const std::int64_t most = int_at(spec, "maxReplicas").value_or(0);
    if (least < 1)
        field_errors.push_back(invalid_value("spec.minReplicas", json::value(least),
                                             "must be greater than or equal to 1"));
    if (most < 1)
        field_errors.push_back(
            invalid_value("spec.maxReplicas", json::value(most), "must be greater than 0"));
    else if (most < least)
        field_errors.push_back(invalid_value("spec.maxReplicas", json::value(most),
                                             "must be greater than or equal to `minReplicas`"));
}

}  // namespace

Strategy autoscaler_strategy() {
    return {.apply_defaults =
                [](json::object& autoscaler) {
                    set_autoscaler_defaults(autoscaler);
                    set_behavior_defaults(ensure_object(autoscaler, "spec"));
                },
            .prepare_create =
                [](json::object& autoscaler, WallTime) {
                    autoscaler["status"] = {{"desiredReplicas", 0}, {"currentMetrics", nullptr}};
                },
            .validate = validate_autoscaler};
}

Strategy autoscaler_v1_strategy() {
    return {.apply_defaults =
                [](json::object& autoscaler) {
                    set_default(ensure_object(autoscaler, "spec"), "minReplicas", json::value(1));
                },
            .prepare_create =
                [](json::object& autoscaler, WallTime) {
                    autoscaler["status"] = {{"currentReplicas", 0}, {"desiredReplicas", 0}};
                },
            .validate = validate_autoscaler};
}

}  // namespace muster::apiserver
