#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::kube {

/// A program whose standard output we read. Its errors go where ours do.
///
/// It is reaped when the object is destroyed; until then its process id is not reused. Destroying
/// the object while the program runs kills it, and its whole group if it has one. Thread: one loop.
class ChildProcess {
  public:
    /// What it shares with us.
    enum class Ties {
        kTerminal,  ///< it reads the terminal, and Ctrl-C ends it with us
        kGroup,     ///< nothing to read, but Ctrl-C ends it with us
        kNone,      ///< nothing to read, and a process group of its own
    };
    struct Options {
        std::vector<std::string> arguments;  ///< the first is the program's path or name
        std::vector<std::string> environment;
        Ties ties = Ties::kNone;
    };

    /// An error says why it can't be started, but does not name the program.
    static Result<std::unique_ptr<ChildProcess>> start(const asio::any_io_executor& executor,
                                                       Options options);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// All that it writes, up to `most` bytes.
    Task<std::string> output(std::size_t most);
    struct End {
        bool killed;  ///< by the signal `number`; else it ended with the status `number`
        int number;
    };
    Task<End> ended();

  private:
    ChildProcess(const asio::any_io_executor& executor, pid_t pid, int pidfd, int output,
                 bool has_group)
        : pid_(pid), has_group_(has_group), pidfd_(executor, pidfd), output_(executor, output) {}

    pid_t pid_;
    bool has_group_;
    asio::posix::stream_descriptor pidfd_;
    asio::posix::stream_descriptor output_;
    bool has_ended_ = false;
};

}  // namespace muster::kube
