#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/api_server.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "control_plane/operator_metrics.h"
#include "kube/client/client.h"
#include "kube/transport/metered_transport.h"
#include "operator/operator.h"
#include "runtime/node.h"
#include "workloads/workloads.h"

namespace muster::control_plane {

class DiscardedFiles;

/// What acts on the objects of the API.
enum class Actors {
    kOperatorAndNode,
    kNodeAlone,  ///< jobs are left to another operator
    kNone,       ///< pods stay Pending, nothing is collected
};

/// The whole control plane in this process: the embedded API, the operator and the node of this
/// machine, wired together. Call start() and stop() once each. Thread: one loop.
///
/// A job kind whose CustomResourceDefinition has the annotation muster.dev/operator: "off" when the
/// cluster starts is left to another operator, and so is the definition.
class LocalCluster {
  public:
    /// With ApiServerOptions::workload_controllers it has these controllers.
    /// Fails, with what to do, if this machine can't isolate pods as requested. `metrics`: of the
    /// operator, if anyone wants them; outlives the cluster.
    static Result<std::unique_ptr<LocalCluster>> create(
        asio::any_io_executor executor, Clock& clock, Rng& rng, std::unique_ptr<store::Store> store,
        apiserver::ApiServerOptions api_options, runtime::NodeOptions node_options,
        Actors actors = Actors::kOperatorAndNode, OperatorMetrics* metrics = nullptr);
    ~LocalCluster();

    /// Returns once objects can be posted: with an operator the API serves every job kind, and
    /// operator and node watch it.
    Task<Result<void>> start();
    /// Kills everything that still runs and waits for it.
    Task<void> stop();

    apiserver::ApiServer& api() { return api_; }
    kube::Client& client() { return client_; }
    /// Of a cluster that has one.
    runtime::Node& node() { return *node_; }
    /// See Node::connect().
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(apiserver::PodPort port);
    /// See Node::listen_for_pods(); null without a node.
    Result<std::unique_ptr<net::Listener>> listen_for_pods();
    const std::vector<std::string>& notices() const;
    /// Brings the metrics that were given up to date.
    void sample_metrics();

  private:
    class NodeSeam;

    LocalCluster(asio::any_io_executor executor, Clock& clock, Rng& rng,
                 std::unique_ptr<store::Store> store, apiserver::ApiServerOptions api_options,
                 operators::OperatorOptions operator_options, Actors actors,
                 OperatorMetrics* metrics);
    /// Makes a definition, or brings it up to date; false: it is left to another operator.
    Task<Result<bool>> define(json::value definition);
    Task<Result<void>> allow(json::value role);
    /// The job kinds with their roles, and what works on them.
    Task<Result<void>> start_operator();
    Task<Result<void>> start_workloads();

    asio::any_io_executor executor_;
    Clock& clock_;
    Rng& rng_;
    const Actors actors_;
    const bool has_roles_;
    const bool has_workloads_;
    std::unique_ptr<DiscardedFiles> discarded_;  ///< null without volumes
    SideThread* const side_thread_;              ///< may be null
    operators::OperatorOptions operator_options_;
    apiserver::ApiServer api_;
    kube::Client client_;
    OperatorMetrics* const metrics_;  ///< may be null
    std::optional<kube::MeteredTransport> metered_;
    std::optional<operators::Operator> operator_;    ///< from the start on, if there is one
    std::optional<workloads::Workloads> workloads_;  ///< the same
    std::unique_ptr<runtime::Node> node_;
    std::unique_ptr<NodeSeam> node_seam_;
};

}  // namespace muster::control_plane
