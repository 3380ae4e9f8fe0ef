#include "kube/internal/client_config/server_connector.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time/time_limit.h"
#include "net/http/proxy_tunnel.h"
#include "net/tcp.h"

namespace muster::kube {

namespace {

/// Limit for TCP connections to all addresses of a name.
constexpr Duration kReachTime = std::chrono::seconds(25);
constexpr Duration kLeastForAddress = std::chrono::seconds(2);
/// A server that vanished is noticed within half a minute, whether we wait or send.
constexpr net::TcpLiveness kLiveness{.idle = std::chrono::seconds(15),
                                     .interval = std::chrono::seconds(5),
                                     .probes = 3,
                                     .unacknowledged = std::chrono::seconds(30)};

/// A stream and an object that must live as long.
class HoldingStream final : public net::ByteStream {
  public:
    HoldingStream(std::unique_ptr<net::ByteStream> stream, std::shared_ptr<const void> held)
        : held_(std::move(held)), stream_(std::move(stream)) {}

    Task<Result<std::size_t>> read_some(asio::mutable_buffer into) override {
        return stream_->read_some(into);
    }
    Task<Result<void>> write(net::ConstBuffers bytes) override { return stream_->write(bytes); }
    Task<Result<void>> shut_down_write() override { return stream_->shut_down_write(); }
    void close() override { stream_->close(); }
    bool has_input() const override { return stream_->has_input(); }
    bool gather() override { return stream_->gather(); }
    std::string peer_address() const override { return stream_->peer_address(); }

  private:
    std::shared_ptr<const void> held_;
    std::unique_ptr<net::ByteStream> stream_;
};

}  // namespace

Duration time_for_address(Duration left, std::size_t addresses) {
    const Duration share = left / static_cast<Duration::rep>(std::max<std::size_t>(addresses, 1));
    return std::min(std::max(share, kLeastForAddress), left);
}

ServerConnector::ServerConnector(const ClientConfig& access, std::optional<Proxy> proxy,
                                 ServerCredentials& credentials, ServerTls& tls,
                                 asio::any_io_executor executor, Clock& clock)
    : access_(access),
      proxy_(std::move(proxy)),
      credentials_(credentials),
      tls_(tls),
      executor_(executor),
      clock_(clock),
      names_(std::move(executor)) {}

Task<Result<ServerConnector::Stream>> ServerConnector::reach(std::string host, std::uint16_t port) {
    CO_TRY(const std::vector<std::string> addresses, co_await names_.addresses(host));
    const Instant deadline = clock_.now() + kReachTime;
    Result<Stream> reached = Error(Code::kUnavailable, host + " has no address");
    for (std::size_t tried = 0; tried < addresses.size() && clock_.now() < deadline; ++tried) {
        const Duration time = time_for_address(deadline - clock_.now(), addresses.size() - tried);
        auto one = co_await within(clock_, time,
                                   net::connect_tcp(executor_, addresses[tried], port, kLiveness));
        if (one && *one) co_return *std::move(one);
        reached = one ? *std::move(one)
                      : Error(Code::kUnavailable,
                              fmt::format("connecting to {} of {}: it does not answer",
                                          addresses[tried], host));
    }
    co_return reached;
}

Task<Result<ServerConnector::Stream>> ServerConnector::reach_through_proxy() {
    const std::shared_ptr<net::TlsClientContext> tls = tls_.to_proxy();
    Result<Stream> stream = co_await reach(proxy_->host, proxy_->port);
    if (stream && proxy_->kind == Proxy::Kind::kHttps) {
        auto session = co_await tls->connect(*std::move(stream), proxy_->host);
        if (session)
            stream = std::make_unique<HoldingStream>(*std::move(session), tls);
        else
            stream = session.error();
    }
    if (!stream)
        co_return Error(stream.error()).prefix(fmt::format("the proxy {}", proxy_->text()));
    const net::TunnelEnd server{access_.url.host, access_.url.port};
    if (proxy_->kind == Proxy::Kind::kSocks5)
        co_return co_await net::tunnel_through_socks(*std::move(stream), server, proxy_->login);
    co_return co_await net::tunnel_through_http(*std::move(stream), server, proxy_->login);
}

Task<Result<std::unique_ptr<net::ByteStream>>> ServerConnector::connect() {
    credentials_.refresh_certificates();
    // The present one, whatever happens until it is used.
    const std::shared_ptr<net::TlsClientContext> tls = tls_.to_server();
    Result<Stream> stream = proxy_ ? co_await reach_through_proxy()
                                   : co_await reach(access_.url.host, access_.url.port);
    if (!stream || tls == nullptr) co_return stream;
    CO_TRY(auto session, co_await tls->connect(*std::move(stream), access_.server_name()));
    co_return std::make_unique<HoldingStream>(std::move(session), tls);
}

}  // namespace muster::kube
