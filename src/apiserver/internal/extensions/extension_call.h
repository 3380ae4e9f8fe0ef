#pragma once

#include <memory>
#include <string>

#include "apiserver/internal/server_state.h"

namespace muster::apiserver {

/// The endpoint of a server at one of the places where its service leads to now.
Task<Result<ExtensionEndpoint>> endpoint_of(ServerState& state, ExtensionServer server);

/// As Go names it in errors: of a service with an external name by that.
std::string url_of(const ExtensionEndpoint& endpoint, const std::string& path);

/// The answer of a server to this server's own request, which has no body: status and body, of
/// less than `most` bytes within `time`. With 0 the status alone.
Task<Result<net::HttpResponse>> ask_extension(ServerState& state, ExtensionEndpoint endpoint,
                                              std::string path, std::size_t most, Duration time,
                                              std::string method = "GET");
/// The same at one of the places where it can be reached now.
Task<Result<net::HttpResponse>> ask_extension(ServerState& state, ExtensionServer server,
                                              std::string path, std::size_t most, Duration time,
                                              std::string method = "GET");

}  // namespace muster::apiserver
