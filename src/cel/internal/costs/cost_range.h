#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cel/internal/costs/costs.h"

namespace muster::cel {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

/// The least and the most of a cost or a size. Sums and products that do not fit are kUnbounded.
struct Range {
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    static Range exactly(std::uint64_t number) { return {number, number}; }
    static Range unknown() { return {0, kUnbounded}; }

    Range plus(Range other) const { return {sum(least, other.least), sum(most, other.most)}; }
    Range times(Range other) const {
        return {product(least, other.least), product(most, other.most)};
    }
    Range scaled_by(double factor) const { return {scaled(least, factor), scaled(most, factor)}; }
    Range united(Range other) const {
        return {std::min(least, other.least), std::max(most, other.most)};
    }

    static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
        return a > kUnbounded - b ? kUnbounded : a + b;
    }
    static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
        return b != 0 && a > kUnbounded / b ? kUnbounded : a * b;
    }
};

}  // namespace muster::cel
