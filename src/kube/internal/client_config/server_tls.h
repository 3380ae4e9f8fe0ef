#pragma once

#include <memory>
#include <string>

#include "kube/client_config/client_config.h"
#include "net/tls/tls.h"

namespace muster::kube {

/// What TLS to a server needs: of files as they are now, which programs beside us exchange.
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

    /// Shows this certificate, which a plugin gave, from now on. Whether it is another than before.
    Result<bool> show(std::string certificate_pem, std::string key_pem);
    /// Reads the files again. Whether the client's certificate is another than before. Files that
    /// can't be used leave what was, as those do that are just being exchanged.
    Result<bool> refresh();

    /// For a new connection to the server, which keeps it; null without TLS.
    std::shared_ptr<net::TlsClientContext> to_server() const { return to_server_; }
    /// To a proxy, which is trusted for what the server is trusted for and is not shown who we are;
    /// null without such a proxy.
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
    /// Whether the client's certificate is another than before.
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
