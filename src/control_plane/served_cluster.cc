#include "control_plane/served_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver_http/http_front.h"
#include "apiserver_http/metric_family.h"
#include "base/async/side_thread.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "base/time/side_watch.h"
#include "control_plane/internal/credentials.h"
#include "control_plane/internal/extension_client.h"
#include "control_plane/internal/front_proxy.h"
#include "control_plane/internal/loop_metrics.h"
#include "control_plane/internal/webhook_client.h"
#include "control_plane/internal/yaml_bodies.h"
#include "control_plane/machine.h"
#include "control_plane/node_settings.h"
#include "control_plane/operator_metrics.h"
#include "control_plane/process_metrics.h"
#include "net/http/http_server.h"
#include "net/tcp.h"
#include "net/tls/tls.h"
#include "store/sqlite_store.h"

namespace muster::control_plane {

namespace {

/// "127.0.0.1:6443" -> 6443.
std::uint16_t port_of(std::string_view address) {
    return parse_number<std::uint16_t>(address.substr(address.rfind(':') + 1)).value_or(0);
}

/// The metrics of an operator, if there is one.
std::shared_ptr<prometheus::Collectable> metrics_of(LocalCluster& cluster,
                                                    const OperatorMetrics* jobs) {
    return std::make_shared<apiserver_http::CollectedNow>([&cluster, jobs] {
        cluster.sample_metrics();
        return jobs == nullptr ? std::vector<prometheus::MetricFamily>() : jobs->collect();
    });
}

/// The metrics of this process, its threads, its sockets and its audit log, if there is one.
std::shared_ptr<prometheus::Collectable> metrics_of(const net::HttpServer& server,
                                                    const AuditLog* audit, const LoopWatch* loop,
                                                    const SideWatch& side) {
    return std::make_shared<apiserver_http::CollectedNow>([&server, audit, loop, &side] {
        std::vector<prometheus::MetricFamily> all = process_metrics();
        if (loop != nullptr) std::ranges::move(loop_metrics(*loop), std::back_inserter(all));
        std::ranges::move(side_metrics(side), std::back_inserter(all));
        if (audit != nullptr) std::ranges::move(audit->metrics(), std::back_inserter(all));
        all.push_back(apiserver_http::family(
            "muster_http_connections", "Open connections of clients.",
            prometheus::MetricType::Gauge, static_cast<double>(server.connections())));
        return all;
    });
}

Result<std::unique_ptr<net::Listener>> listen_at(asio::any_io_executor executor,
                                                 const ListenAddress& where,
                                                 std::string_view flag) {
    auto listener = net::listen_tcp(std::move(executor), where.address, where.port);
    if (listener || listener.error().code() != Code::kAlreadyExists || flag.empty())
        return listener;
    return Error(Code::kAlreadyExists,
                 fmt::format("{}; name another with {} {}:PORT (0: any)",
                             listener.error().message(), flag, where.address));
}

/// The one that is kept in the directory.
Result<ServingIdentity> own_identity(const StateHome& home, const ListenAddress& listen,
                                     WallTime now) {
    TRY(Credentials credentials,
        load_credentials(home, server_names(listen, machine_names()), now));
    ServingIdentity identity{.certificate = std::move(credentials.server),
                             .client_ca_pem = credentials.ca.certificate,
                             .root_ca_pem = credentials.ca.certificate,
                             .account_key = std::move(credentials.account_key)};
    identity.access.admin_token = std::move(credentials.admin_token);
    identity.access.demand_certificate = !listen.loopback();
    if (!listen.loopback()) identity.admin = std::move(credentials.admin);
    return identity;
}

KubeAccess access_of(const ListenAddress& listen, std::string_view address,
                     const ServingIdentity& identity) {
    return {.server = listen.url(port_of(address)),
            .ca_pem = identity.root_ca_pem,
            .token = identity.access.admin_token,
            .client = identity.admin};
}

/// How many bytes of bodies and answers may be in memory at a time.
/// Less than kube-apiserver's writes take longer than ours.
constexpr Duration kHeadStartOfEvents = std::chrono::milliseconds(2);
constexpr std::size_t kInFlight = std::size_t{256} * 1024 * 1024;

struct TlsContexts {
    std::unique_ptr<net::TlsServerContext> clients;
    std::unique_ptr<net::TlsServerContext> pods;  ///< they have no certificates
};

Result<TlsContexts> make_tls(const Clock& clock, const ServingIdentity& identity) {
    net::TlsServerOptions options{.certificate_pem = identity.certificate.certificate,
                                  .key_pem = identity.certificate.key,
                                  .client_ca_pem = identity.client_ca_pem};
    TlsContexts made;
    TRY(made.pods, net::TlsServerContext::create(clock, options));
    options.demand_certificate = identity.access.demand_certificate;
    TRY(made.clients, net::TlsServerContext::create(clock, options));
    return made;
}

/// They have no certificates.
apiserver::AccessOptions access_of_pods(apiserver::AccessOptions access) {
    access.demand_certificate = false;
    return access;
}

/// What computes beside the loop, and how long that takes.
struct Beside {
    explicit Beside(const Clock& clock) : watch(clock) {}

