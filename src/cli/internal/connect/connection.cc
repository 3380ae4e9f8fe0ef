#include "cli/internal/connect/connection.h"

#include "cli/internal/connect/kubeconfig_places.h"
#include "kube/client_config/in_cluster_config.h"

namespace muster::cli {

namespace {

/// The name of the client in requests, and the owner of fields that it applies.
constexpr const char* kUserAgent = "muster";
constexpr const char* kTableType = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";
constexpr const char* kDiscoveryType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

}  // namespace

Result<kube::ClientConfig> find_access(const ServerOptions& options,
                                       const control_plane::Caller& caller) {
    const KubeconfigPlaces places = kubeconfig_places(options.kubeconfig, caller);
    const auto texts = read_kubeconfigs(places);
    if (!texts && texts.error().code() == Code::kNotFound && !places.all &&
        options.context.empty()) {
        TRY(std::optional<kube::ClientConfig> own, kube::in_cluster_config(caller.environment));
        if (own) return *std::move(own);
    }
    if (!texts) return texts.error();
    TRY(const kube::MergedKubeconfig config, merge_kubeconfigs(*texts));
    return kube::select_access(config, options.context);
}

Connection::Connection(std::unique_ptr<kube::ServerConnection> server, std::string ns,
                       asio::any_io_executor executor, Clock& clock)
    : clock_(clock),
      server_(std::move(server)),
      default_namespace_(std::move(ns)),
      tables_(server_->transport(kTableType)),
      discovery_(server_->transport(kDiscoveryType)),
      client_(server_->objects(), kUserAgent),
      tasks_(std::move(executor)) {}

Task<void> Connection::stop() {
    co_await tasks_.stop();
    kept_.clear();
    co_await server_->stop();
}

Result<std::unique_ptr<Connection>> Connection::open(const ServerOptions& options,
                                                     const control_plane::Caller& caller,
                                                     asio::any_io_executor executor, Clock& clock) {
    TRY(kube::ClientConfig access, find_access(options, caller));
    std::string ns = options.namespace_.empty() ? access.namespace_ : options.namespace_;
    TRY(auto server,
        kube::ServerConnection::open(std::move(access), caller.environment, executor, clock));
    return std::unique_ptr<Connection>(
        new Connection(std::move(server), std::move(ns), std::move(executor), clock));
}

}  // namespace muster::cli
