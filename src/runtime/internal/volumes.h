#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/pod.h"
#include "runtime/internal/container_env.h"
#include "runtime/internal/init_protocol.h"

namespace muster::runtime {

/// The ConfigMaps and Secrets that the pod's volumes refer to.
References references_of_volumes(const kube::Pod& pod);

/// One volume that is ready to be mounted.
struct ReadyVolume {
    std::filesystem::path path;  ///< on the machine
    bool owned = false;          ///< the pod's own: missing directories below may be made
    bool read_only = false;
};

struct ReadyVolumes {
    std::map<std::string, ReadyVolume, std::less<>> by_name;
    std::vector<MountSpec> pod_mounts;  ///< memory-backed ones, mounted once for the pod
};

/// Makes the pod's volumes below `directory` (which exists). `tmpfs`: memory-backed ones can be
/// mounted; else they are directories. The message of a failure is the kubelet's where it has one.
Result<ReadyVolumes> prepare_volumes(const kube::Pod& pod, const std::filesystem::path& directory,
                                     const KeyValueObjects& config_maps,
                                     const KeyValueObjects& secrets, bool tmpfs);

/// The mounts of one container, in the order of their targets. `expand` is for subPath, whose
/// directory is made if it is missing.
Result<std::vector<MountSpec>> container_mounts(const kube::Container& container,
                                                const ReadyVolumes& volumes);

/// Writes `files` (relative path -> content and mode) as a kubelet's atomic writer does: into a
/// directory of their own, reached through the link `..data`, with one link per first component.
struct VolumeFile {
    std::string content;
    std::uint32_t mode = 0644;
};
Result<void> write_atomically(const std::filesystem::path& directory,
                              const std::map<std::string, VolumeFile>& files);

}  // namespace muster::runtime
