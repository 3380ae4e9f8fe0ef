#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pod_init/init_protocol.h"

namespace muster::pod_init {

/// The pod's own file systems, for PID 1 of its mount namespace: its view of the machine's files,
/// /proc, /dev/shm, and the mounts that `mounts` adds for all containers. Later changes are not
/// visible outside.
Result<void> set_up_pod_mounts(const std::vector<MountSpec>& mounts, const PrivateFiles& files);

/// The mounts of one container, in the calling process's own (fresh) mount namespace, in the order
/// of their targets. A mount point that does not exist on the machine is made to appear:
///
/// - below a directory that belongs to the pod, by making it there;
/// - elsewhere, by a tmpfs over the deepest existing directory, with its entries bound back into it
///   (and for `/` by a new root made the same way). The machine's own directory stays untouched;
///   existing entries are still shared; only new entries made directly in that one directory are
///   dropped with the pod. An overlay would lose every write below it instead.
///
/// Targets are resolved inside the container's root, by descriptors: however others change links
/// and directories meanwhile, nothing is created or mounted outside of it. kInvalid: a target
/// is the root itself, or one in /proc, which a cluster's runtime refuses too.
///
/// `read_only_root`: at the end everything is read-only except /proc, /dev and those of `mounts`
/// that are not.
Result<void> set_up_container_mounts(const std::vector<MountSpec>& mounts,
                                     const std::string& scratch_dir, bool read_only_root);

}  // namespace muster::pod_init
