#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/objects/pod.h"
#include "runtime/internal/limits/cgroups.h"
#include "runtime/internal/limits/identity.h"
#include "runtime/internal/limits/machine_kills.h"
#include "runtime/internal/pod_containers.h"
#include "runtime/internal/scheduling/device_ledger.h"

namespace muster::runtime {

class OomWatch;

/// What isolates the pods of a node from each other, in addition to namespaces. Outlives them.
struct NodeIsolation {
    Cgroups cgroups;
    DeviceLedger devices;
    Caller caller;
    MachineKills machine_kills = MachineKills();
    std::set<OomWatch*> oom_watches = {};  ///< of all pods
};

/// What one pod may use, and its identity: its groups, its devices, its user. Owns the groups and
/// the devices. Thread: the loop.
class PodIsolation {
  public:
    /// `containers` outlives it.
    PodIsolation(NodeIsolation& node, std::shared_ptr<const kube::Pod> pod,
                 const PodContainers& containers);
    ~PodIsolation();
    PodIsolation(const PodIsolation&) = delete;
    PodIsolation& operator=(const PodIsolation&) = delete;

    /// The fields of the manifest that are not honoured, each with the reason unless that is
    /// obvious.
    std::vector<std::string> not_honoured(bool namespaces) const;
    /// The same of one container's securityContext.
    std::vector<std::string> not_honoured_of(std::size_t index, bool namespaces) const;

    /// Takes the devices and makes the groups, for a sandbox that is about to be made.
    Result<void> prepare();
    /// The pod has ended: others may have its devices.
    void release_devices();
    /// Every process of the pod is gone, so its groups are removed.
    void sandbox_gone();

    const PodSecurity& security() const { return security_; }
    const Devices& devices() const { return devices_; }
    /// Whether a container may change the machine through /proc and /sys.
    bool privileged() const;

    /// The error is the message of a CreateContainerConfigError. `index` as in
    /// PodContainers.
    Result<ContainerSecurity> container_security(std::size_t index) const;
    /// The user that all containers run as; nullopt if they differ, or run as the user that started
    /// us.
    std::optional<std::uint32_t> user_of_all() const;
    /// `base`, adjusted to the container's user and devices.
    std::vector<std::string> environment(std::size_t index, const ContainerSecurity& security,
                                         std::vector<std::string> base) const;

    /// Makes the groups of one instance of a container, or finds those of a running one, and opens
    /// them for its supervisor.
    Result<std::vector<UniqueFd>> enter(std::size_t index, std::uint32_t instance);
    /// How many processes of the instance the kernel has killed because memory ran out.
    std::int64_t oom_kills(std::uint32_t instance) const;
    /// Tells of further ones, whether the container's own limit was reached or one of a group that
    /// it is in; with groups of version 2 that of the machine, too. Null if it has no group.
    Result<std::unique_ptr<OomNotices>> oom_notices(asio::any_io_executor executor,
                                                    std::uint32_t instance) const;
    /// Whether kills are counted for the instance.
    bool counts_kills(std::uint32_t instance) const { return instances_.contains(instance); }
    NodeIsolation& node() { return node_; }
    /// The instance is gone: removes its groups. True if the kernel has killed one of its processes
    /// because memory ran out.
    bool leave(std::uint32_t instance);

  private:
    NodeIsolation& node_;
    std::shared_ptr<const kube::Pod> pod_;
    const PodContainers& containers_;
    PodSecurity security_;
    Devices devices_;
    std::unique_ptr<PodCgroup> group_;
    std::map<std::uint32_t, std::unique_ptr<ContainerCgroup>> instances_;
};

}  // namespace muster::runtime
