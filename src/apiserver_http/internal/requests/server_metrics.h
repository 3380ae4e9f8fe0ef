#pragma once

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apiserver_http/internal/requests/request_record.h"
#include "kube/objects/resource_type.h"

namespace muster::apiserver_http {

/// The metrics that grow with requests, with the names of kube-apiserver. Frequent users should
/// keep their series: finding one costs the comparison of its labels. Thread: one loop.
class ServerMetrics {
  public:
    /// The requests with the same labels.
    class Requests {
      public:
        virtual ~Requests() = default;
        /// One has ended.
        virtual void observe(unsigned status, Duration took) = 0;
        /// Changes the number of long-running requests in progress.
        virtual void add_running(int change) = 0;
    };

    ServerMetrics();
    ~ServerMetrics();

    Requests& requests(const RequestRecord& record);
    /// Events sent to watchers of a resource.
    prometheus::Counter& watch_events(const kube::ResourceType& type);
    prometheus::Counter& authentications(bool success);
    /// Counts a request answered 429 because too many were being served.
    void count_overload(const RequestRecord& record);

    /// All of them and `more`, in Prometheus' text format.
    std::string text(std::span<const std::shared_ptr<prometheus::Collectable>> more) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::apiserver_http
