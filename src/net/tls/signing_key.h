#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::net {

/// A private key whose signatures others can check with its public half, in the form of JSON web
/// signatures (RFC 7518): ES256 with a key on the curve P-256, RS256 with an RSA key. Only the key
/// decides which algorithm is used. Thread: any.
class SigningKey {
  public:
    /// The public half, with numbers as big-endian bytes: x and y (32 bytes each) of an elliptic
    /// curve, the modulus and the exponent of RSA.
    struct PublicKey {
        bool elliptic = true;
        std::string first;   ///< x, or the modulus
        std::string second;  ///< y, or the exponent
    };

    virtual ~SigningKey() = default;
    /// kInvalid for a PEM that can't be read, another type of key, or RSA below 2048 bits.
    static Result<std::shared_ptr<const SigningKey>> parse(std::string_view pem);

    /// "ES256" or "RS256".
    virtual std::string_view algorithm() const = 0;
    /// SHA-256 of the public key's DER, 32 bytes; identifies the key.
    virtual const std::string& fingerprint() const = 0;
    virtual const PublicKey& public_key() const = 0;
    virtual Result<std::string> sign(std::string_view text) const = 0;
    virtual bool verify(std::string_view text, std::string_view signature) const = 0;
};

/// The PEM of a new key on the curve P-256.
Result<std::string> make_signing_key();

}  // namespace muster::net
