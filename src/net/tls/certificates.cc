#include "net/tls/certificates.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <boost/asio/ip/address.hpp>
#include <climits>
#include <ctime>

#include "net/internal/tls/openssl.h"

namespace muster::net {

namespace {

using Name = std::unique_ptr<X509_NAME, OpensslFree<X509_NAME_free>>;
using Number = std::unique_ptr<BIGNUM, OpensslFree<BN_free>>;

/// RFC 5280, appendix A: ub-common-name and ub-organization-name.
constexpr std::size_t kMaxNamePart = 64;

Error failed(std::string_view what) { return openssl_error(Code::kInternal, what); }

Result<Name> make_name(std::string_view common_name,
                       const std::vector<std::string>& organizations) {
    Name name(X509_NAME_new());
    if (!name) return failed("making a name");
    const auto add = [&](int kind, std::string_view text) -> Result<void> {
        if (text.empty() || text.size() > kMaxNamePart)
            return Error(
                Code::kInvalid,
                fmt::format("a name in a certificate has 1 to {} bytes: {}", kMaxNamePart, text));
        if (X509_NAME_add_entry_by_NID(name.get(), kind, MBSTRING_UTF8,
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()), -1, 0) != 1)
            return openssl_error(Code::kInvalid, fmt::format("\"{}\" as a name", text));
        return {};
    };
    for (const std::string& organization : organizations)
        TRY_VOID(add(NID_organizationName, organization));
    TRY_VOID(add(NID_commonName, common_name));
    return name;
}

Result<void> add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    using Extension = std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>>;
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1)
        return failed("adding an extension to a certificate");
    return {};
}

Result<void> add_alternative_names(X509* certificate, const ServerNames& names) {
    const AlternativeNames list(sk_GENERAL_NAME_new_null());
    if (!list) return failed("making alternative names");
    const auto add = [&](int kind, const std::string& bytes) -> Result<void> {
        GENERAL_NAME* name = GENERAL_NAME_new();
        ASN1_STRING* value = kind == GEN_IPADD ? ASN1_OCTET_STRING_new()
                                               : static_cast<ASN1_STRING*>(ASN1_IA5STRING_new());
        if (name == nullptr || value == nullptr ||
            ASN1_STRING_set(value, bytes.data(), static_cast<int>(bytes.size())) != 1) {
            GENERAL_NAME_free(name);
            ASN1_STRING_free(value);
            return failed("making an alternative name");
        }
        GENERAL_NAME_set0_value(name, kind, value);
        if (sk_GENERAL_NAME_push(list.get(), name) <= 0) {
            GENERAL_NAME_free(name);
            return failed("making an alternative name");
        }
        return {};
    };
    for (const std::string& address : names.addresses) {
        boost::system::error_code error;
        const auto parsed = asio::ip::make_address(address, error);
        if (error)
            return Error(Code::kInvalid, fmt::format("\"{}\" is not an IP address", address));
        std::string bytes;
        if (parsed.is_v4()) {
            const auto raw = parsed.to_v4().to_bytes();
            bytes.assign(raw.begin(), raw.end());
        } else {
            const auto raw = parsed.to_v6().to_bytes();
            bytes.assign(raw.begin(), raw.end());
        }
        TRY_VOID(add(GEN_IPADD, bytes));
    }
    for (const std::string& name : names.dns_names) {
        const bool plain = !name.empty() && name.size() <= 253 &&
                           name.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.*_") == std::string::npos;
        if (!plain) return Error(Code::kInvalid, fmt::format("\"{}\" is not a DNS name", name));
        TRY_VOID(add(GEN_DNS, name));
    }
    if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, 0) != 1)
        return failed("adding the alternative names");
    return {};
}

