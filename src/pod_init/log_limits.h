#pragma once

#include <cstdint>

namespace muster::pod_init {

/// Limits of a container's log: `files` of about `bytes` each, of which the oldest is deleted. The
/// numbers are a kubelet's.
struct LogLimits {
    std::uint64_t bytes = std::uint64_t{10} << 20;
    std::uint32_t files = 5;

    friend bool operator==(const LogLimits&, const LogLimits&) = default;
};

}  // namespace muster::pod_init
