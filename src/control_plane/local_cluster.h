#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/api_server.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "operator/operator.h"
#include "runtime/node.h"

namespace muster::control_plane {

/// The whole control plane in this process: the embedded API, the operator and the node of this
/// machine, wired together. Call start() and stop() once each. Thread: one loop.
class LocalCluster {
  public:
    /// Fails, with what to do, if this machine can't isolate pods as requested.
    static Result<std::unique_ptr<LocalCluster>> create(asio::any_io_executor executor,
                                                        Clock& clock, Rng& rng,
                                                        std::unique_ptr<store::Store> store,
                                                        apiserver::ApiServerOptions api_options,
                                                        runtime::NodeOptions node_options);
    ~LocalCluster();

    /// Returns once jobs can be posted: the API serves every job kind, and operator and node watch
    /// it.
    Task<Result<void>> start();
    /// Kills everything that still runs and waits for it.
    Task<void> stop();

    apiserver::ApiServer& api() { return api_; }
    kube::Client& client() { return client_; }
    runtime::Node& node() { return *node_; }
    /// See Node::connect().
    Task<Result<std::unique_ptr<net::ByteStream>>> connect(apiserver::PodPort port) {
        return node_->connect(std::move(port.namespace_), std::move(port.pod), port.number);
    }
    /// See Node::listen_for_pods().
    Result<std::unique_ptr<net::Listener>> listen_for_pods() { return node_->listen_for_pods(); }
    const std::vector<std::string>& notices() const { return node_->notices(); }

  private:
    class NodeSeam;

    LocalCluster(asio::any_io_executor executor, Clock& clock, Rng& rng,
                 std::unique_ptr<store::Store> store, apiserver::ApiServerOptions api_options,
                 std::string cluster_domain, SideThread* side_thread);
    Task<Result<void>> define(json::value definition);
    Task<Result<void>> allow(json::value role);

    const bool has_roles_;
    apiserver::ApiServer api_;
    kube::Client client_;
    operators::Operator operator_;
    std::unique_ptr<runtime::Node> node_;
    std::unique_ptr<NodeSeam> node_seam_;
};

}  // namespace muster::control_plane
