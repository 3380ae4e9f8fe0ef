#include "runtime/node.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/time/restarting_task.h"
#include "kube/client/informer.h"
#include "kube/objects/codec.h"
#include "kube/transport/server_address.h"
#include "kube/values/json_access.h"
#include "net/tcp.h"
#include "runtime/internal/files/claims.h"
#include "runtime/internal/files/data_watch.h"
#include "runtime/internal/network/egress_setup.h"
#include "runtime/internal/network/named_objects.h"
#include "runtime/internal/node/ended_pod_log.h"
#include "runtime/internal/node/node_setup.h"
#include "runtime/internal/node/pod_workers.h"
#include "runtime/internal/pod/node_context.h"
#include "runtime/internal/scheduling/node_lease.h"
#include "runtime/internal/scheduling/node_object.h"
#include "runtime/internal/scheduling/scheduler.h"
#include "runtime/kept_below_tmp.h"

namespace muster::runtime {

namespace {

constexpr std::uint32_t kSharedFirst = 0x7F4D0001;  // 127.77.0.1
constexpr std::uint32_t kSharedLast = 0x7F4DFFFE;
constexpr std::uint32_t kFabricFirst = PodFabric::kRange + 2;
constexpr std::uint32_t kFabricLast = PodFabric::kRange + 0xFFFE;
constexpr Duration kPruneInterval = std::chrono::hours(1);

using PodPtr = std::shared_ptr<const kube::Pod>;

/// A pod as it runs here. One of another node is of no interest to this one.
std::optional<PodPtr> project_pod(const json::value& object, std::string_view node,
                                  const PodChanges& changes, const kube::Amounts& capacity) {
    const json::object* spec = kube::object_at(object.get_object(), "spec");
    const std::string_view bound = spec == nullptr ? "" : kube::string_at(*spec, "nodeName");
    if (!bound.empty() && bound != node) return std::nullopt;
    auto pod = kube::decode<kube::Pod>(object);
    if (!pod) {
        log::error("a pod can't be read and is ignored", {{"error", pod.error().message()}});
        return std::nullopt;
    }
    if (!changes.empty()) apply(changes, capacity, *pod);
    return std::make_shared<const kube::Pod>(*std::move(pod));
}

kube::ListOptions node_named(const std::string& name) {
    kube::ListOptions options;
    options.field_selector = "metadata.name=" + name;
    return options;
}

std::optional<bool> is_unschedulable(const json::value& node) {
    const json::object* spec = kube::object_at(node.get_object(), "spec");
    return spec != nullptr && kube::bool_at(*spec, "unschedulable");
}

}  // namespace

struct Node::Impl {
    Impl(asio::any_io_executor executor, kube::Transport& transport, Clock& clock, Rng& rng,
         NodeParts parts)
        : options(std::move(parts.options)),
          notices(std::move(parts.notices)),
          client(transport, "muster-node"),
          tasks(executor),
          events(client, clock, rng, tasks, "kubelet", options.name),
          scheduler_events(client, clock, rng, tasks, "default-scheduler"),
          pods(client, clock, rng, kube::types::kPods, {},
               [this](const json::value& pod) { return project(pod); },
               {"spec.nodeName=" + options.name, "spec.nodeName="}),
          services(client, clock, rng, kube::types::kServices, {}, service_in),
          own_node(client, clock, rng, kube::types::kNodes, node_named(options.name),
                   is_unschedulable),
          sandboxes(std::move(parts.sandboxes)),
          names(sandboxes.fabric ? kFabricFirst : kSharedFirst,
                sandboxes.fabric ? kFabricLast : kSharedLast, options.cluster_domain),
          hosts(names, clock, tasks, options.state_dir / "hosts"),
          log_watch(std::move(parts.log_watch)),
          data_watch(client, clock, rng),
          isolation{.cgroups = std::move(parts.cgroups),
                    .devices = DeviceLedger(options.devices),
                    .caller = caller_of_this_process()},
          capacity(node_capacity(options)),
          context(make_context(executor, clock)),
          workers(context, tasks, std::move(parts.recovered)),
          scheduler(client, clock, tasks, scheduler_events, options.name,
                    SchedulingNode{.allocatable = capacity, .shared_network = !sandboxes.fabric}) {
        workers.reserve_for_recovered_pods();
        if (sandboxes.fabric) open_egress();
        if (options.server) announce_server();
        follow_objects();
    }

    std::optional<PodPtr> project(const json::value& pod) const {
        return project_pod(pod, options.name, options.changes, capacity);
    }

    /// Made from the members above it.
    NodeContext make_context(const asio::any_io_executor& executor, Clock& clock) {
        return {.executor = executor,
                .clock = clock,
                .options = options,
                .client = client,
                .events = events,
                .sandboxes = sandboxes,
                .names = names,
                .hosts = hosts,
                .log_watch = *log_watch,
                .data_watch = data_watch,
                .claims = claims,
                .isolation = isolation,
                .surroundings = {.namespaces = sandboxes.fabric.has_value(),
                                 .working_dir = options.working_dir,
                                 .image_mounts = options.mounts,
                                 .kept_below_tmp =
                                     find_kept_below_tmp(options.environment, options.working_dir),
                                 .resolv_conf = {}},
                .cpu = capacity.at("cpu"),
                .memory = capacity.at("memory"),
                .host_ip = kHostAddress,
                .open_socket = [this] { return sandboxes.open_socket(); }};
    }

