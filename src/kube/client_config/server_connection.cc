#include "kube/client_config/server_connection.h"

#include "kube/internal/client_config/server_connector.h"

namespace muster::kube {

namespace {

/// As many as there may be requests in flight: a new one costs a handshake.
constexpr std::size_t kIdleConnections = 256;

}  // namespace

struct ServerConnection::Parts {
    Parts(ClientConfig given, std::vector<std::string> environment, std::optional<Proxy> proxy,
          std::unique_ptr<ServerTls> secured, const asio::any_io_executor& executor, Clock& time)
        : access(std::move(given)),
          clock(time),
          tls(std::move(secured)),
          credentials(access, std::move(environment), *tls, executor, time,
                      [this] { http.retire_connections(); }),
          connector(access, std::move(proxy), credentials, *tls, executor, time),
          http(executor, time, [this] { return connector.connect(); },
               {.host = access.url.authority(), .idle_connections = kIdleConnections}),
          objects(made("application/json")) {}

    HttpTransport made(std::string accept) {
        return HttpTransport(http, credentials,
                             {.path_prefix = access.url.path_prefix, .accept = std::move(accept)});
    }

    const ClientConfig access;
    Clock& clock;
    std::unique_ptr<ServerTls> tls;
    ServerCredentials credentials;
    ServerConnector connector;
    net::HttpClient http;
    HttpTransport objects;
};

ServerConnection::ServerConnection(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ServerConnection::~ServerConnection() = default;

const ClientConfig& ServerConnection::access() const { return parts_->access; }
HttpTransport& ServerConnection::objects() { return parts_->objects; }
HttpTransport ServerConnection::transport(std::string accept) {
    return parts_->made(std::move(accept));
}

Task<void> ServerConnection::stop() {
    co_await parts_->credentials.stop();
    co_await parts_->http.stop();
    co_await parts_->connector.stop();
}

Result<std::unique_ptr<ServerConnection>> ServerConnection::open(
    ClientConfig access, std::vector<std::string> environment, asio::any_io_executor executor,
    Clock& clock) {
    std::optional<Proxy> proxy;
    if (access.proxy_url.empty()) {
        TRY(proxy, proxy_from_environment(access.url, environment));
    } else {
        TRY(proxy, parse_proxy(access.proxy_url));
    }
    const bool through_tls = proxy && proxy->kind == Proxy::Kind::kHttps;
    TRY(auto tls, ServerTls::open(access, clock, through_tls));
    auto parts = std::make_unique<Parts>(std::move(access), std::move(environment),
                                         std::move(proxy), std::move(tls), executor, clock);
    TRY_VOID(parts->credentials.begin());
    return std::unique_ptr<ServerConnection>(new ServerConnection(std::move(parts)));
}

}  // namespace muster::kube
