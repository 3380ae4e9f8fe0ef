#pragma once

#include <string>
#include <string_view>

#include "apiserver_http/audit.h"
#include "apiserver_http/internal/requests/request_record.h"
#include "net/http/http.h"

namespace muster::apiserver_http {

/// At what moment of a request an event is written: when one that is meant to go on was let in, and
/// when any is over.
enum class AuditStage { kRequestReceived, kResponseComplete };

/// One line of the audit log: an Event of audit.k8s.io/v1, without a line end. Pure. `id` is the
/// same for all lines of a request. Whatever the level, contents of Secrets and tokens are not in
/// it.
std::string audit_line(AuditLevel level, AuditStage stage, std::string_view id,
                       const net::HttpRequest& http, const RequestRecord& record,
                       std::optional<unsigned> status, WallTime now);

}  // namespace muster::apiserver_http