    void open_egress() {
        egress = set_up_egress(context.executor, *sandboxes.fabric, options.environment,
                               options.state_dir);
        context.surroundings.resolv_conf = egress.resolv_conf;
        if (!egress.notice.empty()) notices.push_back(egress.notice);
    }

    /// Tells pods where the API is.
    void announce_server() {
        ServerAddress address = *options.server;
        if (sandboxes.fabric) {
            names.put_server(parse_address(kube::kServerServiceHost));
            address = {.host = std::string(kube::kServerServiceHost),
                       .port = kube::kServerServicePort};
        }
        add_server_variables(options.environment, address);
    }

    Task<std::optional<PodPtr>> read_large_pod(kube::ObjectPtr pod) {
        co_return co_await options.side_thread->run("read a pod",
                                                    [this, pod] { return project(*pod); });
    }

    void follow_objects() {
        if (options.side_thread != nullptr)
            pods.read_large_with(
                [this](kube::ObjectPtr pod) { return read_large_pod(std::move(pod)); });
        pods.on_change([this](const std::string&, const PodPtr* before, const PodPtr* after) {
            pod_changed(before == nullptr ? nullptr : before->get(),
                        after == nullptr ? nullptr : *after);
        });
        services.on_change([this](const std::string&, const NamedService* before,
                                  const NamedService* after) { service_changed(before, after); });
        own_node.on_change([this](const std::string&, const bool*, const bool* unschedulable) {
            if (unschedulable != nullptr) scheduler.node_changed(*unschedulable);
        });
    }

    void pod_changed(const kube::Pod* before, PodPtr after) {
        if (before != nullptr && (!after || after->metadata.uid != before->metadata.uid)) {
            workers.end(before->metadata.uid);
            if (!after) {
                names.remove_pod(before->metadata.namespace_, before->metadata.name);
                hosts.names_changed();
            }
        }
        if (after) {
            NamedPod named = names_of(*after);
            if (before == nullptr || names_of(*before) != named) {
                names.put(std::move(named));
                hosts.names_changed();
            }
            if (after->spec.node_name == options.name) workers.update(after);
        }
        scheduler.pod_changed(before, after.get());
    }

    void service_changed(const NamedService* before, const NamedService* after) {
        if (before != nullptr && after != nullptr && *before == *after) return;
        if (options.server && is_server(before != nullptr ? *before : *after)) return;
        if (after != nullptr)
            names.put(*after);
        else
            names.remove_service(before->namespace_, before->name);
        hosts.names_changed();
    }

    const PodPtr* find_pod(const std::string& namespace_, const std::string& name) const {
        return pods.find(kube::NamespacedName{namespace_, name});
    }

    /// For clients of the API that ask about a pod.
    Result<PodWorker*> worker_of(const std::string& namespace_, const std::string& pod) const {
        if (PodWorker* worker = workers.find(namespace_, pod)) return worker;
        if (find_pod(namespace_, pod) == nullptr)
            return Error(Code::kNotFound, fmt::format("pods \"{}\" not found", pod));
        return Error(Code::kBadRequest, fmt::format("pod {} does not have a host assigned", pod));
    }

    /// What serves all pods begins again after a fault.
    void keep(std::string name, std::function<Task<void>()> work) {
        spawn_restarting(tasks, context.clock, std::move(name), std::move(work));
    }

    Task<void> end_orphaned_pods() {
        co_await pods.wait_synced();
        co_await services.wait_synced();
        workers.end_orphans(
            [this](const PodName& pod) { return find_pod(pod.namespace_, pod.name) != nullptr; });
    }

    /// Removes logs that were retained long enough, now and every hour.
    Task<void> prune_retained_logs() {
        co_await pods.wait_synced();
        for (;;) {
            std::set<std::string> alive;
            for (const auto& [key, pod] : pods.items()) alive.insert(pod->metadata.uid);
            for (const RetainedPod& over :
                 logs_over_limits(list_retained_logs(options.logs_dir), alive,
                                  options.retention_limits, context.clock.wall_now())) {
                std::error_code failed;
                std::filesystem::remove_all(over.directory, failed);
                if (failed)
                    log::warning(
                        "retained logs can't be removed",
                        {{"directory", over.directory.string()}, {"error", failed.message()}});
            }
            co_await context.clock.sleep_for(kPruneInterval);
        }
    }

