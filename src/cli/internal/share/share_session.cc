#include "cli/internal/share/share_session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/async/run_to_end.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/signal_name.h"
#include "base/time/real_clock.h"
#include "cli/internal/share/mps_daemon.h"
#include "cli/internal/share/own_processes.h"
#include "cli/internal/share/share_plan.h"
#include "muster_run/node/node_facts.h"
#include "workers/first_cause.h"

namespace muster::cli {

namespace {

constexpr int kNothingStarted = 2;
/// For what processes that have succeeded left running, which may be saving something.
constexpr std::chrono::seconds kForLeftBehind{5};

void tell(std::string_view text) { fmt::print(stderr, "muster share: {}\n", text); }

/// nohup asks for that. Shells without job control let what they start in the background ignore
/// SIGINT and SIGQUIT, too, but whoever sends one of them to this program means it.
bool ignores_hangups() {
    struct sigaction now{};
    return ::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

ShareSurroundings surroundings_of(const ShareCaller& caller, const std::string& mps_directory) {
    ShareSurroundings around{.variables = caller.variables,
                             .machine = {},
                             .gpus = run::devices_here(caller.variables).gpus,
                             .mps_directory = mps_directory};
    // Without it processes run anywhere, as without this program.
    if (auto machine = launch::read_topology("/sys", launch::allowed_cpus()))
        around.machine = *std::move(machine);
    return around;
}

/// One run. Owns the processes and their daemon. Thread: the loop.
class ShareSession {
  public:
    ShareSession(asio::io_context& context, const ShareOptions& options, const ShareCaller& caller)
        : executor_(context.get_executor()),
          options_(options),
          caller_(caller),
          rng_(Rng::from_system()),
          signals_(executor_),
          changed_(executor_),
          tasks_(executor_) {}

    Task<int> run();

  private:
    Task<Result<void>> start();
    Task<int> follow();
    Task<void> stop();
    Task<void> watch_ends();
    Task<void> watch_signals();
    void pass_on(int signal);
    void leave(int signal);
    bool is_over() const { return running_ == 0 || failure_ || signal_; }
    ProcessSurroundings around() const { return {caller_.variables, caller_.core_bytes}; }
    std::string grace_text() const;

    asio::any_io_executor executor_;
    const ShareOptions& options_;
    const ShareCaller& caller_;
    RealClock clock_;
    Rng rng_;
    asio::signal_set signals_;
    Signal changed_;
    TaskGroup tasks_;
    std::optional<MpsDaemon> mps_;
    OwnProcesses processes_;
    int running_ = 0;
    std::optional<workers::WorkerEnd> failure_;  ///< the first
    std::optional<int> signal_;                  ///< the first that asks for the end
    bool stopping_ = false;
};

Task<int> ShareSession::run() {
    // A run that no longer hears signals could only be killed.
    tasks_.spawn_essential("signals", watch_signals());
    Result<void> started = co_await start();
    int status = 0;
    if (!started) {
        // As torchrun takes it, people write the script alone.
        const std::string& program = options_.command.front();
        tell(started.error().message() +
             (program.ends_with(".py") ? fmt::format("; did you mean python3 {}?", program) : ""));
        status = kNothingStarted;
    } else {
        status = processes_.workers ? co_await follow() : 128 + *signal_;
    }
    co_await tasks_.stop();
    co_await stop();
    co_return status;
}

Task<Result<void>> ShareSession::start() {
    if (options_.mps && launch::find_variable(caller_.variables, "CUDA_MPS_PIPE_DIRECTORY")) {
        tell("CUDA_MPS_PIPE_DIRECTORY is set already: the MPS daemon there is used");
    } else if (options_.mps) {
        auto daemon = co_await MpsDaemon::start(executor_, clock_, rng_, around());
        if (!daemon) co_return std::move(daemon).error().prefix("--mps");
        mps_.emplace(*std::move(daemon));
    }
    if (signal_) co_return Result<void>();  // nothing runs that it could be passed on to
    SharePlan plan = plan_share(options_, surroundings_of(caller_, mps_ ? mps_->directory() : ""));
    for (const std::string& note : plan.notes) tell(note);
    CO_TRY(processes_,
           co_await OwnProcesses::open(executor_, clock_, rng_, around(), "[${local_rank}] "));
    std::vector<launch::WorkerStart> starts;
    for (SharedProcess& process : plan.processes) starts.push_back(std::move(process.start));
    running_ = static_cast<int>(starts.size());
    co_return co_await processes_.start(std::move(starts));
}

Task<int> ShareSession::follow() {
    tasks_.spawn_essential("ends", watch_ends());
    while (!is_over()) co_await changed_.wait();
    stopping_ = true;
    Duration grace = options_.grace;
    if (failure_) {
        std::string text = fmt::format("process {} failed first: {}", failure_->local_rank,
                                       workers::describe_status(*failure_));
        if (running_ > 0)
            text += fmt::format("; the others get SIGTERM, and SIGKILL after {}", grace_text());
        tell(text);
    } else if (!signal_) {
        grace = std::min<Duration>(grace, kForLeftBehind);
    }
    processes_.workers->end_with(failure_ || !signal_ ? SIGTERM : *signal_);
    const int status = failure_  ? failure_->exit_code.value_or(128 + failure_->signal)
                       : signal_ ? 128 + *signal_
                                 : 0;
    co_await processes_.workers->stop(grace);
    co_return status;
}

Task<void> ShareSession::stop() {
    if (processes_.workers) co_await processes_.workers->stop(Duration::zero());
    processes_.workers.reset();
    if (mps_) co_await mps_->stop();
}

Task<void> ShareSession::watch_ends() {
    while (running_ > 0) {
        workers::WorkerEnd end = co_await processes_.workers->next_end();
        --running_;
        if (end.exit_code != 0 && !failure_ && !signal_) failure_ = std::move(end);
        changed_.notify_all();
    }
}

Task<void> ShareSession::watch_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
        if (signal != SIGHUP || !ignores_hangups()) signals_.add(signal);
    for (;;) {
        const int signal = co_await signals_.async_wait(asio::use_awaitable);
        if (signal == SIGUSR1 || signal == SIGUSR2)
            pass_on(signal);
        else
            leave(signal);
    }
}

/// As it is: what a program does about it, say a checkpoint, is its own affair.
void ShareSession::pass_on(int signal) {
    if (!processes_.workers) return;
    for (int index = 0; index < options_.processes; ++index)
        if (const int pid = processes_.workers->pid_of(index); pid > 0) ::kill(pid, signal);
}

void ShareSession::leave(int signal) {
    if (signal_) {
        tell(signal_name(signal) + " again: what is left is killed");
        if (processes_.workers) processes_.workers->hurry();
        return;
    }
    signal_ = signal;
    // After a failure the others are saving what they have: they keep their time.
    tell(stopping_ ? fmt::format("{}: the processes are being ended; another one kills them",
                                 signal_name(signal))
                   : fmt::format("{} is passed on; what is left after {} is killed",
                                 signal_name(signal), grace_text()));
    changed_.notify_all();
}

std::string ShareSession::grace_text() const {
    return fmt::format("{} s", std::chrono::duration<double>(options_.grace).count());
}

}  // namespace

int run_share(const ShareOptions& options, const ShareCaller& caller) {
    log::set_sink([](log::Level, std::string_view line) { tell(line); });
    if (options.dry_run) {
        const SharePlan plan = plan_share(options, surroundings_of(caller, ""));
        for (const std::string& note : plan.notes) tell(note);
        fmt::print("{}", to_text(plan));
        return 0;
    }
    asio::io_context context(1);
    ShareSession session(context, options, caller);
    return run_to_end(context, session.run());
}

}  // namespace muster::cli
