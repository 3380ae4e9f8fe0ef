#pragma once

#include <string>
#include <string_view>

#include "apiserver_http/audit.h"
#include "apiserver_http/internal/requests/request_record.h"
#include "net/http/http.h"

namespace muster::apiserver_http {

/// The moment of a request at which an event is written: when a long-running one was admitted, and
/// when any request has ended.
enum class AuditStage { kRequestReceived, kResponseComplete };

/// One line of the audit log: an Event of audit.k8s.io/v1, without a line end. Pure. `id` is the
/// same for all lines of a request. At any level, contents of Secrets and tokens are left out.
std::string audit_line(AuditLevel level, AuditStage stage, std::string_view id,
                       const net::HttpRequest& http, const RequestRecord& record,
                       std::optional<unsigned> status, WallTime now);

}  // namespace muster::apiserver_http
