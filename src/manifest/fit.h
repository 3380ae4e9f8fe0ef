#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/check.h"

namespace muster::manifest {

/// What to do with requests that exceed the machine.
enum class Fit { kScale, kStrict };

/// Whether this is about the resource.
bool is_fitted(std::string_view resource);

struct MachineSize {
    double cpus = 0;
    std::uint64_t memory_bytes = 0;
};

struct FitResult {
    std::vector<Problem> problems;
    std::vector<std::string> notices;  ///< one line per resource that was scaled
};

/// Compares what all pods request together with the machine. Under kScale, requests that exceed it
/// are scaled down in the objects by one factor for each resource (limits stay as written); under
/// kStrict they are a problem. A container without requests requests its limits, as on a cluster.
FitResult fit_requests(std::vector<CheckedObject>& objects, const MachineSize& machine, Fit fit);

}  // namespace muster::manifest
