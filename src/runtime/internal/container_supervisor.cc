#include "runtime/internal/container_supervisor.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "runtime/internal/mounts.h"
#include "runtime/internal/program.h"

namespace muster::runtime {

namespace {

constexpr mode_t kContainerUmask = 022;
constexpr int kInitEnded = SIGUSR1;

std::optional<std::string> read_file(const char* path) {
    UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
    if (!file) return std::nullopt;
    std::string text;
    std::array<char, 4096> buffer;
    ssize_t size = 0;
    while ((size = ::read(file.get(), buffer.data(), buffer.size())) > 0)
        text.append(buffer.data(), static_cast<std::size_t>(size));
    return text;
}

pid_t number_at(std::string_view text) {
    pid_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// For kernels without a list of children: reads every process's parent.
std::vector<pid_t> children_by_scan() {
    std::vector<pid_t> children;
    DIR* processes = ::opendir("/proc");
    if (processes == nullptr) return children;
    while (const dirent* entry = ::readdir(processes)) {
        const pid_t pid = number_at(entry->d_name);
        if (pid <= 0) continue;
        auto stat = read_file(fmt::format("/proc/{}/stat", pid).c_str());
        // "pid (name) state ppid": the name may hold anything, so count from its end.
        const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
        if (name_end == std::string::npos || stat->size() < name_end + 4) continue;
        if (number_at(std::string_view(*stat).substr(name_end + 4)) == ::getpid())
            children.push_back(pid);
    }
    ::closedir(processes);
    return children;
}

std::vector<pid_t> children_of_this_process() {
    auto text = read_file("/proc/thread-self/children");  // needs CONFIG_PROC_CHILDREN
    if (!text) return children_by_scan();
    std::vector<pid_t> children;
    for (std::string_view left = *text; !left.empty();) {
        if (const pid_t pid = number_at(left); pid > 0) children.push_back(pid);
        const std::size_t space = left.find(' ');
        left = space == left.npos ? std::string_view() : left.substr(space + 1);
    }
    return children;
}

struct Program {
    std::vector<std::string> candidates;
    std::vector<char*> argv;
    std::vector<char*> environment;
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// Executes the program in a new child; returns its pid, or minus the error of the most telling
/// attempt. vfork: the error comes back through memory, and nothing is copied for a process that
/// is about to be replaced.
[[gnu::noinline]] pid_t execute(const Program& program, int stdin_fd, int stdout_fd,
                                int stderr_fd) {
    volatile int error = 0;
    const pid_t child = ::vfork();
    if (child < 0) return -errno;
    if (child == 0) {
        ::setsid();
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
        sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::dup2(stdin_fd, STDIN_FILENO);
        ::dup2(stdout_fd, STDOUT_FILENO);
        ::dup2(stderr_fd, STDERR_FILENO);
        int most_telling = ENOENT;
        for (const std::string& candidate : program.candidates) {
            ::execve(candidate.c_str(), program.argv.data(), program.environment.data());
            if (errno == ENOENT || errno == ENOTDIR) continue;
            most_telling = errno;
            if (errno != EACCES) break;
        }
        error = most_telling;
        ::_exit(127);
    }
    // The child is gone or has become the program: `error` is final.
    if (error != 0) {
        ::waitpid(child, nullptr, 0);
        return -error;
    }
    return child;
}

class Supervisor {
  public:
    Supervisor(int control, std::uint32_t id) : control_(control), id_(id) {}

    [[noreturn]] void run(Request request, bool namespaces, pid_t init) {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        ::prctl(PR_SET_NAME, "muster-pod");
        sigset_t set;
        ::sigemptyset(&set);
        ::sigaddset(&set, SIGCHLD);
        ::sigaddset(&set, kInitEnded);
        ::sigprocmask(SIG_SETMASK, &set, nullptr);
        signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
        ::prctl(PR_SET_PDEATHSIG, kInitEnded);
        if (::getppid() != init) abandon();

        ContainerStart& start = request.start;
        if (namespaces && !start.mounts.empty()) {
            auto mounted = make_mounts(start);
            if (!mounted) fail({StartStage::kMount, 0, mounted.error().message()});
        }
        if (::chdir(start.working_dir.c_str()) < 0)
            fail({StartStage::kWorkingDir, errno, start.working_dir});
        ::umask(kContainerUmask);
        start_program(request);
        wait_for_end();
    }

  private:
    static Result<void> make_mounts(const ContainerStart& start) {
        if (::unshare(CLONE_NEWNS) < 0)
            return system_error("making the container's mount namespace", errno);
        return set_up_container_mounts(start.mounts, start.scratch_dir);
    }

    void start_program(Request& request) {
        ContainerStart& start = request.start;
        UniqueFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        Program program;
        program.candidates = program_candidates(start.argv[0], path_of(start.environment));
        program.argv = pointers(start.argv);
        program.environment = pointers(start.environment);
        const pid_t child =
            execute(program, input.get(), request.stdout_fd.get(), request.stderr_fd.get());
        if (child < 0) fail(diagnose_program(program.candidates, start.argv[0], -child));
        main_ = child;
        request.stdout_fd.reset();
        request.stderr_fd.reset();
        // The working directory is the program's business from here on.
        if (::chdir("/") < 0) {
        }
        Report report;
        report.kind = Report::Kind::kStarted;
        report.id = id_;
        report.pid = child;
        report.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
        tell(report);
    }

    [[noreturn]] void wait_for_end() {
        std::array<pollfd, 2> events{};
        events[0] = {signals_.get(), POLLIN, 0};
        events[1] = {control_, 0, 0};  // only its end
        for (;;) {
            reap();
            if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) abandon();
            if ((events[1].revents & (POLLHUP | POLLERR)) != 0) abandon();
            signalfd_siginfo info{};
            while (::read(signals_.get(), &info, sizeof info) > 0)
                if (info.ssi_signo == kInitEnded) abandon();
        }
    }

    void reap() {
        for (;;) {
            int status = 0;
            const pid_t pid = ::waitpid(-1, &status, WNOHANG);
            if (pid <= 0) return;
            if (pid != main_) continue;
            kill_descendants();
            Report report;
            report.kind = Report::Kind::kExited;
            report.id = id_;
            report.value = status;
            tell(report);
            ::_exit(0);
        }
    }

    [[noreturn]] void abandon() {
        kill_descendants();
        ::_exit(0);
    }

    [[noreturn]] void fail(StartFailure failure) {
        Report report;
        report.kind = Report::Kind::kStartFailed;
        report.id = id_;
        report.stage = failure.stage;
        report.value = failure.error;
        report.text = std::move(failure.detail);
        tell(report);
        ::_exit(0);
    }

    void tell(const Report& report) {
        // A send fails only when the other end is gone, and then there is nobody to tell.
        if (!send_report(control_, report)) abandon();
    }

    int control_;
    std::uint32_t id_;
    pid_t main_ = -1;
    UniqueFd signals_;
};

}  // namespace

void kill_descendants() {
    // Killing only our children converges: their children become ours. A tree that forks faster
    // than it is killed needs cgroups or its PID namespace's end.
    for (;;) {
        const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
        if (pid > 0) continue;
        if (pid < 0 && errno == ECHILD) return;
        for (const pid_t child : children_of_this_process()) ::kill(child, SIGKILL);
        while (::waitpid(-1, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

void supervise_container(int control, Request request, bool namespaces, int init) {
    Supervisor supervisor(control, request.start.id);
    supervisor.run(std::move(request), namespaces, init);
}

}  // namespace muster::runtime