Result<void> set_times(X509* certificate, const Validity& validity) {
    if (validity.from >= validity.until)
        return Error(Code::kInvalid, "a certificate ends before it begins");
    const auto seconds = [](WallTime time) {
        return static_cast<std::time_t>(
            std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
    };
    if (ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(validity.from)) == nullptr ||
        ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(validity.until)) == nullptr)
        return failed("setting the times of a certificate");
    return {};
}

/// A certificate without extensions and signature: a random serial number of 127 bits, never 0.
Result<Certificate> begin_certificate(X509_NAME* subject, X509_NAME* issuer, EVP_PKEY* key,
                                      const Validity& validity) {
    Certificate certificate(X509_new());
    const Number serial(BN_new());
    if (!certificate || !serial || X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
        BN_rand(serial.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) != 1 ||
        BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get())) == nullptr ||
        X509_set_subject_name(certificate.get(), subject) != 1 ||
        X509_set_issuer_name(certificate.get(), issuer) != 1 ||
        X509_set_pubkey(certificate.get(), key) != 1)
        return failed("making a certificate");
    TRY_VOID(set_times(certificate.get(), validity));
    return certificate;
}

Result<std::string> written(const Bio& bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    if (size <= 0) return failed("writing PEM");
    return std::string(data, static_cast<std::size_t>(size));
}

