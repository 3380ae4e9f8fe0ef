#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "apiserver/request_handler.h"
#include "apiserver_http/internal/requests/incoming.h"

namespace muster::apiserver_http {

/// The extension server that serves a path: one below /apis/GROUP/VERSION, or the OpenAPI document
/// of such a version.
std::optional<apiserver::ExtensionServer> extension_server(
    const apiserver::ExtensionServers& extensions, std::string_view path);

/// Fills in the data of a request that is passed on.
void describe_forwarded(RequestRecord& record, const apiserver::ExtensionServer& server,
                        const kube::Request& request, const net::HttpHeaders& headers);

/// Passes requests on to extension servers, and their answers back piece by piece. Requests with an
/// end get a minute, and a number of them for each server and for all together, so that servers
/// that do not answer leave room for what is served here. Refers to the handler. Thread: the
/// server's loop.
class ExtensionProxy {
  public:
    explicit ExtensionProxy(apiserver::RequestHandler& handler) : handler_(handler) {}

    /// For a request that is authorized, whose body may not have been read.
    Task<apiserver::StatusResult<void>> serve(Incoming& incoming,
                                              apiserver::ExtensionServer server);

  private:
    /// A request with an end, while it is served.
    class Place;

    Task<void> pass_on(Incoming& incoming, apiserver::ExtensionEndpoint endpoint,
                       net::HttpRequest request);
    Task<void> connect(Incoming& incoming, apiserver::ExtensionEndpoint endpoint,
                       net::HttpRequest request);

    apiserver::RequestHandler& handler_;
    std::map<std::string, std::size_t> served_;  ///< by NAMESPACE/SERVICE
    std::size_t all_served_ = 0;
};

}  // namespace muster::apiserver_http
