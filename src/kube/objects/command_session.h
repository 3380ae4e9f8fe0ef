#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::kube {

/// What is asked of a container by pods/exec, or by pods/attach (no command then: the container's
/// own program is meant).
struct CommandOptions {
    std::string container;
    std::vector<std::string> command;
    /// Which of the standard streams are connected; of a terminal there is no separate error.
    bool input = false;
    bool output = false;
    bool error = false;
    bool terminal = false;

    friend bool operator==(const CommandOptions&, const CommandOptions&) = default;
};

struct TerminalSize {
    std::uint16_t columns = 0;
    std::uint16_t rows = 0;

    friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

struct OutputPiece {
    bool error = false;  ///< of standard error
    std::string bytes;   ///< never empty
};

/// A command in a container, and its standard streams. Destroying it kills the command if it still
/// runs (of an attached program it only lets go). Slow readers slow the command: nothing is dropped
/// and little is buffered. One reader and one writer at a time, which may be two coroutines.
/// Thread: the loop that it was made on.
class CommandSession {
  public:
    virtual ~CommandSession() = default;

    /// The next piece of output; nullopt once the command has ended and all of it was read.
    /// Cancelling the caller loses nothing.
    virtual Task<Result<std::optional<OutputPiece>>> read() = 0;
    /// How it ended, after read() gave nullopt: its exit code, 128 + N when signal N ended it. An
    /// error when it could not be started.
    virtual Result<int> end() const = 0;

    /// To standard input; returns when all was taken. What a command does not want to read any more
    /// is dropped, as into a pipe whose reader has gone. After a cancellation no more may be
    /// written.
    virtual Task<void> write(std::string bytes) = 0;
    /// The end of standard input. Nothing may be written afterwards; again, it has no effect.
    virtual Task<void> close_input() = 0;
    /// Of a terminal; otherwise without effect.
    virtual void resize(TerminalSize size) = 0;
};

}  // namespace muster::kube
