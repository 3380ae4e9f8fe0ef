#pragma once

#include "control_plane/operator_metrics.h"
#include "net/http/http_server.h"
#include "operator/replica.h"

namespace muster::cli {

/// Answers /healthz, /livez and /readyz: 200 "ok", or 503 with the reason. It is healthy unless a
/// restart would help; an API server that is away is no reason.
Task<void> answer_health(net::HttpExchange& exchange, const operators::Replica& replica);

/// Answers /metrics.
Task<void> answer_metrics(net::HttpExchange& exchange, const operators::Replica& replica,
                          control_plane::OperatorMetrics& metrics);

}  // namespace muster::cli
