#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "net/tls/tls.h"

namespace muster::net {

/// A certificate and its private key, both PEM. Keys are ECDSA P-256.
struct KeyPair {
    std::string certificate;
    std::string key;
};

struct Validity {
    WallTime from;
    WallTime until;
};

/// A certificate authority that signs only leaf certificates. Errors of all these functions:
/// kInvalid for invalid arguments, kInternal if OpenSSL fails.
Result<KeyPair> make_ca(std::string_view common_name, Validity validity);

struct ServerNames {
    std::vector<std::string> addresses;  ///< IPv4 and IPv6
    std::vector<std::string> dns_names;
};
/// For servers. At least one name is needed.
Result<KeyPair> sign_server_certificate(const KeyPair& ca, std::string_view common_name,
                                        const ServerNames& names, Validity validity);
/// For clients: a user and its groups, as Kubernetes reads them.
Result<KeyPair> sign_client_certificate(const KeyPair& ca, const PeerCertificate& subject,
                                        Validity validity);

/// When the first certificate of a PEM expires.
Result<WallTime> certificate_expiry(std::string_view certificate_pem);
/// The addresses and DNS names of the first certificate of a PEM.
Result<ServerNames> certificate_names(std::string_view certificate_pem);
/// Whether the first certificate's public key is that of `key_pem`.
Result<bool> key_belongs(std::string_view certificate_pem, std::string_view key_pem);
/// Whether the first certificate of a PEM has the signature of the first one of `ca_pem`.
Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view ca_pem);

/// From OpenSSL's generator, which the kernel seeds.
Result<std::string> random_bytes(std::size_t count);
/// `bytes` random bytes as lower-case hexadecimal digits.
Result<std::string> random_token(std::size_t bytes = 32);

}  // namespace muster::net
