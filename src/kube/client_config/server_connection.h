#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/client_config/client_config.h"
#include "kube/transport/http_transport.h"

namespace muster::kube {

/// Reaches an API server for as long as a program runs, be it for one verb or for months of an
/// operator.
///
/// Each new connection looks up the server's name, reads the files of TLS, and goes through the
/// proxy that the kubeconfig or the environment names. Token files and exec plugins are asked again
/// (see ServerCredentials); after a change of the client's certificate, the old connections serve
/// no further request. A server that vanishes is noticed within half a minute. A failed renewal is
/// logged as a warning, "the credentials for the API server can't be refreshed".
///
/// Thread: the loop of its executor. stop() it before it is destroyed.
class ServerConnection {
  public:
    /// Reads files and runs a plugin, which may ask at the terminal. It blocks, so call it before
    /// the loop runs. `environment`: "NAME=VALUE", for proxies and the plugin. Sends nothing yet.
    static Result<std::unique_ptr<ServerConnection>> open(ClientConfig access,
                                                          std::vector<std::string> environment,
                                                          asio::any_io_executor executor,
                                                          Clock& clock);
    ~ServerConnection();

    const ClientConfig& access() const;
    /// Objects as JSON.
    HttpTransport& objects();
    /// The same server with another Accept field, which must be a form of JSON. Refers to this.
    HttpTransport transport(std::string accept);

    /// Ends everything in progress with kCancelled and returns when nothing is left. That is
    /// immediate but for the system's resolver, which only its own limits end.
    Task<void> stop();

  private:
    struct Parts;

    explicit ServerConnection(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace muster::kube
