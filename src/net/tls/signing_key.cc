#include "net/tls/signing_key.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include "net/internal/tls/openssl.h"

namespace muster::net {

namespace {

using Number = std::unique_ptr<BIGNUM, OpensslFree<BN_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using EllipticSignature = std::unique_ptr<ECDSA_SIG, OpensslFree<ECDSA_SIG_free>>;

constexpr std::size_t kPartBytes = 32;  ///< of a number on P-256
constexpr int kLeastRsaBits = 2048;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

/// Padded with leading zeros to `width` bytes.
Result<std::string> big_endian(const BIGNUM* number, std::size_t width) {
    std::string bytes(width, '\0');
    if (BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
                     static_cast<int>(width)) < 0)
        return openssl_error(Code::kInternal, "writing a number");
    return bytes;
}

Result<std::string> parameter(EVP_PKEY* key, const char* name, std::size_t width) {
    BIGNUM* raw = nullptr;
    if (EVP_PKEY_get_bn_param(key, name, &raw) != 1)
        return openssl_error(Code::kInvalid, "reading a public key");
    const Number number(raw);
    return big_endian(raw,
                      width == 0 ? static_cast<std::size_t>(BN_num_bytes(number.get())) : width);
}

/// A JWS has r and s next to each other, OpenSSL has them in DER.
Result<std::string> from_der(std::string_view der) {
    const unsigned char* at = bytes_of(der);
    const EllipticSignature parts(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
    if (!parts) return openssl_error(Code::kInternal, "reading a signature");
    TRY(std::string both, big_endian(ECDSA_SIG_get0_r(parts.get()), kPartBytes));
    TRY(const std::string s, big_endian(ECDSA_SIG_get0_s(parts.get()), kPartBytes));
    return both + s;
}

std::optional<std::string> to_der(std::string_view both) {
    if (both.size() != 2 * kPartBytes) return std::nullopt;
    const EllipticSignature parts(ECDSA_SIG_new());
    Number r(BN_bin2bn(bytes_of(both), kPartBytes, nullptr));
    Number s(BN_bin2bn(bytes_of(both.substr(kPartBytes)), kPartBytes, nullptr));
    if (!parts || !r || !s || ECDSA_SIG_set0(parts.get(), r.get(), s.get()) != 1)
        return std::nullopt;
    std::ignore = r.release();
    std::ignore = s.release();
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(parts.get(), &der);
    if (size <= 0) return std::nullopt;
    std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
    return text;
}

class OpensslSigningKey final : public SigningKey {
  public:
    OpensslSigningKey(PrivateKey key, PublicKey public_key, std::string fingerprint)
        : key_(std::move(key)),
          public_(std::move(public_key)),
          fingerprint_(std::move(fingerprint)) {}

    std::string_view algorithm() const override { return public_.elliptic ? "ES256" : "RS256"; }
    const std::string& fingerprint() const override { return fingerprint_; }
    const PublicKey& public_key() const override { return public_; }

    Result<std::string> sign(std::string_view text) const override {
        const Digest digest(EVP_MD_CTX_new());
        std::size_t size = 0;
        if (!digest ||
            EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) != 1 ||
            EVP_DigestSign(digest.get(), nullptr, &size, bytes_of(text), text.size()) != 1)
            return openssl_error(Code::kInternal, "signing");
        std::string signature(size, '\0');
        if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                           bytes_of(text), text.size()) != 1)
            return openssl_error(Code::kInternal, "signing");
        signature.resize(size);
        if (!public_.elliptic) return signature;
        return from_der(signature);
    }

    bool verify(std::string_view text, std::string_view signature) const override {
        std::string given(signature);
        if (public_.elliptic) {
            std::optional<std::string> der = to_der(signature);
            if (!der) return false;
            given = *std::move(der);
        }
        const Digest digest(EVP_MD_CTX_new());
        const bool good =
            digest &&
            EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
            EVP_DigestVerify(digest.get(), bytes_of(given), given.size(), bytes_of(text),
                             text.size()) == 1;
        // A wrong signature must not appear as the error of this thread's next call.
        if (!good) std::ignore = openssl_error(Code::kUnauthorized, "");
        return good;
    }

  private:
    PrivateKey key_;
    PublicKey public_;
    std::string fingerprint_;
};

Result<std::string> fingerprint_of(EVP_PKEY* key) {
    unsigned char* der = nullptr;
    const int size = i2d_PUBKEY(key, &der);
    if (size <= 0) return openssl_error(Code::kInternal, "writing a public key");
    std::string hash(SHA256_DIGEST_LENGTH, '\0');
    SHA256(der, static_cast<std::size_t>(size), reinterpret_cast<unsigned char*>(hash.data()));
    OPENSSL_free(der);
    return hash;
}

