#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "pod_init/init_protocol.h"
#include "runtime/internal/files/claims.h"
#include "runtime/internal/files/environment_input.h"
#include "runtime/internal/files/volume_files.h"

namespace muster::runtime {

/// One volume, ready to be mounted.
struct ReadyVolume {
    std::filesystem::path path;  ///< on the machine
    bool owned = false;          ///< the pod's own: missing directories below may be made
    bool read_only = false;
};

struct ReadyVolumes {
    std::map<std::string, ReadyVolume, std::less<>> by_name;
    std::vector<pod_init::MountSpec> pod_mounts;  ///< memory-backed ones, mounted once for the pod
};

struct VolumeOptions {
    /// Volumes in memory can be mounted; otherwise they are directories.
    bool tmpfs = false;
    /// The group that owns the pod's own volumes and may use them (securityContext.fsGroup).
    std::optional<std::uint32_t> fs_group;
    /// Of the pod's service account.
    VolumeTokens tokens = {};
    /// Of its volumes that are claims.
    ClaimDirectories claims = {};
    /// The pod is running already: volumes that it writes to stay as they are.
    bool in_use = false;
};

/// Makes the volumes of `input.pod` below `directory` (which exists). Messages of failures are the
/// kubelet's where it has one.
Result<ReadyVolumes> prepare_volumes(const EnvironmentInput& input,
                                     const std::filesystem::path& directory,
                                     const VolumeOptions& options);

/// Rewrites the files of the `meant` volumes, each volume in one step. A volume that can't be
/// written stays as it is; its error is returned after all were tried.
Result<void> rewrite_volumes(const EnvironmentInput& input, const std::filesystem::path& directory,
                             const VolumeOptions& options, bool (*meant)(const kube::Volume&));

/// The mounts of one container, in the order of its manifest. A subPathExpr is expanded from
/// `environment`, "KEY=value".
Result<std::vector<pod_init::MountSpec>> container_mounts(
    const kube::Container& container, const std::vector<std::string>& environment,
    const ReadyVolumes& volumes);

}  // namespace muster::runtime
