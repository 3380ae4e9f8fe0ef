#pragma once

#include <prometheus/registry.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kube/transport/metered_transport.h"
#include "operator/observer/observer.h"
#include "operator/replica.h"

namespace muster::cli {

/// The metrics of `muster operator`: upstream's families under their names (training-operator
/// pkg/common/metrics.go, and mpi-operator's for MPIJobs), and ours. Thread: the operator's loop.
class OperatorMetrics final : public operators::OperatorObserver {
  public:
    OperatorMetrics();

    void on_job(const operators::JobNews& news) override;
    void on_job_removed(const jobs::JobKind& kind, const std::string& namespace_) override;
    void on_reconcile(const jobs::JobKind& kind, Duration took, bool complete) override;
    void on_request(const kube::RequestSeen& seen);

    /// Reads the values that are sampled and not counted.
    void look_at(const operators::Replica& replica);
    /// All of them in Prometheus' text format, with this process's own.
    std::string text() const;

  private:
    using Counters = prometheus::Family<prometheus::Counter>;
    using Gauges = prometheus::Family<prometheus::Gauge>;
    using Histograms = prometheus::Family<prometheus::Histogram>;

    void count_job(Counters& family, const jobs::JobKind& kind, const std::string& namespace_,
                   double times = 1);

    prometheus::Registry registry_;
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
    prometheus::Gauge& window_;
    prometheus::Gauge& in_flight_;
    prometheus::Gauge& waiting_;
};

}  // namespace muster::cli
