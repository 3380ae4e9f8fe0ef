#include "runtime/internal/inside/container_supervisor.h"

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

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>

#include "runtime/internal/inside/cgroup_entry.h"
#include "runtime/internal/inside/container_log.h"
#include "runtime/internal/inside/mounts.h"
#include "runtime/internal/inside/process_tree.h"
#include "runtime/internal/inside/program.h"
#include "runtime/internal/inside/program_start.h"
#include "runtime/internal/inside/terminal.h"
#include "runtime/internal/pipe.h"

namespace muster::runtime {

namespace {

constexpr mode_t kContainerUmask = 022;
constexpr int kInitEnded = SIGUSR1;
/// What is taken of a pipe once its container has ended: more than a pipe holds, unless it was made
/// larger; the bound is for a writer that lives elsewhere and still writes.
constexpr int kLastPieces = 64;
// As a shell says it.
constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

/// Only our end does not block: programs do not expect it of theirs.
Result<Pipe> make_output_pipe() {
    TRY(Pipe made, make_pipe("making a pipe for a container's output"));
    if (::fcntl(made.reader.get(), F_SETFL, O_NONBLOCK) < 0)
        return system_error("making a container's output non-blocking", errno);
    return made;
}

/// One piece of a pipe; "" when there is none now, nullopt at its end.
std::optional<std::string_view> read_piece(const UniqueFd& pipe, std::span<char> buffer) {
    const ssize_t size = ::read(pipe.get(), buffer.data(), buffer.size());
    if (size > 0) return std::string_view(buffer.data(), static_cast<std::size_t>(size));
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::string_view();
    return std::nullopt;
}

class Supervisor {
  public:
    Supervisor(UniqueFd control, Request request)
        : control_(std::move(control)),
          request_(std::move(request)),
          start_(request_.start),
          groups_(std::move(request_.groups)) {}

    [[noreturn]] void run(bool namespaces, pid_t init) {
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

        auto log =
            ContainerLog::open(std::move(request_.log_dir), start_.log_name, start_.log_limits);
        if (!log) fail({StartStage::kOther, EIO, log.error().message()});
        log_.emplace(*std::move(log));
        if (namespaces && !start_.mounts.empty()) {
            auto mounted = make_mounts(start_);
            if (!mounted) fail({StartStage::kMount, 0, mounted.error().message()});
        }
        ::umask(kContainerUmask);
        null_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        start_program();
        serve();
    }

  private:
    struct Exec {
        pid_t pid;
        UniqueFd pipe;
        std::string output;
    };

    static Result<void> make_mounts(const ContainerStart& start) {
        if (::unshare(CLONE_NEWNS) < 0)
            return system_error("making the container's mount namespace", errno);
        return set_up_container_mounts(start.mounts, start.scratch_dir, start.read_only_root);
    }

    Surroundings surroundings() const {
        return {start_.working_dir.c_str(), groups_, start_.identity};
    }

