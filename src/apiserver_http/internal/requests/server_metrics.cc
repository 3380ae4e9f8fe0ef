#include "apiserver_http/internal/requests/server_metrics.h"

#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <tuple>

namespace muster::apiserver_http {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using prometheus::MetricFamily;

/// kube-apiserver's bounds, in seconds.
const Histogram::BucketBoundaries kDurations{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8,
                                             1,     1.25,  1.5,  2,   3,   4,   5,   6,
                                             8,     10,    15,   20,  30,  45,  60};

struct Families {
    explicit Families(prometheus::Registry& registry)
        : requests(prometheus::BuildCounter()
                       .Name("apiserver_request_total")
                       .Help("Requests over HTTP that were answered.")
                       .Register(registry)),
          durations(prometheus::BuildHistogram()
                        .Name("apiserver_request_duration_seconds")
                        .Help("From the end of a request's body to the end of its handling.")
                        .Register(registry)),
          running(prometheus::BuildGauge()
                      .Name("apiserver_longrunning_requests")
                      .Help("Watches, logs and connections to pods that go on at the moment.")
                      .Register(registry)),
          watch_events(prometheus::BuildCounter()
                           .Name("apiserver_watch_events_total")
                           .Help("Events sent to watchers over HTTP.")
                           .Register(registry)),
          authentications(prometheus::BuildCounter()
                              .Name("authentication_attempts")
                              .Help("Requests whose sender was found out, or not.")
                              .Register(registry)),
          terminations(prometheus::BuildCounter()
                           .Name("apiserver_request_terminations_total")
                           .Help("Requests refused since too many were being served.")
                           .Register(registry)) {}

    Family<Counter>& requests;
    Family<Histogram>& durations;
    Family<Gauge>& running;
    Family<Counter>& watch_events;
    Family<Counter>& authentications;
    Family<Counter>& terminations;
};

/// The labels of requests, ordered so that most requests differ early.
using RequestKey =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, bool>;
using RequestView = std::tuple<std::string_view, std::string_view, std::string_view,
                               std::string_view, std::string_view, std::string_view, bool>;

RequestView view_of(const RequestRecord& record) {
    return {metric_resource(record), metric_verb(record),        metric_scope(record),
            record.action.group,     metric_subresource(record), record.version,
            record.dry_run};
}

Labels labels_of(const RequestRecord& record) {
    return {{"component", "apiserver"},
            {"verb", std::string(metric_verb(record))},
            {"group", record.action.group},
            {"version", record.version},
            {"resource", std::string(metric_resource(record))},
            {"subresource", std::string(metric_subresource(record))},
            {"scope", std::string(metric_scope(record))}};
}

class RequestSeries final : public ServerMetrics::Requests {
  public:
    RequestSeries(Families& families, const RequestRecord& record)
        : families_(families), labels_(labels_of(record)) {
        if (record.long_running) running_ = &families_.running.Add(labels_);
        // Only these have the label, as in a real server.
        labels_["dry_run"] = record.dry_run ? "All" : "";
        durations_ = &families_.durations.Add(labels_, kDurations);
    }

    void observe(unsigned status, Duration took) override {
        durations_->Observe(std::chrono::duration<double>(took).count());
        Counter*& counter = by_status_[status];
        if (counter == nullptr) {
            Labels labels = labels_;
            labels["code"] = std::to_string(status);
            counter = &families_.requests.Add(labels);
        }
        counter->Increment();
    }
    void add_running(int change) override {
        if (running_ != nullptr) running_->Increment(change);
    }

  private:
    Families& families_;
    Labels labels_;
    Histogram* durations_ = nullptr;
    Gauge* running_ = nullptr;
    std::map<unsigned, Counter*> by_status_;
};

}  // namespace

struct ServerMetrics::Impl {
    prometheus::Registry registry;
    Families families{registry};
    std::map<RequestKey, RequestSeries, std::less<>> requests;
    Counter* authenticated = &families.authentications.Add({{"result", "success"}});
    Counter* not_authenticated = &families.authentications.Add({{"result", "failure"}});
};

ServerMetrics::ServerMetrics() : impl_(std::make_unique<Impl>()) {}

ServerMetrics::~ServerMetrics() = default;

ServerMetrics::Requests& ServerMetrics::requests(const RequestRecord& record) {
    const RequestView view = view_of(record);
    auto found = impl_->requests.find(view);
    if (found == impl_->requests.end())
        found = impl_->requests.try_emplace(RequestKey(view), impl_->families, record).first;
    return found->second;
}

prometheus::Counter& ServerMetrics::watch_events(const kube::ResourceType& type) {
    return impl_->families.watch_events.Add(
        {{"group", type.group}, {"version", type.version}, {"kind", type.kind}});
}

prometheus::Counter& ServerMetrics::authentications(bool success) {
    return success ? *impl_->authenticated : *impl_->not_authenticated;
}

void ServerMetrics::count_overload(const RequestRecord& record) {
    Labels labels = labels_of(record);
    labels["code"] = "429";
    impl_->families.terminations.Add(labels).Increment();
}

std::string ServerMetrics::text(
    std::span<const std::shared_ptr<prometheus::Collectable>> more) const {
    std::vector<MetricFamily> all = impl_->registry.Collect();
    for (const std::shared_ptr<prometheus::Collectable>& one : more)
        for (MetricFamily& family : one->Collect()) all.push_back(std::move(family));
    // A family without counts has no line to describe.
    std::erase_if(all, [](const MetricFamily& family) { return family.metric.empty(); });
    return prometheus::TextSerializer().Serialize(all);
}

}  // namespace muster::apiserver_http
