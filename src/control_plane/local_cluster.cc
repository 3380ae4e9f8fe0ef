#include "control_plane/local_cluster.h"

#include "base/log.h"
#include "base/time/loop_watch.h"
#include "control_plane/internal/discarded_files.h"
#include "control_plane/internal/job_roles.h"
#include "control_plane/machine.h"
#include "jobs/kind.h"
#include "jobs/scale_plan.h"

namespace muster::control_plane {

namespace {

bool is_left_to_others(const json::value& definition) {
    boost::system::error_code absent;
    const json::value* says =
        definition.find_pointer("/metadata/annotations/muster.dev~1operator", absent);
    return says != nullptr && *says == json::value("off");
}

}  // namespace

/// Connects the API's seam to the node, so that neither folder knows the other.
class LocalCluster::NodeSeam final : public apiserver::NodeApi {
  public:
    explicit NodeSeam(runtime::Node& node) : node_(node) {}

    Task<Result<std::unique_ptr<kube::TextStream>>> logs(std::string namespace_, std::string pod,
                                                         kube::LogOptions options) override {
        return node_.logs(std::move(namespace_), std::move(pod), std::move(options));
    }
    Task<Result<std::unique_ptr<kube::CommandSession>>> exec(
        std::string namespace_, std::string pod, kube::CommandOptions options) override {
        return node_.exec(std::move(namespace_), std::move(pod), std::move(options));
    }
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(std::string namespace_, std::string pod,
                                                           std::uint16_t port) override {
        return node_.connect(std::move(namespace_), std::move(pod), port);
    }
    Task<Result<kube::NodeUsage>> usage() override { return node_.usage(); }

