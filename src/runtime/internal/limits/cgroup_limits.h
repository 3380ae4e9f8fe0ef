#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "process/cgroup_hierarchies.h"

namespace muster::runtime {

using process::CgroupVersion;
using process::Controller;
using process::kControllers;

/// What one container may use.
struct ContainerLimits {
    std::optional<std::int64_t> memory_bytes;
    std::optional<std::int64_t> cpu_milli;  ///< at most, even if the machine is idle
    std::int64_t cpu_request_milli = 0;     ///< its share of a busy machine

    friend bool operator==(const ContainerLimits&, const ContainerLimits&) = default;
};

/// From the container's resources; a missing request for CPU is the limit. An error if something is
/// not a quantity.
Result<ContainerLimits> limits_of(const kube::Container& container);

/// One file of a group and the value to write to it.
struct CgroupSetting {
    Controller controller;
    std::string file;
    std::string value;
    /// False: a kernel may lack the file (swap accounting), and the limit holds without it.
    bool required = true;

    friend bool operator==(const CgroupSetting&, const CgroupSetting&) = default;
};

/// The files of a container's group, in the order in which they are written. The values are a
/// kubelet's (upstream: pkg/kubelet/cm/helpers_linux.go; runc libcontainer/cgroups for the weight).
std::vector<CgroupSetting> container_settings(const ContainerLimits& limits, CgroupVersion version);

/// The files of a pod's group, or of the node's: the sum of the requests for CPU, and the limit of
/// processes and threads.
std::vector<CgroupSetting> pod_settings(std::int64_t cpu_request_milli, std::int64_t pids,
                                        CgroupVersion version);

/// Limits of processes and threads of one pod, and of all pods of a node together, so that a fork
/// bomb takes down neither the machine nor its neighbours: from the kernel's own two limits,
/// whichever is lower.
struct PidLimits {
    std::int64_t pod = 0;
    std::int64_t node = 0;
};
PidLimits default_pid_limits(std::int64_t pid_max, std::int64_t threads_max);

}  // namespace muster::runtime