Result<std::shared_ptr<const OpensslSigningKey>> make_key(PrivateKey key) {
    VerifyingKey::PublicKey half;
    char group[32] = {};
    if (EVP_PKEY_is_a(key.get(), "EC") == 1) {
        if (EVP_PKEY_get_group_name(key.get(), group, sizeof group, nullptr) != 1 ||
            std::string_view(group) != "prime256v1")
            return Error(Code::kInvalid, "a key on an elliptic curve has to be on P-256");
        TRY(half.first, parameter(key.get(), OSSL_PKEY_PARAM_EC_PUB_X, kPartBytes));
        TRY(half.second, parameter(key.get(), OSSL_PKEY_PARAM_EC_PUB_Y, kPartBytes));
    } else if (EVP_PKEY_is_a(key.get(), "RSA") == 1) {
        if (EVP_PKEY_get_bits(key.get()) < kLeastRsaBits)
            return Error(Code::kInvalid, "an RSA key has to have at least 2048 bits");
        half.elliptic = false;
        TRY(half.first, parameter(key.get(), OSSL_PKEY_PARAM_RSA_N, 0));
        TRY(half.second, parameter(key.get(), OSSL_PKEY_PARAM_RSA_E, 0));
    } else {
        return Error(Code::kInvalid, "a signing key is one on the curve P-256, or an RSA key");
    }
    TRY(std::string fingerprint, fingerprint_of(key.get()));
    return std::make_shared<const OpensslSigningKey>(std::move(key), std::move(half),
                                                     std::move(fingerprint));
}

void free_openssl(void* memory) { OPENSSL_free(memory); }
using OpensslText = std::unique_ptr<char, OpensslFree<free_openssl>>;
using OpensslBytes = std::unique_ptr<unsigned char, OpensslFree<free_openssl>>;

bool is_certificate(std::string_view type) { return type == PEM_STRING_X509; }

/// The key in a block of a PEM; null, with OpenSSL's errors, if it has none that can be read.
PrivateKey key_of_block(std::string_view type, const unsigned char* der, long size) {
    if (is_certificate(type)) {
        const Certificate certificate(d2i_X509(nullptr, &der, size));
        return PrivateKey(certificate ? X509_get_pubkey(certificate.get()) : nullptr);
    }
    if (type == PEM_STRING_PUBLIC) return PrivateKey(d2i_PUBKEY(nullptr, &der, size));
    if (type == PEM_STRING_RSA_PUBLIC)
        return PrivateKey(d2i_PublicKey(EVP_PKEY_RSA, nullptr, &der, size));
    return PrivateKey(d2i_AutoPrivateKey(nullptr, &der, size));
}

}  // namespace

Result<std::shared_ptr<const SigningKey>> SigningKey::parse(std::string_view pem) {
    TRY(PrivateKey key, parse_private_key(pem));
    return make_key(std::move(key));
}

Result<std::vector<std::shared_ptr<const VerifyingKey>>> VerifyingKey::parse_all(
    std::string_view pem) {
    std::vector<std::shared_ptr<const VerifyingKey>> keys;
    const Bio bio = read_only_bio(pem);
    ERR_clear_error();
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    while (bio && PEM_read_bio(bio.get(), &name, &header, &data, &size) == 1) {
        const OpensslText owned_name(name);
        const OpensslText owned_header(header);
        const OpensslBytes owned(data);
        // Beside a key on a curve there may be the curve's parameters.
        if (!std::string_view(name).ends_with("KEY") && !is_certificate(name)) continue;
        PrivateKey key = key_of_block(name, data, size);
        if (!key)
            return openssl_error(Code::kInvalid,
                                 fmt::format("reading a key of the type \"{}\"", name));
        TRY(std::shared_ptr<const VerifyingKey> made, make_key(std::move(key)));
        keys.push_back(std::move(made));
    }
    ERR_clear_error();  // the end of the PEM is reported as an error
    if (keys.empty()) return Error(Code::kInvalid, "there is no key in it");
    return keys;
}

Result<std::string> make_signing_key() {
    const PrivateKey key(EVP_EC_gen("P-256"));
    const Bio out(BIO_new(BIO_s_mem()));
    char* data = nullptr;
    if (!key || !out ||
        PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
        return openssl_error(Code::kInternal, "making a signing key");
    const long size = BIO_get_mem_data(out.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace muster::net