  private:
    runtime::Node& node_;
};

LocalCluster::LocalCluster(asio::any_io_executor executor, Clock& clock, Rng& rng,
                           std::unique_ptr<store::Store> store,
                           apiserver::ApiServerOptions api_options,
                           operators::OperatorOptions operator_options, Actors actors,
                           OperatorMetrics* metrics)
    : executor_(executor),
      clock_(clock),
      rng_(rng),
      actors_(actors),
      has_roles_(api_options.default_roles),
      has_workloads_(api_options.workload_controllers),
      side_thread_(api_options.side_thread),
      operator_options_(std::move(operator_options)),
      api_(std::move(executor), clock, rng, std::move(store), std::move(api_options)),
      client_(api_, "muster-run"),
      metrics_(metrics) {}

LocalCluster::~LocalCluster() = default;

Result<std::unique_ptr<LocalCluster>> LocalCluster::create(
    asio::any_io_executor executor, Clock& clock, Rng& rng, std::unique_ptr<store::Store> store,
    apiserver::ApiServerOptions api_options, runtime::NodeOptions node_options, Actors actors,
    OperatorMetrics* metrics) {
    SideThread* const side_thread = api_options.side_thread;
    std::unique_ptr<DiscardedFiles> discarded;
    if (const std::string& root = api_options.volumes.root; !root.empty()) {
        discarded = std::make_unique<DiscardedFiles>(executor, root);
        api_options.volumes.discard = [files = discarded.get()](const std::string& directory) {
            if (Result<void> done = files->discard(directory); !done)
                log::warning("the files of a volume that is gone stay",
                             {{"error", done.error().message()}});
        };
    }
    node_options.side_thread = side_thread;
    const bool served = node_options.server.has_value();
    operators::OperatorOptions jobs{.namespace_ = {},
                                    .announce_gangs = true,
                                    .platform = {.node_program = own_program(),
                                                 .cluster_domain = node_options.cluster_domain,
                                                 .agent_tokens = true},
                                    .side_thread = side_thread};
    std::unique_ptr<LocalCluster> cluster(new LocalCluster(executor, clock, rng, std::move(store),
                                                           std::move(api_options), std::move(jobs),
                                                           actors, metrics));
    cluster->discarded_ = std::move(discarded);
    if (actors == Actors::kNone) return cluster;
    TRY(cluster->node_,
        runtime::Node::create(executor, cluster->api_, clock, rng, std::move(node_options)));
    // Pods that share the machine's network have no tokens (Node::listen_for_pods()).
    cluster->operator_options_.platform.pods_reach_api = served && cluster->node_->isolates_pods();
    cluster->node_seam_ = std::make_unique<NodeSeam>(*cluster->node_);
    cluster->api_.connect_node(*cluster->node_seam_);
    return cluster;
}

Task<Result<std::unique_ptr<net::ByteStream>>> LocalCluster::connect(apiserver::PodPort port) {
    if (node_ == nullptr)
        co_return Error(Code::kUnavailable,
                        fmt::format("pod {} does not run: this server has no node", port.pod));
    co_return co_await node_->connect(std::move(port.namespace_), std::move(port.pod), port.number);
}

Result<std::unique_ptr<net::Listener>> LocalCluster::listen_for_pods() {
    if (node_ == nullptr) return std::unique_ptr<net::Listener>();
    return node_->listen_for_pods();
}

const std::vector<std::string>& LocalCluster::notices() const {
    static const std::vector<std::string> kNone;
    return node_ == nullptr ? kNone : node_->notices();
}

void LocalCluster::sample_metrics() {
    if (metrics_ != nullptr)
        metrics_->look_at(operator_.has_value(), operator_ ? operator_->queue_depth() : 0);
}

/// A store that was written by another version of this program has that version's definitions.
Task<Result<bool>> LocalCluster::define(json::value definition) {
    const std::string name(definition.at("metadata").at("name").get_string());
    works_for("definition of", name);
    auto posted = co_await client_.create(kube::types::kCustomResourceDefinitions, {}, definition);
    if (posted) co_return true;
    if (posted.error().code() != Code::kAlreadyExists) co_return std::move(posted.error());
    CO_TRY(const kube::ObjectPtr existing,
           co_await client_.get(kube::types::kCustomResourceDefinitions, {}, name));
    if (is_left_to_others(*existing)) co_return false;
    const json::value spec{{"spec", definition.at("spec")}};
    auto patched = co_await client_.patch(kube::types::kCustomResourceDefinitions, {}, name,
                                          kube::ContentType::kMergePatch, spec);
    if (!patched) co_return std::move(patched.error());
    co_return true;
}

/// A role of an earlier version gets the kinds of this one, unless it opts out.
Task<Result<void>> LocalCluster::allow(json::value role) {
    const std::string name(role.at("metadata").at("name").get_string());
    auto posted = co_await client_.create(kClusterRoles, {}, role);
    if (posted) co_return Result<void>();
    if (posted.error().code() != Code::kAlreadyExists) co_return std::move(posted.error());
    CO_TRY(const kube::ObjectPtr existing, co_await client_.get(kClusterRoles, {}, name));
    if (!is_kept_up_to_date(*existing)) co_return Result<void>();
    const json::value change{{"rules", role.at("rules")}};
    auto patched =
        co_await client_.patch(kClusterRoles, {}, name, kube::ContentType::kMergePatch, change);
    if (!patched) co_return std::move(patched.error());
    co_return Result<void>();
}

Task<Result<void>> LocalCluster::start() {
    works_for("start of the cluster");
    CO_TRY_VOID(co_await api_.start());
    if (actors_ == Actors::kOperatorAndNode) CO_TRY_VOID(co_await start_operator());
    if (has_workloads_) CO_TRY_VOID(co_await start_workloads());
    if (node_ != nullptr) CO_TRY_VOID(co_await node_->start());
    if (discarded_ != nullptr) discarded_->start();
    co_return Result<void>();
}

Task<Result<void>> LocalCluster::start_operator() {
    // Made one by one: to make them all at once would hold the loop for several milliseconds.
    for (const auto& versions : jobs::kinds_by_resource(jobs::all_kinds())) {
        CO_TRY(const bool ours, co_await define(jobs::custom_resource_definition(versions)));
        if (ours) operator_options_.kinds.push_back(versions.front()->resource.kind);
    }
    CO_TRY_VOID(co_await define(jobs::scale_plan_definition()));
    if (has_roles_)
        for (json::value& role : job_roles(jobs::all_kinds()))
            CO_TRY_VOID(co_await allow(std::move(role)));
    // An operator without a list would take all kinds.
    if (operator_options_.kinds.empty()) co_return Result<void>();
    kube::Transport* transport = &api_;
    if (metrics_ != nullptr) {
        operator_options_.observer = metrics_;
        transport = &metered_.emplace(
            api_, clock_,
            [metrics = metrics_](const kube::RequestSeen& seen) { metrics->on_request(seen); });
    }
    operator_.emplace(executor_, *transport, clock_, rng_, std::move(operator_options_));
    co_return co_await operator_->start();
}

Task<Result<void>> LocalCluster::start_workloads() {
    workloads_.emplace(executor_, api_, clock_, rng_, side_thread_);
    co_return co_await workloads_->start();
}

Task<void> LocalCluster::stop() {
    if (node_ != nullptr) co_await node_->stop();
    if (workloads_) co_await workloads_->stop();
    if (operator_) co_await operator_->stop();
    co_await api_.stop();
    if (discarded_ != nullptr) co_await discarded_->stop();
}

}  // namespace muster::control_plane