Result<KeyPair> to_pem(X509* certificate, EVP_PKEY* key) {
    KeyPair pair;
    const Bio for_certificate(BIO_new(BIO_s_mem()));
    const Bio for_key(BIO_new(BIO_s_mem()));
    if (!for_certificate || !for_key ||
        PEM_write_bio_X509(for_certificate.get(), certificate) != 1 ||
        PEM_write_bio_PrivateKey(for_key.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
        return failed("writing PEM");
    TRY(pair.certificate, written(for_certificate));
    TRY(pair.key, written(for_key));
    return pair;
}

Result<KeyPair> sign_leaf(const KeyPair& ca, X509_NAME* subject, Validity validity,
                          const char* purpose, const ServerNames* names) {
    TRY(const Certificate issuer, parse_certificate(ca.certificate));
    TRY(const PrivateKey issuer_key, parse_private_key(ca.key));
    if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1)
        return openssl_error(Code::kInvalid, "the CA's key is not that of its certificate");
    const PrivateKey key(EVP_EC_gen("P-256"));
    if (!key) return failed("making a key");
    TRY(const Certificate leaf,
        begin_certificate(subject, X509_get_subject_name(issuer.get()), key.get(), validity));
    TRY_VOID(add_extension(leaf.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
    TRY_VOID(add_extension(leaf.get(), issuer.get(), NID_key_usage, "critical,digitalSignature"));
    TRY_VOID(add_extension(leaf.get(), issuer.get(), NID_ext_key_usage, purpose));
    TRY_VOID(add_extension(leaf.get(), issuer.get(), NID_subject_key_identifier, "hash"));
    TRY_VOID(add_extension(leaf.get(), issuer.get(), NID_authority_key_identifier, "keyid:always"));
    if (names != nullptr) TRY_VOID(add_alternative_names(leaf.get(), *names));
    if (X509_sign(leaf.get(), issuer_key.get(), EVP_sha256()) == 0)
        return failed("signing a certificate");
    return to_pem(leaf.get(), key.get());
}

}  // namespace

Result<KeyPair> make_ca(std::string_view common_name, Validity validity) {
    TRY(const Name name, make_name(common_name, {}));
    const PrivateKey key(EVP_EC_gen("P-256"));
    if (!key) return failed("making a key");
    TRY(const Certificate ca, begin_certificate(name.get(), name.get(), key.get(), validity));
    TRY_VOID(
        add_extension(ca.get(), ca.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
    TRY_VOID(add_extension(ca.get(), ca.get(), NID_key_usage,
                           "critical,keyCertSign,cRLSign,digitalSignature"));
    TRY_VOID(add_extension(ca.get(), ca.get(), NID_subject_key_identifier, "hash"));
    if (X509_sign(ca.get(), key.get(), EVP_sha256()) == 0) return failed("signing a certificate");
    return to_pem(ca.get(), key.get());
}

Result<KeyPair> sign_server_certificate(const KeyPair& ca, std::string_view common_name,
                                        const ServerNames& names, Validity validity) {
    if (names.addresses.empty() && names.dns_names.empty())
        return Error(Code::kInvalid, "a server's certificate needs an address or a DNS name");
    TRY(const Name name, make_name(common_name, {}));
    return sign_leaf(ca, name.get(), validity, "serverAuth", &names);
}

Result<KeyPair> sign_client_certificate(const KeyPair& ca, const PeerCertificate& subject,
                                        Validity validity) {
    TRY(const Name name, make_name(subject.common_name, subject.organizations));
    return sign_leaf(ca, name.get(), validity, "clientAuth", nullptr);
}

Result<WallTime> certificate_expiry(std::string_view certificate_pem) {
    TRY(const Certificate certificate, parse_certificate(certificate_pem));
    std::tm ends{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &ends) != 1)
        return openssl_error(Code::kInvalid, "reading when a certificate ends");
    using namespace std::chrono;
    const year_month_day day{year(ends.tm_year + 1900),
                             month(static_cast<unsigned>(ends.tm_mon + 1)),
                             std::chrono::day(static_cast<unsigned>(ends.tm_mday))};
    // Years beyond what nanoseconds can count are treated as the last one.
    if (day.year() > year(2260)) return WallTime::max();
    return WallTime(sys_days(day) + hours(ends.tm_hour) + minutes(ends.tm_min) +
                    seconds(ends.tm_sec));
}

Result<ServerNames> certificate_names(std::string_view certificate_pem) {
    TRY(const Certificate certificate, parse_certificate(certificate_pem));
    const AlternativeNames list(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
    ServerNames names;
    for (int i = 0; list && i < sk_GENERAL_NAME_num(list.get()); ++i) {
        int kind = 0;
        const auto* value = static_cast<const ASN1_STRING*>(
            GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(list.get(), i), &kind));
        if (kind != GEN_DNS && kind != GEN_IPADD) continue;
        const std::string bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                static_cast<std::size_t>(ASN1_STRING_length(value)));
        if (kind == GEN_DNS) {
            names.dns_names.push_back(bytes);
        } else if (bytes.size() == 4) {
            asio::ip::address_v4::bytes_type raw;
            std::copy(bytes.begin(), bytes.end(), raw.begin());
            names.addresses.push_back(asio::ip::address_v4(raw).to_string());
        } else if (bytes.size() == 16) {
            asio::ip::address_v6::bytes_type raw;
            std::copy(bytes.begin(), bytes.end(), raw.begin());
            names.addresses.push_back(asio::ip::address_v6(raw).to_string());
        }
    }
    return names;
}

Result<bool> key_belongs(std::string_view certificate_pem, std::string_view key_pem) {
    TRY(const Certificate certificate, parse_certificate(certificate_pem));
    TRY(const PrivateKey key, parse_private_key(key_pem));
    return EVP_PKEY_eq(X509_get0_pubkey(certificate.get()), key.get()) == 1;
}

Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view ca_pem) {
    TRY(const Certificate certificate, parse_certificate(certificate_pem));
    TRY(const Certificate ca, parse_certificate(ca_pem));
    const int verified = X509_verify(certificate.get(), X509_get0_pubkey(ca.get()));
    ERR_clear_error();  // a wrong signature is an answer
    return verified == 1;
}

Result<std::string> random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    if (count > INT_MAX ||
        RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1)
        return failed("drawing random bytes");
    return bytes;
}

Result<std::string> random_token(std::size_t bytes) {
    TRY(const std::string raw, random_bytes(bytes));
    std::string token;
    token.reserve(raw.size() * 2);
    for (const char byte : raw) token += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return token;
}

}  // namespace muster::net
