#pragma once

#include <cstddef>

namespace muster::manifest {

/// A manifest of at most this many bytes is read, and no document may grow past it by its aliases.
/// It is etcd's default limit of one request (--max-request-bytes), which no object on a cluster
/// can exceed either.
inline constexpr std::size_t kMaxManifestBytes = 1'572'864;
/// Lists and maps inside each other. The YAML library recurses, Kubernetes has nothing near it.
inline constexpr int kMaxManifestDepth = 200;

}  // namespace muster::manifest
