#include "rsh/internal/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "process/spawn_lists.h"

namespace muster::rsh {

namespace {

/// Closes a descriptor that was not passed on.
class Fd {
  public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    ~Fd() { reset(); }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    void reset(int fd = -1) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = fd;
    }

  private:
    int fd_;
};

struct PipeEnds {
    Fd read, write;
    Result<void> open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("making a pipe", errno);
        read.reset(ends[0]);
        write.reset(ends[1]);
        return {};
    }
};

Error not_started(const std::string& what, int why) {
    return Error(Code::kInvalid, system_error(fmt::format("starting {}", what), why).message());
}

}  // namespace

Result<std::unique_ptr<Command>> Command::start(const asio::any_io_executor& executor,
                                                const std::string& shell, const std::string& text,
                                                const std::vector<std::string>& environment) {
    PipeEnds in, out, err;
    TRY_VOID(in.open());
    TRY_VOID(out.open());
    TRY_VOID(err.open());
    SpawnLists lists(POSIX_SPAWN_SETSID);
    ::posix_spawn_file_actions_adddup2(&lists.actions, in.read.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&lists.actions, out.write.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&lists.actions, err.write.get(), STDERR_FILENO);
    // Not all descriptors of this process are closed by exec: a daemon that the command leaves
    // behind would hold other clients' connections open.
    ::posix_spawn_file_actions_addclosefrom_np(&lists.actions, STDERR_FILENO + 1);
    const std::vector<std::string> arguments = {shell, "-c", text};
    pid_t pid = -1;
    const int failed =
        ::posix_spawn(&pid, shell.c_str(), &lists.actions, &lists.attributes,
                      spawn_pointers(arguments).data(), spawn_pointers(environment).data());
    if (failed != 0) return not_started(shell, failed);
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (pidfd < 0) {
        const int why = errno;
        ::kill(-pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return not_started(shell, why);
    }
    return std::unique_ptr<Command>(new Command(
        executor, pid, pidfd, {in.write.release(), out.read.release(), err.read.release()}));
}

Command::Command(const asio::any_io_executor& executor, pid_t pid, int pidfd,
                 std::array<int, kPipes> pipes)
    : pid_(pid), pidfd_(executor, pidfd), pipes_(pipes) {
    input_.emplace(executor, pipes_[kIn], Descriptor::Use::kWrite);
    output_.emplace(executor, pipes_[kOut], Descriptor::Use::kRead);
    errors_.emplace(executor, pipes_[kErr], Descriptor::Use::kRead);
}

Command::~Command() {
    if (!has_ended_) signal(SIGKILL);
    input_.reset();
    output_.reset();
    errors_.reset();
    for (const Pipe pipe : {kIn, kOut, kErr}) close(pipe);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Command::close(Pipe pipe) {
    if (pipes_[pipe] >= 0) ::close(pipes_[pipe]);
    pipes_[pipe] = -1;
}

void Command::close_input() {
    input_.reset();
    close(kIn);
}

Task<Outcome> Command::ended() {
    siginfo_t info{};
    for (;;) {
        co_await pidfd_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
        info.si_pid = 0;
        // Leaves it to be reaped later.
        if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
            info.si_pid == pid_)
            break;
    }
    has_ended_ = true;
    if (info.si_code == CLD_EXITED)
        co_return Outcome{.how = Outcome::How::kExited, .number = info.si_status, .why = {}};
    co_return Outcome{.how = Outcome::How::kKilled, .number = info.si_status, .why = {}};
}

void Command::signal(int number) const { ::kill(-pid_, number); }

}  // namespace muster::rsh
