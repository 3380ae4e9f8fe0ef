#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/async/first_of.h"
#include "base/signal_name.h"
#include "base/time/real_clock.h"
#include "base/time/time_limit.h"
#include "cli/internal/fault_injection/fault_socket.h"
#include "cli/internal/fault_injection/line_stream.h"
#include "cli/internal/flags/shared_flags.h"
#include "cli/internal/verbs/options.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/state_dir.h"
#include "net/tcp.h"

namespace muster::cli {

namespace {

constexpr std::string_view kKillHelp =
    R"(Sends a signal to a replica of a job that 'muster run' runs on this machine, to see how the job copes.

Usage: muster kill JOB [REPLICA] [FLAGS]

REPLICA is worker-1, master-0, launcher, or a pod's name; it may be left out where a job has only one. The signal goes
to the first process of its container. When that ends, everything that it started ends too, as when a node dies.

      --signal SIGNAL        its name or number, as in TERM or 15 (default: KILL)
      --rank N               not to the first process but to the worker of this rank below it, as started by
                             muster-run, torchrun and similar launchers
  -n, --namespace NS         of the job, where several have its name

The run is found by its directory below TMPDIR, so it must be yours and have the same TMPDIR. On a cluster, use
'kubectl delete pod --grace-period 0 --force', or 'kubectl exec POD -- kill'.

Exit status: 0; 1 when there is no such job, replica or rank, or it has ended; 2 for bad flags.

Examples:
  muster kill digits worker-1                       as if its node had died
  muster kill digits worker-1 --rank 3              one rank of the node
  muster kill digits master-0 --signal TERM
)";

constexpr std::string_view kPauseHelp =
    R"(Pauses all processes of a replica of a job that 'muster run' runs on this machine, and then resumes them: like
a node that hangs, or a disk that does not answer.

Usage: muster pause JOB [REPLICA] [FLAGS]

      --for DURATION         how long, as in 10s (default: until Ctrl-C)
  -n, --namespace NS         of the job, where several have its name

REPLICA and which runs are found: as in 'muster kill'. However this command ends, the replica is resumed.

Exit status: 0; 1 when there is no such job or replica, or it has ended; 2 for bad flags; 130 when Ctrl-C
came before the end of --for.

Examples:
  muster pause digits worker-1 --for 10s
)";

constexpr std::string_view kPartitionHelp =
    R"(Cuts a replica of a job that 'muster run' runs on this machine off from the network, and then connects it again.
Everything sent to it or by it meanwhile is silently lost; connections stay open and continue afterwards, as
behind a broken switch.

Usage: muster partition JOB [REPLICA] [FLAGS]

      --for DURATION         how long, as in 10s (default: until Ctrl-C)
  -n, --namespace NS         of the job, where several have its name

REPLICA and which runs are found: as in 'muster kill'. This needs pods with networks of their own: 'muster run' says
at its start if they share this machine's. However this command ends, the replica is connected again.

Exit status: 0; 1 when there is no such job or replica, it has ended, or pods share this machine's network; 2 for bad
flags; 130 when Ctrl-C came before the end of --for.

Examples:
  muster partition digits worker-1 --for 10s
)";

namespace fs = std::filesystem;

/// A run that is stopped itself does not answer.
constexpr Duration kAnswerWithin = std::chrono::seconds(10);

/// The sockets of runs, including those that were killed.
std::vector<fs::path> find_sockets(const fs::path& temporary) {
    std::vector<fs::path> found;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary, failed)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(control_plane::kStateDirPrefix) &&
            !name.starts_with(control_plane::kKeptDirPrefix))
            continue;
        struct stat info{};
        const fs::path socket = entry.path() / kFaultSocket;
        // That of another user is neither ours to use nor to be believed.
        if (::lstat(socket.c_str(), &info) == 0 && S_ISSOCK(info.st_mode) &&
            info.st_uid == ::geteuid())
            found.push_back(socket);
    }
    return found;
}

/// Sends a line, unless it is empty, and reads one.
Task<Result<FaultReply>> exchange(LineStream& run, std::string line) {
    if (!line.empty()) CO_TRY_VOID(co_await run.write(std::move(line)));
    CO_TRY(const std::optional<std::string> answer, co_await run.read());
    if (!answer) co_return Error(Code::kUnavailable, "the run has ended");
    co_return read_answer(*answer);
}

Task<Result<FaultReply>> ask(Clock& clock, LineStream& run, std::string line) {
    auto answer = co_await within(clock, kAnswerWithin, exchange(run, std::move(line)));
    if (!answer) co_return Error(Code::kTimeout, "the run does not answer: is it stopped?");
    co_return *std::move(answer);
}

/// A running verb. Its loop is that of `executor`.
struct FaultInjection {
    const FaultInjectionOptions& options;
    asio::any_io_executor executor;
    Clock& clock;
    asio::signal_set& signals;
    std::vector<std::unique_ptr<LineStream>> runs = {};
    std::vector<RunPod> pods = {};
    int stopped_by = 0;
    bool run_ended = false;

    void tell(const std::string& what) const {
        fmt::print("muster {}: {}\n", name_of(options.kind), what);
        std::fflush(stdout);
    }

    Task<void> find_pods(fs::path temporary) {
        for (const fs::path& socket : find_sockets(temporary)) {
            auto bytes = co_await net::connect_unix(executor, socket);
            if (!bytes) continue;  // killed, or about to end
            auto run = std::make_unique<LineStream>(*std::move(bytes));
            auto told = co_await ask(clock, *run, list_line());
            if (!told) {
                fmt::print(stderr, "muster {}: {} is skipped: {}\n", name_of(options.kind),
                           socket.parent_path().string(), told.error().message());
                continue;
            }
            for (RunPod& pod : told->pods) {
                pod.run = runs.size();
                pods.push_back(std::move(pod));
            }
            runs.push_back(std::move(run));
        }
    }

