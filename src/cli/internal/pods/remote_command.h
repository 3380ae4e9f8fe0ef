#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/signal.h"
#include "base/result.h"
#include "cli/internal/connect/connection.h"
#include "kube/objects/command_session.h"
#include "net/http/web_socket.h"

namespace muster::cli {

/// A command in a container of a server, as its client has it. Destroying it ends the connection,
/// and the server then ends the command. One reader; several coroutines may write. Thread: the
/// loop.
class RemoteCommand {
  public:
    explicit RemoteCommand(const asio::any_io_executor& executor,
                           std::unique_ptr<net::WebSocket> socket)
        : socket_(std::move(socket)), sent_(executor) {}

    /// Starts one. A refusal is the server's.
    static Task<Result<std::unique_ptr<RemoteCommand>>> start(Connection& connection,
                                                              std::string ns, std::string pod,
                                                              kube::CommandOptions options);

    /// The next piece of output; nullopt once the command has ended and all was read. kUnavailable
    /// if the connection broke before that.
    Task<Result<std::optional<kube::OutputPiece>>> read();
    /// After that: its exit code, or why it did not run.
    Result<int> end() const { return end_; }

    Task<Result<void>> write(std::string bytes);
    Task<Result<void>> close_input();
    Task<Result<void>> resize(kube::TerminalSize size);

  private:
    Task<Result<void>> send(std::string message);

    std::unique_ptr<net::WebSocket> socket_;
    bool sending_ = false;
    Signal sent_;
    bool ended_ = false;
    Result<int> end_ = Error(Code::kUnavailable, "the connection ended before the command did");
};

/// What a command without input wrote, and how it ended. kTooLarge if it writes more than `most`.
struct CommandOutput {
    std::string output;
    std::string error;
    int status = 0;
};
Task<Result<CommandOutput>> output_of(RemoteCommand& command, std::size_t most);

}  // namespace muster::cli
