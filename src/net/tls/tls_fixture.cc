#include "net/tls/tls_fixture.h"

#include <stdexcept>

namespace muster::net {

namespace {

template <class T>
T must(Result<T> result) {
    if (!result) throw std::logic_error(result.error().message());
    return *std::move(result);
}

}  // namespace

const TlsFixture& TlsFixture::get() {
    static const TlsFixture fixture = [] {
        TlsFixture made;
        made.ca = must(make_ca("test CA", validity()));
        made.server = must(sign_server_certificate(
            made.ca, "server", {.addresses = {"127.0.0.1", "::1"}, .dns_names = {"localhost"}},
            validity()));
        made.client = must(sign_client_certificate(
            made.ca, {.common_name = "ada", .organizations = {"devs", "admins"}}, validity()));
        return made;
    }();
    return fixture;
}

std::unique_ptr<TlsServerContext> TlsFixture::server_context(const Clock& clock,
                                                             bool with_clients) const {
    return must(
        TlsServerContext::create(clock, {.certificate_pem = server.certificate,
                                         .key_pem = server.key,
                                         .client_ca_pem = with_clients ? ca.certificate : ""}));
}

std::unique_ptr<TlsClientContext> TlsFixture::client_context(const Clock& clock,
                                                             bool with_certificate) const {
    TlsClientOptions options{.ca_pem = ca.certificate};
    if (with_certificate) {
        options.certificate_pem = client.certificate;
        options.key_pem = client.key;
    }
    return must(TlsClientContext::create(clock, std::move(options)));
}

}  // namespace muster::net
