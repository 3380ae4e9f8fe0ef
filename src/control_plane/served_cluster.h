#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver_http/audit.h"
#include "apiserver_http/request_limits.h"
#include "base/async/async.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "base/time/loop_watch.h"
#include "control_plane/audit_log.h"
#include "control_plane/daemon/caller.h"
#include "control_plane/daemon/state_home.h"
#include "control_plane/kubeconfig.h"
#include "control_plane/listen_address.h"
#include "control_plane/local_cluster.h"
#include "control_plane/serving_identity.h"
#include "runtime/node.h"

namespace muster::control_plane {

/// What its pods see in other places than on this machine. Paths are absolute.
struct PodMappings {
    std::filesystem::path working_dir = {};  ///< where containers start; empty: the caller's
    std::map<std::filesystem::path, std::filesystem::path> mounts = {};
    std::map<std::string, std::string> claims = {};  ///< the directories of claims
    runtime::StandIns stand_ins = {};
    runtime::PodChanges changes = {};
    runtime::FileMode files = runtime::FileMode::kShared;
    std::uint64_t files_bytes = std::uint64_t{1} << 30;
};

struct ServedClusterOptions {
    ListenAddress listen;
    Actors actors = Actors::kOperatorAndNode;
    bool workloads = false;  ///< Deployments, ReplicaSets, Jobs and CronJobs are acted on
    runtime::SandboxMode sandbox = runtime::SandboxMode::kAuto;
    apiserver_http::RequestLimits limits;
    AuditLog* audit = nullptr;  ///< may be null; outlives the cluster
    apiserver_http::AuditLevel audit_level = apiserver_http::AuditLevel::kMetadata;
    PodMappings pods = {};
    std::string cluster_domain;           ///< empty if none is set
    std::function<bool()> has_room = {};  ///< whether the disk has room for something new
    /// The soft limit of the core dumps of pods; unset: that of this process.
    std::optional<std::uint64_t> core_bytes = {};
    /// Unset: its own, which is made and kept in the state directory.
    std::optional<ServingIdentity> identity = {};
    apiserver::ServiceRange service_range = {};
    Duration event_ttl{};             ///< how long events are kept; zero: all the time
    bool pods_need_accounts = false;  ///< also with Actors::kNone, which make none
    bool durable = true;              ///< whether what is answered is on disk
    const LoopWatch* loop = nullptr;  ///< of the loop that it runs on, for its metrics; null: none
};

/// A LocalCluster that clients reach over HTTPS, with its state in a directory. Its pods outlive it
/// unless stop_cluster() ends them. Everything that it refers to outlives it. Thread: one loop.
class ServedCluster {
  public:
    /// Takes the address, opens the store and makes what is missing in `home`; serves nothing yet.
    static Result<std::unique_ptr<ServedCluster>> create(asio::any_io_executor executor,
                                                         Clock& clock, Rng& rng,
                                                         const StateHome& home,
                                                         const Caller& caller,
                                                         ServedClusterOptions options);

    ~ServedCluster();

    /// How clients on this machine reach it once it has started.
    const KubeAccess& access() const;

    /// Returns once clients are served; pods that outlived the last daemon are taken over by then.
    /// After a failure don't call stop_cluster(): it would end those pods.
    Task<Result<void>> start();
    Task<void> stop_serving();
    /// Ends the pods. To be called after stop_serving().
    Task<void> stop_cluster();

    const std::vector<std::string>& notices() const;

  private:
    struct Parts;
    explicit ServedCluster(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

}  // namespace muster::control_plane
