#include "apiserver/internal/requests/state_metrics.h"

#include "apiserver/metric_family.h"

namespace muster::apiserver {

std::vector<prometheus::MetricFamily> state_metrics(const ServerState& state) {
    std::vector<std::pair<std::string, double>> objects;
    for (const auto& [name, def] : state.registry.resources())
        if (def->stored && !def->measured)
            objects.emplace_back(name, static_cast<double>(state.cache.objects(name).size()));
    using enum prometheus::MetricType;
    return {family("apiserver_storage_objects", "Stored objects of each resource.", Gauge,
                   "resource", objects),
            family("muster_store_revision", "The revision of the last committed change.", Counter,
                   static_cast<double>(state.cache.revision())),
            family("muster_store_writable", "1, or 0 once the store keeps nothing new.", Gauge,
                   state.store->failure() ? 0 : 1)};
}

}  // namespace muster::apiserver
