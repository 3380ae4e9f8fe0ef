#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::kube {

/// A program whose standard output comes here. Its errors go where ours do.
///
/// It is reaped when the object goes: until then its number is its own. Destroying the object while
/// it runs kills it, and all of its group if it has one. Thread: one loop.
class ChildProcess {
  public:
    /// What it shares with us.
    enum class Ties {
        kTerminal,  ///< it reads what is typed for us, and Ctrl-C ends it with us
        kGroup,     ///< nothing to read, but Ctrl-C ends it with us
        kNone,      ///< nothing to read, and a process group of its own
    };
    struct Options {
        std::vector<std::string> arguments;  ///< with the program's path or name in front
        std::vector<std::string> environment;
        Ties ties = Ties::kNone;
    };

    /// An error says why it can't be started, and not which program.
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
