#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "pod_init/init_protocol.h"
#include "runtime/internal/files/volume_files.h"
#include "runtime/internal/pod/container_env.h"

namespace muster::runtime {

/// One volume that is ready to be mounted.
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
    /// Memory-backed volumes can be mounted; else they are directories.
    bool tmpfs = false;
    /// The pod's own volumes belong to it, and it may use them (securityContext.fsGroup).
    std::optional<std::uint32_t> fs_group;
    /// Of the pod's service account.
    VolumeTokens tokens = {};
    /// The pod runs already: what is its own to write to stays as it is.
    bool in_use = false;
};

/// Makes the volumes of `input.pod` below `directory` (which exists). The message of a failure is
/// the kubelet's where it has one.
Result<ReadyVolumes> prepare_volumes(const EnvironmentInput& input,
                                     const std::filesystem::path& directory,
                                     const VolumeOptions& options);

/// Writes the files of the `meant` volumes again, each volume all at once. One that can't
/// be written stays as it is, and is the error when all have been tried.
Result<void> rewrite_volumes(const EnvironmentInput& input, const std::filesystem::path& directory,
                             const VolumeOptions& options, bool (*meant)(const kube::Volume&));

/// The mounts of one container, in the order of its manifest. A subPathExpr is expanded from
/// `environment`, "KEY=value".
Result<std::vector<pod_init::MountSpec>> container_mounts(
    const kube::Container& container, const std::vector<std::string>& environment,
    const ReadyVolumes& volumes);

}  // namespace muster::runtime
