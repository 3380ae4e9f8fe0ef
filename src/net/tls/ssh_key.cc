#include "net/tls/ssh_key.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>

#include <string_view>

#include "net/internal/tls/openssl.h"

namespace muster::net {

namespace {

/// RFC 4251: four bytes of length, then the bytes.
void append_string(std::string& wire, std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    for (const int shift : {24, 16, 8, 0}) wire.push_back(static_cast<char>(size >> shift));
    wire += text;
}

/// The point of the public half, uncompressed (SEC 1).
Result<std::string> public_point(EVP_PKEY* key) {
    std::size_t size = 0;
    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, nullptr, 0,
                                        &size) != 1)
        return openssl_error(Code::kInternal, "reading a public key");
    std::string point(size, '\0');
    if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY,
                                        reinterpret_cast<unsigned char*>(point.data()),
                                        point.size(), &size) != 1)
        return openssl_error(Code::kInternal, "reading a public key");
    return point;
}

}  // namespace

Result<SshKey> make_ssh_key() {
    const PrivateKey key(EVP_EC_gen("P-521"));
    const Bio pem(BIO_new(BIO_s_mem()));
    // Older OpenSSH reads the key's own form ("EC PRIVATE KEY") and not PKCS #8.
    if (!key || !pem ||
        PEM_write_bio_PrivateKey_traditional(pem.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                             nullptr) != 1)
        return openssl_error(Code::kInternal, "making a key for ssh");
    char* data = nullptr;
    const long size = BIO_get_mem_data(pem.get(), &data);
    SshKey made{.private_pem = std::string(data, static_cast<std::size_t>(size)),
                .public_line = {}};

    // RFC 5656.
    constexpr std::string_view kType = "ecdsa-sha2-nistp521";
    std::string wire;
    append_string(wire, kType);
    append_string(wire, "nistp521");
    TRY(const std::string point, public_point(key.get()));
    append_string(wire, point);
    made.public_line = fmt::format("{} {}\n", kType, base64(wire));
    return made;
}

}  // namespace muster::net
