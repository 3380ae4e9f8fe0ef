#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace muster {

/// A number of seconds from outside: at most a hundred years in either direction, which
/// is as good as forever. Added to the present time of either clock, or taken from it, it stays
/// within what that can hold.
constexpr std::chrono::seconds bounded_seconds(std::int64_t seconds) {
    constexpr std::int64_t kMost = std::int64_t{100} * 366 * 24 * 3600;
    return std::chrono::seconds(std::clamp(seconds, -kMost, kMost));
}

}  // namespace muster
