#pragma once

#include <cstddef>

namespace muster::manifest {

/// The largest manifest that is read, in bytes; no document may grow past it by its aliases either.
/// It is etcd's default limit of one request (--max-request-bytes), which no object on a cluster
/// can exceed.
inline constexpr std::size_t kMaxManifestBytes = 1'572'864;
/// Nesting of lists and maps. The YAML library recurses; Kubernetes has nothing near this depth.
inline constexpr int kMaxManifestDepth = 200;

}  // namespace muster::manifest
