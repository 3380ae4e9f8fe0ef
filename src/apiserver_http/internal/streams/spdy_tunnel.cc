#include <map>

#include "apiserver_http/internal/streams/port_tunnels.h"
#include "apiserver_http/internal/streams/web_socket_life.h"
#include "apiserver_http/spdy/spdy_frames.h"
#include "base/async/then_stop.h"
#include "net/port.h"

namespace muster::apiserver_http {

namespace {

constexpr std::uint32_t kProtocolError = 1;
constexpr std::uint32_t kRefusedStream = 3;

std::string_view header(const SpdyHeaders& headers, std::string_view name) {
    for (const auto& [key, value] : headers)
        if (key == name) return value;
    return {};
}

class SpdyTunnel final : public PortClient {
  public:
    SpdyTunnel(net::WebSocket& socket, TaskGroup& tasks, PortConnections::Connect connect)
        : socket_(socket), connections_(tasks, std::move(connect), *this) {}

    /// Until the client disconnects.
    Task<void> run() {
        for (;;) {
            const auto message = co_await socket_.read();
            if (!message || !*message) co_return;
            decoder_.put((*message)->bytes);
            for (;;) {
                auto frame = decoder_.next();
                if (!frame) co_return co_await break_off(frame.error());
                if (!*frame) break;
                if ((*frame)->kind == SpdyFrame::Kind::kGoAway) co_return;
                co_await take(**std::move(frame));
            }
        }
    }

    Task<void> data(std::uint32_t connection, std::string bytes) override {
        co_await send(SpdyEncoder::data(connection, bytes, false));
    }
    Task<void> end(std::uint32_t connection, std::string problem) override {
        const auto found = error_streams_.extract(connection);
        co_await send(SpdyEncoder::data(connection, {}, true) +
                      SpdyEncoder::data(found.mapped(), problem, true));
    }

  private:
    /// A connection exists once both of its streams do.
    struct Request {
        std::optional<std::uint32_t> data;
        std::optional<std::uint32_t> error;
        std::uint16_t port = 0;
    };

    Task<void> send(std::string bytes) { std::ignore = co_await socket_.write(false, bytes); }

    Task<void> break_off(std::string reason) {
        std::ignore = co_await socket_.close(kBrokenProtocol, std::move(reason));
    }

    Task<void> take(SpdyFrame frame) {
        switch (frame.kind) {
            case SpdyFrame::Kind::kOpen:
                co_return co_await open(frame);
            case SpdyFrame::Kind::kData:
                co_await connections_.take(frame.stream, std::move(frame.data));
                if (frame.last) connections_.end_input(frame.stream);
                co_return;
            case SpdyFrame::Kind::kHeaders:
                if (frame.last) connections_.end_input(frame.stream);
                co_return;
            case SpdyFrame::Kind::kReset:
                connections_.drop(frame.stream);
                error_streams_.erase(frame.stream);
                co_return;
            case SpdyFrame::Kind::kPing:
                co_return co_await send(SpdyEncoder::ping(frame.number));
            case SpdyFrame::Kind::kGoAway:
            case SpdyFrame::Kind::kOther:
                co_return;
        }
    }

    Task<void> open(const SpdyFrame& frame) {
        // A client's ids are odd and increasing, so none is ever used twice.
        const bool is_new = frame.stream % 2 == 1 && frame.stream > last_stream_;
        if (is_new) last_stream_ = frame.stream;
        const std::string id(header(frame.headers, "requestid"));
        const std::string_view type = header(frame.headers, "streamtype");
        const auto port = net::parse_port(header(frame.headers, "port"));
        if (!is_new || !port || (type != "data" && type != "error"))
            co_return co_await send(SpdyEncoder::reset(frame.stream, kProtocolError));
        if (connections_.size() + requests_.size() >= PortConnections::kMost)
            co_return co_await send(SpdyEncoder::reset(frame.stream, kRefusedStream));
        Request& request = requests_[id];
        std::optional<std::uint32_t>& half = type == "data" ? request.data : request.error;
        if (half || (request.port != 0 && request.port != *port))
            co_return co_await send(SpdyEncoder::reset(frame.stream, kProtocolError));
        half = frame.stream;
        request.port = *port;
        const bool whole = request.data && request.error;
        if (whole) {
            const Request made = request;
            requests_.erase(id);
            error_streams_.emplace(*made.data, *made.error);
            // First, so that data on the stream find it.
            connections_.open(*made.data, made.port);
        }
        co_await send(encoder_.reply(frame.stream));
    }

    net::WebSocket& socket_;
    PortConnections connections_;
    SpdyDecoder decoder_;
    SpdyEncoder encoder_;
    std::map<std::string, Request> requests_;               ///< those with one stream still to come
    std::map<std::uint32_t, std::uint32_t> error_streams_;  ///< by the stream for data
    std::uint32_t last_stream_ = 0;
};

}  // namespace

Task<void> carry_spdy_ports(std::unique_ptr<net::WebSocket> socket,
                            PortConnections::Connect connect, Clock& clock) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    SpdyTunnel tunnel(*socket, tasks, std::move(connect));
    co_await then_stop(while_client_lives(*socket, tunnel.run(), clock), tasks);
    co_await hear_farewell(*socket, clock);
}

}  // namespace muster::apiserver_http
