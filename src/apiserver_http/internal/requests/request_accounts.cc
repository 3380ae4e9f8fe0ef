#include "apiserver_http/internal/requests/request_accounts.h"

#include "apiserver/authentication/authentication.h"
#include "base/unexpected.h"

namespace muster::apiserver_http {

namespace {

/// For a request that was cut off before it had an answer, because the server stops.
constexpr unsigned kUnanswered = 503;

}  // namespace

RequestAccounts::Entry::Entry(RequestAccounts& accounts, net::HttpExchange& exchange)
    : accounts_(accounts), exchange_(exchange) {
    record.received = accounts.clock_.wall_now();
    record.begun = accounts.clock_.now();
}

RequestAccounts::Entry::~Entry() {
    if (place_ != nullptr) --*place_;
    if (running_ != nullptr) running_->add_running(-1);
    if (record.authenticated) accounts_.metrics_.authentications(*record.authenticated).Increment();
    const unsigned status = exchange_.answered() ? exchange_.status() : kUnanswered;
    contained("accounts of a request", [&] {
        accounts_.metrics_.requests(record).observe(status, accounts_.clock_.now() - record.begun);
        audit(AuditStage::kResponseComplete, status);
    });
}

void RequestAccounts::Entry::announce() {
    if (record.long_running) audit(AuditStage::kRequestReceived, std::nullopt);
}

void RequestAccounts::Entry::audit(AuditStage stage, std::optional<unsigned> status) {
    const AuditOptions& options = accounts_.audit_;
    if (options.sink == nullptr) return;
    if (audit_id_.empty()) audit_id_ = accounts_.rng_.uuid();
    options.sink->write(audit_line(options.level, stage, audit_id_, exchange_.request(), record,
                                   status, accounts_.clock_.wall_now()));
}

bool RequestAccounts::Entry::admit() {
    if (record.long_running) {
        running_ = &accounts_.metrics_.requests(record);
        running_->add_running(1);
        return true;
    }
    const bool reads = record.is_read_only();
    std::size_t& served = reads ? accounts_.read_only_ : accounts_.mutating_;
    const std::size_t limit = reads ? accounts_.limits_.read_only : accounts_.limits_.mutating;
    // Administrators have to get through to an overloaded server.
    if (limit > 0 && served >= limit && !record.served_user().in_group(apiserver::kMasters)) {
        accounts_.metrics_.count_overload(record);
        return false;
    }
    place_ = &served;
    ++*place_;
    return true;
}

prometheus::MetricFamily RequestAccounts::in_flight() const {
    return family("apiserver_current_inflight_requests",
                  "Requests being served, without those that are meant to go on.",
                  prometheus::MetricType::Gauge, "request_kind",
                  {{"mutating", static_cast<double>(mutating_)},
                   {"readOnly", static_cast<double>(read_only_)}});
}

}  // namespace muster::apiserver_http
