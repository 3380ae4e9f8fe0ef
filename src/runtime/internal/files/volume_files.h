#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "runtime/internal/pod/container_env.h"

namespace muster::runtime {

struct VolumeFile {
    std::string content;
    std::uint32_t mode = 0644;
    std::optional<std::uint32_t> owner = {};  ///< else the user that writes it

    friend bool operator==(const VolumeFile&, const VolumeFile&) = default;
};
/// By path inside the volume.
using VolumeFiles = std::map<std::string, VolumeFile>;

/// The ConfigMaps and Secrets that the pod's volumes refer to.
References references_of_volumes(const kube::Pod& pod);

/// What a source of a projected volume asks of the API.
struct TokenWanted {
    std::string audience;  ///< empty: the server's own
    std::int64_t seconds = 3600;

    friend auto operator<=>(const TokenWanted&, const TokenWanted&) = default;
};

/// What the pod's volumes ask for; kInvalid for what can't be read.
Result<std::set<TokenWanted>> tokens_wanted(const kube::Pod& pod);

bool has_tokens(const kube::Volume& volume);
/// Of a ConfigMap or a Secret.
bool has_mounted_data(const kube::Volume& volume);
/// Of the pod's own fields, labels and annotations among them.
bool has_pod_fields(const kube::Volume& volume);

/// The tokens of a pod, and which users read their files: all users of the pod, or these alone.
struct VolumeTokens {
    std::map<TokenWanted, std::string> texts = {};
    std::optional<std::uint32_t> user = {};  ///< as whom all containers run
    bool group = false;                      ///< the pod's fsGroup gets them
};

/// The files of a volume of the kinds configMap, secret, downwardAPI and projected, as they are
/// now; nullopt for the other kinds. The message of a failure is the kubelet's where it has one.
Result<std::optional<VolumeFiles>> files_of_volume(const kube::Volume& volume,
                                                   const EnvironmentInput& input,
                                                   const VolumeTokens& tokens = {});

/// A relative path that stays inside: no "..", nothing absolute.
bool stays_inside(const std::filesystem::path& path);

/// Writes `files` as a kubelet's atomic writer does: into a directory of their own, reached through
/// the link `..data`, with one link per first component. What was written there before is replaced,
/// all of it at once.
Result<void> write_atomically(const std::filesystem::path& directory, const VolumeFiles& files);

}  // namespace muster::runtime
