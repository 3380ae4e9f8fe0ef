#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace muster {

/// How many times as long the work on an input of ten times the size takes, in the time that this
/// process computes: about 10 where it is linear, 100 where it is quadratic. `work` takes a size;
/// with the smaller one it should compute for some milliseconds at least.
template <class Work>
double growth_by_ten(std::size_t size, Work work) {
    const auto shortest = [&](std::size_t of) {
        std::clock_t best = std::numeric_limits<std::clock_t>::max();
        for (int attempt = 0; attempt < 3; ++attempt) {
            const std::clock_t begin = std::clock();
            work(of);
            best = std::min(best, std::clock() - begin);
        }
        return std::max<std::clock_t>(best, 1);
    };
    const auto small = static_cast<double>(shortest(size));
    return static_cast<double>(shortest(10 * size)) / small;
}

/// What is linear grows by, with what sorting and memory add.
inline constexpr double kLinearGrowth = 12;

}  // namespace muster
