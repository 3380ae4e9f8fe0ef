#include "apiserver/aggregation/local_priority.h"

#include <algorithm>
#include <iterator>

namespace muster::apiserver {

namespace {

struct PriorityRow {
    std::string_view group;
    std::string_view version;
    DiscoveryPriority priority;
};

constexpr PriorityRow kPriorityRows[] = {
    {"", "v1", {18000, 1}},
    {"apps", "v1", {17800, 15}},
    {"events.k8s.io", "v1", {17750, 15}},
    {"authentication.k8s.io", "v1", {17700, 15}},
    {"authorization.k8s.io", "v1", {17600, 15}},
    {"autoscaling", "v2", {17500, 30}},
    {"autoscaling", "v1", {17500, 15}},
    {"batch", "v1", {17400, 15}},
    {"networking.k8s.io", "v1", {17200, 15}},
    {"policy", "v1", {17100, 15}},
    {"rbac.authorization.k8s.io", "v1", {17000, 15}},
    {"storage.k8s.io", "v1", {16800, 15}},
    {"apiextensions.k8s.io", "v1", {16700, 15}},
    {"admissionregistration.k8s.io", "v1", {16700, 15}},
    {"scheduling.k8s.io", "v1", {16600, 15}},
    {"coordination.k8s.io", "v1", {16500, 15}},
    {"node.k8s.io", "v1", {16300, 15}},
    {"discovery.k8s.io", "v1", {16200, 15}},
};

/// Before all others: it says who serves them.
constexpr std::string_view kFirstGroup = "apiregistration.k8s.io";
constexpr DiscoveryPriority kFirstPriority{20001, 18};
constexpr DiscoveryPriority kCustomPriority{1000, 100};
/// As the manifest of metrics-server has it.
constexpr DiscoveryPriority kMetricsPriority{100, 100};

}  // namespace

DiscoveryPriority local_priority(const ResourceDef& def) {
    if (def.custom) return kCustomPriority;
    if (def.type.group == kFirstGroup) return kFirstPriority;
    if (def.is_metrics) return kMetricsPriority;
    const auto* row = std::ranges::find_if(kPriorityRows, [&](const PriorityRow& each) {
        return each.group == def.type.group && each.version == def.type.version;
    });
    return row == std::end(kPriorityRows) ? kCustomPriority : row->priority;
}

}  // namespace muster::apiserver
