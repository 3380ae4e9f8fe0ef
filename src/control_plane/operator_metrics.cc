#include "control_plane/operator_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include "base/lower_case.h"

namespace muster::control_plane {

namespace {

using Labels = prometheus::Labels;
using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets kPassSeconds{0.0001, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60};
const Buckets kRequestSeconds{0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 30};
const Buckets kToRunningSeconds{0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14400};

auto& counters(prometheus::Registry& registry, const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
auto& gauges(prometheus::Registry& registry, const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
auto& histograms(prometheus::Registry& registry, const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

/// Upstream's `framework`: "pytorch", "tensorflow", "mpi".
std::string framework_of(const jobs::JobKind& kind) {
    std::string name = lower_case(kind.resource.kind);
    if (name.ends_with("job")) name.resize(name.size() - 3);
    return name == "tf" ? "tensorflow" : name == "mx" ? "mxnet" : name;
}

bool is_mpi(const jobs::JobKind& kind) { return kind.resource.kind == "MPIJob"; }

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

OperatorMetrics::OperatorMetrics()
    : created_(counters(registry_, "training_operator_jobs_created_total",
                        "Jobs created while this operator was working.")),
      deleted_(counters(registry_, "training_operator_jobs_deleted_total",
                        "Jobs that were deleted at the end of their TTL.")),
      successful_(
          counters(registry_, "training_operator_jobs_successful_total", "Jobs that succeeded.")),
      failed_(counters(registry_, "training_operator_jobs_failed_total", "Jobs that failed.")),
      restarted_(counters(registry_, "training_operator_jobs_restarted_total",
                          "Restarts of jobs: of one replica, or of all together.")),
      mpi_created_(counters(registry_, "mpi_operator_jobs_created_total",
                            "MPIJobs created while this operator was working.")),
      mpi_successful_(
          counters(registry_, "mpi_operator_jobs_successful_total", "MPIJobs that succeeded.")),
      mpi_failed_(counters(registry_, "mpi_operator_jobs_failed_total", "MPIJobs that failed.")),
      mpi_restarted_(
          counters(registry_, "mpi_operator_jobs_restarted_total", "Restarts of MPIJobs.")),
      restarts_by_cause_(counters(registry_, "muster_job_restarts_total",
                                  "Restarts by what was restarted: one replica or the group.")),
      to_running_(histograms(registry_, "muster_job_create_to_running_seconds",
                             "Time from when a job was first seen to its condition Running.")),
      pass_time_(
          histograms(registry_, "muster_reconcile_seconds",
                     "Time of one reconciliation of a job, with the requests that it led to.")),
      passes_failed_(counters(registry_, "muster_reconcile_failures_total",
                              "Reconciliations of a job that have to be tried again.")),
      requests_(counters(registry_, "muster_api_requests_total",
                         "Requests to the API server; code 0: no answer.")),
      request_time_(histograms(registry_, "muster_api_request_seconds",
                               "Time to the answer of the API server, waiting for a turn not "
                               "included.")),
      leads_(gauges(registry_, "muster_is_leader", "1 while this replica leads.").Add({})),
      mpi_leads_(gauges(registry_, "mpi_operator_is_leader", "The same.").Add({})),
      queue_depth_(
          gauges(registry_, "muster_queue_depth", "Jobs that wait to be reconciled.").Add({})) {
    // Those without labels are there from the start, so that a dashboard shows 0 and no gap.
    for (Counters* family : {&mpi_created_, &mpi_successful_, &mpi_failed_, &mpi_restarted_})
        family->Add({});
}

std::string OperatorMetrics::counted_namespace(const std::string& namespace_) {
    if (namespaces_.contains(namespace_)) return namespace_;
    if (namespaces_.size() >= kMostNamespaces) return std::string(kOtherNamespaces);
    namespaces_.insert(namespace_);
    return namespace_;
}

void OperatorMetrics::count_job(Counters& family, const jobs::JobKind& kind,
                                const std::string& namespace_, double times) {
    family
        .Add({{"job_namespace", counted_namespace(namespace_)}, {"framework", framework_of(kind)}})
        .Increment(times);
}

void OperatorMetrics::on_job(const operators::JobNews& news) {
    using operators::Milestone;
    const bool mpi = is_mpi(news.kind);
    switch (news.milestone) {
        case Milestone::kCreated:
            count_job(created_, news.kind, news.namespace_);
            if (mpi) mpi_created_.Add({}).Increment();
            return;
        case Milestone::kRunning:
            if (news.since_seen)
                to_running_.Add({{"framework", framework_of(news.kind)}}, kToRunningSeconds)
                    .Observe(seconds(*news.since_seen));
            return;
        case Milestone::kRestarted:
            count_job(restarted_, news.kind, news.namespace_, news.times);
            if (mpi) mpi_restarted_.Add({}).Increment(news.times);
            restarts_by_cause_
                .Add({{"job_namespace", counted_namespace(news.namespace_)},
                      {"framework", framework_of(news.kind)},
                      {"cause",
                       news.cause == operators::RestartCause::kGroup ? "group" : "replica"}})
                .Increment(news.times);
            return;
        case Milestone::kSucceeded:
            count_job(successful_, news.kind, news.namespace_);
            if (mpi) mpi_successful_.Add({}).Increment();
            return;
        case Milestone::kFailed:
            count_job(failed_, news.kind, news.namespace_);
            if (mpi) mpi_failed_.Add({}).Increment();
            return;
    }
}

void OperatorMetrics::on_job_removed(const jobs::JobKind& kind, const std::string& namespace_) {
    count_job(deleted_, kind, namespace_);
}

void OperatorMetrics::on_reconcile(const jobs::JobKind& kind, Duration took, bool complete) {
    const Labels labels{{"framework", framework_of(kind)}};
    pass_time_.Add(labels, kPassSeconds).Observe(seconds(took));
    if (!complete) passes_failed_.Add(labels).Increment();
}

void OperatorMetrics::on_request(const kube::RequestSeen& seen) {
    const std::string verb(seen.verb);
    requests_
        .Add({{"verb", verb}, {"resource", seen.resource}, {"code", std::to_string(seen.code)}})
        .Increment();
    request_time_.Add({{"verb", verb}, {"resource", seen.resource}}, kRequestSeconds)
        .Observe(seconds(seen.took));
}

void OperatorMetrics::look_at(const operators::Replica& replica) {
    look_at(replica.works(), replica.queue_depth());
    if (!flow_)
        flow_.emplace(FlowGauges{
            gauges(registry_, "muster_api_window", "How many requests may be in flight.").Add({}),
            gauges(registry_, "muster_api_in_flight", "Requests in flight.").Add({}),
            gauges(registry_, "muster_api_waiting", "Requests that wait for their turn.").Add({})});
    const operators::RequestsNow requests = replica.requests();
    flow_->window.Set(requests.window);
    flow_->in_flight.Set(requests.in_flight);
    flow_->waiting.Set(static_cast<double>(requests.waiting));
}

void OperatorMetrics::look_at(bool works, std::size_t queue_depth) {
    leads_.Set(works ? 1 : 0);
    mpi_leads_.Set(works ? 1 : 0);
    queue_depth_.Set(static_cast<double>(queue_depth));
}

}  // namespace muster::control_plane
