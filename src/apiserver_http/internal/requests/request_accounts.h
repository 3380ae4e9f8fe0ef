#pragma once

#include <array>
#include <string>
#include <vector>

#include "apiserver_http/audit.h"
#include "apiserver_http/internal/requests/audit_event.h"
#include "apiserver_http/internal/requests/request_record.h"
#include "apiserver_http/internal/requests/server_metrics.h"
#include "apiserver_http/metric_family.h"
#include "apiserver_http/request_limits.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "net/http/http_server.h"

namespace muster::apiserver_http {

/// Keeps track of the requests being served: limits their number, and counts and records them when
/// they end. Thread: the server's loop.
class RequestAccounts {
  public:
    RequestAccounts(Clock& clock, Rng& rng, RequestLimits limits, AuditOptions audit)
        : clock_(clock), rng_(rng), limits_(limits), audit_(audit) {}

    /// One request from its arrival to its end in any form. Data about it are collected in
    /// `record`.
    class Entry {
      public:
        Entry(RequestAccounts& accounts, net::HttpExchange& exchange);
        ~Entry();
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

        /// To be called once action and user are known, at most once. False: too many are being
        /// served.
        bool admit();
        /// The request was admitted. If it is long-running, the audit log records that before its
        /// end.
        void announce();

        RequestRecord record;

      private:
        void audit(AuditStage stage, std::optional<unsigned> status);

        RequestAccounts& accounts_;
        net::HttpExchange& exchange_;
        std::size_t* place_ = nullptr;  ///< count of requests being served
        ServerMetrics::Requests* running_ = nullptr;
        std::string audit_id_;
    };

    ServerMetrics& metrics() { return metrics_; }
    /// How many requests are being served now.
    prometheus::MetricFamily in_flight() const;

  private:
    Clock& clock_;
    Rng& rng_;
    RequestLimits limits_;
    AuditOptions audit_;
    ServerMetrics metrics_;
    std::size_t read_only_ = 0;
    std::size_t mutating_ = 0;
};

}  // namespace muster::apiserver_http
