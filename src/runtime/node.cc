#include "runtime/node.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/log.h"
#include "kube/client/informer.h"
#include "kube/objects/codec.h"
#include "kube/transport/server_address.h"
#include "kube/values/json_access.h"
#include "net/tcp.h"
#include "runtime/internal/files/data_watch.h"
#include "runtime/internal/network/egress_setup.h"
#include "runtime/internal/pod/node_context.h"
#include "runtime/internal/pod/pod_worker.h"
#include "runtime/internal/pod/recovered_pods.h"
#include "runtime/internal/scheduling/node_lease.h"
#include "runtime/internal/scheduling/node_object.h"
#include "runtime/internal/scheduling/scheduler.h"

namespace muster::runtime {

namespace {

constexpr std::uint32_t kSharedFirst = 0x7F4D0001;  // 127.77.0.1
constexpr std::uint32_t kSharedLast = 0x7F4DFFFE;
constexpr std::uint32_t kFabricFirst = PodFabric::kRange + 2;
constexpr std::uint32_t kFabricLast = PodFabric::kRange + 0xFFFE;
constexpr Duration kPruneInterval = std::chrono::hours(1);
constexpr std::uint32_t kServerAddress = 0x0A600001;  // kube::kServerServiceHost

using PodPtr = std::shared_ptr<const kube::Pod>;

/// A pod of another node is nothing to this one: nobody keeps it.
std::optional<PodPtr> project_pod(const json::value& object, std::string_view node) {
    const json::object* spec = kube::object_at(object.get_object(), "spec");
    const std::string_view bound = spec == nullptr ? "" : kube::string_at(*spec, "nodeName");
    if (!bound.empty() && bound != node) return std::nullopt;
    auto pod = kube::decode<kube::Pod>(object);
    if (!pod) {
        log::error("a pod can't be read and is ignored", {{"error", pod.error().message()}});
        return std::nullopt;
    }
    return std::make_shared<const kube::Pod>(*std::move(pod));
}

std::string controller_uid(const kube::ObjectMeta& meta) {
    const kube::OwnerReference* owner = meta.controller();
    return owner == nullptr ? std::string() : owner->uid;
}

std::optional<NamedService> project_service(const json::value& object) {
    auto service = kube::decode<kube::Service>(object);
    if (!service) {
        log::error("a service can't be read and is ignored",
                   {{"error", service.error().message()}});
        return std::nullopt;
    }
    return NamedService{.namespace_ = service->metadata.namespace_,
                        .name = service->metadata.name,
                        .owner_uid = controller_uid(service->metadata),
                        .selector = service->spec.selector};
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

/// No pods are behind it, and it is found elsewhere (NameTable::put_server()).
bool is_server(const NamedService& service) {
    return service.namespace_ == "default" && service.name == "kubernetes" &&
           service.selector.empty();
}

NamedPod names_of(const kube::Pod& pod) {
    NamedPod named{.namespace_ = pod.metadata.namespace_,
                   .name = pod.metadata.name,
                   .hostname = pod.spec.hostname,
                   .subdomain = pod.spec.subdomain,
                   .owner_uid = controller_uid(pod.metadata),
                   .labels = pod.metadata.labels,
                   .host_aliases = {}};
    const json::value* aliases = pod.spec.rest.if_contains("hostAliases");
    if (aliases == nullptr || !aliases->is_array()) return named;
    for (const json::value& alias : aliases->get_array()) {
        const json::object* fields = alias.if_object();
        const json::value* ip = fields == nullptr ? nullptr : fields->if_contains("ip");
        const json::value* names = fields == nullptr ? nullptr : fields->if_contains("hostnames");
        if (ip == nullptr || !ip->is_string() || names == nullptr || !names->is_array()) continue;
        std::vector<std::string> list;
        for (const json::value& name : names->get_array())
            if (name.is_string()) list.emplace_back(name.get_string());
        named.host_aliases.emplace_back(std::string(ip->get_string()), std::move(list));
    }
    return named;
}

bool ended(const kube::Pod& pod) {
    return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

std::string shared_network(std::string_view why) {
    return fmt::format(
        "pods share this machine's network and have an address 127.77.x.y each, {}; jobs that use "
        "the same port run one after the other",
        why);
}

}  // namespace

struct Node::Impl {
    Impl(asio::any_io_executor executor, kube::Transport& transport, Clock& clock, Rng& rng,
         NodeOptions node_options, SandboxHost host, Cgroups cgroups, RecoveredPods recovered_pods,
         std::unique_ptr<LogWatch> logs, std::vector<std::string> told)
        : options(std::move(node_options)),
          found(std::move(recovered_pods)),
          notices(std::move(told)),
          client(transport, "muster-node"),
          tasks(executor),
          events(client, clock, rng, tasks, "kubelet", options.name),
          scheduler_events(client, clock, rng, tasks, "default-scheduler"),
          pods(client, clock, rng, kube::types::kPods, {},
               [this](const json::value& pod) { return project_pod(pod, options.name); },
               {"spec.nodeName=" + options.name, "spec.nodeName="}),
          services(client, clock, rng, kube::types::kServices, {}, project_service),
          own_node(client, clock, rng, kube::types::kNodes, node_named(options.name),
                   is_unschedulable),
          sandboxes(std::move(host)),
          names(sandboxes.fabric ? kFabricFirst : kSharedFirst,
                sandboxes.fabric ? kFabricLast : kSharedLast, options.cluster_domain),
          hosts(names, clock, tasks, options.state_dir / "hosts"),
          log_watch(std::move(logs)),
          data_watch(client, clock, rng),
          isolation{.cgroups = std::move(cgroups),
                    .devices = DeviceLedger(options.devices),
                    .caller = caller_of_this_process()},
          capacity(node_capacity(options)),
          context{.executor = executor,
                  .clock = clock,
                  .options = options,
                  .client = client,
                  .events = events,
                  .sandboxes = sandboxes,
                  .names = names,
                  .hosts = hosts,
                  .log_watch = *log_watch,
                  .data_watch = data_watch,
                  .isolation = isolation,
                  .surroundings = {.namespaces = sandboxes.fabric.has_value(),
                                   .working_dir = options.working_dir,
                                   .image_mounts = options.mounts,
                                   .kept_below_tmp = find_kept_below_tmp(options.environment,
                                                                         options.working_dir),
                                   .resolv_conf = {}},
                  .cpu = capacity.at("cpu"),
                  .memory = capacity.at("memory"),
                  .host_ip = kHostAddress,
                  .open_socket = [this] { return sandboxes.open_socket(); }},
          scheduler(client, clock, tasks, scheduler_events, options.name,
                    SchedulingNode{.allocatable = capacity, .shared_network = !sandboxes.fabric}) {
        expect_recovered_pods();
        if (sandboxes.fabric) open_egress();
        if (options.server && sandboxes.fabric) names.put_server(kServerAddress);
        if (options.server)
            add_server_variables(options.environment,
                                 sandboxes.fabric
                                     ? ServerAddress{.host = std::string(kube::kServerServiceHost),
                                                     .port = kube::kServerServicePort}
                                     : *options.server);
        pods.on_change([this](const std::string&, const PodPtr* before, const PodPtr* after) {
            pod_changed(before == nullptr ? nullptr : before->get(),
                        after == nullptr ? nullptr : *after);
        });
        services.on_change(
            [this](const std::string&, const NamedService* before, const NamedService* after) {
                if (before != nullptr && after != nullptr && *before == *after) return;
                if (options.server && is_server(before != nullptr ? *before : *after)) return;
                if (after != nullptr)
                    names.put(*after);
                else
                    names.remove_service(before->namespace_, before->name);
                hosts.names_changed();
            });
        own_node.on_change([this](const std::string&, const bool*, const bool* unschedulable) {
            if (unschedulable != nullptr) scheduler.node_changed(*unschedulable);
        });
    }

    /// Before anybody else is given what they have.
    void expect_recovered_pods() {
        std::set<std::string> uids;
        for (const auto& [uid, pod] : found) {
            uids.insert(uid);
            names.reserve(pod.name.namespace_, pod.name.name, pod.pod.address);
            if (Devices devices = devices_in(pod.pod.note); !devices.empty())
                isolation.devices.restore(uid, std::move(devices));
        }
        isolation.cgroups.keep_only(uids);
        if (!found.empty()) hosts.hold();
    }

    /// Those that are left when all pods are known are nobody's.
    Task<void> end_orphaned_pods() {
        co_await pods.wait_synced();
        co_await services.wait_synced();
        hosts.release();
        for (auto& [uid, pod] : std::exchange(found, {})) {
            log::warning(
                "a pod is ended, as its object is gone or says that it has ended",
                {{"namespace", pod.name.namespace_}, {"pod", pod.name.name}, {"uid", uid}});
            if (auto ended = end_pod(std::move(pod.pod)); !ended)
                log::error("a pod can't be ended", {{"error", ended.error().message()}});
            remove_pod_directory(pod.directory);
            isolation.devices.release(uid);
            if (pods.find(pod.name.namespace_ + "/" + pod.name.name) == nullptr)
                names.remove_pod(pod.name.namespace_, pod.name.name);
        }
        std::set<std::string> uids;
        for (const auto& [uid, worker] : workers) uids.insert(uid);
        isolation.cgroups.keep_only(uids);
    }

    void open_egress() {
        egress = set_up_egress(context.executor, *sandboxes.fabric, options.environment,
                               options.state_dir);
        context.surroundings.resolv_conf = egress.resolv_conf;
        if (!egress.notice.empty()) notices.push_back(egress.notice);
    }

    void pod_changed(const kube::Pod* before, PodPtr after) {
        if (before != nullptr && (!after || after->metadata.uid != before->metadata.uid)) {
            end_worker(before->metadata.uid);
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
            if (after->spec.node_name == options.name) update_worker(after);
        }
        scheduler.pod_changed(before, after.get());
    }

    void update_worker(const PodPtr& pod) {
        auto it = workers.find(pod->metadata.uid);
        if (it != workers.end()) return it->second->update(pod);
        // What ended before this process began is not run again; its deletion only wants our word.
        if (ended(*pod) && !pod->metadata.deleting()) return;
        auto worker = std::make_unique<PodWorker>(context, pod);
        PodWorker& made = *worker;
        workers.emplace(pod->metadata.uid, std::move(worker));
        if (auto here = found.extract(pod->metadata.uid))
            made.take_over(std::move(here.mapped().pod));
        else
            made.start();
    }

    void end_worker(const std::string& uid) {
        auto node = workers.extract(uid);
        if (node.empty()) return;
        PodWorker* worker = node.mapped().get();
        ending.emplace(worker, std::move(node.mapped()));
        tasks.spawn("end of a pod", finish_worker(worker));
    }

    /// Cancelled half-way it leaves the worker where Node::stop() finds it.
    Task<void> finish_worker(PodWorker* worker) {
        co_await worker->stop();
        ending.erase(worker);
    }

    PodWorker* find_worker(const std::string& namespace_, const std::string& pod) {
        for (auto& [uid, worker] : workers)
            if (worker->pod().metadata.namespace_ == namespace_ &&
                worker->pod().metadata.name == pod)
                return worker.get();
        return nullptr;
    }

    /// For whoever asks the API about a pod.
    Result<PodWorker*> worker_of(const std::string& namespace_, const std::string& pod) {
        if (PodWorker* worker = find_worker(namespace_, pod)) return worker;
        if (pods.find(namespace_ + "/" + pod) == nullptr)
            return Error(Code::kNotFound, fmt::format("pods \"{}\" not found", pod));
        return Error(Code::kBadRequest, fmt::format("pod {} does not have a host assigned", pod));
    }

    /// Lets go of logs that were kept for long enough, now and every hour.
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
                        "logs that were kept can't be removed",
                        {{"directory", over.directory.string()}, {"error", failed.message()}});
            }
            co_await context.clock.sleep_for(kPruneInterval);
        }
    }

    UsageSample sample_usage() {
        const ProcessTable processes = read_process_table();
        UsageSample sample{.at = context.clock.now(),
                           .wall = context.clock.wall_now(),
                           .busy = busy_time_of_machine(),
                           .memory_in_use = memory_in_use_of_machine(),
                           .containers = {}};
        for (const auto& [uid, worker] : workers)
            for (UsageSample::Container& container : worker->used(processes))
                sample.containers.push_back(std::move(container));
        return sample;
    }

    NodeOptions options;
    RecoveredPods found;  ///< that were not taken over yet
    std::vector<std::string> notices;
    kube::Client client;
    TaskGroup tasks;
    kube::EventRecorder events;
    kube::EventRecorder scheduler_events;
    kube::Informer<PodPtr> pods;
    kube::Informer<NamedService> services;
    kube::Informer<bool> own_node;  ///< whether it takes no new pods
    SandboxHost sandboxes;
    EgressSetup egress;
    NameTable names;
    HostsFiles hosts;
    std::unique_ptr<LogWatch> log_watch;
    DataWatch data_watch;
    NodeIsolation isolation;
    std::map<std::string, kube::Quantity> capacity;
    NodeContext context;
    Scheduler scheduler;
    std::map<std::string, std::unique_ptr<PodWorker>> workers;  ///< by uid
    /// Their objects are gone, their processes not yet.
    std::map<PodWorker*, std::unique_ptr<PodWorker>> ending;
    std::optional<UsageSample> last_usage;
};

