#include "pod_init/internal/container_supervisor.h"

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

#include "pod_init/container_log.h"
#include "pod_init/internal/mounts.h"
#include "pod_init/internal/output_pipe.h"
#include "pod_init/internal/program_start.h"
#include "pod_init/internal/program_streams.h"
#include "pod_init/internal/terminal.h"
#include "process/cgroup_entry.h"
#include "process/process_tree.h"
#include "process/program_file.h"

namespace muster::pod_init {

namespace {

/// For a program that could not be executed.
StartFailure to_start_failure(process::ProgramFailure failure) {
    const StartStage stage = [&] {
        switch (failure.fault) {
            case process::ProgramFault::kMissing:
                return StartStage::kProgramMissing;
            case process::ProgramFault::kNotExecutable:
                return StartStage::kNotExecutable;
            case process::ProgramFault::kInterpreterMissing:
                return StartStage::kInterpreterMissing;
            case process::ProgramFault::kFormat:
                return StartStage::kFormat;
            case process::ProgramFault::kOther:
                break;
        }
        return StartStage::kOther;
    }();
    return {stage, failure.error, std::move(failure.detail)};
}

constexpr mode_t kContainerUmask = 022;
constexpr int kInitEnded = SIGUSR1;
// The exit code of a shell.
constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;

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
        ::signal(SIGPIPE, SIG_IGN);  // an attached client may be gone
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
        auto ends = streams_.open(start_);
        if (!ends) fail({StartStage::kOther, EMFILE, ends.error().message()});
        if (start_.terminal) start_.environment = with_terminal(std::move(start_.environment));
        const Program program = find_program(start_.argv, start_.environment);
        const Launched launched = execute(program, surroundings(), ends->streams(null_.get()));
        if (launched.error != 0) fail(failure_of(launched, program, start_.argv[0]));
        main_ = launched.pid;
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
        StartFailure failure =
            to_start_failure(process::diagnose_program(program.candidates, name, launched.error));
        if (::chdir("/") < 0) abandon();
        return failure;
    }

    [[noreturn]] void serve() {
        std::vector<pollfd> events;
        for (;;) {
            events.assign({{signals_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}});
            for (const auto& [id, exec] : execs_) events.push_back({exec.pipe.get(), POLLIN, 0});
            const std::size_t outputs = events.size();
            streams_.wait_for(events);
            if (::poll(events.data(), events.size(), -1) < 0) {
                if (errno != EINTR) abandon();
                continue;
            }
            streams_.write_kept();
            // Output before the process's end, so that a log has the order of writing.
            for (std::size_t i = 0; i < ProgramStreams::kOutputs; ++i)
                if (events[outputs + i].revents != 0) pump(i);
            std::size_t next = 2;
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
        if (request.kind == Request::Kind::kAttach) attach(request);
        if (request.kind == Request::Kind::kEndInput) streams_.end_input(request.exec.id);
        if (request.kind != Request::Kind::kCancel) return;
        if (streams_.release(request.exec.id)) return end_exec(request.exec.id, 0, {});
        // It leads a session of its own; processes that left that belong to the container from now
        // on.
        if (auto it = execs_.find(request.exec.id); it != execs_.end())
            ::kill(-it->second.pid, SIGKILL);
    }

    /// Where an exec's streams lead. Those not in the request are closed when it has started.
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
            TRY(process::Pipe pipe, make_output_pipe());
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
        std::vector<std::string> environment =
            exec.terminal ? with_terminal(start_.environment) : start_.environment;
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

    void attach(Request& request) {
        auto input = streams_.attach(request);
        if (!input)
            return end_exec(request.exec.id, W_EXITCODE(kCannotExecute, 0),
                            input.error().message());
        Report report;
        report.kind = Report::Kind::kTerminal;
        report.id = request.exec.id;
        report.terminal = std::move(*input);
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

    /// Takes the present output; more than is kept is read and dropped, so that no writer waits.
    bool collect(Exec& exec) {
        const auto piece = read_piece(exec.pipe, buffer_);
        if (!piece) exec.pipe.reset();
        if (!piece || piece->empty()) return false;
        exec.output += piece->substr(0, kExecOutputLimit - exec.output.size());
        return true;
    }

    bool pump(std::size_t output) {
        const std::string_view piece = streams_.take(output, buffer_);
        if (piece.empty()) return false;
        // The log first: it has everything that anyone has seen.
        log_->write(static_cast<LogStream>(output), piece);
        streams_.copy(output, piece);
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
        // Otherwise a tree that forks faster than it is killed would keep us busy without end.
        groups_.stop();
        process::kill_descendants();
        // Commands inside it end with it: the init reports them after the container's end.
        streams_.make_last_room();
        for (std::size_t output = 0; output < ProgramStreams::kOutputs; ++output)
            for (int pieces = 0; pieces < kLastPieces && pump(output); ++pieces) {
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
        process::kill_descendants();
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
        // A send fails only if the init is gone, and then there is no one to tell.
        if (!send_report(control_.get(), report)) abandon();
    }

    UniqueFd control_;
    Request request_;
    ContainerStart& start_;
    process::CgroupEntry groups_;
    UniqueFd signals_;
    UniqueFd null_;
    std::optional<ContainerLog> log_;
    pid_t main_ = -1;
    ProgramStreams streams_;
    std::map<std::uint32_t, Exec> execs_;
    std::array<char, 64 * 1024> buffer_;
};

}  // namespace

void supervise_container(UniqueFd control, Request request, bool namespaces, pid_t init) {
    Supervisor(std::move(control), std::move(request)).run(namespaces, init);
}

}  // namespace muster::pod_init
