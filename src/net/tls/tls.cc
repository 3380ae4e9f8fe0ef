#include "net/tls/tls.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <string_view>

#include "net/internal/tls/openssl.h"
#include "net/internal/tls/tls_session.h"
#include "net/internal/turns.h"

namespace muster::net {

namespace {

constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

/// The common part of both sides.
Result<SslContext> make_context(const SSL_METHOD* method) {
    SslContext context(SSL_CTX_new(method));
    if (!context) return openssl_error(Code::kInternal, "making a TLS context");
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE);
    begin_each_session_anew(context.get());
    return context;
}

Result<void> use_certificate(SSL_CTX* context, const std::string& certificate_pem,
                             const std::string& key_pem) {
    const Bio bio = read_only_bio(certificate_pem);
    ERR_clear_error();
    TRY(const Certificate leaf, parse_certificate(certificate_pem));
    TRY(const PrivateKey key, parse_private_key(key_pem));
    if (SSL_CTX_use_certificate(context, leaf.get()) != 1)
        return openssl_error(Code::kInvalid, "using the certificate");
    // The first certificate again, which is skipped, and then its chain.
    bool first = true;
    while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
        const Certificate owned(next);
        if (!first && SSL_CTX_add1_chain_cert(context, next) != 1)
            return openssl_error(Code::kInvalid, "using the certificate's chain");
        first = false;
    }
    ERR_clear_error();  // the end of the PEM is reported as an error
    if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1)
        return openssl_error(Code::kInvalid, "the private key is not that of the certificate");
    return {};
}

/// Adds every certificate of a PEM to the trusted ones.
Result<void> trust(SSL_CTX* context, const std::string& ca_pem, bool tell_clients) {
    const Bio bio = read_only_bio(ca_pem);
    ERR_clear_error();
    int count = 0;
    while (X509* next = bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr) {
        const Certificate owned(next);
        ++count;
        if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), next) != 1 ||
            (tell_clients && SSL_CTX_add_client_CA(context, next) != 1))
            return openssl_error(Code::kInvalid, "trusting a CA");
    }
    if (count == 0) return openssl_error(Code::kInvalid, "reading the certificates of a CA");
    ERR_clear_error();
    return {};
}

/// A connection that checks certificates by `clock` instead of the system's calendar.
Result<Ssl> make_ssl(SSL_CTX* context, const Clock& clock) {
    ERR_clear_error();
    Ssl ssl(SSL_new(context));
    if (!ssl) return openssl_error(Code::kInternal, "making a TLS connection");
    X509_VERIFY_PARAM_set_time(
        SSL_get0_param(ssl.get()),
        std::chrono::floor<std::chrono::seconds>(clock.wall_now()).time_since_epoch().count());
    return ssl;
}

