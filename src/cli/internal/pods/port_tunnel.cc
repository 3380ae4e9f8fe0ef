#include "cli/internal/pods/port_tunnel.h"

#include <fmt/format.h>

#include <string>

#include "apiserver_http/spdy/spdy_frames.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/async/then_stop.h"

namespace muster::cli {

namespace {

using apiserver_http::SpdyDecoder;
using apiserver_http::SpdyEncoder;
using apiserver_http::SpdyFrame;

// A connection is two streams of its client.
constexpr std::uint32_t kErrors = 1;
constexpr std::uint32_t kData = 3;
constexpr std::size_t kTunnelPiece = std::size_t{32} * 1024;
constexpr std::size_t kMostProblem = std::size_t{16} * 1024;
constexpr std::uint16_t kGoodbye = 1000;

class PortTunnel {
  public:
    PortTunnel(net::WebSocket& pod, net::ByteStream& here, const asio::any_io_executor& executor)
        : pod_(pod), here_(here), sent_(executor) {}

    Task<Result<void>> open(std::uint16_t port) {
        const std::string number = std::to_string(port);
        std::string frames = encoder_.open(
            kErrors, {{"streamtype", "error"}, {"port", number}, {"requestid", "0"}}, false);
        frames += SpdyEncoder::data(kErrors, "", true);
        frames += encoder_.open(
            kData, {{"streamtype", "data"}, {"port", number}, {"requestid", "0"}}, false);
        co_return co_await send(std::move(frames));
    }

    /// What this side says; its end ends this direction alone.
    Task<void> carry_up() {
        std::string buffer(kTunnelPiece, '\0');
        for (;;) {
            const auto size = co_await here_.read_some(asio::buffer(buffer));
            const bool last = !size || *size == 0;
            const std::string_view piece(buffer.data(), last ? 0 : *size);
            if (!co_await send(SpdyEncoder::data(kData, piece, last))) co_return;
            if (last) co_return;
        }
    }

    /// What the pod says. Returns when it has ended both streams, or this side is gone.
    Task<Result<void>> carry_down() {
        while (!(data_ended_ && errors_ended_)) {
            CO_TRY(const auto message, co_await pod_.read());
            if (!message) break;
            decoder_.put(message->bytes);
            for (;;) {
                auto frame = decoder_.next();
                if (!frame)
                    co_return Error(Code::kBadRequest,
                                    "the server breaks the protocol SPDY: " + frame.error());
                if (!*frame) break;
                if (!co_await take(**std::move(frame))) co_return Result<void>();
            }
        }
        if (!problem_.empty()) co_return Error(Code::kUnavailable, problem_);
        co_return Result<void>();
    }

    Task<void> say_goodbye() { std::ignore = co_await pod_.close(kGoodbye, ""); }

  private:
    Task<Result<void>> send(std::string frames) {
        while (sending_) co_await sent_.wait();
        sending_ = true;
        Result<void> done = co_await pod_.write(false, frames);
        sending_ = false;
        sent_.notify_all();
        co_return done;
    }

    /// False: this side is gone.
    Task<bool> take(SpdyFrame frame) {
        using Kind = SpdyFrame::Kind;
        const bool ends = frame.last || frame.kind == Kind::kReset;
        if (frame.kind == Kind::kPing)
            co_return (co_await send(SpdyEncoder::ping(frame.number))).has_value();
        if (frame.kind == Kind::kGoAway) data_ended_ = errors_ended_ = true;
        if (frame.stream == kErrors) {
            if (problem_.size() < kMostProblem) problem_ += frame.data;
            errors_ended_ = errors_ended_ || ends;
        }
        if (frame.stream == kData && !data_ended_) {
            if (!frame.data.empty() && !co_await here_.write(asio::buffer(frame.data)))
                co_return false;
            data_ended_ = ends;
            if (ends) std::ignore = co_await here_.shut_down_write();
        }
        co_return true;
    }

    net::WebSocket& pod_;
    net::ByteStream& here_;
    SpdyEncoder encoder_;
    SpdyDecoder decoder_;
    Signal sent_;
    bool sending_ = false;
    bool data_ended_ = false;
    bool errors_ended_ = false;
    std::string problem_;
};

Task<void> carry(PortTunnel& tunnel, TaskGroup& tasks, std::uint16_t port, Result<void>& end) {
    end = co_await tunnel.open(port);
    if (!end) co_return;
    tasks.spawn("to a forwarded port", tunnel.carry_up());
    end = co_await tunnel.carry_down();
}

}  // namespace

Task<Result<void>> carry_to_port(std::unique_ptr<net::WebSocket> pod,
                                 std::unique_ptr<net::ByteStream> here, std::uint16_t port) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    PortTunnel tunnel(*pod, *here, tasks.executor());
    Result<void> end;
    co_await then_stop(carry(tunnel, tasks, port, end), tasks);
    co_await tunnel.say_goodbye();
    co_return end;
}

}  // namespace muster::cli
