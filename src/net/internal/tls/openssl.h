#pragma once

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time/clock.h"
#include "net/tls/tls.h"

namespace muster::net {

template <auto Free>
struct OpensslFree {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};

using Bio = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, OpensslFree<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using SslContext = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, OpensslFree<SSL_free>>;
using AlternativeNames = std::unique_ptr<GENERAL_NAMES, OpensslFree<GENERAL_NAMES_free>>;

/// "what: reason; reason" from this thread's OpenSSL error queue, which is empty afterwards.
Error openssl_error(Code code, std::string_view what);

/// Connections of this context neither resume a session nor give a ticket for one: a resumed one
/// would skip the check of the certificate, and tickets are records that no one asked for. Idle ones
/// keep no buffers.
void begin_each_session_anew(SSL_CTX* context);

/// A BIO that reads `pem` without copying it.
Bio read_only_bio(std::string_view pem);
Result<Certificate> parse_certificate(std::string_view pem);
/// Never asks for a passphrase.
Result<PrivateKey> parse_private_key(std::string_view pem);

std::string base64(std::string_view bytes);

/// Common name and organizations of a certificate's subject.
PeerCertificate subject_of(const X509* certificate);

}  // namespace muster::net