    SideWatch watch;
    SideThread thread{watch.hooks()};
};

/// What acts on the objects besides: nothing, if it is only the API.
Result<runtime::NodeOptions> node_options(const StateHome& home, const Caller& caller,
                                          const ServedClusterOptions& options,
                                          std::string_view address) {
    if (options.actors == Actors::kNone) return runtime::NodeOptions{};
    TRY(const std::filesystem::path node_dir, home.make_directory(kNodeDirectory));
    const std::unique_ptr<Machine> machine = make_real_machine(caller.environment);
    runtime::NodeOptions node =
        node_settings(caller, *machine, options.sandbox, node_dir, options.cluster_domain);
    if (!options.pods.working_dir.empty()) node.working_dir = options.pods.working_dir;
    node.mounts = options.pods.mounts;
    node.stand_ins = options.pods.stand_ins;
    node.claims.insert(options.pods.claims.begin(), options.pods.claims.end());
    node.changes = options.pods.changes;
    node.files = options.pods.files;
    node.files_bytes = options.pods.files_bytes;
    node.pods_outlive = true;
    node.core_bytes = options.core_bytes;
    node.logs_dir = home.path() / "logs";
    node.server = {.host = options.listen.wildcard() ? "127.0.0.1" : options.listen.address,
                   .port = port_of(address)};
    return node;
}

apiserver::ApiServerOptions api_options(const StateHome& home, const ServedClusterOptions& options,
                                        const ServingIdentity& identity, SideThread& beside) {
    const bool alone = options.actors == Actors::kNone;
    return {.manage_fields = true,
            .default_roles = true,
            .priority_classes = true,
            .cluster_controllers = !alone,
            .workload_controllers = options.workloads,
            .pods_need_accounts = options.pods_need_accounts,
            .service_range = options.service_range,
            .volumes = {.root = alone ? std::string() : (home.path() / "volumes").string(),
                        .claims = options.pods.claims},
            .event_ttl = options.event_ttl,
            .answers_after_events = alone ? kHeadStartOfEvents : Duration::zero(),
            .signing_key = identity.account_key,
            .token_rules = identity.token_rules,
            .root_ca_pem = identity.root_ca_pem,
            .side_thread = &beside};
}

}  // namespace

/// In the order of construction.
struct ServedCluster::Parts {
    Parts(asio::any_io_executor executor, Clock& clock, ServedClusterOptions wanted,
          ServingIdentity shown, TlsContexts contexts, std::unique_ptr<net::Listener> listening,
          std::unique_ptr<Beside> computes, std::unique_ptr<OperatorMetrics> counted,
          std::unique_ptr<LocalCluster> local, net::KeyPair shown_to_extensions)
        : options(std::move(wanted)),
          identity(std::move(shown)),
          tls(std::move(contexts)),
          listener(std::move(listening)),
          access(access_of(options.listen, listener->address(), identity)),
          beside(std::move(computes)),
          jobs(std::move(counted)),
          cluster(std::move(local)),
          webhooks(executor, clock,
                   [this](apiserver::PodPort port) { return cluster->connect(std::move(port)); }),
          extensions(executor, clock, std::move(shown_to_extensions),
                     [this](apiserver::PodPort port) { return cluster->connect(std::move(port)); }),
          server(executor, clock, server_limits(),
                 [this](net::HttpExchange& exchange) { return front->serve(exchange); }),
          front_for_pods(cluster->api(), access_of_pods(identity.access), front_options()),
          server_for_pods(executor, clock, server_limits(), [this](net::HttpExchange& exchange) {
              return front_for_pods.serve(exchange);
          }) {
        cluster->api().connect_webhooks(webhooks);
        cluster->api().connect_extensions(extensions);
        apiserver_http::FrontOptions with_metrics = front_options();
        with_metrics.metrics = {metrics_of(server, options.audit, options.loop, beside->watch),
                                metrics_of(*cluster, jobs.get())};
        front.emplace(cluster->api(), identity.access, std::move(with_metrics));
    }

