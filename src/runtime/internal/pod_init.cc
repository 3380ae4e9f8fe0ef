#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include "runtime/internal/container_supervisor.h"
#include "runtime/internal/init_protocol.h"
#include "runtime/internal/mounts.h"
#include "runtime/internal/pod_network.h"
#include "runtime/internal/sandbox.h"
#include "runtime/node.h"

namespace muster::runtime {

namespace {

/// PID 1 of a pod (in a PID namespace), or the root of its process tree (without). Sets the pod up,
/// forks one supervisor per container, reaps. Ends when the other end of its socket closes, which
/// the kernel does however `muster` ends.
class PodInit {
  public:
    explicit PodInit(int control) : control_(control) {}

    int run() {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        sigset_t all;
        ::sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        sigset_t child;
        ::sigemptyset(&child);
        ::sigaddset(&child, SIGCHLD);
        signals_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
        if (::chdir("/") < 0) return 1;

        std::array<pollfd, 2> events{};
        events[0] = {control_, POLLIN, 0};
        events[1] = {signals_.get(), POLLIN, 0};
        for (;;) {
            if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) return finish(1);
            if (events[1].revents != 0) reap();
            if (events[0].revents == 0) continue;
            auto request = receive_request(control_);
            if (!request || !*request) return finish(request ? 0 : 1);
            if (!handle(**std::move(request))) return finish(1);
        }
    }

  private:
    bool handle(Request request) {
        if (request.kind == Request::Kind::kStart) {
            start(std::move(request));
            return true;
        }
        Report report;
        if (auto done = set_up(request.setup); !done) {
            report.kind = Report::Kind::kSetupFailed;
            report.text = done.error().message();
        }
        return send_report(control_, report).has_value() && report.kind == Report::Kind::kReady;
    }

    Result<void> set_up(const PodSetup& setup) {
        namespaces_ = setup.namespaces;
        if (!setup.namespaces) return {};
        if (::sethostname(setup.hostname.data(), setup.hostname.size()) < 0)
            return system_error("setting the pod's host name", errno);
        if (setup.link) TRY_VOID(configure_pod_link(*setup.link));
        return set_up_pod_mounts(setup.mounts);
    }

    void start(Request request) {
        const std::uint32_t id = request.start.id;
        const pid_t own = ::getpid();
        const pid_t supervisor = ::fork();
        if (supervisor == 0) {
            signals_.reset();
            supervise_container(control_, std::move(request), namespaces_, own);
        }
        if (supervisor < 0) {
            Report report;
            report.kind = Report::Kind::kStartFailed;
            report.id = id;
            report.value = errno;
            report.text = "forking the container's supervisor";
            (void)send_report(control_, report).has_value();
            return;
        }
        supervisors_[supervisor] = id;
    }

    void reap() {
        signalfd_siginfo info{};
        while (::read(signals_.get(), &info, sizeof info) > 0) {
        }
        int status = 0;
        for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            auto it = supervisors_.find(pid);
            if (it == supervisors_.end()) continue;
            const std::uint32_t id = it->second;
            supervisors_.erase(it);
            if (status == 0) continue;
            // Somebody killed the supervisor. Its container's main process has gone with it (by its
            // parent-death signal); what else it had is ours now, and ends with the pod.
            Report report;
            report.kind = Report::Kind::kExited;
            report.id = id;
            report.value = SIGKILL;
            (void)send_report(control_, report).has_value();
        }
    }

    int finish(int status) {
        // In a PID namespace the kernel kills the tree faster than we could.
        if (namespaces_) return status;
        // Each supervisor saw the same end and kills its own; killed by us it could not. What a
        // supervisor leaves if somebody else killed it is ours by then.
        for (const auto& [pid, id] : supervisors_) ::kill(pid, SIGCONT);
        while (!supervisors_.empty()) {
            const pid_t pid = ::waitpid(-1, nullptr, 0);
            if (pid < 0 && errno != EINTR) break;
            supervisors_.erase(pid);
        }
        kill_descendants();
        return status;
    }

    int control_;
    UniqueFd signals_;
    bool namespaces_ = false;
    std::map<pid_t, std::uint32_t> supervisors_;
};

}  // namespace

bool is_pod_init(int argc, char** argv) {
    return argc >= 2 && std::strcmp(argv[1], kPodInitArgument) == 0;
}

int run_pod_init(int, char**) {
    // A terminal's Ctrl-C goes to every process of its group; only muster may act on it, so that
    // pods end with their grace.
    ::setsid();
    PodInit init(kPodInitControlFd);
    // No destructors or exit handlers of the rest of the program.
    ::_exit(init.run());
}

}  // namespace muster::runtime
