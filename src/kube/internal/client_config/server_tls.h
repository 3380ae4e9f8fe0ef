#pragma once

#include <memory>
#include <string>

#include "kube/client_config/client_config.h"
#include "net/tls/tls.h"

namespace muster::kube {

/// What TLS to a server needs, from files in their present state; other programs may replace them.
/// Thread: one loop.
class ServerTls {
  public:
    /// Reads the files. `through_tls`: there is a proxy that speaks TLS. An error says which file
    /// can't be used.
    static Result<std::unique_ptr<ServerTls>> open(const ClientConfig& access, const Clock& clock,
                                                   bool through_tls);

    /// The CAs of the server, as PEM; empty: those that this machine trusts.
    const std::string& ca_pem() const { return texts_.ca; }
    bool has_certificate() const { return !texts_.certificate.empty(); }

    /// Uses this certificate from a plugin from now on. True if it differs from the one before.
    Result<bool> show(std::string certificate_pem, std::string key_pem);
    /// Reads the files again. True if the client's certificate differs from the one before. If the
    /// files can't be used, for example because they are just being replaced, the old ones stay.
    Result<bool> refresh();

    /// For a new connection to the server, which keeps it; null without TLS.
    std::shared_ptr<net::TlsClientContext> to_server() const { return to_server_; }
    /// For a connection to a proxy, which is verified like the server but gets no client
    /// certificate; null without such a proxy.
    std::shared_ptr<net::TlsClientContext> to_proxy() const { return to_proxy_; }

  private:
    struct Texts {
        std::string ca;
        std::string certificate;
        std::string key;
        friend bool operator==(const Texts&, const Texts&) = default;
    };

    ServerTls(const ClientConfig& access, const Clock& clock, bool through_tls)
        : access_(access), clock_(clock), through_tls_(through_tls) {}
    Result<Texts> read() const;
    /// True if the client's certificate differs from the one before.
    Result<bool> take(Texts texts);

    const ClientConfig access_;
    const Clock& clock_;
    const bool through_tls_;
    bool taken_ = false;
    Texts texts_;
    std::shared_ptr<net::TlsClientContext> to_server_;
    std::shared_ptr<net::TlsClientContext> to_proxy_;
};

}  // namespace muster::kube
