#include "rsh/server.h"

#include "base/async/then_stop.h"
#include "base/check.h"
#include "base/log.h"
#include "base/time/restarting_task.h"
#include "base/time/time_limit.h"
#include "net/accept_each.h"
#include "rsh/internal/session.h"

namespace muster::rsh {

namespace {

struct Greeted {
    std::unique_ptr<FrameStream> frames;
    ClientProtocol protocol;
    std::string command;
};

Task<Result<Greeted>> take_request(asio::any_io_executor executor, net::SharedKeyTls& keys,
                                   std::unique_ptr<net::ByteStream> stream) {
    CO_TRY(auto secured, co_await keys.accept(std::move(stream)));
    Greeted greeted{.frames = std::make_unique<FrameStream>(executor, std::move(secured)),
                    .protocol = {},
                    .command = {}};
    CO_TRY(std::optional<Frame> frame, co_await greeted.frames->read());
    if (!frame) co_return Error(Code::kUnavailable, "the client said nothing");
    Result<ClientMessage> message = greeted.protocol.take(*std::move(frame));
    if (!message) {
        // A client of another version is told why.
        (void)co_await greeted.frames->write(outcome_frame(
            {.how = Outcome::How::kRefused, .number = 0, .why = message.error().message()}));
        (void)co_await greeted.frames->shut_down_write();
        co_return message.error();
    }
    greeted.command = std::get<Start>(*std::move(message)).command;
    co_return std::move(greeted);
}

Task<void> end_with_server(Session& session, Signal& stopping, bool& stops) {
    while (!stops) co_await stopping.wait();
    session.end();
}

Task<void> run_command(asio::any_io_executor executor, Clock& clock, ServerOptions options,
                       Greeted greeted, Signal& stopping, bool& stops) {
    Result<std::unique_ptr<Command>> command =
        Command::start(executor, options.shell, greeted.command, options.environment);
    if (!command) {
        log::warning("a command was not started", {{"client", greeted.frames->peer_address()},
                                                   {"why", command.error().message()}});
        (void)co_await greeted.frames->write(outcome_frame(
            {.how = Outcome::How::kRefused, .number = 0, .why = command.error().message()}));
        (void)co_await greeted.frames->shut_down_write();
        co_return;
    }
    Session session(executor, clock, options.mercy, std::move(greeted.frames),
                    std::move(greeted.protocol), *std::move(command));
    TaskGroup watch(executor);
    spawn_restarting(watch, clock, "a server that stops",
                     [&] { return end_with_server(session, stopping, stops); });
    co_await then_stop(session.run(), watch);
}

}  // namespace

Server::Server(asio::any_io_executor executor, Clock& clock, net::SharedKeyTls& keys,
               ServerOptions options)
    : executor_(executor),
      clock_(clock),
      keys_(keys),
      options_(std::move(options)),
      stopping_(executor),
      accepting_(executor),
      greetings_(executor),
      sessions_(executor) {}

Server::~Server() = default;

void Server::start(std::unique_ptr<net::Listener> listener) {
    listener_ = std::move(listener);
    // Clients that have not authenticated cost little, but their number must be limited.
    auto take = [this](std::unique_ptr<net::ByteStream> stream) {
        if (greetings_.size() < options_.most_greeted)
            greetings_.spawn("a client that comes", greet(std::move(stream)));
    };
    const char* const what = "clients of the remote shell";
    spawn_restarting(accepting_, clock_, what, [this, what, take = std::move(take)] {
        return net::accept_each(*listener_, clock_, what, take);
    });
}

Task<void> Server::greet(std::unique_ptr<net::ByteStream> stream) {
    const std::string client = stream->peer_address();
    auto greeted = co_await within(clock_, options_.greeting,
                                   take_request(executor_, keys_, std::move(stream)));
    if (!greeted) {
        log::warning("a client took too long to send its request", {{"client", client}});
        co_return;
    }
    if (!*greeted) {
        // A client that only probes whether the port is open sends nothing; don't log it.
        if (greeted->error().code() != Code::kUnavailable)
            log::warning("a client was rejected",
                         {{"client", client}, {"why", greeted->error().message()}});
        co_return;
    }
    sessions_.spawn("a command", run_command(executor_, clock_, options_, std::move(**greeted),
                                             stopping_, stops_));
}

Task<void> Server::stop() {
    if (listener_) listener_->close();
    co_await accepting_.stop();
    co_await greetings_.stop();
    stops_ = true;
    stopping_.notify_all();
    co_await sessions_.join();
}

}  // namespace muster::rsh
