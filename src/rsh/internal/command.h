#pragma once

#include <sys/types.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/descriptor.h"
#include "rsh/internal/protocol.h"

namespace muster::rsh {

/// A shell command with three pipes, in its own session and process group.
///
/// The process is reaped when the object is destroyed: until then its pid can't be reused, so a
/// signal to the group reaches no other group. Destroying it while the command runs kills the
/// group. Thread: one loop.
class Command {
  public:
    /// kInvalid, with the reason: it can't be started.
    static Result<std::unique_ptr<Command>> start(const asio::any_io_executor& executor,
                                                  const std::string& shell, const std::string& text,
                                                  const std::vector<std::string>& environment);
    ~Command();
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    Descriptor& output() { return *output_; }
    Descriptor& errors() { return *errors_; }
    /// Must not be written to after close_input().
    Descriptor& input() { return *input_; }
    void close_input();

    /// Returns when the shell has ended; processes that it left may still run.
    Task<Outcome> ended();
    /// Sends a signal to the whole process group.
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
