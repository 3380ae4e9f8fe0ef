#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/tls/tls.h"

namespace muster::net {

/// TLS 1.3 between programs that know one secret, without certificates and names. Each side proves
/// to the other that it knows the secret, and neither sends it: the proofs are HMACs over all that
/// both have said. Keys are fresh for each connection (Diffie-Hellman), so that whoever recorded
/// one can neither play it again nor read it, even when the secret comes out later.
///
/// It says nothing about which of those who know the secret the other one is.
class SharedKeyTls {
  public:
    static constexpr std::size_t kLeastBytes = 32;

    virtual ~SharedKeyTls() = default;
    /// kInvalid for a secret of fewer than kLeastBytes, which could be guessed. Two purposes of one
    /// secret have nothing in common: a client of the one is refused by a server of the other.
    static Result<std::unique_ptr<SharedKeyTls>> create(std::string_view secret,
                                                        std::string_view purpose);

    // Each returns when the other side has proved itself. kUnauthorized when it does not know the
    // secret, or speaks another protocol; kUnavailable when the connection broke. They may wait as
    // long as the other side likes: whoever calls sets a limit. This object outlives them.

    /// The server's side.
    virtual Task<Result<std::unique_ptr<TlsStream>>> accept(std::unique_ptr<ByteStream> below) = 0;
    /// The client's side.
    virtual Task<Result<std::unique_ptr<TlsStream>>> connect(std::unique_ptr<ByteStream> below) = 0;
};

/// For a program that runs among the files of others, before anything else of TLS: OpenSSL's own
/// configuration may name modules, which a static program must not load.
void ignore_openssl_configuration();

}  // namespace muster::net
