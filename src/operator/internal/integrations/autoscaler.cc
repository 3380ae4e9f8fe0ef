#include "operator/internal/integrations/autoscaler.h"

#include "kube/values/quantity.h"

namespace muster::operators::autoscaler {
namespace {

/// In the form in which the API server stores it: without nulls and with quantities rewritten.
/// Otherwise it would never equal the wanted one.
json::value as_kept(const json::value& written, std::string_view key = {}) {
    if ((key == "value" || key == "averageValue") && !written.is_object())
        if (const auto quantity = kube::Quantity::parse(written))
            return quantity->to_string().c_str();
    if (const json::array* list = written.if_array()) {
        json::array kept;
        for (const json::value& item : *list) kept.push_back(as_kept(item));
        return kept;
    }
    const json::object* fields = written.if_object();
    if (fields == nullptr) return written;
    json::object kept;
    for (const auto& [name, value] : *fields) {
        // Everything below is a map of the user's own keys.
        const bool is_map = name == "matchLabels";
        if (!value.is_null()) kept[name] = is_map ? value : as_kept(value, name);
    }
    return kept;
}

}  // namespace

const kube::ResourceType kType{"autoscaling", "v2", "horizontalpodautoscalers",
                               "HorizontalPodAutoscaler"};

jobs::OwnedObject autoscaler(const jobs::Job& job, const jobs::Elasticity& elasticity) {
    json::object spec{{"scaleTargetRef",
                       {{"apiVersion", job.kind->resource.api_version()},
                        {"kind", job.kind->resource.kind},
                        {"name", job.metadata.name}}},
                      {"minReplicas", elasticity.min_replicas},
                      {"maxReplicas", elasticity.max_replicas}};
    std::vector<std::string> kept{"spec.scaleTargetRef", "spec.minReplicas", "spec.maxReplicas"};
    // Without any, the API server sets its own default: CPU use.
    if (elasticity.metrics && !elasticity.metrics->empty()) {
        json::array& metrics = spec["metrics"].emplace_array();
        for (const json::value& metric : *elasticity.metrics) metrics.push_back(as_kept(metric));
        kept.emplace_back("spec.metrics");
    }
    return {.type = kType,
            .name = job.metadata.name,
            .labels = {},
            .content = {{"spec", std::move(spec)}},
            .kept = std::move(kept)};
}

}  // namespace muster::operators::autoscaler
