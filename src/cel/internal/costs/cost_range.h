#pragma once

#include <algorithm>
#include <cstdint>

#include "cel/cost.h"
#include "cel/internal/costs/costs.h"

namespace muster::cel {

/// The least and the most of a cost or a size. Sums and products that do not fit are kUnbounded.
struct Range {
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    static Range exactly(std::uint64_t number) { return {number, number}; }
    static Range unknown() { return {0, kUnbounded}; }

    Range plus(Range other) const {
        return {bounded_sum(least, other.least), bounded_sum(most, other.most)};
    }
    Range times(Range other) const {
        return {bounded_product(least, other.least), bounded_product(most, other.most)};
    }
    Range scaled_by(double factor) const { return {scaled(least, factor), scaled(most, factor)}; }
    Range united(Range other) const {
        return {std::min(least, other.least), std::max(most, other.most)};
    }
};

}  // namespace muster::cel
