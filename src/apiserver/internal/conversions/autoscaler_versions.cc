#include "apiserver/internal/conversions/autoscaler_versions.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/objects/json_access.h"
#include "kube/values/read_json.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kV1 = "autoscaling/v1";
constexpr std::string_view kV2 = "autoscaling/v2";
/// An object with what v1 can't express: `spec` and `status` of v2 without the rest.
constexpr std::string_view kRestAnnotation = "autoscaling.muster.dev/v2";
constexpr std::string_view kTarget = "targetCPUUtilizationPercentage";
constexpr std::string_view kCurrent = "currentCPUUtilizationPercentage";
constexpr std::int64_t kDefaultUtilization = 80;

json::object cpu_metric(std::int64_t utilization) {
    return {{"type", "Resource"},
            {"resource",
             {{"name", "cpu"},
              {"target", {{"type", "Utilization"}, {"averageUtilization", utilization}}}}}};
}

/// A metric's target or current CPU use, in percent; `part` is target or current.
std::optional<std::int64_t> cpu_utilization(const json::value& metric, std::string_view part) {
    const json::object* one = metric.if_object();
    if (one == nullptr || string_at(*one, "type") != "Resource") return std::nullopt;
    const json::object& resource = child(*one, "resource");
    if (string_at(resource, "name") != "cpu") return std::nullopt;
    return int_at(child(resource, part), "averageUtilization");
}

/// Removes fields and returns them; empty if there are none.
json::object take(json::object& from, std::initializer_list<std::string_view> keys) {
    json::object taken;
    for (const std::string_view key : keys)
        if (json::value* value = from.if_contains(key)) {
            if (!value->is_null()) taken.emplace(key, *value);
            from.erase(key);
        }
    return taken;
}

void show_v1(json::object& autoscaler) {
    autoscaler["apiVersion"] = kV1;
    json::object rest;
    if (json::object* spec = object_at(autoscaler, "spec")) {
        json::object of_spec = take(*spec, {"metrics", "behavior"});
        if (json::array* metrics = array_at(of_spec, "metrics")) {
            const auto cpu = std::ranges::find_if(*metrics, [](const json::value& metric) {
                return cpu_utilization(metric, "target").has_value();
            });
            if (cpu != metrics->end()) {
                (*spec)[kTarget] = *cpu_utilization(*cpu, "target");
                metrics->erase(cpu);
            }
            if (metrics->empty()) of_spec.erase("metrics");
        }
        if (!of_spec.empty()) rest["spec"] = std::move(of_spec);
    }
    if (json::object* status = object_at(autoscaler, "status")) {
        json::object of_status = take(*status, {"currentMetrics", "conditions"});
        if (const json::array* metrics = array_at(of_status, "currentMetrics"))
            for (const json::value& metric : *metrics)
                if (const auto current = cpu_utilization(metric, "current"))
                    (*status)[kCurrent] = *current;
        set_default(*status, "currentReplicas", json::value(0));
        if (!of_status.empty()) rest["status"] = std::move(of_status);
    }
    if (!rest.empty())
        ensure_object(ensure_object(autoscaler, "metadata"), "annotations")[kRestAnnotation] =
            json::serialize(rest);
}

/// The content of the annotation, which is removed. Nothing if a client wrote something else there.
json::object take_rest(json::object& autoscaler) {
    json::object* meta = object_at(autoscaler, "metadata");
    json::object* annotations = meta == nullptr ? nullptr : object_at(*meta, "annotations");
    json::value* text =
        annotations == nullptr ? nullptr : annotations->if_contains(kRestAnnotation);
    if (text == nullptr) return {};
    std::optional<json::value> rest;
    if (text->is_string()) rest = kube::read_json(text->get_string());
    annotations->erase(kRestAnnotation);
    if (annotations->empty()) meta->erase("annotations");
    if (!rest || !rest->is_object()) return {};
    return std::move(rest->get_object());
}

void store_v1(json::object& autoscaler) {
    autoscaler["apiVersion"] = kV2;
    const json::object rest = take_rest(autoscaler);
    json::object& spec = ensure_object(autoscaler, "spec");
    json::array metrics;
    if (const json::array* others = array_at(child(rest, "spec"), "metrics")) metrics = *others;
    if (const auto target = int_at(spec, kTarget)) metrics.emplace_back(cpu_metric(*target));
    spec.erase(kTarget);
    if (!metrics.empty()) spec["metrics"] = std::move(metrics);
    if (const json::object* behavior = object_at(child(rest, "spec"), "behavior"))
        spec["behavior"] = *behavior;
    set_autoscaler_defaults(autoscaler);
    json::object* status = object_at(autoscaler, "status");
    if (status == nullptr) return;
    status->erase(kCurrent);
    for (const auto& entry : child(rest, "status")) (*status)[entry.key()] = entry.value();
    status->emplace("currentMetrics", nullptr);
}

/// The metric that is a field in v1 is an item of a list in v2: the owner of one owns the other.
void rename_owned_through(json::object& autoscaler, std::string_view api_version,
                          std::string_view from, std::string_view into) {
    json::object* meta = object_at(autoscaler, "metadata");
    json::array* entries = meta == nullptr ? nullptr : array_at(*meta, "managedFields");
    if (entries == nullptr) return;
    for (json::value& entry : *entries) {
        json::object* owner = entry.if_object();
        if (owner == nullptr || string_at(*owner, "apiVersion") != api_version) continue;
        json::object* fields = object_at(*owner, "fieldsV1");
        json::object* spec = fields == nullptr ? nullptr : object_at(*fields, "f:spec");
        if (spec == nullptr || !spec->contains(from)) continue;
        spec->erase(from);
        std::vector<std::pair<std::string, json::value>> names;
        for (auto& owned : *spec) names.emplace_back(owned.key(), std::move(owned.value()));
        if (std::ranges::find(names, into, &std::pair<std::string, json::value>::first) ==
            names.end())
            names.emplace_back(into, json::object());
        // FieldsV1 has its keys ordered by their bytes.
        std::ranges::sort(names, {}, &std::pair<std::string, json::value>::first);
        spec->clear();
        for (auto& [key, value] : names) spec->emplace(key, std::move(value));
    }
}

constexpr std::string_view kOwnedTarget = "f:targetCPUUtilizationPercentage";
constexpr std::string_view kOwnedMetrics = "f:metrics";

}  // namespace

const VersionConversion kAutoscalerConversion{
    .align_owners =
        [](json::object& autoscaler) {
            rename_owned_through(autoscaler, kV1, kOwnedTarget, kOwnedMetrics);
        },
    .store =
        [](json::object& autoscaler) {
            rename_owned_through(autoscaler, kV1, kOwnedMetrics, kOwnedTarget);
        },
};

const VersionConversion kAutoscalerV1Conversion{
    .show = show_v1,
    .align_owners =
        [](json::object& autoscaler) {
            rename_owned_through(autoscaler, kV2, kOwnedMetrics, kOwnedTarget);
        },
    .store =
        [](json::object& autoscaler) {
            rename_owned_through(autoscaler, kV2, kOwnedTarget, kOwnedMetrics);
            store_v1(autoscaler);
        },
};

void set_autoscaler_defaults(json::object& autoscaler) {
    json::object& spec = ensure_object(autoscaler, "spec");
    set_default(spec, "minReplicas", json::value(1));
    if (const json::array* metrics = array_at(spec, "metrics");
        metrics == nullptr || metrics->empty())
        spec["metrics"] = json::array{cpu_metric(kDefaultUtilization)};
}

}  // namespace muster::apiserver
