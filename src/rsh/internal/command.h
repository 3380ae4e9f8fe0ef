#pragma once

#include <sys/types.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rsh/internal/descriptor.h"
#include "rsh/internal/protocol.h"

namespace muster::rsh {

/// A command of the shell with three pipes, in a session and so a process group of its own.
///
/// The process is reaped when the object goes: until then its number is its own, so that a signal
/// to the group reaches the group alone. Destroying it while the command runs kills the group.
/// Thread: one loop.
class Command {
  public:
    /// kInvalid when it can't be started: the message says why.
    static Result<std::unique_ptr<Command>> start(const asio::any_io_executor& executor,
                                                  const std::string& shell, const std::string& text,
                                                  const std::vector<std::string>& environment);
    ~Command();
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    Descriptor& output() { return *output_; }
    Descriptor& errors() { return *errors_; }
    /// Writing to it after close_input() is not allowed.
    Descriptor& input() { return *input_; }
    void close_input();

    /// Returns when the shell has ended; what it left behind may still run.
    Task<Outcome> ended();
    /// To all of the process group.
    void signal(int number) const;

  private:
    enum Pipe { kIn, kOut, kErr, kPipes };

    Command(const asio::any_io_executor& executor, pid_t pid, int pidfd,
            std::array<int, kPipes> pipes);
    void close(Pipe pipe);

    pid_t pid_;
    asio::posix::stream_descriptor pidfd_;
    std::array<int, kPipes> pipes_;
    std::optional<Descriptor> input_, output_, errors_;
    bool has_ended_ = false;
};

}  // namespace muster::rsh