    void start_program() {
        auto out = make_output_pipe();
        auto err = make_output_pipe();
        if (!out || !err) fail({StartStage::kOther, EMFILE, (out ? err : out).error().message()});
        const Program program = find_program(start_.argv, start_.environment);
        const Launched launched = execute(
            program, surroundings(),
            {.input = null_.get(), .output = out->writer.get(), .error = err->writer.get()});
        if (launched.error != 0) fail(failure_of(launched, program, start_.argv[0]));
        main_ = launched.pid;
        outputs_[0] = std::move(out->reader);
        outputs_[1] = std::move(err->reader);
        Report report;
        report.kind = Report::Kind::kStarted;
        report.id = start_.id;
        report.pid = main_;
        report.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, main_, 0)));
        tell(report);
    }

    StartFailure failure_of(const Launched& launched, const Program& program,
                            const std::string& name) const {
        switch (launched.stage) {
            case StartStage::kWorkingDir:
                return {launched.stage, launched.error, start_.working_dir};
            case StartStage::kGroup:
                return {launched.stage, launched.error, "entering its cgroup"};
            case StartStage::kIdentity:
                return {launched.stage, launched.error, launched.step};
            default:
                break;
        }
        // A relative name means a file below the working directory.
        if (::chdir(start_.working_dir.c_str()) < 0)
            return {StartStage::kWorkingDir, errno, start_.working_dir};
        StartFailure failure = diagnose_program(program.candidates, name, launched.error);
        if (::chdir("/") < 0) abandon();
        return failure;
    }

    [[noreturn]] void serve() {
        std::vector<pollfd> events;
        for (;;) {
            events.assign({{signals_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}});
            // Poll passes over a descriptor of -1.
            for (const UniqueFd& output : outputs_) events.push_back({output.get(), POLLIN, 0});
            for (const auto& [id, exec] : execs_) events.push_back({exec.pipe.get(), POLLIN, 0});
            if (::poll(events.data(), events.size(), -1) < 0) {
                if (errno != EINTR) abandon();
                continue;
            }
            // Outputs before the process's end, so that the order of a log is that of its writing.
            for (std::size_t i = 0; i < outputs_.size(); ++i)
                if (events[2 + i].revents != 0) pump(i);
            std::size_t next = 2 + outputs_.size();
            for (auto& [id, exec] : execs_)
                if (events[next++].revents != 0) collect(exec);
            if (events[1].revents != 0) answer();
            if (events[0].revents != 0) take_signals();
        }
    }

    void take_signals() {
        signalfd_siginfo info{};
        while (::read(signals_.get(), &info, sizeof info) > 0)
            if (info.ssi_signo == kInitEnded) abandon();
        reap();
    }

    void answer() {
        auto received = receive_request(control_.get());
        if (!received || !*received) abandon();
        Request request = **std::move(received);
        if (request.kind == Request::Kind::kExec) start_exec(request);
        if (request.kind != Request::Kind::kCancel) return;
        // It leads a session of its own; what left that is the container's from here on.
        if (auto it = execs_.find(request.exec.id); it != execs_.end())
            ::kill(-it->second.pid, SIGKILL);
    }

    /// Where an exec's streams lead. What is not among the request's closes when it is started.
    struct Wiring {
        StandardStreams streams{};
        UniqueFd theirs;
        UniqueFd collected;
        UniqueFd terminal;
    };

    Result<Wiring> wire(const Request& request) const {
        Wiring wiring;
        if (request.exec.terminal) {
            TRY(Terminal terminal, open_terminal(start_.identity.uid));
            wiring.theirs = std::move(terminal.program);
            wiring.terminal = std::move(terminal.outside);
            const int fd = wiring.theirs.get();
            wiring.streams = {.input = fd, .output = fd, .error = fd, .terminal = true};
        } else if (!request.streams.empty()) {
            wiring.streams = {.input = request.streams[0].get(),
                              .output = request.streams[1].get(),
                              .error = request.streams[2].get()};
        } else {
            TRY(Pipe pipe, make_output_pipe());
            wiring.theirs = std::move(pipe.writer);
            wiring.collected = std::move(pipe.reader);
            const int fd = wiring.theirs.get();
            wiring.streams = {.input = null_.get(), .output = fd, .error = fd};
        }
        return wiring;
    }

    void start_exec(Request& request) {
        ExecStart& exec = request.exec;
        auto wiring = wire(request);
        if (!wiring)
            return end_exec(exec.id, W_EXITCODE(kCannotExecute, 0), wiring.error().message());
        std::vector<std::string> environment = start_.environment;
        if (exec.terminal && !std::ranges::any_of(environment, [](const std::string& entry) {
                return entry.starts_with("TERM=");
            }))
            environment.emplace_back("TERM=xterm");
        const Program program = find_program(exec.argv, environment);
        const Launched launched = execute(program, surroundings(), wiring->streams);
        if (launched.error != 0) {
            const StartFailure failure = failure_of(launched, program, exec.argv[0]);
            const bool missing = failure.stage == StartStage::kProgramMissing;
            return end_exec(
                exec.id, W_EXITCODE(missing ? kNotFound : kCannotExecute, 0),
                fmt::format("{}: {}", failure.detail,
                            ::strerror(failure.error)));  // NOLINT(concurrency-mt-unsafe)
        }
        execs_.emplace(exec.id, Exec{launched.pid, std::move(wiring->collected), {}});
        if (!wiring->terminal) return;
        Report report;
        report.kind = Report::Kind::kTerminal;
        report.id = exec.id;
        report.terminal = std::move(wiring->terminal);
        tell(report);
    }

    void end_exec(std::uint32_t id, int wait_status, std::string output) {
        Report report;
        report.kind = Report::Kind::kExecEnded;
        report.id = id;
        report.value = wait_status;
        report.text = std::move(output);
        tell(report);
    }

    /// Takes what is there now; more than is kept is read and dropped, so that nobody waits.
    bool collect(Exec& exec) {
        const auto piece = read_piece(exec.pipe, buffer_);
        if (!piece) exec.pipe.reset();
        if (!piece || piece->empty()) return false;
        exec.output += piece->substr(0, kExecOutputLimit - exec.output.size());
        return true;
    }

    bool pump(std::size_t stream) {
        const auto piece = read_piece(outputs_[stream], buffer_);
        if (!piece) outputs_[stream].reset();
        if (!piece || piece->empty()) return false;
        log_->write(static_cast<LogStream>(stream), *piece);
        return true;
    }

    void reap() {
        for (;;) {
            int status = 0;
            const pid_t pid = ::waitpid(-1, &status, WNOHANG);
            if (pid <= 0) return;
            if (pid == main_) finish(status);
            for (auto it = execs_.begin(); it != execs_.end(); ++it)
                if (it->second.pid == pid) {
                    finish_exec(it->first, it->second, status);
                    execs_.erase(it);
                    break;
                }
        }
    }

    void finish_exec(std::uint32_t id, Exec& exec, int status) {
        for (int pieces = 0; pieces < kLastPieces && exec.pipe && collect(exec); ++pieces) {
        }
        end_exec(id, status, std::move(exec.output));
    }

    [[noreturn]] void finish(int status) {
        // Else a tree that forks faster than it is killed would keep us busy for ever.
        groups_.stop();
        kill_descendants();
        // What was executed beside it goes with it: the init says so, after the container's end.
        for (std::size_t stream = 0; stream < outputs_.size(); ++stream)
            for (int pieces = 0; pieces < kLastPieces && outputs_[stream] && pump(stream);
                 ++pieces) {
            }
        Report report;
        report.kind = Report::Kind::kExited;
        report.id = start_.id;
        report.value = status;
        report.text = log_->finish();
        tell(report);
        ::_exit(0);
    }

    [[noreturn]] void abandon() const {
        groups_.stop();
        kill_descendants();
        ::_exit(0);
    }

    [[noreturn]] void fail(StartFailure failure) {
        Report report;
        report.kind = Report::Kind::kStartFailed;
        report.id = start_.id;
        report.stage = failure.stage;
        report.value = failure.error;
        report.text = std::move(failure.detail);
        tell(report);
        ::_exit(0);
    }

    void tell(const Report& report) {
        // A send fails only when the init is gone, and then there is nobody to tell.
        if (!send_report(control_.get(), report)) abandon();
    }

    UniqueFd control_;
    Request request_;
    ContainerStart& start_;
    CgroupEntry groups_;
    UniqueFd signals_;
    UniqueFd null_;
    std::optional<ContainerLog> log_;
    pid_t main_ = -1;
    std::array<UniqueFd, 2> outputs_;  ///< as LogStream counts
    std::map<std::uint32_t, Exec> execs_;
    std::array<char, 64 * 1024> buffer_;
};

}  // namespace

void supervise_container(UniqueFd control, Request request, bool namespaces, pid_t init) {
    Supervisor(std::move(control), std::move(request)).run(namespaces, init);
}

}  // namespace muster::runtime
