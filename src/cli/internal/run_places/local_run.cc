#include "cli/internal/run_places/local_run.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/async/run_to_end.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "cli/internal/fault_injection/fault_socket.h"
#include "cli/internal/run/run_session.h"
#include "cli/internal/run/run_shell.h"
#include "cli/internal/run_places/recorded_run.h"
#include "control_plane/local_cluster.h"
#include "control_plane/node_settings.h"
#include "control_plane/state_dir.h"

namespace muster::cli {

namespace {

constexpr const char* kGiveUpAfter = "MUSTER_GIVE_UP_AFTER";

runtime::NodeOptions node_options(const RunOptions& options, const Prepared& prepared,
                                  const control_plane::Caller& caller,
                                  const control_plane::Machine& machine,
                                  const control_plane::StateDir& state,
                                  runtime::CleanupProcess& cleanup, rlim_t core_bytes) {
    runtime::NodeOptions node = control_plane::node_settings(caller, machine, options.sandbox,
                                                             state.path(), prepared.cluster_domain);
    node.cleanup = &cleanup;
    node.core_bytes = core_bytes;
    // Agents of elastic jobs restart workers that this process does not see.
    if (caller.variable(kGiveUpAfter).empty())
        node.environment.push_back(fmt::format("{}={}", kGiveUpAfter, options.give_up_after));
    node.working_dir = prepared.working_dir;
    node.mounts = prepared.mounts;
    node.claims.insert(prepared.claims.begin(), prepared.claims.end());
    node.files = options.private_files          ? runtime::FileMode::kPrivate
                 : options.manifest.own_workdir ? runtime::FileMode::kWorkingDir
                                                : runtime::FileMode::kShared;
    node.files_bytes = options.files_bytes;
    if (!options.logs_dir.empty())
        node.files_dir = std::filesystem::absolute(options.logs_dir) / "files";
    return node;
}

Task<int> run_in_cluster(asio::signal_set& signals, control_plane::LocalCluster& cluster,
                         RunSession& session, FaultSocket& faults,
                         const control_plane::StateDir& state, RecordedRun& recorded,
                         Clock& clock) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    // A run that no longer hears Ctrl-C could only be killed.
    tasks.spawn_essential("signals", watch_signals(signals, session));
    Result<void> started = co_await cluster.start();
    // The run continues without it: a TMPDIR may be too long for the name of a socket.
    if (Result<void> opened = faults.open(state.path()); !opened)
        log::info("faults can't reach this run", {{"error", opened.error().message()}});
    if (started) recorded.follow(tasks, session, cluster.client(), clock);
    int status = started ? co_await session.run() : recorded.fail(started.error());
    co_await faults.stop();
    co_await cluster.stop();
    co_await tasks.stop();
    co_return status;
}

}  // namespace

int run_on_machine(const RunOptions& options, Prepared prepared,
                   const control_plane::Caller& caller, const control_plane::Machine& machine,
                   rlim_t core_bytes) {
    std::string temporary = caller.variable("TMPDIR");
    if (temporary.empty()) temporary = "/tmp";
    Rng rng = Rng::from_system();
    give_names(prepared.objects, rng);
    auto recorded = RecordedRun::begin(options, caller, prepared.objects, nullptr);
    if (!recorded) return fail_run(recorded.error());
    const auto fail = [&](const Error& error) { return (*recorded)->fail(error); };
    auto cleanup = runtime::CleanupProcess::start();
    if (!cleanup) return fail(cleanup.error());
    Result<control_plane::StateDir> state =
        options.keep ? control_plane::StateDir::create_kept(temporary, rng)
                     : control_plane::StateDir::create(temporary, rng, **cleanup);
    if (!state) return fail(state.error());
    if (Result<void> made = make_logs_dir(options); !made) return fail(made.error());

    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    RealClock clock;
    Console console((*recorded)->recorded(console_of_run(options, caller)));
    (*recorded)->tell_start(console);
    for (const std::string& notice : prepared.notices) console.tell({Tone::kPlain, notice});
    runtime::NodeOptions node =
        node_options(options, prepared, caller, machine, *state, **cleanup, core_bytes);
    node.logs_dir = (*recorded)->logs_directory();
    auto cluster = control_plane::LocalCluster::create(
        context.get_executor(), clock, rng, store::make_memory_store(),
        {.volumes = {.root = (state->path() / "volumes").string(), .claims = prepared.claims}},
        std::move(node));
    if (!cluster) return fail(cluster.error());
    for (const std::string& notice : (*cluster)->notices()) console.tell({Tone::kPlain, notice});
    if ((*cluster)->node().isolates_pods())
        if (const std::optional<int> status = end_for_own_tmp(prepared)) return *status;
    RunSession session(
        context.get_executor(), clock, rng, (*cluster)->client(), console,
        std::move(prepared.objects),
        (*recorded)->recorded(session_options(options), (*cluster)->client(), clock));
    FaultSocket faults(context.get_executor(), clock, **cluster);
    const int ended = run_to_end(
        context, run_in_cluster(signals, **cluster, session, faults, *state, **recorded, clock));
    if (session.failure()) return fail(*session.failure());
    (*recorded)->end(session, ended, clock.wall_now(), console);
    const int status = end_run(options, session, ended);
    if (options.keep)
        fmt::print(stderr, "muster: the state is kept in {}\n", state->path().string());
    return status;
}

}  // namespace muster::cli
