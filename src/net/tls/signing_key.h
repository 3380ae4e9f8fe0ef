#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::net {

/// A public key that checks signatures in the form of JSON web signatures (RFC 7518): ES256 with a
/// key on the curve P-256, RS256 with an RSA key. Only the key decides which algorithm is used.
/// Thread: any.
class VerifyingKey {
  public:
    /// The public half, with numbers as big-endian bytes: x and y (32 bytes each) of an elliptic
    /// curve, the modulus and the exponent of RSA.
    struct PublicKey {
        bool elliptic = true;
        std::string first;   ///< x, or the modulus
        std::string second;  ///< y, or the exponent
    };

    virtual ~VerifyingKey() = default;
    /// All keys of a PEM: public ones, certificates, and the public halves of private keys. kInvalid
    /// if there is none, one can't be read, is of another type, or is an RSA key below 2048 bits.
    static Result<std::vector<std::shared_ptr<const VerifyingKey>>> parse_all(std::string_view pem);

    /// "ES256" or "RS256".
    virtual std::string_view algorithm() const = 0;
    /// SHA-256 of the public key's DER, 32 bytes; identifies the key.
    virtual const std::string& fingerprint() const = 0;
    virtual const PublicKey& public_key() const = 0;
    virtual bool verify(std::string_view text, std::string_view signature) const = 0;
};

/// A private key, whose signatures its public half checks. Thread: any.
class SigningKey : public VerifyingKey {
  public:
    /// kInvalid for a PEM that can't be read, another type of key, or RSA below 2048 bits.
    static Result<std::shared_ptr<const SigningKey>> parse(std::string_view pem);

    virtual Result<std::string> sign(std::string_view text) const = 0;
};

/// The PEM of a new key on the curve P-256.
Result<std::string> make_signing_key();

}  // namespace muster::net