    Task<void> wait_for_signal() { stopped_by = co_await signals.async_wait(asio::use_awaitable); }
    Task<void> wait_for_end(LineStream& run) {
        // The run sends nothing while the fault lasts.
        (void)co_await run.read();
        run_ended = true;
    }
    Task<void> hold(LineStream& run) {
        if (options.duration)
            co_await first_of(first_of(clock.sleep_for(*options.duration), wait_for_signal()),
                              wait_for_end(run));
        else
            co_await first_of(wait_for_signal(), wait_for_end(run));
    }

    Task<Result<int>> work(fs::path temporary) {
        co_await find_pods(std::move(temporary));
        CO_TRY(const std::size_t chosen, choose_pod(pods, {.namespace_ = options.namespace_,
                                                           .job = options.job,
                                                           .replica = options.replica}));
        const RunPod& pod = pods[chosen];
        LineStream& run = *runs[pod.run];
        const runtime::PodSignal signal{.number = options.signal, .rank = options.rank};
        CO_TRY(const FaultReply done, co_await ask(clock, run,
                                                   order_line({.kind = options.kind,
                                                               .namespace_ = pod.namespace_,
                                                               .pod = pod.name,
                                                               .signal = signal})));
        if (options.kind == FaultKind::kKill) {
            tell(fmt::format("{} to {}{}, process {}", signal_name(signal.number),
                             signal.rank ? fmt::format("rank {} in ", *signal.rank) : "", pod.name,
                             done.process));
            co_return 0;
        }
        const bool pause = options.kind == FaultKind::kPause;
        tell(fmt::format("{} {}{}", pod.name, pause ? "is paused" : "is cut off",
                         options.duration ? "" : "; Ctrl-C ends it"));
        co_await hold(run);
        if (run_ended) co_return Error(Code::kUnavailable, "the run has ended");
        CO_TRY_VOID(co_await run.finish());
        CO_TRY_VOID(co_await ask(clock, run, ""));
        tell(fmt::format("{} {}", pod.name, pause ? "is resumed" : "is connected again"));
        co_return options.duration&& stopped_by != 0 ? 128 + stopped_by : 0;
    }
};

int inject(const FaultInjectionOptions& options) {
    std::string temporary = control_plane::current_caller().variable("TMPDIR");
    if (temporary.empty()) temporary = "/tmp";
    std::signal(SIGPIPE, SIG_IGN);  // a run that ends is seen as a failed write
    RealClock clock;
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    FaultInjection injection{options, context.get_executor(), clock, signals};
    int status = 1;
    asio::co_spawn(
        context, injection.work(temporary), [&](std::exception_ptr thrown, Result<int> done) {
            if (thrown) std::rethrow_exception(thrown);
            signals.cancel();
            if (done) {
                status = *done;
                return;
            }
            std::fflush(stdout);
            fmt::print(stderr, "muster {}: {}\n", name_of(options.kind), done.error().message());
        });
    context.run();
    return status;
}

class FaultInjectionVerb final : public VerbOf<FaultInjectionOptions> {
  public:
    FaultInjectionVerb(FaultKind kind, std::string_view help) : VerbOf(name_of(kind), help) {
        options_.kind = kind;
    }

    void declare(Flags& flags) override {
        flags.value("job", options_.job);
        flags.value("replica", options_.replica);
        flags.value("--namespace,-n", options_.namespace_);
        if (options_.kind == FaultKind::kKill) {
            flags.value("--signal", signal_);
            flags.value("--rank", options_.rank);
        } else {
            flags.value("--for", for_);
        }
        flags.value("--context", context_);
        flags.value("--kubeconfig", kubeconfig_);
    }
    std::optional<std::string> finish(const Flags&) override {
        if (!context_.empty() || !kubeconfig_.empty())
            return fmt::format(
                "{} is for jobs that 'muster run' has on this machine: a cluster's nodes take no "
                "such orders. There, 'kubectl delete pod --grace-period 0 --force' takes a pod "
                "away at once, and 'kubectl exec POD -- kill' reaches the processes in it",
                name());
        if (options_.job.empty())
            return fmt::format(
                "name a job and one of its replicas, as in 'muster {} digits worker-1'", name());
        if (options_.kind != FaultKind::kKill)
            return read_duration("--for", for_, "10s or 1m30s", options_.duration);
        const std::optional<int> signal = parse_signal(signal_);
        if (!signal)
            return fmt::format("--signal wants a name or a number, as in TERM or 15, not \"{}\"",
                               signal_);
        options_.signal = *signal;
        if (options_.rank && *options_.rank < 0)
            return fmt::format("--rank wants a number from 0 on, not {}", *options_.rank);
        return std::nullopt;
    }
    int run() override { return inject(options_); }

  private:
    std::string signal_ = "KILL";
    std::string for_;
    std::string context_;
    std::string kubeconfig_;
};

}  // namespace

std::unique_ptr<Verb> kill_verb() {
    return std::make_unique<FaultInjectionVerb>(FaultKind::kKill, kKillHelp);
}
std::unique_ptr<Verb> pause_verb() {
    return std::make_unique<FaultInjectionVerb>(FaultKind::kPause, kPauseHelp);
}
std::unique_ptr<Verb> partition_verb() {
    return std::make_unique<FaultInjectionVerb>(FaultKind::kPartition, kPartitionHelp);
}

}  // namespace muster::cli
