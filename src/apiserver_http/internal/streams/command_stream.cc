#include "apiserver_http/internal/streams/command_stream.h"

#include "apiserver_http/internal/streams/channel_messages.h"
#include "apiserver_http/internal/streams/web_socket_life.h"
#include "base/async/first_of.h"
#include "base/time/time_limit.h"

namespace muster::apiserver_http {

namespace {

/// Returns when the client has disconnected.
Task<void> take_input(net::WebSocket& socket, kube::CommandSession& session) {
    const bool version_5 = socket.protocol() == kChannelsV5;
    for (;;) {
        const auto message = co_await socket.read();
        if (!message || !*message) co_return;
        const auto said = parse_client_message((*message)->bytes, version_5);
        if (!said) {
            std::ignore = co_await socket.close(kBrokenProtocol, said.error());
            co_return;
        }
        switch (said->kind) {
            case ClientMessage::Kind::kInput:
                co_await session.write(std::string(said->input));
                break;
            case ClientMessage::Kind::kEndOfInput:
                co_await session.close_input();
                break;
            case ClientMessage::Kind::kResize:
                session.resize(said->size);
                break;
        }
    }
}

/// A client that does not answer gets its output all the same.
constexpr Duration kFirstAnswer = std::chrono::seconds(1);

Task<bool> until_heard(net::WebSocket& socket) {
    co_await socket.heard();
    co_return true;
}

/// kubectl before 1.34 begins to read before it has made its streams, and drops what comes for them
/// until then (kubernetes/kubernetes#131189): of a short command, all. Who answers a ping reads.
Task<void> wait_for_reader(net::WebSocket& socket, Clock& clock) {
    if (co_await socket.ping(""))
        std::ignore = co_await within(clock, kFirstAnswer, until_heard(socket));
}

/// Returns when the command has ended and the client was told, or can't be told any more.
Task<void> send_output(net::WebSocket& socket, kube::CommandSession& session, Clock& clock) {
    co_await wait_for_reader(socket, clock);
    Result<int> end = 0;
    for (;;) {
        const auto piece = co_await session.read();
        if (!piece) end = piece.error();
        if (!piece || !*piece) break;
        const std::string message =
            channel_message((*piece)->error ? Channel::kError : Channel::kOutput, (*piece)->bytes);
        if (!co_await socket.write(false, message)) co_return;
    }
    if (end) end = session.end();
    const std::string message = channel_message(Channel::kStatus, command_status(end));
    if (!co_await socket.write(false, message)) co_return;
    std::ignore = co_await socket.close(kGoodEnd, "");
}

Task<void> ignore_input(net::WebSocket& socket) {
    for (;;) {
        const auto message = co_await socket.read();
        if (!message || !*message) co_return;
    }
}

Task<void> send_refusal(net::WebSocket& socket, const Error& why, Clock& clock) {
    co_await wait_for_reader(socket, clock);
    const std::string message = channel_message(Channel::kStatus, refusal_status(why));
    if (!co_await socket.write(false, message)) co_return;
    std::ignore = co_await socket.close(kGoodEnd, "");
}

}  // namespace

Task<void> refuse_command(std::unique_ptr<net::WebSocket> socket, Error why, Clock& clock) {
    co_await while_client_lives(
        *socket, first_of(ignore_input(*socket), send_refusal(*socket, why, clock)), clock);
    co_await hear_farewell(*socket, clock);
}

Task<void> carry_command(std::unique_ptr<net::WebSocket> socket,
                         std::unique_ptr<kube::CommandSession> session, Clock& clock) {
    co_await while_client_lives(
        *socket, first_of(take_input(*socket, *session), send_output(*socket, *session, clock)),
        clock);
    session.reset();
    co_await hear_farewell(*socket, clock);
}

}  // namespace muster::apiserver_http
