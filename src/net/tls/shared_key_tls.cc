#include "net/tls/shared_key_tls.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/hmac.h>

#include <array>
#include <vector>

#include "base/check.h"
#include "net/internal/tls/openssl.h"
#include "net/internal/tls/tls_session.h"

namespace muster::net {

namespace {

using Session = std::unique_ptr<SSL_SESSION, OpensslFree<SSL_SESSION_free>>;

/// The only suite that is offered. The type of key is tied to the hash of its suite.
constexpr const char* kSuite = "TLS_AES_128_GCM_SHA256";
constexpr std::array<unsigned char, 2> kSuiteNumber = {0x13, 0x01};
constexpr std::size_t kKeyBytes = 32;  ///< of that hash

using Key = std::array<unsigned char, kKeyBytes>;

/// Used by both sides instead of the secret itself, which may serve other purposes too.
Key key_for(std::string_view secret, std::string_view purpose) {
    const std::string text = fmt::format("muster shared key 1 {}", purpose);
    Key key{};
    unsigned size = 0;
    CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
               reinterpret_cast<const unsigned char*>(text.data()), text.size(), key.data(),
               &size) != nullptr &&
              size == key.size(),
          "HMAC of bytes in memory");
    return key;
}

class SharedKey final : public SharedKeyTls {
  public:
    SharedKey(SslContext server, SslContext client, std::string identity, const Key& key)
        : server_(std::move(server)),
          client_(std::move(client)),
          identity_(std::move(identity)),
          key_(key) {
        SSL_CTX_set_app_data(server_.get(), this);
        SSL_CTX_set_psk_find_session_callback(server_.get(), find);
        SSL_CTX_set_app_data(client_.get(), this);
        SSL_CTX_set_psk_use_session_callback(client_.get(), use);
    }
    ~SharedKey() override { OPENSSL_cleanse(key_.data(), key_.size()); }

    Task<Result<std::unique_ptr<TlsStream>>> accept(std::unique_ptr<ByteStream> below) override {
        co_return co_await shake_hands(server_.get(), true, std::move(below));
    }
    Task<Result<std::unique_ptr<TlsStream>>> connect(std::unique_ptr<ByteStream> below) override {
        co_return co_await shake_hands(client_.get(), false, std::move(below));
    }

  private:
    static Task<Result<std::unique_ptr<TlsStream>>> shake_hands(SSL_CTX* context, bool as_server,
                                                                std::unique_ptr<ByteStream> below) {
        ERR_clear_error();
        Ssl ssl(SSL_new(context));
        if (!ssl) co_return openssl_error(Code::kInternal, "making a TLS connection");
        if (as_server)
            SSL_set_accept_state(ssl.get());
        else
            SSL_set_connect_state(ssl.get());
        SSL* const shaken = ssl.get();
        auto session = std::make_unique<TlsSession>(co_await asio::this_coro::executor,
                                                    std::move(ssl), std::move(below));
        CO_TRY_VOID(co_await session->handshake(Code::kUnauthorized));
        // Nothing else could have succeeded: there is no certificate, and none is trusted.
        CHECK(SSL_session_reused(shaken) == 1, "TLS without the shared key");
        co_return std::move(session);
    }

    /// OpenSSL's form of a pre-shared key: a session that never existed.
    Session session_for(SSL* ssl) const {
        Session session(SSL_SESSION_new());
        const SSL_CIPHER* const suite = SSL_CIPHER_find(ssl, kSuiteNumber.data());
        if (!session || suite == nullptr ||
            SSL_SESSION_set1_master_key(session.get(), key_.data(), key_.size()) != 1 ||
            SSL_SESSION_set_cipher(session.get(), suite) != 1 ||
            SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) != 1)
            return nullptr;
        return session;
    }

    static const SharedKey& of(SSL* ssl) {
        return *static_cast<const SharedKey*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    }

    static int find(SSL* ssl, const unsigned char* identity, std::size_t size,
                    SSL_SESSION** session) {
        const SharedKey& self = of(ssl);
        *session = nullptr;
        if (std::string_view(reinterpret_cast<const char*>(identity), size) != self.identity_)
            return 1;  // the client is not known, which ends the handshake
        *session = self.session_for(ssl).release();
        return *session != nullptr ? 1 : 0;
    }

    /// `hash` is set if the server has asked for one, in a second round.
    static int use(SSL* ssl, const EVP_MD* hash, const unsigned char** identity, std::size_t* size,
                   SSL_SESSION** session) {
        const SharedKey& self = of(ssl);
        *session = nullptr;
        if (hash != nullptr && EVP_MD_get_type(hash) != NID_sha256) return 1;
        *identity = reinterpret_cast<const unsigned char*>(self.identity_.data());
        *size = self.identity_.size();
        *session = self.session_for(ssl).release();
        return *session != nullptr ? 1 : 0;
    }

    SslContext server_;
    SslContext client_;
    std::string identity_;
    Key key_;
};

Result<SslContext> make_shared_key_context(const SSL_METHOD* method) {
    SslContext context(SSL_CTX_new(method));
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(context.get(), kSuite) != 1)
        return openssl_error(Code::kInternal, "making a TLS context");
    // Keys are always fresh: SSL_OP_ALLOW_NO_DHE_KEX is not set.
    begin_each_session_anew(context.get());
    return context;
}

}  // namespace

Result<std::unique_ptr<SharedKeyTls>> SharedKeyTls::create(std::string_view secret,
                                                           std::string_view purpose) {
    if (secret.size() < kLeastBytes)
        return Error(Code::kInvalid, fmt::format("a shared secret of {} bytes could be guessed; "
                                                 "it must have {} or more",
                                                 secret.size(), kLeastBytes));
    ERR_clear_error();
    TRY(SslContext server, make_shared_key_context(TLS_server_method()));
    TRY(SslContext client, make_shared_key_context(TLS_client_method()));
    // A server that answers with a certificate does not know the secret; no certificate is trusted.
    SSL_CTX_set_verify(client.get(), SSL_VERIFY_PEER, nullptr);
    return std::make_unique<SharedKey>(std::move(server), std::move(client),
                                       fmt::format("muster {}", purpose), key_for(secret, purpose));
}

void ignore_openssl_configuration() {
    CHECK(OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1,
          "OpenSSL begins without its configuration");
}

}  // namespace muster::net
