#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"

namespace muster::kube {

/// Resources that something uses: billionths of a processor, averaged over a time window, and bytes
/// of memory.
struct Usage {
    std::int64_t cpu_nanos = 0;
    std::int64_t memory_bytes = 0;

    friend bool operator==(const Usage&, const Usage&) = default;
};

struct ContainerUsage {
    std::string name;
    Usage usage;

    friend bool operator==(const ContainerUsage&, const ContainerUsage&) = default;
};

struct PodUsage {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::vector<ContainerUsage> containers;  ///< those that run

    friend bool operator==(const PodUsage&, const PodUsage&) = default;
};

struct NodeUsage {
    std::string node;
    WallTime at;        ///< end of the window
    Duration window{};  ///< its length
    Usage machine;      ///< everything that runs on it
    std::vector<PodUsage> pods;
};

}  // namespace muster::kube
