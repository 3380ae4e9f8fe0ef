#include "pod_init/pod_init.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>

#include "pod_init/init_protocol.h"
#include "pod_init/internal/container_supervisor.h"
#include "pod_init/internal/kernel_files.h"
#include "pod_init/internal/mounts.h"
#include "pod_init/internal/pod_link.h"
#include "process/message_socket.h"
#include "process/process_tree.h"

namespace muster::pod_init {

namespace {

/// PID 1 of a pod (in a PID namespace), or the root of its process tree (without one). Sets up the
/// pod, forks one supervisor for each container, reaps, and knows what happened to each container.
/// Ends with `muster`, unless it was told to outlive it: then it waits for another to connect and
/// reports everything again.
class PodInit {
  public:
    explicit PodInit(int control) : control_(control) {}

    int run() {
        ::prctl(PR_SET_NAME, "muster-pod");
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        sigset_t all;
        ::sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, nullptr);
        sigset_t wanted;
        ::sigemptyset(&wanted);
        for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&wanted, signal);
        signals_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
        if (::chdir("/") < 0) return 1;

        while (!ended_) {
            std::vector<pollfd> events;
            const int wanted_of_control = outgoing_.empty() ? POLLIN : POLLIN | POLLOUT;
            events.push_back({control_.get(), static_cast<short>(wanted_of_control), 0});
            events.push_back({signals_.get(), POLLIN, 0});
            events.push_back({lifeline_.get(), POLLIN, 0});
            std::vector<pid_t> order;
            for (const auto& [pid, supervisor] : supervisors_) {
                events.push_back({supervisor.socket.get(), POLLIN, 0});
                order.push_back(pid);
            }
            if (::poll(events.data(), events.size(), -1) < 0) {
                if (errno != EINTR) return finish(1);
                continue;
            }
            for (std::size_t i = 0; i < order.size(); ++i)
                if (events[3 + i].revents != 0) listen_to(order[i]);
            if (events[1].revents != 0) take_signals();
            if ((events[0].revents & POLLOUT) != 0) send_outgoing();
            if ((events[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) take_request();
            // Last: it may replace the socket that the lines above use.
            if (events[2].revents != 0) lifeline_ready();
        }
        return finish(*ended_);
    }

  private:
    struct Supervisor {
        std::uint32_t container;
        UniqueFd socket;
    };

    /// What is known of one start of a container.
    struct Container {
        std::int32_t pid = 0;
        UniqueFd pidfd;
        std::optional<Report> end;  ///< kStartFailed or kExited
    };

    void take_request() {
        auto received = receive_request(control_.get());
        if (!received) {
            ended_ = 1;
        } else if (!*received) {
            lose_control();
        } else {
            handle(**std::move(received));
        }
    }

    void lose_control() {
        control_.reset();
        outgoing_.clear();
        if (outlives_)
            cancel_execs();
        else
            ended_ = 0;
    }

    /// The process that asked for them is gone, so their ends are not reported.
    void cancel_execs() {
        for (const auto& [id, container] : std::exchange(execs_, {})) {
            Request cancel;
            cancel.kind = Request::Kind::kCancel;
            cancel.exec.id = id;
            cancel.exec.container = container;
            for (const auto& [pid, supervisor] : supervisors_)
                // One that has ended has taken its commands with it.
                if (supervisor.container == container)
                    (void)forward(supervisor.socket.get(), cancel).has_value();
        }
    }

    void handle(Request request) {
        switch (request.kind) {
            case Request::Kind::kSetup: {
                Report report = ready();
                if (auto done = set_up(request); !done) {
                    report.kind = Report::Kind::kSetupFailed;
                    report.text = done.error().message();
                    ended_ = 1;
                }
                (void)send_report(control_.get(), report).has_value();
                return;
            }
            case Request::Kind::kStart:
                return start(std::move(request));
            case Request::Kind::kExec:
            case Request::Kind::kAttach:
            case Request::Kind::kEndInput:
            case Request::Kind::kCancel:
                return pass_on(request);
            case Request::Kind::kEnd:
                ended_ = 0;
                return;
        }
    }

    Result<void> set_up(Request& request) {
        const PodSetup& setup = request.setup;
        namespaces_ = setup.namespaces;
        outlives_ = setup.outlives;
        lifeline_ = std::move(request.lifeline);
        network_ = std::move(request.network);
        recovery_ = {.address = setup.address, .link_index = setup.link_index, .connections = 0};
        note_ = setup.note;
        if (outlives_) leave_outputs();
        if (!setup.namespaces) return {};
        if (::sethostname(setup.hostname.data(), setup.hostname.size()) < 0)
            return system_error("setting the pod's host name", errno);
        if (setup.link) TRY_VOID(configure_pod_link(*setup.link));
        TRY_VOID(set_up_pod_mounts(setup.mounts, setup.files));
        TRY_VOID(set_sysctls(setup.sysctls));
        // If the kernel can't, the pod's cgroup does, if there is one.
        if (setup.pids > 0) limit_pids(setup.pids);
        return setup.privileged ? Result<void>() : protect_kernel_files();
    }

    /// Otherwise a reader of the output of the process that we outlive would wait for us.
    static void leave_outputs() {
        const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            if (nothing) ::dup2(nothing.get(), fd);
    }

    /// The process that we end with has ended, or another one connects.
    void lifeline_ready() {
        if (!outlives_) {
            ended_ = 0;
            return;
        }
        UniqueFd connected(::accept4(lifeline_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!connected) return;
        // The newest one counts: an older one that is still connected belongs to a replaced daemon.
        lose_control();
        control_ = std::move(connected);
        ++recovery_.connections;
        Report first = ready();
        first.recovery = recovery_;
        first.text = note_;
        if (network_) first.network.reset(::fcntl(network_.get(), F_DUPFD_CLOEXEC, 0));
        queue(std::move(first));
        for (const auto& [id, container] : containers_) {
            if (container.pidfd) queue(started(id, container));
            if (container.end) queue(copy_of(*container.end));
            if (!container.pidfd && !container.end) queue(only(Report::Kind::kStarting, id));
        }
        queue(only(Report::Kind::kTold));
    }

    static Report only(Report::Kind kind, std::uint32_t id = 0) {
        Report report;
        report.kind = kind;
        report.id = id;
        return report;
    }

    static Report ready() {
        Report report;
        report.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
        return report;
    }

    static Report started(std::uint32_t id, const Container& container) {
        Report report;
        report.kind = Report::Kind::kStarted;
        report.id = id;
        report.pid = container.pid;
        report.pidfd.reset(::fcntl(container.pidfd.get(), F_DUPFD_CLOEXEC, 0));
        return report;
    }

    static Report copy_of(const Report& report) {
        Report copy;
        copy.kind = report.kind;
        copy.id = report.id;
        copy.value = report.value;
        copy.pid = report.pid;
        copy.stage = report.stage;
        copy.text = report.text;
        return copy;
    }

    void start(Request request) {
        const std::uint32_t id = request.start.id;
        forget_old_containers();
        containers_[id];
        const pid_t own = ::getpid();
        auto ends = process::make_message_pair();
        const pid_t pid = ends ? ::fork() : -1;
        if (pid == 0) {
            // Otherwise a sibling would keep our ends of the sockets open when we are gone.
            ends->first.reset();
            signals_.reset();
            control_.reset();
            lifeline_.reset();
            network_.reset();
            supervisors_.clear();
            supervise_container(std::move(ends->second), std::move(request), namespaces_, own);
        }
        if (pid < 0) {
            Report report;
            report.kind = Report::Kind::kStartFailed;
            report.id = id;
            report.value = errno;
            report.text = "forking the container's supervisor";
            return container_ended(std::move(report));
        }
        supervisors_.emplace(pid, Supervisor{id, std::move(ends->first)});
    }

    /// A container that crashes again and again must not make us grow.
    void forget_old_containers() {
        for (auto it = containers_.begin();
             it != containers_.end() && containers_.size() > kKeptContainers;)
            it = it->second.end ? containers_.erase(it) : std::next(it);
    }

    void pass_on(const Request& request) {
        for (const auto& [pid, supervisor] : supervisors_) {
            if (supervisor.container != request.exec.container) continue;
            if (forward(supervisor.socket.get(), request)) {
                if (begins_exec(request)) execs_.emplace(request.exec.id, request.exec.container);
                return;
            }
            listen_to(pid);  // it has ended: that is told first
            break;
        }
        if (begins_exec(request)) exec_failed(request.exec.id);
    }

    static bool begins_exec(const Request& request) {
        return request.kind == Request::Kind::kExec || request.kind == Request::Kind::kAttach;
    }

    void exec_failed(std::uint32_t id) {
        Report report;
        report.kind = Report::Kind::kExecEnded;
        report.id = id;
        report.value = SIGKILL;
        report.text = "the container does not run";
        queue(std::move(report));
    }

    void listen_to(pid_t pid) {
        auto it = supervisors_.find(pid);
        if (it == supervisors_.end()) return;
        while (it->second.socket) {
            Report report;
            auto received = receive_report(it->second.socket.get(), report);
            if (!received || *received == Receive::kClosed) it->second.socket.reset();
            if (!received || *received != Receive::kReport) return;
            take_report(std::move(report));
        }
    }

    void take_report(Report report) {
        switch (report.kind) {
            case Report::Kind::kStarted: {
                Container& container = containers_[report.id];
                container.pid = report.pid;
                container.pidfd = std::move(report.pidfd);
                return queue(started(report.id, container));
            }
            case Report::Kind::kStartFailed:
            case Report::Kind::kExited:
                return container_ended(std::move(report));
            case Report::Kind::kExecEnded:
                execs_.erase(report.id);
                return queue(std::move(report));
            case Report::Kind::kTerminal:
                return queue(std::move(report));
            case Report::Kind::kReady:
            case Report::Kind::kSetupFailed:
            case Report::Kind::kStarting:
            case Report::Kind::kTold:
                return;
        }
    }

    void container_ended(Report report) {
        const std::uint32_t id = report.id;
        Container& container = containers_[id];
        if (container.end) return;
        container.pidfd.reset();
        container.end = copy_of(report);
        // The container's end first: it caused the other ends, which would look like failures of
        // their own if they were reported before.
        queue(std::move(report));
        for (auto it = execs_.begin(); it != execs_.end();) {
            if (it->second != id) {
                ++it;
                continue;
            }
            exec_failed(it->first);
            it = execs_.erase(it);
        }
    }

    void queue(Report report) {
        if (!control_) return;  // kept in containers_ for the next connection
        outgoing_.push_back(std::move(report));
        send_outgoing();
    }

    /// Never waits for a `muster` that does not read: queued reports are sent when it does.
    void send_outgoing() {
        while (!outgoing_.empty()) {
            auto sent = try_send_report(control_.get(), outgoing_.front());
            if (!sent) {
                // The other end is closed. What it sent before is still to be read.
                outgoing_.clear();
                return;
            }
            if (!*sent) return;
            outgoing_.pop_front();
        }
    }

    void take_signals() {
        signalfd_siginfo info{};
        while (::read(signals_.get(), &info, sizeof info) > 0) {
            if (info.ssi_signo == SIGCHLD) continue;
            for (const auto& [id, container] : containers_)
                if (container.pidfd)
                    ::syscall(SYS_pidfd_send_signal, container.pidfd.get(),
                              static_cast<int>(info.ssi_signo), nullptr, 0);
        }
        reap();
    }

    void reap() {
        int status = 0;
        for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
            listen_to(pid);  // its last reports
            auto it = supervisors_.find(pid);
            if (it == supervisors_.end()) continue;
            const std::uint32_t id = it->second.container;
            supervisors_.erase(it);
            // Without a last report, someone killed the supervisor. Its container's main process
            // was killed with it (by its parent-death signal); its other processes are ours now,
            // and end with the pod.
            Report report;
            report.kind = Report::Kind::kExited;
            report.id = id;
            report.value = SIGKILL;
            container_ended(std::move(report));
        }
    }

    int finish(int status) {
        // In a PID namespace the kernel kills the tree faster than we could.
        if (namespaces_) return status;
        // Each supervisor sees our end of its socket close and kills its own processes; it could
        // not if we killed it. If someone else killed a supervisor, its processes are ours by then.
        for (auto& [pid, supervisor] : supervisors_) {
            supervisor.socket.reset();
            ::kill(pid, SIGCONT);
        }
        while (!supervisors_.empty()) {
            const pid_t pid = ::waitpid(-1, nullptr, 0);
            if (pid < 0 && errno != EINTR) break;
            supervisors_.erase(pid);
        }
        process::kill_descendants();
        return status;
    }

    static constexpr std::size_t kKeptContainers = 128;

    UniqueFd control_;
    UniqueFd signals_;
    UniqueFd lifeline_;  ///< the process to end with, or the socket for the next connection
    UniqueFd network_;   ///< for the next connection: nothing else keeps the router alive meanwhile
    Report::Recovery recovery_;
    std::string note_;
    bool namespaces_ = false;
    bool outlives_ = false;
    std::optional<int> ended_;
    std::map<pid_t, Supervisor> supervisors_;
    std::map<std::uint32_t, Container> containers_;  ///< by the id of the start
    std::map<std::uint32_t, std::uint32_t> execs_;   ///< in progress -> container
    std::deque<Report> outgoing_;
};

}  // namespace

int run() {
    // A terminal's Ctrl-C goes to every process of its group; only muster may act on it, so that
    // pods get their grace period.
    ::setsid();
    return PodInit(kControlFd).run();
}

}  // namespace muster::pod_init