Result<std::unique_ptr<Node>> Node::create(asio::any_io_executor executor,
                                           kube::Transport& transport, Clock& clock, Rng& rng,
                                           NodeOptions options) {
    // Before any process of ours is started but the cleanup process: a group that has no other one
    // may be divided.
    Cgroups::Place place = Cgroups::place_of_this_process();
    const std::string group = node_group_name(options.state_dir, options.pods_outlive);
    if (options.cleanup != nullptr) {
        place.companion = options.cleanup->pid();
        for (const std::string& possible : Cgroups::possible_groups(place, group))
            TRY_VOID(options.cleanup->remove_cgroup(possible));
    }
    Cgroups cgroups = Cgroups::create(kernel_cgroup_files(), place, group, options.pids_per_pod);
    const bool try_namespaces = options.sandbox != SandboxMode::kNone;
    RecoveredPods found;
    if (options.pods_outlive) {
        TRY(found, recover_pods(options.state_dir));
    }
    TRY(UniqueFd network, network_of(found));
    auto host = SandboxHost::create(try_namespaces, std::move(network));
    std::string notice = try_namespaces ? std::string() : shared_network("as asked for");
    if (!host && try_namespaces) {
        Error error = std::move(host.error());
        const char* advice = ::geteuid() == 0
                                 ? "Root lacks rights here, as in a container: give it "
                                   "CAP_SYS_ADMIN and CAP_NET_ADMIN "
                                   "(a privileged container), or run muster outside"
                                 : "Run muster as root, or allow user namespaces (sysctl "
                                   "kernel.unprivileged_userns_clone=1, "
                                   "kernel.apparmor_restrict_unprivileged_userns=0)";
        if (options.sandbox == SandboxMode::kNamespaces)
            return Error(
                Code::kUnsupported,
                fmt::format("this kernel does not let muster isolate pods: {}. {}, or pass "
                            "--sandbox none",
                            error.message(), advice));
        notice = fmt::format("{}. {}",
                             shared_network(fmt::format("since the kernel forbids namespaces ({})",
                                                        error.message())),
                             advice);
        host = SandboxHost::create(false);
    }
    if (!host) return host.error();
    if (!host->fabric && !options.mounts.empty())
        return Error(Code::kUnsupported,
                     fmt::format("{} can't be made to appear in pods: they have no mounts of their "
                                 "own ({})",
                                 options.mounts.begin()->first.string(), notice));
    if (!host->fabric && options.files != FileMode::kShared)
        return Error(Code::kUnsupported,
                     fmt::format("pods can't have files of their own: they have no mounts of their "
                                 "own ({})",
                                 notice));
    TRY_VOID(end_unreachable(found, host->fabric ? host->fabric->network().descriptor() : -1));
    host->cleanup = options.cleanup;
    if (options.cleanup != nullptr)
        for (const Cgroups::Claim& claim : cgroups.claims())
            TRY_VOID(options.cleanup->hold(claim.lock.get()));
    TRY(auto log_watch, LogWatch::create(executor));
    std::vector<std::string> notices;
    if (!notice.empty()) notices.push_back(std::move(notice));
    if (!host->fabric && options.server)
        notices.emplace_back(
            "pods have no tokens of their service accounts, as all see the same files: what asks "
            "the API in them uses a kubeconfig");
    return std::unique_ptr<Node>(new Node(std::make_unique<Impl>(
        std::move(executor), transport, clock, rng, std::move(options), *std::move(host),
        std::move(cgroups), std::move(found), std::move(log_watch), std::move(notices))));
}

