#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/log.h"
#include "base/real_clock.h"
#include "cli/internal/fault_injection/fault_socket.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/run/cluster_run.h"
#include "cli/internal/run/run_session.h"
#include "cli/internal/run/run_shell.h"
#include "cli/internal/verbs/verbs.h"
#include "control_plane/local_cluster.h"
#include "control_plane/node_settings.h"
#include "control_plane/state_dir.h"

namespace muster::cli {

namespace {

runtime::NodeOptions node_options(const RunOptions& options, const Prepared& prepared,
                                  const control_plane::Caller& caller,
                                  const control_plane::Machine& machine,
                                  const control_plane::StateDir& state, runtime::Keeper& keeper) {
    runtime::NodeOptions node = control_plane::node_settings(caller, machine, options.sandbox,
                                                             state.path(), prepared.cluster_domain);
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

Task<int> run_in_cluster(asio::signal_set& signals, control_plane::LocalCluster& cluster,
                         RunSession& session, FaultSocket& faults,
                         const control_plane::StateDir& state) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    tasks.spawn("signals", watch_signals(signals, session));
    Result<void> started = co_await cluster.start();
    // A run goes on without: a TMPDIR may be longer than the name of a socket can be.
    if (Result<void> opened = faults.open(state.path()); !opened)
        log::info("faults can't reach this run", {{"error", opened.error().message()}});
    int status = started ? co_await session.run() : fail_run(started.error());
    co_await faults.stop();
    co_await cluster.stop();
    co_await tasks.stop();
    co_return status;
}

int run_here(const RunOptions& options, Prepared prepared, const control_plane::Caller& caller,
             const control_plane::Machine& machine) {
    std::string temporary = caller.variable("TMPDIR");
    if (temporary.empty()) temporary = "/tmp";
    Rng rng = Rng::from_system();
    auto keeper = runtime::Keeper::start();
    if (!keeper) return fail_run(keeper.error());
    Result<control_plane::StateDir> state =
        options.keep ? control_plane::StateDir::create_kept(temporary, rng)
                     : control_plane::StateDir::create(temporary, rng, **keeper);
    if (!state) return fail_run(state.error());
    if (Result<void> made = make_logs_dir(options); !made) return fail_run(made.error());

    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    RealClock clock;
    Console console(console_of_run(options, caller));
    for (const std::string& notice : prepared.notices) console.tell({Tone::kPlain, notice});
    auto cluster = control_plane::LocalCluster::create(
        context.get_executor(), clock, rng, store::make_memory_store(), {},
        node_options(options, prepared, caller, machine, *state, **keeper));
    if (!cluster) return fail_run(cluster.error());
    for (const std::string& notice : (*cluster)->notices()) console.tell({Tone::kPlain, notice});
    RunSession session(context.get_executor(), clock, rng, (*cluster)->client(), console,
                       std::move(prepared.objects), session_options(options));
    FaultSocket faults(context.get_executor(), clock, **cluster);
    int status = 1;
    asio::co_spawn(context, run_in_cluster(signals, **cluster, session, faults, *state),
                   [&](std::exception_ptr thrown, int result) {
                       if (thrown) std::rethrow_exception(thrown);
                       status = result;
                   });
    context.run();
    if (session.failure()) return fail_run(*session.failure());
    status = end_run(options, session, status);
    if (options.keep)
        fmt::print(stderr, "muster: the state is kept in {}\n", state->path().string());
    return status;
}

/// This very file: what it runs sees the same files, but for /tmp, of which each pod has its own.
void put_agents(RunOptions& options) {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    options.manifest.adjustments.agent = {{program, "muster-run"}, options.warm};
    const std::string folder = program.parent_path();
    if (folder.starts_with("/tmp/")) options.manifest.mounts.emplace_back(folder, folder);
}

}  // namespace

int run(RunOptions options) {
    if (options.elastic) put_agents(options);
    if (options.verbose > 0)
        log::set_level(options.verbose > 1 ? log::Level::kDebug : log::Level::kInfo);
    control_plane::Caller caller = control_plane::current_caller();
    if (options.cluster) return run_on_cluster(options, caller);
    std::unique_ptr<control_plane::Machine> machine =
        control_plane::make_real_machine(caller.environment);
    Prepared prepared = prepare(options.manifest, caller, *machine);
    if (const std::optional<int> status = end_before_start(options, prepared)) return *status;
    return run_here(options, std::move(prepared), caller, *machine);
}

}  // namespace muster::cli
