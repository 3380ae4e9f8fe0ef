#include "rsh/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/async/descriptor.h"
#include "base/async/task_group.h"
#include "base/async/then_stop.h"
#include "base/time/time_limit.h"
#include "net/tcp.h"
#include "rsh/internal/frame_stream.h"
#include "rsh/internal/protocol.h"

namespace muster::rsh {

namespace {

using Stream = std::unique_ptr<net::TlsStream>;

/// New workers are reachable within milliseconds; later retries are slower.
constexpr Duration kFirstRest = std::chrono::milliseconds(5);
constexpr Duration kLongestRest = std::chrono::milliseconds(250);
/// For a host that does not even refuse the connection.
constexpr Duration kOneTry = std::chrono::seconds(5);

Task<Result<Stream>> try_address(net::SharedKeyTls& keys, std::string address, std::uint16_t port) {
    CO_TRY(auto stream,
           co_await net::connect_tcp(co_await asio::this_coro::executor, address, port));
    co_return co_await keys.connect(std::move(stream));
}

/// Tries the addresses of a name one after the other.
Task<Result<Stream>> try_once(Clock& clock, net::SharedKeyTls& keys, const ClientOptions& options,
                              Duration left) {
    CO_TRY(const std::vector<std::string> addresses, options.resolve(options.host));
    Error last(Code::kUnavailable, "the name has no address");
    for (const std::string& address : addresses) {
        auto stream = co_await within(clock, std::min(kOneTry, left),
                                      try_address(keys, address, options.port));
        if (stream && *stream) co_return *std::move(stream);
        if (!stream)
            last = Error(Code::kUnavailable, fmt::format("{} does not answer", address));
        else if (stream->error().code() == Code::kUnauthorized)
            co_return stream->error();
        else
            last = stream->error();
    }
    co_return last;
}

Task<Result<Stream>> reach(Clock& clock, net::SharedKeyTls& keys, const ClientOptions& options) {
    const Instant deadline = clock.now() + options.patience;
    Duration rest = kFirstRest;
    for (int tries = 1;; ++tries) {
        const Duration left = std::max(deadline - clock.now(), kFirstRest);
        Result<Stream> stream = co_await try_once(clock, keys, options, left);
        if (stream) co_return stream;
        if (stream.error().code() == Code::kUnauthorized)
            co_return Error(Code::kUnauthorized,
                            fmt::format("{}:{} does not have this job's token: it is another job's "
                                        "worker or another program ({})",
                                        options.host, options.port, stream.error().message()));
        if (clock.now() + rest >= deadline)
            co_return Error(
                Code::kTimeout,
                fmt::format(
                    "{}:{} could not be reached in {} tries within {} s: {}; is the worker "
                    "running, and is 'muster rsh --serve' its command?",
                    options.host, options.port, tries,
                    std::chrono::duration_cast<std::chrono::seconds>(options.patience).count(),
                    stream.error().message()));
        co_await clock.sleep_for(rest);
        rest = std::min(2 * rest, kLongestRest);
    }
}

/// One command on the other side of an open connection.
class Conversation {
  public:
    Conversation(const asio::any_io_executor& executor, Stream stream, const ClientOptions& options)
        : options_(options),
          frames_(executor, std::move(stream)),
          credit_came_(executor),
          parts_(executor),
          output_(executor, options.output, Descriptor::Use::kWrite),
          errors_(executor, options.errors, Descriptor::Use::kWrite) {
        if (options.input >= 0) input_.emplace(executor, options.input, Descriptor::Use::kRead);
    }

    Task<Result<Outcome>> run() {
        co_await then_stop(receive(), parts_);
        co_return *std::move(end_);
    }

  private:
    Task<void> receive() { end_.emplace(co_await listen()); }

    Task<Result<Outcome>> listen() {
        CO_TRY_VOID(co_await frames_.write(request_frame(options_.command)));
        // Without it a command that reads would wait without end, and this process is for it alone.
        parts_.spawn_essential("input of a remote command", send_input());
        ServerProtocol protocol;
        for (;;) {
            CO_TRY(std::optional<Frame> frame, co_await frames_.read());
            if (!frame)
                co_return Error(Code::kUnavailable,
                                "the server closed the connection before the command had ended");
            CO_TRY(const ServerMessage message, protocol.take(*std::move(frame)));
            if (const auto* end = std::get_if<Outcome>(&message)) co_return *end;
            if (const auto* credit = std::get_if<Credit>(&message)) {
                credit_ += credit->bytes;
                credit_came_.notify_all();
            }
            if (const auto* output = std::get_if<Output>(&message))
                CO_TRY_VOID(co_await (output->is_error ? errors_ : output_)
                                .write(asio::buffer(output->bytes)));
        }
    }

    /// A broken connection is noticed by its reader.
    Task<void> send_input() {
        std::string bytes(kMostData, '\0');
        while (input_) {
            while (credit_ == 0) co_await credit_came_.wait();
            const std::size_t most = std::min(credit_, bytes.size());
            const Result<std::size_t> size =
                co_await input_->read_some(asio::buffer(bytes.data(), most));
            if (!size || *size == 0) break;
            credit_ -= *size;
            if (!co_await frames_.write(FrameType::kInput, bytes.substr(0, *size))) co_return;
        }
        (void)co_await frames_.write(frame_text(FrameType::kInputEnd, {}));
    }

    const ClientOptions& options_;
    std::optional<Result<Outcome>> end_;
    FrameStream frames_;
    std::size_t credit_ = kWindow;
    Signal credit_came_;
    TaskGroup parts_;
    std::optional<Descriptor> input_;
    Descriptor output_;
    Descriptor errors_;
};

}  // namespace

Task<Result<int>> run_at_host(Clock& clock, net::SharedKeyTls& keys, ClientOptions options) {
    CO_TRY(Stream stream, co_await reach(clock, keys, options));
    Conversation conversation(co_await asio::this_coro::executor, std::move(stream), options);
    Result<Outcome> outcome = co_await conversation.run();
    if (!outcome) co_return std::move(outcome.error().prefix(options.host));
    if (outcome->how == Outcome::How::kRefused) {
        const std::string why = fmt::format("{}: {}\n", options.host, outcome->why);
        Descriptor errors(co_await asio::this_coro::executor, options.errors,
                          Descriptor::Use::kWrite);
        (void)co_await errors.write(asio::buffer(why));
    }
    co_return outcome->exit_status();
}

}  // namespace muster::rsh
