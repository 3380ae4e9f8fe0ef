#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "kube/objects/pod.h"
#include "runtime/internal/files/environment_input.h"
#include "runtime/internal/files/references.h"

namespace muster::runtime {

struct VolumeFile {
    std::string content;
    std::uint32_t mode = 0644;
    std::optional<std::uint32_t> owner = {};  ///< otherwise the user that writes it

    friend bool operator==(const VolumeFile&, const VolumeFile&) = default;
};
/// By path inside the volume.
using VolumeFiles = std::map<std::string, VolumeFile>;

/// The ConfigMaps and Secrets that the pod's volumes refer to.
References references_of_volumes(const kube::Pod& pod);

/// A token that a source of a projected volume requests from the API.
struct TokenWanted {
    std::string audience;  ///< empty for the server's own
    std::int64_t seconds = 3600;

    friend auto operator<=>(const TokenWanted&, const TokenWanted&) = default;
};

/// The tokens for the pod's volumes; kInvalid if the request can't be read.
Result<std::set<TokenWanted>> tokens_wanted(const kube::Pod& pod);

bool has_tokens(const kube::Volume& volume);
/// Whether it shows a ConfigMap or a Secret.
bool has_mounted_data(const kube::Volume& volume);
/// Whether it shows fields of the pod, such as labels and annotations.
bool has_pod_fields(const kube::Volume& volume);

/// The tokens of a pod, and the users that may read their files: all users of the pod, or only
/// these.
struct VolumeTokens {
    std::map<TokenWanted, std::string> texts = {};
    std::optional<std::uint32_t> user = {};  ///< the user that all containers run as
    bool group = false;                      ///< the pod's fsGroup gets them
};

/// The current files of a volume of type configMap, secret, downwardAPI or projected; nullopt for
/// other types. Messages of failures are the kubelet's where it has one.
Result<std::optional<VolumeFiles>> files_of_volume(const kube::Volume& volume,
                                                   const EnvironmentInput& input,
                                                   const VolumeTokens& tokens = {});

/// Whether a relative path stays inside its directory: no "..", not absolute.
bool stays_inside(const std::filesystem::path& path);

/// Writes `files` as a kubelet's atomic writer does: into a directory of their own, reached through
/// the link `..data`, with one link for each first path component. Replaces the earlier files in
/// one step.
Result<void> write_atomically(const std::filesystem::path& directory, const VolumeFiles& files);

}  // namespace muster::runtime