    apiserver_http::FrontOptions front_options() const {
        return {.limits = options.limits,
                .audit = {.sink = options.audit, .level = options.audit_level},
                .yaml = yaml_bodies(),
                .side_thread = &beside->thread};
    }

    /// As many connections as this process may have descriptors, less some for pods and the store.
    net::HttpServerLimits server_limits() const {
        net::HttpServerLimits limits;
        limits.budget = budget;
        limits.body_too_large = apiserver_http::body_too_large(limits.body_bytes);
        limits.connections =
            std::min(limits.connections, most_descriptors() - most_descriptors() / 8);
        limits.strangers = limits.connections / 5 * 4;
        return limits;
    }

    const ServedClusterOptions options;
    const ServingIdentity identity;
    /// Bodies and answers of both servers.
    const std::shared_ptr<net::ByteBudget> budget = std::make_shared<net::ByteBudget>(kInFlight);
    TlsContexts tls;
    std::unique_ptr<net::Listener> listener;
    const KubeAccess access;
    const std::unique_ptr<Beside> beside;
    const std::unique_ptr<OperatorMetrics> jobs;  ///< null without an operator
    std::unique_ptr<LocalCluster> cluster;
    WebhookClient webhooks;
    ExtensionClient extensions;
    std::optional<apiserver_http::HttpFront> front;
    net::HttpServer server;
    /// Only for pods: they neither take connections away from others, nor have certificates.
    apiserver_http::HttpFront front_for_pods;
    net::HttpServer server_for_pods;
};

Result<std::unique_ptr<ServedCluster>> ServedCluster::create(asio::any_io_executor executor,
                                                             Clock& clock, Rng& rng,
                                                             const StateHome& home,
                                                             const Caller& caller,
                                                             ServedClusterOptions options) {
    const bool given = options.identity.has_value();
    ServingIdentity identity = std::move(options.identity).value_or(ServingIdentity{});
    options.identity.reset();
    if (!given) {
        TRY(identity, own_identity(home, options.listen, clock.wall_now()));
    }
    TRY(TlsContexts tls, make_tls(clock, identity));
    TRY(auto listener, listen_at(executor, options.listen, given ? "" : "--listen"));
    TRY(runtime::NodeOptions node, node_options(home, caller, options, listener->address()));
    TRY(auto store, store::open_sqlite_store(
                        (home.path() / "store.db").string(),
                        {.has_room = options.has_room, .durable = options.durable}, executor));
    TRY(FrontProxy proxy, load_front_proxy(home, clock.wall_now()));
    auto beside = std::make_unique<Beside>(clock);
    apiserver::ApiServerOptions api = api_options(home, options, identity, beside->thread);
    api.front_proxy_ca_pem = proxy.ca_pem;
    api.register_versions = true;
    auto jobs =
        options.actors == Actors::kOperatorAndNode ? std::make_unique<OperatorMetrics>() : nullptr;
    TRY(auto cluster, LocalCluster::create(executor, clock, rng, std::move(store), std::move(api),
                                           std::move(node), options.actors, jobs.get()));
    return std::unique_ptr<ServedCluster>(new ServedCluster(
        std::make_unique<Parts>(std::move(executor), clock, std::move(options), std::move(identity),
                                std::move(tls), std::move(listener), std::move(beside),
                                std::move(jobs), std::move(cluster), std::move(proxy.client))));
}

ServedCluster::ServedCluster(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

ServedCluster::~ServedCluster() = default;

const KubeAccess& ServedCluster::access() const { return parts_->access; }

Task<Result<void>> ServedCluster::start() {
    CO_TRY_VOID(co_await parts_->cluster->start());
    auto inside = parts_->cluster->listen_for_pods();
    if (!inside)
        log::warning("pods can't reach this server", {{"error", inside.error().message()}});
    else if (*inside)
        parts_->server_for_pods.serve(*std::move(inside), parts_->tls.pods.get());
    parts_->server.serve(std::move(parts_->listener), parts_->tls.clients.get());
    co_return Result<void>();
}

Task<void> ServedCluster::stop_serving() {
    co_await parts_->server.stop();
    co_await parts_->server_for_pods.stop();
    co_await parts_->webhooks.stop();
    co_await parts_->extensions.stop();
}

Task<void> ServedCluster::stop_cluster() { return parts_->cluster->stop(); }

const std::vector<std::string>& ServedCluster::notices() const {
    return parts_->cluster->notices();
}

}  // namespace muster::control_plane
