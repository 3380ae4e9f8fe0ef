#pragma once

#include "net/http/http_client.h"

namespace muster::net {

/// A request on a connection of its own, which is closed afterwards, also when whoever asks is
/// cancelled. As HttpClient::call().
Task<Result<HttpResponse>> call_once(asio::any_io_executor executor, Clock& clock,
                                     HttpConnector connect, HttpClientOptions options,
                                     HttpRequest request, Duration time);

}  // namespace muster::net
