#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/tls/tls.h"

namespace muster::net {

/// TLS 1.3 between programs that share one secret, without certificates and names. Each side proves
/// to the other that it knows the secret, and neither sends it: the proofs are HMACs over
/// everything that both have sent. Keys are fresh for each connection (Diffie-Hellman), so a
/// recorded connection can neither be replayed nor read, even if the secret leaks later.
///
/// It does not tell which of those who know the secret the other side is.
class SharedKeyTls {
  public:
    static constexpr std::size_t kLeastBytes = 32;

    virtual ~SharedKeyTls() = default;
    /// kInvalid for a secret of fewer than kLeastBytes, which could be guessed. Purposes separate
    /// connections: a client with one purpose is refused by a server with another, even with the
    /// same secret.
    static Result<std::unique_ptr<SharedKeyTls>> create(std::string_view secret,
                                                        std::string_view purpose);

    // Each returns when the other side has proved itself. kUnauthorized if it does not know the
    // secret or speaks another protocol; kUnavailable if the connection broke. The other side may
    // take any time: the caller sets a limit. This object outlives them.

    /// The server's side.
    virtual Task<Result<std::unique_ptr<TlsStream>>> accept(std::unique_ptr<ByteStream> below) = 0;
    /// The client's side.
    virtual Task<Result<std::unique_ptr<TlsStream>>> connect(std::unique_ptr<ByteStream> below) = 0;
};

/// For a program that runs in foreign file systems; to be called before anything else of TLS.
/// OpenSSL's configuration there may name modules, which a static program must not load.
void ignore_openssl_configuration();

}  // namespace muster::net
