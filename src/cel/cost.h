#pragma once

#include <cstdint>
#include <limits>

namespace muster::cel {

/// A cost or a size without a bound, and what does not fit.
inline constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) {
    return a > kUnbounded - b ? kUnbounded : a + b;
}
constexpr std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > kUnbounded / b ? kUnbounded : a * b;
}

}  // namespace muster::cel