Node::Node(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Node::~Node() = default;

Task<Result<void>> Node::start() {
    impl_->tasks.spawn("logs", impl_->log_watch->run());
    impl_->pods.start(impl_->tasks);
    impl_->services.start(impl_->tasks);
    impl_->own_node.start(impl_->tasks);
    impl_->data_watch.start(impl_->tasks);
    if (!impl_->options.logs_dir.empty())
        impl_->tasks.spawn("retained logs", impl_->prune_retained_logs());
    if (impl_->options.pods_outlive)
        impl_->tasks.spawn("orphaned pods", impl_->end_orphaned_pods());
    if (impl_->egress.egress) impl_->tasks.spawn("egress", watch_egress(*impl_->egress.egress));
    CO_TRY_VOID(co_await register_node(impl_->client, impl_->options.name, impl_->capacity,
                                       impl_->context.clock.wall_now()));
    // Where the node stays, clients come to ask whether it does.
    if (impl_->options.pods_outlive)
        impl_->tasks.spawn(
            "lease", keep_node_lease(impl_->client, impl_->context.clock, impl_->options.name));
    co_return Result<void>();
}

Task<void> Node::stop() {
    // The informers first, so that nothing new begins.
    co_await impl_->tasks.stop();
    for (auto& [uid, worker] : impl_->workers)
        impl_->ending.emplace(worker.get(), std::move(worker));
    impl_->workers.clear();
    for (auto& [key, worker] : impl_->ending) worker->kill();
    while (!impl_->ending.empty()) {
        PodWorker* worker = impl_->ending.begin()->first;
        co_await worker->stop();
        impl_->ending.erase(worker);
    }
    if (auto removed = impl_->isolation.cgroups.remove(); !removed)
        log::warning("a cgroup stays behind", {{"error", removed.error().message()}});
}

Task<Result<std::unique_ptr<kube::TextStream>>> Node::logs(std::string namespace_, std::string pod,
                                                           kube::LogOptions options) {
    CO_TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    co_return worker->logs(options);
}

Task<Result<std::unique_ptr<kube::CommandSession>>> Node::exec(std::string namespace_,
                                                               std::string pod,
                                                               kube::CommandOptions options) {
    CO_TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    co_return worker->exec(options);
}

Task<Result<std::unique_ptr<net::ByteStream>>> Node::connect(std::string namespace_,
                                                             std::string pod, std::uint16_t port) {
    CO_TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    CO_TRY(PodPort found, worker->port(port));
    co_return co_await connect_port(impl_->context.executor, std::move(found));
}

Result<std::unique_ptr<net::Listener>> Node::listen_for_pods() {
    if (!impl_->sandboxes.fabric) return nullptr;
    TRY(UniqueFd socket,
        impl_->sandboxes.fabric->open_listener(kServerAddress, kube::kServerServicePort));
    return net::listen_tcp_socket(impl_->context.executor, socket.release());
}

Task<Result<kube::NodeUsage>> Node::usage() {
    constexpr Duration kMoment = std::chrono::seconds(1);
    UsageSample now = impl_->sample_usage();
    std::optional<UsageSample> from = impl_->last_usage;
    if (!from || !is_good_start(*from, now.at)) {
        from = std::move(now);
        co_await impl_->context.clock.sleep_for(kMoment);
        now = impl_->sample_usage();
    }
    kube::NodeUsage usage = usage_between(*from, now, impl_->options.name);
    impl_->last_usage = std::move(now);
    co_return usage;
}

Result<pid_t> Node::signal(const std::string& namespace_, const std::string& pod,
                           PodSignal signal) {
    TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    return worker->signal(signal);
}

Result<void> Node::begin_fault(const std::string& namespace_, const std::string& pod,
                               PodFault fault) {
    TRY(PodWorker* const worker, impl_->worker_of(namespace_, pod));
    return worker->begin_fault(fault);
}

Result<void> Node::end_fault(const std::string& namespace_, const std::string& pod,
                             PodFault fault) {
    PodWorker* const worker = impl_->find_worker(namespace_, pod);
    return worker == nullptr ? Result<void>() : worker->end_fault(fault);
}

const std::vector<std::string>& Node::notices() const { return impl_->notices; }

}  // namespace muster::runtime
