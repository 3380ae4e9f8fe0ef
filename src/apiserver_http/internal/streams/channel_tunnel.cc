#include "apiserver_http/internal/streams/channel_messages.h"
#include "apiserver_http/internal/streams/port_tunnels.h"
#include "apiserver_http/internal/streams/web_socket_life.h"
#include "base/async/first_of.h"
#include "base/async/then_stop.h"
#include "base/fields.h"
#include "net/port.h"

namespace muster::apiserver_http {

namespace {

constexpr std::size_t kMostPorts = 127;

Channel data_channel(std::uint32_t port_index) { return static_cast<Channel>(2 * port_index); }
Channel error_channel(std::uint32_t port_index) { return static_cast<Channel>(2 * port_index + 1); }

class ChannelTunnel final : public PortClient {
  public:
    ChannelTunnel(net::WebSocket& socket, TaskGroup& tasks, PortConnections::Connect connect)
        : socket_(socket), connections_(tasks, std::move(connect), *this) {}

    Task<void> run(std::vector<std::uint16_t> ports) {
        for (std::uint32_t i = 0; i < ports.size(); ++i) {
            const char number[] = {static_cast<char>(ports[i] & 0xff),
                                   static_cast<char>(ports[i] >> 8)};
            co_await send(data_channel(i), {number, sizeof number});
            co_await send(error_channel(i), {number, sizeof number});
            connections_.open(i, ports[i]);
        }
        co_await first_of(take_input(ports.size()), say_end());
    }

    Task<void> data(std::uint32_t connection, std::string bytes) override {
        co_await send(data_channel(connection), bytes);
    }
    Task<void> end(std::uint32_t connection, std::string problem) override {
        if (!problem.empty()) co_await send(error_channel(connection), problem);
    }

  private:
    Task<void> send(Channel channel, std::string_view bytes) {
        const std::string message = channel_message(channel, bytes);
        std::ignore = co_await socket_.write(false, message);
    }
    Task<void> take_input(std::size_t ports) {
        for (;;) {
            auto message = co_await socket_.read();
            if (!message || !*message) co_return;
            std::string& bytes = (*message)->bytes;
            const std::size_t channel =
                bytes.empty() ? 2 * ports : static_cast<std::uint8_t>(bytes[0]);
            if (channel >= 2 * ports || channel % 2 != 0) {
                std::ignore = co_await socket_.close(kBrokenProtocol, "no channel for data");
                co_return;
            }
            bytes.erase(0, 1);
            co_await connections_.take(static_cast<std::uint32_t>(channel / 2), std::move(bytes));
        }
    }
    Task<void> say_end() {
        co_await connections_.all_ended();
        std::ignore = co_await socket_.close(kGoodEnd, "");
    }

    net::WebSocket& socket_;
    PortConnections connections_;
};

}  // namespace

Task<void> carry_channel_ports(std::unique_ptr<net::WebSocket> socket,
                               std::vector<std::uint16_t> ports, PortConnections::Connect connect,
                               Clock& clock) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    ChannelTunnel tunnel(*socket, tasks, std::move(connect));
    co_await then_stop(while_client_lives(*socket, tunnel.run(std::move(ports)), clock), tasks);
    co_await hear_farewell(*socket, clock);
}

apiserver::StatusResult<std::vector<std::uint16_t>> requested_ports(const kube::Request& request) {
    std::vector<std::uint16_t> ports;
    for (const auto& [key, value] : request.query) {
        if (key != "ports") continue;
        for (std::string_view rest = value; !rest.empty();) {
            const std::string_view text = take_field(rest, ',');
            const auto port = net::parse_port(text);
            if (!port)
                return apiserver::bad_request(
                    fmt::format("\"{}\" is not a port: 1 to 65535", text));
            ports.push_back(*port);
        }
    }
    if (ports.empty()) return apiserver::bad_request("you must specify at least 1 port");
    if (ports.size() > kMostPorts)
        return apiserver::bad_request(
            fmt::format("at most {} ports can be forwarded at once", kMostPorts));
    return ports;
}

}  // namespace muster::apiserver_http
