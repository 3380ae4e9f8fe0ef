#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace muster::apiserver_http {

// Metrics that are not counted as they change but computed when /metrics is requested.

/// A family without labels, or with one whose values are given.
prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type,
                                double value);
prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type,
                                const std::string& label,
                                const std::vector<std::pair<std::string, double>>& values);

/// Calls a function each time.
class CollectedNow final : public prometheus::Collectable {
  public:
    explicit CollectedNow(std::function<std::vector<prometheus::MetricFamily>()> collect)
        : collect_(std::move(collect)) {}
    std::vector<prometheus::MetricFamily> Collect() const override { return collect_(); }

  private:
    std::function<std::vector<prometheus::MetricFamily>()> collect_;
};

}  // namespace muster::apiserver_http
