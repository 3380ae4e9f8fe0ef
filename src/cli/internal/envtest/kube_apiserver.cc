#include "cli/internal/envtest/kube_apiserver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/log.h"
#include "base/time/loop_watch.h"
#include "base/time/real_clock.h"
#include "base/unexpected.h"
#include "cli/internal/envtest/ask_etcd.h"
#include "cli/internal/envtest/kube_apiserver_files.h"
#include "cli/internal/envtest/kube_apiserver_flags.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_home.h"
#include "control_plane/served_cluster.h"
#include "kube/objects/served_version.h"
#include "process/core_dumps.h"

namespace muster::cli {

namespace {

/// In etcd's data directory. Its name is ours, so that what another program answers in etcd's place
/// leads to no other directory of this user.
constexpr const char* kStoreDirectory = "muster-kube-apiserver";

constexpr int kMoreInTheLog = 2;  ///< of -v
constexpr int kStillMore = 4;

int apiserver_failed(const Error& error) {
    fmt::print(stderr, "Error: {}\n", error.message());
    return 1;
}

net::ServerNames server_names_of(const KubeApiserverOptions& options) {
    net::ServerNames names =
        control_plane::server_names(options.listen, control_plane::machine_names());
    names.addresses.push_back(options.services.first());
    return names;
}

/// What one server is made of.
struct ApiserverParts {
    asio::any_io_executor executor;
    Clock& clock;
    Rng& rng;
    const LoopWatch& loop;
    control_plane::Caller caller;
};

control_plane::ServedClusterOptions cluster_options(const KubeApiserverOptions& options,
                                                    control_plane::ServingIdentity identity,
                                                    const ApiserverParts& parts, bool durable) {
    control_plane::ServedClusterOptions made;
    made.listen = options.listen;
    made.actors = control_plane::Actors::kNone;
    made.limits = options.limits;
    made.identity = std::move(identity);
    made.service_range = options.services;
    made.pods_need_accounts = options.pods_need_accounts;
    made.durable = durable;
    made.loop = &parts.loop;
    return made;
}

Task<int> serve_apiserver(ApiserverParts& parts, const KubeApiserverOptions& options,
                          control_plane::ServingIdentity identity) {
    const auto place = co_await ask_etcd(parts.executor, parts.clock, options.etcd_servers);
    if (!place) co_return apiserver_failed(place.error());
    const auto home =
        control_plane::StateHome::take(std::filesystem::path(place->data_dir) / kStoreDirectory);
    if (!home)
        co_return apiserver_failed(
            Error(home.error()).prefix("another kube-apiserver may have this etcd"));
    auto cluster = control_plane::ServedCluster::create(
        parts.executor, parts.clock, parts.rng, *home, parts.caller,
        cluster_options(options, std::move(identity), parts, place->sync));
    if (!cluster) co_return apiserver_failed(cluster.error());
    // Until here they end the process, as there is nothing yet that has to be ended well.
    asio::signal_set signals(parts.executor, SIGINT, SIGTERM);
    const Result<void> started = co_await (*cluster)->start();
    if (started) co_await signals.async_wait(asio::use_awaitable);
    co_await (*cluster)->stop_serving();
    const int status = started ? 0 : apiserver_failed(started.error());
    // What was answered is in the file, and there are no pods.
    std::fflush(nullptr);
    ::_exit(status);
}

void tell_what_has_no_effect(const KubeApiserverOptions& options) {
    for (const std::string& flag : options.without_effect)
        fmt::print(stderr, "kube-apiserver (muster): {} has no effect\n", flag);
    if (options.everything_allowed)
        fmt::print(stderr,
                   "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting "
                   "AnonymousAuth to false. You should use a different authorizer\n");
}

int run_with(const KubeApiserverOptions& options) {
    if (options.verbosity >= kMoreInTheLog)
        log::set_level(options.verbosity >= kStillMore ? log::Level::kDebug : log::Level::kInfo);
    process::forbid_core_dumps();
    RealClock clock;
    auto identity = read_kube_apiserver_files(options, server_names_of(options), clock.wall_now());
    if (!identity) return apiserver_failed(identity.error());
    tell_what_has_no_effect(options);
    std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is seen as a failed write
    Rng rng = Rng::from_system();
    asio::io_context context(1);
    LoopWatch loop(clock);
    ApiserverParts parts{context.get_executor(), clock, rng, loop, control_plane::current_caller()};
    int status = 1;
    asio::co_spawn(context, serve_apiserver(parts, options, *std::move(identity)),
                   [&](std::exception_ptr thrown, int result) {
                       if (thrown) end_process_for("kube-apiserver", thrown);
                       status = result;
                   });
    loop.run(context);
    return status;
}

}  // namespace

int run_kube_apiserver(const std::vector<std::string>& words) {
    const auto given =
        parse_go_flags(GoFlagStyle::kPflag, "kube-apiserver", kube_apiserver_flags(), words);
    if (!given) return apiserver_failed(given.error());
    if (given->has("help")) {
        fmt::print("{}", kube_apiserver_help());
        return 0;
    }
    if (given->on("version")) {
        fmt::print("Kubernetes {}\n", kube::kServedVersion);
        return 0;
    }
    const auto options = read_kube_apiserver_flags(*given);
    if (!options) return apiserver_failed(options.error());
    return run_with(*options);
}

}  // namespace muster::cli
