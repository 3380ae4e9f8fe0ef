#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/client_config/client_config.h"
#include "kube/transport/http_transport.h"

namespace muster::kube {

/// The way to an API server that stays good while a program runs: for a verb as for an operator of
/// months.
///
/// Each new connection looks up the server's name, reads the files of TLS, and goes through the
/// proxy that the kubeconfig or the environment names. Token files and exec plugins are asked again
/// (see ServerCredentials); with a new certificate of the client the connections of the old one
/// serve no further request. A server that vanishes is noticed within half a minute. What can't be
/// renewed is a warning in the log, "the credentials for the API server can't be refreshed".
///
/// Thread: the loop of its executor. stop() it before it is destroyed.
class ServerConnection {
  public:
    /// Reads files and runs a plugin, which may ask at the terminal: blocks, so it belongs before
    /// the loop runs. `environment`: "NAME=VALUE", for proxies and the plugin. Nothing is sent yet.
    static Result<std::unique_ptr<ServerConnection>> open(ClientConfig access,
                                                          std::vector<std::string> environment,
                                                          asio::any_io_executor executor,
                                                          Clock& clock);
    ~ServerConnection();

    const ClientConfig& access() const;
    /// Objects as JSON.
    HttpTransport& objects();
    /// The same server with another Accept field; it must be a form of JSON. Refers to this.
    HttpTransport transport(std::string accept);

    /// Ends what is under way with kCancelled and returns when nothing of it is left: at once, but
    /// for the system's resolver, whose own limits end it.
    Task<void> stop();

  private:
    struct Parts;

    explicit ServerConnection(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace muster::kube