    NodeOptions options;
    std::vector<std::string> notices;
    kube::Client client;
    TaskGroup tasks;
    kube::EventRecorder events;
    kube::EventRecorder scheduler_events;
    kube::Informer<PodPtr> pods;
    kube::Informer<NamedService> services;
    kube::Informer<bool> own_node;  ///< whether it accepts no new pods
    SandboxHost sandboxes;
    EgressSetup egress;
    NameTable names;
    HostsFiles hosts;
    std::unique_ptr<LogWatch> log_watch;
    DataWatch data_watch;
    ClaimsInUse claims;
    NodeIsolation isolation;
    std::map<std::string, kube::Quantity> capacity;
    NodeContext context;
    PodWorkers workers;
    Scheduler scheduler;
    std::optional<UsageSample> last_usage;
};

Result<std::unique_ptr<Node>> Node::create(asio::any_io_executor executor,
                                           kube::Transport& transport, Clock& clock, Rng& rng,
                                           NodeOptions options) {
    TRY(NodeParts parts, set_up_node(executor, std::move(options)));
    return std::unique_ptr<Node>(new Node(
        std::make_unique<Impl>(std::move(executor), transport, clock, rng, std::move(parts))));
}

Node::Node(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Node::~Node() = default;

Task<Result<void>> Node::start() {
    impl_->keep("logs", [impl = impl_.get()] { return impl->log_watch->run(); });
    impl_->pods.start(impl_->tasks);
    impl_->services.start(impl_->tasks);
    impl_->own_node.start(impl_->tasks);
    impl_->data_watch.start(impl_->tasks);
    if (!impl_->options.logs_dir.empty())
        impl_->keep("retained logs", [impl = impl_.get()] { return impl->prune_retained_logs(); });
    if (impl_->options.pods_outlive)
        impl_->keep("orphaned pods", [impl = impl_.get()] { return impl->end_orphaned_pods(); });
    if (impl_->egress.egress)
        impl_->keep("egress", [impl = impl_.get()] { return watch_egress(*impl->egress.egress); });
    CO_TRY_VOID(co_await register_node(impl_->client, impl_->options.name, impl_->capacity,
                                       impl_->context.clock.wall_now()));
    // If the node's pods outlive it, clients use the lease to see whether it is alive.
    if (impl_->options.pods_outlive)
        impl_->keep("lease", [impl = impl_.get()] {
            return keep_node_lease(impl->client, impl->context.clock, impl->options.name);
        });
    co_return Result<void>();
}

Task<void> Node::stop() {
    // The informers first, so that nothing new begins.
    co_await impl_->tasks.stop();
    co_await impl_->workers.stop();
    if (auto removed = impl_->isolation.cgroups.remove(); !removed)
        log::warning("a cgroup stays behind", {{"error", removed.error().message()}});
}

Task<Result<std::unique_ptr<kube::TextStream>>> Node::logs(std::string namespace_, std::string pod,
                                                           kube::LogOptions options) {
    const PodPtr* const known = impl_->find_pod(namespace_, pod);
    if (known != nullptr && has_ended(**known) && impl_->workers.find(namespace_, pod) == nullptr)
        co_return open_ended_pod_log(impl_->context.executor, impl_->options.logs_dir, **known,
                                     options, impl_->context.clock.wall_now());
    CO_TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    co_return worker->access().logs(options);
}

Task<Result<std::unique_ptr<kube::CommandSession>>> Node::exec(std::string namespace_,
                                                               std::string pod,
                                                               kube::CommandOptions options) {
    CO_TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    co_return worker->access().exec(options);
}

Task<Result<std::unique_ptr<net::ByteStream>>> Node::connect(std::string namespace_,
                                                             std::string pod, std::uint16_t port) {
    CO_TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    CO_TRY(PodPort found, worker->access().port(port));
    co_return co_await connect_port(impl_->context.executor, std::move(found));
}

Result<std::unique_ptr<net::Listener>> Node::listen_for_pods() {
    if (!impl_->sandboxes.fabric) return nullptr;
    TRY(UniqueFd socket, impl_->sandboxes.fabric->open_listener(
                             parse_address(kube::kServerServiceHost), kube::kServerServicePort));
    return net::listen_tcp_socket(impl_->context.executor, socket.release());
}

Task<Result<kube::NodeUsage>> Node::usage() {
    constexpr Duration kMoment = std::chrono::seconds(1);
    UsageSample now = impl_->workers.sample_usage();
    std::optional<UsageSample> from = impl_->last_usage;
    if (!from || !is_good_start(*from, now.at)) {
        from = std::move(now);
        co_await impl_->context.clock.sleep_for(kMoment);
        now = impl_->workers.sample_usage();
    }
    kube::NodeUsage usage = usage_between(*from, now, impl_->options.name);
    impl_->last_usage = std::move(now);
    co_return usage;
}

Result<pid_t> Node::signal(const std::string& namespace_, const std::string& pod,
                           PodSignal signal) {
    TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    return worker->faults().signal(signal);
}

Result<void> Node::begin_fault(const std::string& namespace_, const std::string& pod,
                               PodFault fault) {
    TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    return worker->faults().begin_fault(fault);
}

Result<void> Node::end_fault(const std::string& namespace_, const std::string& pod,
                             PodFault fault) {
    PodWorker* const worker = impl_->workers.find(namespace_, pod);
    return worker == nullptr ? Result<void>() : worker->faults().end_fault(fault);
}

const std::vector<std::string>& Node::notices() const { return impl_->notices; }

bool Node::isolates_pods() const { return impl_->sandboxes.fabric.has_value(); }

}  // namespace muster::runtime
