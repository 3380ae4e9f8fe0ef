#pragma once

#include <cstddef>

namespace muster::manifest {

/// The largest object of a manifest, in bytes; no document may grow past it by its aliases either.
/// It is etcd's default limit of one request (--max-request-bytes), which no object on a cluster
/// can exceed.
inline constexpr std::size_t kMaxManifestBytes = 1'572'864;
/// The largest manifest, with all of its objects: a repository of hundreds of manifests has less, and
/// it is read in seconds.
inline constexpr std::size_t kMaxStreamBytes = std::size_t{32} << 20;
/// Nesting of lists and maps. The YAML library recurses; Kubernetes has nothing near this depth.
inline constexpr int kMaxManifestDepth = 200;

}  // namespace muster::manifest
