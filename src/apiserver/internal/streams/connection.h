#pragma once

#include <string_view>

#include "apiserver/internal/refusal.h"
#include "apiserver/internal/router.h"
#include "apiserver/internal/server_state.h"
#include "net/http_server.h"

namespace muster::apiserver {

/// Whether a subresource of pods is a connection to the pod and not a request with an answer.
bool is_connection(std::string_view subresource);

/// Serves GET and POST of such a subresource, by an upgrade to WebSocket, until the connection
/// ends. A Refusal is to be answered; otherwise the exchange was.
Task<Answer<void>> connect_to_pod(net::HttpExchange& exchange, ServerState& state, Target target,
                                  kube::Request request);

}  // namespace muster::apiserver
