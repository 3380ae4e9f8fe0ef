#include "apiserver_http/internal/requests/state_metrics.h"

#include "apiserver_http/metric_family.h"

namespace muster::apiserver_http {

std::vector<prometheus::MetricFamily> state_metrics(const apiserver::RequestHandler& handler) {
    std::vector<std::pair<std::string, double>> objects;
    for (const auto& [name, def] : handler.registry().resources())
        if (def->stored && !def->is_metrics)
            objects.emplace_back(name, static_cast<double>(handler.cache().objects(name).size()));
    using enum prometheus::MetricType;
    return {family("apiserver_storage_objects", "Stored objects of each resource.", Gauge,
                   "resource", objects),
            family("muster_store_revision", "The revision of the last committed change.", Counter,
                   static_cast<double>(handler.cache().revision())),
            family("muster_store_writable", "1, or 0 once the store keeps nothing new.", Gauge,
                   handler.write_failure() ? 0 : 1)};
}

}  // namespace muster::apiserver_http