int choose_http11(SSL*, const unsigned char** chosen, unsigned char* size,
                  const unsigned char* offered, unsigned offered_size, void*) {
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, size, kHttp11.data(), kHttp11.size(), offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

/// Of a client's first message; the session reads the rest of it.
constexpr std::size_t kFirstRead = 512;
/// Concurrent handshakes: more than enough for one processor, even if each waits for a while for
/// its peer.
constexpr std::size_t kHandshakes = 64;
/// Of a handshake that others wait for.
constexpr Duration kLongestTurn = std::chrono::milliseconds(250);

class ServerContext final : public TlsServerContext {
  public:
    ServerContext(const Clock& clock, SslContext context)
        : clock_(clock), context_(std::move(context)), turns_(clock, kHandshakes, kLongestTurn) {}

    Task<Result<std::unique_ptr<TlsStream>>> accept(std::unique_ptr<ByteStream> below) override {
        // A session takes about 30 KiB, which a silent client does not get.
        std::vector<char> first;
        CO_TRY_VOID(co_await read_first(*below, first));
        const auto executor = co_await asio::this_coro::executor;
        Turns::Turn turn(turns_, executor);
        co_await turn.come();
        // A client that has left meanwhile costs no handshake.
        if (below->has_input()) CO_TRY_VOID(co_await read_first(*below, first));
        CO_TRY(Ssl ssl, make_ssl(context_.get(), clock_));
        SSL_set_accept_state(ssl.get());
        auto session = std::make_unique<TlsSession>(executor, std::move(ssl), std::move(below),
                                                    std::move(first));
        CO_TRY_VOID(co_await session->handshake());
        co_return std::move(session);
    }

  private:
    /// Appends the next bytes.
    static Task<Result<void>> read_first(ByteStream& below, std::vector<char>& first) {
        const std::size_t before = first.size();
        first.resize(before + kFirstRead);
        CO_TRY(const std::size_t size,
               co_await below.read_some(asio::buffer(first.data() + before, kFirstRead)));
        if (size == 0)
            co_return Error(Code::kUnavailable,
                            fmt::format("{} ended the connection before the TLS handshake",
                                        below.peer_address()));
        first.resize(before + size);
        co_return Result<void>();
    }

    const Clock& clock_;
    SslContext context_;
    Turns turns_;
};

class ClientContext final : public TlsClientContext {
  public:
    ClientContext(const Clock& clock, SslContext context)
        : clock_(clock), context_(std::move(context)) {}

    Task<Result<std::unique_ptr<TlsStream>>> connect(std::unique_ptr<ByteStream> below,
                                                     std::string host) override {
        CO_TRY(Ssl ssl, make_ssl(context_.get(), clock_));
        SSL_set_connect_state(ssl.get());
        boost::system::error_code no_address;
        (void)asio::ip::make_address(host, no_address);
        X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl.get());
        X509_VERIFY_PARAM_set_hostflags(
            wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        const bool set =
            no_address ? !host.empty() &&
                             X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
                             SSL_set_tlsext_host_name(ssl.get(), host.c_str()) == 1
                       : X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
        if (!set)
            co_return openssl_error(Code::kInvalid,
                                    fmt::format("\"{}\" is not a name of a server", host));
        auto session = std::make_unique<TlsSession>(co_await asio::this_coro::executor,
                                                    std::move(ssl), std::move(below));
        CO_TRY_VOID(co_await session->handshake());
        co_return std::move(session);
    }

  private:
    const Clock& clock_;
    SslContext context_;
};

}  // namespace

Result<std::unique_ptr<TlsServerContext>> TlsServerContext::create(const Clock& clock,
                                                                   TlsServerOptions options) {
    TRY(SslContext context, make_context(TLS_server_method()));
    TRY_VOID(use_certificate(context.get(), options.certificate_pem, options.key_pem));
    if (!options.client_ca_pem.empty()) {
        TRY_VOID(trust(context.get(), options.client_ca_pem, true));
        const int demand = options.demand_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | demand, nullptr);
    }
    SSL_CTX_set_alpn_select_cb(context.get(), choose_http11, nullptr);
    return std::make_unique<ServerContext>(clock, std::move(context));
}

Result<std::unique_ptr<TlsClientContext>> TlsClientContext::create(const Clock& clock,
                                                                   TlsClientOptions options) {
    TRY(SslContext context, make_context(TLS_client_method()));
    if (options.trust == Trust::kGiven) {
        TRY_VOID(trust(context.get(), options.ca_pem, false));
        // Each is an anchor, as for Go: an intermediate authority, or the server's own certificate.
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.get()), X509_V_FLAG_PARTIAL_CHAIN);
    }
    if (options.trust == Trust::kSystem && SSL_CTX_set_default_verify_paths(context.get()) != 1)
        return openssl_error(Code::kInternal, "finding the CAs that this machine trusts");
    if (!options.certificate_pem.empty())
        TRY_VOID(use_certificate(context.get(), options.certificate_pem, options.key_pem));
    SSL_CTX_set_verify(context.get(),
                       options.trust == Trust::kAnyone ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       nullptr);
    if (SSL_CTX_set_alpn_protos(context.get(), kHttp11.data(), kHttp11.size()) != 0)
        return openssl_error(Code::kInternal, "offering HTTP/1.1");
    return std::make_unique<ClientContext>(clock, std::move(context));
}

}  // namespace muster::net
