#include "apiserver_http/metric_family.h"

namespace muster::apiserver_http {

prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type,
                                double value) {
    return family(std::move(name), std::move(help), type, "", {{"", value}});
}

prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type,
                                const std::string& label,
                                const std::vector<std::pair<std::string, double>>& values) {
    prometheus::MetricFamily made{std::move(name), std::move(help), type, {}};
    for (const auto& [value, number] : values) {
        prometheus::ClientMetric& metric = made.metric.emplace_back();
        if (!label.empty()) metric.label.push_back({label, value});
        if (type == prometheus::MetricType::Counter)
            metric.counter.value = number;
        else
            metric.gauge.value = number;
    }
    return made;
}

}  // namespace muster::apiserver_http
