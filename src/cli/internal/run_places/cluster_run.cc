#include "cli/internal/run_places/cluster_run.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "base/async/run_to_end.h"
#include "base/time/real_clock.h"
#include "cli/internal/connect/connection.h"
#include "cli/internal/connect/on_server.h"
#include "cli/internal/run/run_shell.h"
#include "cli/internal/run_places/recorded_run.h"
#include "control_plane/machine.h"

namespace muster::cli {

namespace {

Task<int> run_and_stop(asio::signal_set& signals, Connection& connection, RunSession& session,
                       RecordedRun& recorded, Clock& clock) {
    TaskGroup tasks(co_await asio::this_coro::executor);
    // A run that no longer hears Ctrl-C could only be killed.
    tasks.spawn_essential("signals", watch_signals(signals, session));
    recorded.follow(tasks, session, connection.client(), clock);
    const int status = co_await session.run();
    co_await tasks.stop();
    co_await connection.stop();
    co_return status;
}

/// The checks for one machine, except those that examine it.
Prepared prepare_for_cluster(const RunOptions& options, const control_plane::Caller& caller,
                             const Connection& connection) {
    ManifestOptions manifest = options.manifest;
    manifest.any_machine = true;
    manifest.cluster = true;
    manifest.adjustments.default_namespace = connection.default_namespace();
    return prepare(manifest, caller, *control_plane::make_real_machine(caller.environment));
}

}  // namespace

int run_on_cluster(const RunOptions& options, const control_plane::Caller& caller) {
    RealClock clock;
    asio::io_context context(1);
    auto connection = Connection::open(*options.cluster, caller, context.get_executor(), clock);
    if (!connection) return fail_run(connection.error());
    Prepared prepared = prepare_for_cluster(options, caller, **connection);
    if (const std::optional<int> status = end_before_start(options, prepared)) return *status;
    if (Result<void> made = make_logs_dir(options); !made) return fail_run(made.error());
    Rng rng = Rng::from_system();
    give_names(prepared.objects, rng);
    auto recorded = RecordedRun::begin(options, caller, prepared.objects, &context);
    if (!recorded) return fail_run(recorded.error());

    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    Console console((*recorded)->recorded(console_of_run(options, caller)));
    (*recorded)->tell_start(console);
    for (const std::string& notice : prepared.notices) console.tell({Tone::kPlain, notice});
    RunSession session(
        context.get_executor(), clock, rng, (*connection)->client(), console,
        std::move(prepared.objects),
        (*recorded)->recorded(session_options(options), (*connection)->client(), clock));
    const int status =
        run_to_end(context, run_and_stop(signals, **connection, session, **recorded, clock));
    if (status == 1 && session.failure()) {
        const Error& error = *session.failure();
        return (*recorded)->fail(
            Error(error.code(), error.message() + advice(error, (*connection)->access())));
    }
    (*recorded)->end(session, status, clock.wall_now(), console);
    return end_run(options, session, status);
}

}  // namespace muster::cli
