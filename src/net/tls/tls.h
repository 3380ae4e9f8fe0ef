#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "net/byte_stream.h"

namespace muster::net {

/// The subject of a certificate that our CA signed.
struct PeerCertificate {
    std::string common_name;
    std::vector<std::string> organizations;

    friend bool operator==(const PeerCertificate&, const PeerCertificate&) = default;
};

/// TLS 1.2 or 1.3 over another stream. The clean end is the other side's close_notify; an end of
/// the stream below without it is an error (kUnavailable). close() does not send close_notify,
/// shut_down_write() does.
class TlsStream : public ByteStream {
  public:
    /// The other side's certificate; for a server, nullopt if the client showed none.
    virtual const std::optional<PeerCertificate>& peer_certificate() const = 0;
    /// "TLSv1.3".
    virtual std::string protocol() const = 0;
};

struct TlsServerOptions {
    std::string certificate_pem;  ///< its chain may follow
    std::string key_pem;
    /// Clients may show a certificate; one of these must have signed it. Empty: none is requested.
    std::string client_ca_pem = {};
    /// The handshake fails for clients that show none.
    bool demand_certificate = false;
};

/// What a server needs for its connections. Outlives them. Offers "http/1.1" to clients that use
/// ALPN.
class TlsServerContext {
  public:
    virtual ~TlsServerContext() = default;
    /// kInvalid if a PEM can't be read or key and certificate do not belong together. `clock`
    /// decides which certificates are valid now.
    static Result<std::unique_ptr<TlsServerContext>> create(const Clock& clock,
                                                            TlsServerOptions options);
    /// The server's side of the handshake. It may take as long as the client likes, and waits for
    /// the handshakes of earlier clients: the caller sets a limit. kUnauthorized if the client's
    /// certificate is not accepted, kUnavailable for everything else.
    virtual Task<Result<std::unique_ptr<TlsStream>>> accept(std::unique_ptr<ByteStream> below) = 0;
};

/// Whose signature makes a server's certificate valid.
enum class Trust {
    kGiven,   ///< only of those in `ca_pem`: authorities of any kind, or the certificate itself
    kSystem,  ///< of those that this machine trusts
    kAnyone,  ///< no certificate is checked: whoever is in between can read and change everything
};

struct TlsClientOptions {
    std::string ca_pem;
    Trust trust = Trust::kGiven;
    /// Shown if the server asks; set both or none.
    std::string certificate_pem = {};
    std::string key_pem = {};
};

/// What a client needs for its connections. Outlives them.
class TlsClientContext {
  public:
    virtual ~TlsClientContext() = default;
    static Result<std::unique_ptr<TlsClientContext>> create(const Clock& clock,
                                                            TlsClientOptions options);
    /// The client's side of the handshake. The server's certificate must name `host`, an IP address
    /// or a DNS name, among its subject alternative names. kUnauthorized when it does not or is not
    /// trusted, kUnavailable for everything else.
    virtual Task<Result<std::unique_ptr<TlsStream>>> connect(std::unique_ptr<ByteStream> below,
                                                             std::string host) = 0;
};

}  // namespace muster::net
