#include "runtime/cleanup_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/log.h"
#include "process/message_socket.h"
#include "runtime/internal/cleanup_main.h"

namespace muster::runtime {

namespace {

/// Becomes the cleanup process, in a new child; otherwise returns minus the error. vfork: nothing
/// is copied for a process that is about to be replaced.
[[gnu::noinline]] pid_t spawn(int program, int control) {
    std::string name = "muster-cleanup";
    std::string argument = kCleanupArgument;
    std::array<char*, 3> argv{name.data(), argument.data(), nullptr};
    std::array<char*, 1> environment{nullptr};
    volatile int error = 0;
    const pid_t child = ::vfork();
    if (child < 0) return -errno;
    if (child == 0) {
        // A Ctrl-C at the terminal, or a kill of our process group, is not for it.
        ::setsid();
        if (::dup2(control, kCleanupControlFd) >= 0) {
            // A lock or a pipe of whoever started us must not stay open for as long as it works.
            ::syscall(SYS_close_range, kCleanupControlFd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
            ::syscall(SYS_execveat, program, "", argv.data(), environment.data(), AT_EMPTY_PATH);
        }
        error = errno;
        ::_exit(127);
    }
    if (error != 0) {
        ::waitpid(child, nullptr, 0);
        return -error;
    }
    return child;
}

}  // namespace

Result<std::unique_ptr<CleanupProcess>> CleanupProcess::start() {
    TRY(auto ends, process::make_message_pair());
    const UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    if (!self) return system_error("opening this program", errno);
    // A number other than the one at which the cleanup process finds its socket.
    const UniqueFd program(::fcntl(self.get(), F_DUPFD_CLOEXEC, kCleanupControlFd + 1));
    const UniqueFd control(::fcntl(ends.second.get(), F_DUPFD_CLOEXEC, kCleanupControlFd + 1));
    if (!program || !control) return system_error("duplicating a descriptor", errno);
    const pid_t pid = spawn(program.get(), control.get());
    if (pid < 0) return system_error("starting the cleanup process", static_cast<int>(-pid));
    return std::unique_ptr<CleanupProcess>(new CleanupProcess(ends.first.release(), pid));
}

CleanupProcess::~CleanupProcess() {
    ::close(control_);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<void> CleanupProcess::wait_for(int pidfd) {
    return tell(CleanupMessage::kProcess, {}, {&pidfd, 1});
}

Result<void> CleanupProcess::remove_directory(const std::filesystem::path& directory,
                                              std::string_view marker) {
    return tell(CleanupMessage::kDirectory, directory.string() + '\0' + std::string(marker), {});
}

Result<void> CleanupProcess::remove_cgroup(const std::string& group) {
    return tell(CleanupMessage::kGroup, group, {});
}

Result<void> CleanupProcess::hold(int lock) { return tell(CleanupMessage::kLock, {}, {&lock, 1}); }

Result<void> CleanupProcess::tell(CleanupMessage kind, const std::string& path,
                                  std::span<const int> fds) {
    if (missed_) return {};
    Result<bool> told = process::send_message(control_, static_cast<char>(kind) + path, fds);
    if (told) return {};
    if (!was_killed()) return std::move(told.error());
    missed_ = true;
    log::warning(
        "muster's cleanup process was killed: if muster is killed too, `muster clean` removes what "
        "is left");
    return {};
}

/// It closes its end when it ends.
bool CleanupProcess::was_killed() const {
    pollfd control{.fd = control_, .events = 0, .revents = 0};
    return ::poll(&control, 1, 0) > 0 && (control.revents & POLLHUP) != 0;
}

}  // namespace muster::runtime
