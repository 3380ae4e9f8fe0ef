#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/first_of.h"
#include "base/real_clock.h"
#include "base/time_limit.h"
#include "cli/internal/fault_injection/fault_socket.h"
#include "cli/internal/fault_injection/line_stream.h"
#include "cli/internal/run/views.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/caller.h"
#include "control_plane/state_dir.h"
#include "net/tcp.h"

namespace muster::cli {

namespace {

namespace fs = std::filesystem;

/// A run that is stopped itself answers nobody.
constexpr Duration kAnswerWithin = std::chrono::seconds(10);

/// The sockets of runs, also of those that were killed.
std::vector<fs::path> find_sockets(const fs::path& temporary) {
    std::vector<fs::path> found;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary, failed)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(control_plane::kStateDirPrefix) &&
            !name.starts_with(control_plane::kKeptDirPrefix))
            continue;
        std::error_code hidden;  // of another user
        if (fs::is_socket(entry.path() / kFaultSocket, hidden))
            found.push_back(entry.path() / kFaultSocket);
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

/// The verb at work. Its loop is the one of `executor`.
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
        fmt::print("muster {}: {}\n", name_of(options.verb), what);
        std::fflush(stdout);
    }

    Task<void> find_pods(fs::path temporary) {
        for (const fs::path& socket : find_sockets(temporary)) {
            auto bytes = co_await net::connect_unix(executor, socket);
            if (!bytes) continue;  // killed, or about to end
            auto run = std::make_unique<LineStream>(*std::move(bytes));
            auto told = co_await ask(clock, *run, list_line());
            if (!told) {
                fmt::print(stderr, "muster {}: {} is passed over: {}\n", name_of(options.verb),
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
        // It has nothing to say while the drill lasts.
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
                                                   order_line({.verb = options.verb,
                                                               .namespace_ = pod.namespace_,
                                                               .pod = pod.name,
                                                               .signal = signal})));
        if (options.verb == FaultKind::kKill) {
            tell(fmt::format("{} to {}{}, process {}", signal_name(signal.number),
                             signal.rank ? fmt::format("rank {} in ", *signal.rank) : "", pod.name,
                             done.process));
            co_return 0;
        }
        const bool pause = options.verb == FaultKind::kPause;
        tell(fmt::format("{} {}{}", pod.name, pause ? "stands still" : "is cut off",
                         options.duration ? "" : "; Ctrl-C ends it"));
        co_await hold(run);
        if (run_ended) co_return Error(Code::kUnavailable, "the run has ended");
        CO_TRY_VOID(co_await run.finish());
        CO_TRY_VOID(co_await ask(clock, run, ""));
        tell(fmt::format("{} {}", pod.name, pause ? "goes on" : "is connected again"));
        co_return options.duration&& stopped_by != 0 ? 128 + stopped_by : 0;
    }
};

}  // namespace

int drill(const FaultInjectionOptions& options) {
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
            fmt::print(stderr, "muster {}: {}\n", name_of(options.verb), done.error().message());
        });
    context.run();
    return status;
}

}  // namespace muster::cli
