#include "control_plane/local_cluster.h"

#include "base/time/loop_watch.h"
#include "control_plane/internal/job_roles.h"
#include "control_plane/machine.h"
#include "jobs/kind.h"

namespace muster::control_plane {

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
                           apiserver::ApiServerOptions api_options, std::string cluster_domain,
                           SideThread* side_thread)
    : has_roles_(api_options.default_roles),
      api_(executor, clock, rng, std::move(store), std::move(api_options)),
      client_(api_, "muster-run"),
      operator_(executor, api_, clock, rng,
                {.namespace_ = {},
                 .announce_gangs = true,
                 .platform = {.node_program = own_program(),
                              .cluster_domain = std::move(cluster_domain),
                              .agent_tokens = true},
                 .side_thread = side_thread}) {}

LocalCluster::~LocalCluster() = default;

Result<std::unique_ptr<LocalCluster>> LocalCluster::create(asio::any_io_executor executor,
                                                           Clock& clock, Rng& rng,
                                                           std::unique_ptr<store::Store> store,
                                                           apiserver::ApiServerOptions api_options,
                                                           runtime::NodeOptions node_options) {
    SideThread* const side_thread = api_options.side_thread;
    node_options.side_thread = side_thread;
    std::unique_ptr<LocalCluster> cluster(
        new LocalCluster(executor, clock, rng, std::move(store), std::move(api_options),
                         node_options.cluster_domain, side_thread));
    TRY(cluster->node_,
        runtime::Node::create(executor, cluster->api_, clock, rng, std::move(node_options)));
    cluster->node_seam_ = std::make_unique<NodeSeam>(*cluster->node_);
    cluster->api_.connect_node(*cluster->node_seam_);
    return cluster;
}

/// A store that was written by another version of this program has that version's definitions.
Task<Result<void>> LocalCluster::define(json::value definition) {
    const std::string name(definition.at("metadata").at("name").get_string());
    works_for("definition of", name);
    auto posted = co_await client_.create(kube::types::kCustomResourceDefinitions, {}, definition);
    if (posted) co_return Result<void>();
    if (posted.error().code() != Code::kAlreadyExists) co_return std::move(posted.error());
    const json::value spec{{"spec", definition.at("spec")}};
    auto patched = co_await client_.patch(kube::types::kCustomResourceDefinitions, {}, name,
                                          kube::ContentType::kMergePatch, spec);
    if (!patched) co_return std::move(patched.error());
    co_return Result<void>();
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
    // Made one by one: to make them all at once would hold the loop for several milliseconds.
    for (const auto& versions : jobs::kinds_by_resource(jobs::all_kinds()))
        CO_TRY_VOID(co_await define(jobs::custom_resource_definition(versions)));
    if (has_roles_)
        for (json::value& role : job_roles(jobs::all_kinds()))
            CO_TRY_VOID(co_await allow(std::move(role)));
    CO_TRY_VOID(co_await operator_.start());
    CO_TRY_VOID(co_await node_->start());
    co_return Result<void>();
}

Task<void> LocalCluster::stop() {
    co_await node_->stop();
    co_await operator_.stop();
    co_await api_.stop();
}

}  // namespace muster::control_plane
