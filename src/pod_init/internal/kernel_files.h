#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster::pod_init {

/// Sets sysctls of the pod's own namespaces, (name, value) as in "net.core.somaxconn". To be called
/// inside them, with their /proc mounted.
Result<void> set_sysctls(const std::vector<std::pair<std::string, std::string>>& sysctls);

/// Limits how many processes and threads the PID namespace of the caller may have. False if the
/// kernel has one limit for all namespaces (before 6.14).
bool limit_pids(std::uint64_t pids);

/// Mounts a /sys with the caller's network interfaces (a /sys shows those of the process that
/// mounted it); the cgroups stay. If the kernel refuses, as inside a sandbox that hides parts of
/// its own /sys, the machine's stays.
Result<void> mount_own_sys();

/// Makes read-only, or hides, the parts of /proc and /sys through which a root process could change
/// the machine: those that a container runtime protects (upstream: containerd pkg/oci, masked and
/// read-only paths).
Result<void> protect_kernel_files();

/// Makes all mounts read-only, except /proc, /dev, `writable` paths and everything below them.
Result<void> freeze_mounts(const std::vector<std::string>& writable);

}  // namespace muster::pod_init
