#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace muster {

/// What is linear grows by when its input grows by ten, with what sorting and memory add.
inline constexpr double kLinearGrowth = 12;

/// How many times as long the work on an input of ten times the size takes, in the time that this
/// process computes: about 10 where it is linear, 100 where it is quadratic. `work` takes a size;
/// with the smaller one it should compute for some milliseconds at least.
///
/// Whatever else the machine does only adds to that time (it empties caches), so the shortest of
/// some tries is what the work costs; while the growth looks more than linear, there are more tries.
template <class Work>
double growth_by_ten(std::size_t size, Work work) {
    const auto time_of = [&](std::size_t of) {
        const std::clock_t begin = std::clock();
        work(of);
        return static_cast<double>(std::max<std::clock_t>(std::clock() - begin, 1));
    };
    double small = std::numeric_limits<double>::max();
    double large = std::numeric_limits<double>::max();
    for (int attempt = 0; attempt < 3 || (attempt < 12 && large > kLinearGrowth * small);
         ++attempt) {
        small = std::min(small, time_of(size));
        large = std::min(large, time_of(10 * size));
    }
    return large / small;
}

}  // namespace muster
