#include "cli/internal/pods/remote_command.h"

#include <fmt/format.h>

#include "cli/internal/pods/command_messages.h"
#include "kube/objects/resource_type.h"

namespace muster::cli {

namespace {

kube::Request exec_request(const std::string& ns, const std::string& pod,
                           const kube::CommandOptions& options) {
    kube::Request request;
    request.path = kube::types::kPods.path(ns, pod, "exec");
    for (const std::string& word : options.command) request.query.emplace_back("command", word);
    if (!options.container.empty()) request.query.emplace_back("container", options.container);
    const auto flag = [&request](const char* name, bool value) {
        request.query.emplace_back(name, value ? "true" : "false");
    };
    flag("stdin", options.input);
    flag("stdout", options.output);
    flag("stderr", options.error);
    flag("tty", options.terminal);
    return request;
}

}  // namespace

Task<Result<std::unique_ptr<RemoteCommand>>> RemoteCommand::start(Connection& connection,
                                                                  std::string ns, std::string pod,
                                                                  kube::CommandOptions options) {
    CO_TRY(auto socket,
           co_await connection.connect(exec_request(ns, pod, options), {kCommandProtocol}));
    co_return std::make_unique<RemoteCommand>(co_await asio::this_coro::executor,
                                              std::move(socket));
}

Task<Result<std::optional<kube::OutputPiece>>> RemoteCommand::read() {
    using Kind = ServerMessage::Kind;
    for (;;) {
        auto message = co_await socket_->read();
        // Output may come after the status: a real server copies each stream by itself.
        if (ended_ && (!message || !*message)) co_return std::nullopt;
        if (!message) co_return std::move(message.error());
        if (!*message) co_return end_.error();
        const ServerMessage said = parse_server_message((*message)->bytes);
        switch (said.kind) {
            case Kind::kOutput:
            case Kind::kError:
                co_return kube::OutputPiece{.error = said.kind == Kind::kError,
                                            .bytes = std::string(said.bytes)};
            case Kind::kEnd:
                ended_ = true;
                end_ = read_command_end(said.bytes);
                break;
            case Kind::kOther:
                break;
        }
    }
}

Task<Result<void>> RemoteCommand::send(std::string message) {
    while (sending_) co_await sent_.wait();
    // A write that is cancelled leaves this set: nothing can be written after it.
    sending_ = true;
    Result<void> done = co_await socket_->write(false, message);
    sending_ = false;
    sent_.notify_all();
    co_return done;
}

Task<Result<void>> RemoteCommand::write(std::string bytes) {
    co_return co_await send(input_message(bytes));
}

Task<Result<void>> RemoteCommand::close_input() { co_return co_await send(end_of_input_message()); }

Task<Result<void>> RemoteCommand::resize(kube::TerminalSize size) {
    co_return co_await send(terminal_size_message(size));
}

Task<Result<CommandOutput>> output_of(RemoteCommand& command, std::size_t most) {
    CommandOutput all;
    for (;;) {
        CO_TRY(const auto piece, co_await command.read());
        if (!piece) break;
        (piece->error ? all.error : all.output) += piece->bytes;
        if (all.output.size() + all.error.size() > most)
            co_return Error(Code::kTooLarge,
                            fmt::format("the command writes more than {} bytes", most));
    }
    CO_TRY(all.status, command.end());
    co_return all;
}

}  // namespace muster::cli
