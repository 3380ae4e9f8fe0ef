#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "kube/pod.h"
#include "runtime/internal/container_env.h"

namespace muster::runtime {

struct VolumeFile {
    std::string content;
    std::uint32_t mode = 0644;

    friend bool operator==(const VolumeFile&, const VolumeFile&) = default;
};
/// By path inside the volume.
using VolumeFiles = std::map<std::string, VolumeFile>;

/// The ConfigMaps and Secrets that the pod's volumes refer to.
References references_of_volumes(const kube::Pod& pod);

/// The files of a volume of the kinds configMap, secret, downwardAPI and projected, as they are
/// now; nullopt for the other kinds. The message of a failure is the kubelet's where it has one.
Result<std::optional<VolumeFiles>> files_of_volume(const kube::Volume& volume,
                                                   const EnvironmentInput& input);

/// A relative path that stays inside: no "..", nothing absolute.
bool stays_inside(const std::filesystem::path& path);

/// Writes `files` as a kubelet's atomic writer does: into a directory of their own, reached through
/// the link `..data`, with one link per first component.
Result<void> write_atomically(const std::filesystem::path& directory, const VolumeFiles& files);

}  // namespace muster::runtime
