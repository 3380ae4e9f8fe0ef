#include "runtime/internal/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/log.h"
#include "runtime/internal/cgroup_sweep.h"
#include "runtime/internal/message_socket.h"

namespace muster::runtime {

namespace {

constexpr int kControlFd = 3;

// The first byte of a message; the rest is a path.
constexpr char kProcess = 'p';
constexpr char kDirectory = 'd';
constexpr char kGroup = 'g';

Result<void> tell(int control, char kind, const std::string& path, int fd) {
    TRY_VOID(send_message(control, kind + path, {&fd, 1}));
    return {};
}

/// Becomes the keeper, in a new child; minus the error otherwise. vfork: nothing is copied for a
/// process that is about to be replaced.
[[gnu::noinline]] pid_t spawn(int program, int control) {
    std::string name = "muster-keeper";
    std::string argument = kKeeperArgument;
    std::array<char*, 3> argv{name.data(), argument.data(), nullptr};
    std::array<char*, 1> environment{nullptr};
    volatile int error = 0;
    const pid_t child = ::vfork();
    if (child < 0) return -errno;
    if (child == 0) {
        // A Ctrl-C at the terminal, or a kill of our process group, is not for it.
        ::setsid();
        if (::dup2(control, kControlFd) >= 0)
            ::syscall(SYS_execveat, program, "", argv.data(), environment.data(), AT_EMPTY_PATH);
        error = errno;
        ::_exit(127);
    }
    if (error != 0) {
        ::waitpid(child, nullptr, 0);
        return -error;
    }
    return child;
}

class KeeperProcess {
  public:
    int run() {
        while (listen()) {
        }
        while (!processes_.empty()) wait_for_processes(-1);
        for (const Owned& group : groups_) warn(sweep_cgroup(kernel_cgroup_files(), group.path));
        for (const Owned& directory : directories_) {
            std::error_code error;
            std::filesystem::remove_all(directory.path, error);
            if (error) warn(system_error("removing " + directory.path, error.value()));
        }
        return 0;
    }

  private:
    struct Owned {
        std::string path;
        UniqueFd lock;
    };

    static void warn(const Result<void>& done) {
        if (!done)
            log::warning("a killed run leaves something behind; `muster clean` removes it",
                         {{"error", done.error().message()}});
    }

    /// False once there is nobody left to listen to.
    bool listen() {
        wait_for_processes(control_.get());
        auto received = receive_message(control_.get(), MSG_DONTWAIT);
        if (!received || (received->bytes.empty() && !received->nothing_yet)) return false;
        if (received->nothing_yet || received->fds.empty()) return true;
        const std::string path = received->bytes.substr(1);
        UniqueFd fd = std::move(received->fds[0]);
        if (received->bytes[0] == kProcess) processes_.push_back(std::move(fd));
        if (received->bytes[0] == kDirectory) directories_.push_back({path, std::move(fd)});
        if (received->bytes[0] == kGroup) groups_.push_back({path, std::move(fd)});
        return true;
    }

    /// Returns when one of them has ended, or there is something to be read.
    void wait_for_processes(int control) {
        std::vector<pollfd> events;
        for (const UniqueFd& process : processes_) events.push_back({process.get(), POLLIN, 0});
        events.push_back({control, POLLIN, 0});
        if (::poll(events.data(), events.size(), -1) < 0) return;
        for (std::size_t i = processes_.size(); i-- > 0;)
            if (events[i].revents != 0)
                processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    UniqueFd control_{kControlFd};
    std::vector<UniqueFd> processes_;
    std::vector<Owned> groups_;
    std::vector<Owned> directories_;
};

}  // namespace

Result<Keeper> Keeper::start(int program) {
    TRY(auto ends, make_message_pair());
    // Out of the way of the number that the keeper finds its socket at.
    const UniqueFd executable(::fcntl(program, F_DUPFD_CLOEXEC, kControlFd + 1));
    const UniqueFd control(::fcntl(ends.second.get(), F_DUPFD_CLOEXEC, kControlFd + 1));
    if (!executable || !control) return system_error("duplicating a descriptor", errno);
    const pid_t pid = spawn(executable.get(), control.get());
    if (pid < 0) return system_error("starting the keeper", static_cast<int>(-pid));
    return Keeper(std::move(ends.first), pid);
}

Keeper::~Keeper() {
    if (pid_ < 0) return;
    control_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<void> Keeper::wait_for(int pidfd) const { return tell(control_.get(), kProcess, {}, pidfd); }

Result<void> Keeper::remove_directory(const std::filesystem::path& directory, int lock) const {
    return tell(control_.get(), kDirectory, directory.string(), lock);
}

Result<void> Keeper::remove_cgroup(const std::string& group, int lock) const {
    return tell(control_.get(), kGroup, group, lock);
}

int run_keeper() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
    if (::chdir("/") < 0) return 1;
    return KeeperProcess().run();
}

}  // namespace muster::runtime
