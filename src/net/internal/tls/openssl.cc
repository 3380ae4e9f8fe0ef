#include "net/internal/tls/openssl.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <climits>

namespace muster::net {

namespace {

/// OpenSSL's own callback would ask at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

std::string utf8_of(const X509_NAME_ENTRY* entry) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) return {};
    std::string copy(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    return copy;
}

}  // namespace

Error openssl_error(Code code, std::string_view what) {
    std::string reasons;
    const char* data = nullptr;
    int flags = 0;
    while (const unsigned long number =
               ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) {
        if (!reasons.empty()) reasons += "; ";
        const char* reason = ERR_reason_error_string(number);
        reasons += reason != nullptr ? reason : fmt::format("error {:08x}", number);
        if (data != nullptr && *data != 0 && (flags & ERR_TXT_STRING) != 0)
            reasons += fmt::format(" ({})", data);
    }
    if (reasons.empty()) reasons = "OpenSSL gives no reason";
    return Error(code, fmt::format("{}: {}", what, reasons));
}

void begin_each_session_anew(SSL_CTX* context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

Bio read_only_bio(std::string_view pem) {
    if (pem.size() > INT_MAX) return nullptr;
    return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

Result<Certificate> parse_certificate(std::string_view pem) {
    const Bio bio = read_only_bio(pem);
    Certificate parsed(bio ? PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)
                           : nullptr);
    if (!parsed) return openssl_error(Code::kInvalid, "reading a certificate");
    return parsed;
}

Result<PrivateKey> parse_private_key(std::string_view pem) {
    const Bio bio = read_only_bio(pem);
    PrivateKey parsed(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr)
                          : nullptr);
    if (!parsed) return openssl_error(Code::kInvalid, "reading a private key");
    return parsed;
}

std::string base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

PeerCertificate subject_of(const X509* certificate) {
    PeerCertificate subject;
    const X509_NAME* name = X509_get_subject_name(certificate);
    const int count = X509_NAME_entry_count(name);
    for (int i = 0; i < count; ++i) {
        const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
        switch (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))) {
            case NID_commonName:
                subject.common_name = utf8_of(entry);
                break;
            case NID_organizationName:
                subject.organizations.push_back(utf8_of(entry));
                break;
            default:
                break;
        }
    }
    return subject;
}

}  // namespace muster::net
