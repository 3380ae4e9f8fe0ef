#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::kube {

/// A request to a container through pods/exec, or through pods/attach (then there is no command:
/// the container's own program is meant).
struct CommandOptions {
    std::string container;
    std::vector<std::string> command;
    /// Which of the standard streams are connected; a terminal has no separate standard error.
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
/// runs (an attached program keeps running). Slow readers slow the command: nothing is dropped and
/// little is buffered. One reader and one writer at a time, which may be two coroutines. Thread:
/// the loop that it was made on.
class CommandSession {
  public:
    virtual ~CommandSession() = default;

    /// The next piece of output; nullopt once the command has ended and all output was read.
    /// Cancelling the caller loses nothing.
    virtual Task<Result<std::optional<OutputPiece>>> read() = 0;
    /// How it ended, after read() gave nullopt: its exit code, or 128 + N if signal N ended it. An
    /// error if it could not be started.
    virtual Result<int> end() const = 0;

    /// Writes to standard input; returns when everything was taken. Input that a command does not
    /// want to read any more is dropped, as in a pipe whose reader is gone. After a cancellation
    /// nothing more may be written.
    virtual Task<void> write(std::string bytes) = 0;
    /// Ends standard input. Nothing may be written afterwards; a second call has no effect.
    virtual Task<void> close_input() = 0;
    /// For a terminal; otherwise without effect.
    virtual void resize(TerminalSize size) = 0;
};

}  // namespace muster::kube
