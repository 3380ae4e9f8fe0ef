#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/log.h"
#include "base/real_clock.h"
#include "cli/dry_run.h"
#include "cli/internal/run/local_cluster.h"
#include "cli/internal/run/node_settings.h"
#include "cli/internal/run/run_session.h"
#include "cli/internal/run/state_dir.h"
#include "cli/internal/verbs/verbs.h"
#include "cli/prepare.h"

namespace muster::cli {

namespace {

void print_problems(const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) fmt::print(stderr, "{}\n", format(problem));
}

int refuse(const std::vector<Problem>& problems) {
    fmt::print(stderr, "muster run: {}; nothing was started\n", count_problems(problems));
    return 2;
}

int fail(const Error& error) {
    fmt::print(stderr, "muster run: {}\n", error.message());
    return 1;
}

void require_workload(Prepared& prepared) {
    bool any = std::ranges::any_of(prepared.objects, [](const CheckedObject& object) {
        return object.job.has_value() || object.type == kube::types::kPods;
    });
    if (any || prepared.objects.empty()) return;
    prepared.problems.push_back(prepared.objects.front().document.problem(
        Severity::kError, "kind",
        "the manifest has no job and no pod, so there is nothing to run"));
}

runtime::NodeOptions node_options(const RunOptions& options, const Prepared& prepared,
                                  const Caller& caller, const Machine& machine,
                                  const StateDir& state, runtime::Keeper& keeper) {
    runtime::NodeOptions node =
        node_settings(caller, machine, options.sandbox, state.path(), prepared.cluster_domain);
    node.keeper = &keeper;
    node.working_dir = prepared.working_dir;
    node.mounts = prepared.mounts;
    node.files = options.private_files          ? runtime::FileMode::kPrivate
                 : options.manifest.own_workdir ? runtime::FileMode::kWorkingDir
                                                : runtime::FileMode::kShared;
    node.files_bytes = options.files_bytes;
    if (!options.logs_dir.empty())
        node.files_dir = std::filesystem::absolute(options.logs_dir) / "files";
    return node;
}

/// Turns signals into stops until it is cancelled.
Task<void> watch_signals(asio::signal_set& signals, RunSession& session) {
    for (;;) {
        int signal = co_await signals.async_wait(asio::use_awaitable);
        session.stop(signal == SIGINT ? RunSession::Stop::kInterrupt
                                      : RunSession::Stop::kTerminate);
    }
}

Task<int> run_in_cluster(asio::signal_set& signals, LocalCluster& cluster, RunSession& session) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    tasks.spawn("signals", watch_signals(signals, session));
    Result<void> started = co_await cluster.start();
    int status = started ? co_await session.run() : fail(started.error());
    co_await cluster.stop();
    co_await tasks.stop();
    co_return status;
}

int run_prepared(const RunOptions& options, Prepared prepared, const Caller& caller,
                 const Machine& machine) {
    std::string temporary = caller.variable("TMPDIR");
    if (temporary.empty()) temporary = "/tmp";
    Rng rng = Rng::from_system();
    auto keeper = runtime::Keeper::start();
    if (!keeper) return fail(keeper.error());
    Result<StateDir> state = options.keep ? StateDir::create_kept(temporary, rng)
                                          : StateDir::create(temporary, rng, **keeper);
    if (!state) return fail(state.error());
    if (!options.logs_dir.empty()) {
        std::error_code failed;
        std::filesystem::create_directories(options.logs_dir, failed);
        if (failed)
            return fail(system_error("making the directory " + options.logs_dir, failed.value()));
    }

    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    RealClock clock;
    Screen screen(screen_for(options.output != OutputFormat::kNone, options.quiet,
                             !caller.variable("NO_COLOR").empty()));
    for (const std::string& notice : prepared.notices) screen.tell({Tone::kPlain, notice});
    auto cluster =
        LocalCluster::create(context.get_executor(), clock, rng, apiserver::make_memory_store(), {},
                             node_options(options, prepared, caller, machine, *state, **keeper));
    if (!cluster) return fail(cluster.error());
    for (const std::string& notice : (*cluster)->notices()) screen.tell({Tone::kPlain, notice});
    RunSession session(context.get_executor(), clock, rng, (*cluster)->client(), screen,
                       std::move(prepared.objects),
                       {.logs_dir = options.logs_dir,
                        .timeout = options.timeout,
                        .collect_objects = options.output != OutputFormat::kNone});
    int status = 1;
    asio::co_spawn(context, run_in_cluster(signals, **cluster, session),
                   [&](std::exception_ptr thrown, int result) {
                       if (thrown) std::rethrow_exception(thrown);
                       status = result;
                   });
    context.run();
    print_problems(session.problems());
    if (status == 2 && !session.problems().empty()) return refuse(session.problems());
    if (options.output != OutputFormat::kNone)
        fmt::print("{}", print_objects(session.final_objects(), options.output));
    if (options.keep)
        fmt::print(stderr, "muster: the state is kept in {}\n", state->path().string());
    return status;
}

}  // namespace

int run(const RunOptions& options) {
    if (options.verbose > 0)
        log::set_level(options.verbose > 1 ? log::Level::kDebug : log::Level::kInfo);
    Caller caller = current_caller();
    std::unique_ptr<Machine> machine = make_real_machine(caller.environment);
    Prepared prepared = prepare(options.manifest, caller, *machine);
    require_workload(prepared);
    print_problems(prepared.problems);
    if (has_errors(prepared.problems)) return refuse(prepared.problems);
    if (options.dry_run) {
        Result<std::vector<json::value>> planned = planned_objects(prepared.objects);
        if (!planned) return fail(planned.error());
        fmt::print("{}", print_objects(*planned, options.output));
        return 0;
    }
    return run_prepared(options, std::move(prepared), caller, *machine);
}

}  // namespace muster::cli
