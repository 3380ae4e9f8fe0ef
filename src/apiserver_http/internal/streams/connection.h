#pragma once

#include "apiserver/request_handler.h"
#include "net/http/http_server.h"

namespace muster::apiserver_http {

/// Serves GET and POST of such a subresource, by an upgrade to WebSocket, until the connection
/// ends. If it returns a StatusError, that is the answer; otherwise the exchange was answered.
Task<apiserver::StatusResult<void>> connect_to_pod(net::HttpExchange& exchange,
                                                   apiserver::RequestHandler& handler,
                                                   apiserver::Target target, kube::Request request);

}  // namespace muster::apiserver_http
