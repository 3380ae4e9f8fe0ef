#include "cli/internal/operator/run_operator.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/async/first_of.h"
#include "base/async/run_to_end.h"
#include "base/async/side_thread.h"
#include "base/log.h"
#include "base/time/real_clock.h"
#include "base/time/side_watch.h"
#include "cli/internal/connect/connection.h"
#include "cli/internal/operator/health_front.h"
#include "cli/internal/operator/spare_memory.h"
#include "control_plane/cluster_domain.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/operator_metrics.h"
#include "net/tcp.h"
#include "operator/replica.h"
#include "process/core_dumps.h"

namespace muster::cli {

namespace {

/// Writing a status goes to etcd, which the whole cluster shares, so it must be worthwhile.
constexpr Duration kCountsWait = std::chrono::seconds(1);

int fail(const Error& error) {
    fmt::print(stderr, "muster operator: {}\n", error.message());
    return 1;
}

/// Unique to this process: a pod keeps its name when its container restarts.
std::string identity_of(const control_plane::Caller& caller, Rng& rng) {
    std::string name = caller.variable("MY_POD_NAME");
    if (name.empty()) name = caller.variable("HOSTNAME");
    if (name.empty()) name = "muster";
    return fmt::format("{}_{:016x}", name, rng.next());
}

Result<operators::ReplicaOptions> replica_options(const OperatorOptions& options,
                                                  const control_plane::Caller& caller,
                                                  const Connection& connection, Rng& rng) {
    operators::ReplicaOptions replica;
    replica.work.namespace_ =
        options.namespace_.empty() ? caller.variable("KUBEFLOW_NAMESPACE") : options.namespace_;
    replica.work.kinds = options.kinds;
    replica.work.workers = options.controller_threads;
    replica.work.removes_dependents = true;
    replica.work.gang_scheduler_name = options.gang_scheduler_name;
    replica.work.platform.cluster = true;
    replica.work.platform.pods_reach_api = true;
    replica.work.counts_wait = kCountsWait;
    replica.work.lists = kube::Reflector::Lists::kStreamed;
    replica.work.platform.program_image =
        options.in_pods_image.empty() ? caller.variable("MUSTER_IMAGE") : options.in_pods_image;
    replica.work.platform.image_volumes = options.image_volumes;
    replica.work.platform.agent_tokens = options.agent_tokens;
    replica.work.platform.cluster_domain = options.cluster_domain;
    if (options.cluster_domain.empty()) {
        Result<std::string> domain = control_plane::cluster_domain(caller);
        if (!domain)
            return Error(domain.error()).prefix(std::string(control_plane::kClusterDomainVariable));
        replica.work.platform.cluster_domain = *std::move(domain);
    }
    replica.limits = options.limits;
    if (!options.leader_elect) return replica;
    kube::Leadership::Options election{.namespace_ = options.lease_namespace,
                                       .name = options.lease_name,
                                       .identity = identity_of(caller, rng),
                                       .timing = options.election};
    if (election.namespace_.empty()) election.namespace_ = caller.variable("MY_POD_NAMESPACE");
    if (election.namespace_.empty()) election.namespace_ = connection.access().namespace_;
    replica.election = std::move(election);
    return replica;
}

/// Null for nowhere.
Result<std::unique_ptr<net::Listener>> listen_where(const asio::any_io_executor& executor,
                                                    const BindAddress& where,
                                                    std::string_view flag) {
    if (where.port == 0) return std::unique_ptr<net::Listener>();
    auto listener = where.address.empty() ? net::listen_tcp_everywhere(executor, where.port)
                                          : net::listen_tcp(executor, where.address, where.port);
    if (!listener) return Error(listener.error()).prefix(std::string(flag));
    return listener;
}

/// For ports that a kubelet and a few scrapers read, and that every pod in the cluster can reach.
net::HttpServerLimits probe_limits() {
    net::HttpServerLimits limits;
    limits.head_bytes = std::size_t{16} * 1024;
    limits.body_bytes = 0;
    limits.connections = 256;
    limits.strangers = 256;
    limits.head_time = std::chrono::seconds(5);
    limits.idle_time_of_strangers = limits.idle_time;  // scrapers come every half minute
    return limits;
}

Task<void> until_signal(asio::signal_set& signals) {
    const int signal = co_await signals.async_wait(asio::use_awaitable);
    log::info("stopping", {{"signal", signal}});
}

Task<void> work(operators::Replica& replica, asio::signal_set& signals, net::HttpServer& health,
                net::HttpServer& metrics, Connection& connection, Clock& clock) {
    co_await first_of(replica.run(),
                      first_of(until_signal(signals), keep_giving_back_spare_memory(clock)));
    if (const Result<void> released = co_await replica.stop(); !released)
        log::warning("the lease could not be released: the next leader waits until it expires",
                     {{"error", released.error().message()}});
    co_await health.stop();
    co_await metrics.stop();
    co_await connection.stop();
}

}  // namespace

int run_operator(const OperatorOptions& options) {
    log::set_format(options.log_format);
    log::set_level(options.log_level);
    process::forbid_core_dumps();
    std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is seen as a failed write
    const control_plane::Caller caller = control_plane::current_caller();
    RealClock clock;
    Rng rng = Rng::from_system();
    asio::io_context context(1);
    asio::signal_set signals(context, SIGINT, SIGTERM);
    auto connection = Connection::open(
        {.kubeconfig = options.kubeconfig, .context = options.context, .namespace_ = {}}, caller,
        context.get_executor(), clock);
    if (!connection) return fail(connection.error());
    auto settings = replica_options(options, caller, **connection, rng);
    if (!settings) return fail(settings.error());

    auto for_health =
        listen_where(context.get_executor(), options.health, "--health-probe-bind-address");
    if (!for_health) return fail(for_health.error());
    auto for_metrics =
        listen_where(context.get_executor(), options.metrics, "--metrics-bind-address");
    if (!for_metrics) return fail(for_metrics.error());

    control_plane::OperatorMetrics metrics;
    settings->work.observer = &metrics;
    SideWatch side_watch(clock);
    SideThread side_thread(side_watch.hooks());
    settings->work.side_thread = &side_thread;
    settings->on_filled = [] {
        give_back_spare_memory();
        give_back_program_pages();
    };
    settings->on_request = [&metrics](const kube::RequestSeen& seen) { metrics.on_request(seen); };
    operators::Replica replica(context.get_executor(), (*connection)->objects(), clock, rng,
                               *std::move(settings));
    net::HttpServer health_server(
        context.get_executor(), clock, probe_limits(),
        [&](net::HttpExchange& exchange) { return answer_health(exchange, replica); });
    net::HttpServer metrics_server(
        context.get_executor(), clock, probe_limits(),
        [&](net::HttpExchange& exchange) { return answer_metrics(exchange, replica, metrics); });
    if (*for_health) health_server.serve(*std::move(for_health));
    if (*for_metrics) metrics_server.serve(*std::move(for_metrics));
    for (const std::string& flag : options.ineffective)
        log::warning("a flag has no effect", {{"flag", flag}});
    log::info("muster operator", {{"version", MUSTER_VERSION},
                                  {"server", (*connection)->access().url.text()},
                                  {"namespace", options.namespace_},
                                  {"leader_elect", options.leader_elect}});
    give_back_program_pages();  // of the start; filling the caches takes others
    run_to_end(context, work(replica, signals, health_server, metrics_server, **connection, clock));
    return 0;
}

}  // namespace muster::cli
