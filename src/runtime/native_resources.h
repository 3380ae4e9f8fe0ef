#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "kube/values/quantity.h"

namespace muster::runtime {

/// Amounts by the name of the resource.
using NativeResources = std::map<std::string, kube::Quantity>;

/// What pods may request of a machine beside CPUs, memory and devices: "ephemeral-storage", the size
/// of the file system with `scratch`, and "hugepages-<size>" for each size that the kernel of the
/// machine whose file system begins at `root` has. The node offers this, and manifests are checked
/// against it. Only reads; what can't be read is left out.
NativeResources find_native_resources(const std::filesystem::path& root,
                                      const std::filesystem::path& scratch);

}  // namespace muster::runtime
