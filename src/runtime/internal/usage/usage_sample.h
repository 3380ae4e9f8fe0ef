#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "kube/objects/usage.h"

namespace muster::runtime {

/// What had been used up to one moment.
struct UsageSample {
    struct Container {
        std::string namespace_;
        std::string pod;
        std::string uid;  ///< of the pod
        std::string name;
        std::uint32_t run = 0;  ///< of the pod's
        Duration cpu{};         ///< since the run began
        std::int64_t memory_bytes = 0;
    };

    Instant at;
    WallTime wall;
    Duration busy{};  ///< of the machine, since it began
    std::int64_t memory_in_use = 0;
    std::vector<Container> containers;  ///< those of one pod side by side
};

/// Whether a sample is old enough for an average since then, and not so old that the average would
/// hide what happens now.
bool is_good_start(const UsageSample& sample, Instant now);

/// What was used between two samples. A container that is missing in the first one began after it.
kube::NodeUsage usage_between(const UsageSample& from, const UsageSample& to, std::string node);

}  // namespace muster::runtime
