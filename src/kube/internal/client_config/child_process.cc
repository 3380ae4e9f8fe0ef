#include "kube/internal/client_config/child_process.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <csignal>

#include "base/async/cancellation.h"
#include "process/spawn_lists.h"

namespace muster::kube {

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(const asio::any_io_executor& executor,
                                                          Options options) {
    const bool own_group = options.ties == Ties::kNone;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("making a pipe", errno);
    SpawnLists lists(own_group ? POSIX_SPAWN_SETPGROUP : 0);
    if (options.ties != Ties::kTerminal)
        ::posix_spawn_file_actions_addopen(&lists.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&lists.actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&lists.actions, STDERR_FILENO + 1);
    pid_t pid = -1;
    int failed = ::posix_spawnp(&pid, options.arguments.front().c_str(), &lists.actions,
                                &lists.attributes, spawn_pointers(options.arguments).data(),
                                spawn_pointers(options.environment).data());
    ::close(ends[1]);
    const int pidfd = failed == 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
    if (failed == 0 && pidfd < 0) {
        failed = errno;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
    }
    if (failed != 0) {
        ::close(ends[0]);
        return system_error("starting it", failed);
    }
    return std::unique_ptr<ChildProcess>(
        new ChildProcess(executor, pid, pidfd, ends[0], own_group));
}

ChildProcess::~ChildProcess() {
    if (!has_ended_) ::kill(has_group_ ? -pid_ : pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Task<std::string> ChildProcess::output(std::size_t most) {
    std::string printed;
    std::array<char, 4096> piece{};
    boost::system::error_code ended;
    while (!ended && printed.size() < most) {
        const std::size_t size = co_await output_.async_read_some(
            asio::buffer(piece), asio::redirect_error(asio::use_awaitable, ended));
        rethrow_cancellation(ended);
        printed.append(piece.data(), size);
    }
    co_return printed;
}

Task<ChildProcess::End> ChildProcess::ended() {
    siginfo_t info{};
    while (info.si_pid != pid_) {
        co_await pidfd_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
        // The process is still to be reaped afterwards.
        if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) != 0)
            info.si_pid = 0;
    }
    has_ended_ = true;
    co_return End{.killed = info.si_code != CLD_EXITED, .number = info.si_status};
}

}  // namespace muster::kube
