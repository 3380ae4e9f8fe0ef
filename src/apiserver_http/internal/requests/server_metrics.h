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

/// The numbers that grow with requests, named as kube-apiserver names them. Whoever counts often
/// keeps what it counts with: finding a series costs the comparison of its labels. Thread: one
/// loop.
class ServerMetrics {
  public:
    /// The requests of one kind: everything about them that is a label.
    class Requests {
      public:
        virtual ~Requests() = default;
        /// One has ended.
        virtual void observe(unsigned status, Duration took) = 0;
        /// Of those that are meant to go on: so many more are there now.
        virtual void add_running(int change) = 0;
    };

    ServerMetrics();
    ~ServerMetrics();

    Requests& requests(const RequestRecord& record);
    /// Events sent to watchers of a resource.
    prometheus::Counter& watch_events(const kube::ResourceType& type);
    prometheus::Counter& authentications(bool success);
    /// Requests that were answered 429 since too many were being served.
    void count_overload(const RequestRecord& record);

    /// All of them and `more`, in Prometheus' text format.
    std::string text(std::span<const std::shared_ptr<prometheus::Collectable>> more) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::apiserver_http
