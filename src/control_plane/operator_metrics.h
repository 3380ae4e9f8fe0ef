#pragma once

#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/transport/metered_transport.h"
#include "operator/observer/observer.h"
#include "operator/replica.h"

namespace muster::control_plane {

/// The metrics of an operator, on a cluster or of `muster up`: upstream's families under their names
/// (training-operator pkg/common/metrics.go, and mpi-operator's for MPIJobs), and ours. Beyond a
/// bound of namespaces the jobs of further ones are counted together. Thread: the operator's loop.
class OperatorMetrics final : public operators::OperatorObserver {
  public:
    OperatorMetrics();

    void on_job(const operators::JobNews& news) override;
    void on_job_removed(const jobs::JobKind& kind, const std::string& namespace_) override;
    void on_reconcile(const jobs::JobKind& kind, Duration took, bool complete) override;
    void on_request(const kube::RequestSeen& seen);

    static constexpr std::size_t kMostNamespaces = 1000;
    /// The namespace in labels of those beyond the bound; no real one has this name.
    static constexpr std::string_view kOtherNamespaces = "(others)";

    /// Reads the values that are sampled and not counted.
    void look_at(const operators::Replica& replica);
    /// The same of one that works alone, and whose requests wait for nothing.
    void look_at(bool works, std::size_t queue_depth);
    std::vector<prometheus::MetricFamily> collect() const { return registry_.Collect(); }

  private:
    using Counters = prometheus::Family<prometheus::Counter>;
    using Gauges = prometheus::Family<prometheus::Gauge>;
    using Histograms = prometheus::Family<prometheus::Histogram>;

    /// Of requests that wait for their turn.
    struct FlowGauges {
        prometheus::Gauge& window;
        prometheus::Gauge& in_flight;
        prometheus::Gauge& waiting;
    };

    void count_job(Counters& family, const jobs::JobKind& kind, const std::string& namespace_,
                   double times = 1);
    std::string counted_namespace(const std::string& namespace_);

    prometheus::Registry registry_;
    std::set<std::string> namespaces_;
    Counters& created_;
    Counters& deleted_;
    Counters& successful_;
    Counters& failed_;
    Counters& restarted_;
    Counters& mpi_created_;
    Counters& mpi_successful_;
    Counters& mpi_failed_;
    Counters& mpi_restarted_;
    Counters& restarts_by_cause_;
    Histograms& to_running_;
    Histograms& pass_time_;
    Counters& passes_failed_;
    Counters& requests_;
    Histograms& request_time_;
    prometheus::Gauge& leads_;
    prometheus::Gauge& mpi_leads_;
    prometheus::Gauge& queue_depth_;
    std::optional<FlowGauges> flow_;
};

}  // namespace muster::control_plane
