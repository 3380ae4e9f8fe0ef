#pragma once

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace muster {

/// What is linear grows by when its input grows by ten, with what sorting and memory add.
inline constexpr double kLinearGrowth = 12;

/// The shortest of some tries with an input, and with one of ten times the size.
struct Growth {
    double small = std::numeric_limits<double>::max();
    double large = std::numeric_limits<double>::max();

    template <class Work>
    void measure(std::size_t size, Work& work) {
        small = std::min(small, time_of(size, work));
        large = std::min(large, time_of(10 * size, work));
    }
    template <class Work>
    static double time_of(std::size_t size, Work& work) {
        const std::clock_t begin = std::clock();
        work(size);
        return static_cast<double>(std::max<std::clock_t>(std::clock() - begin, 1));
    }
    double factor() const { return large / small; }
};

/// Texts in memory: linear beyond doubt.
inline void fill_memory(std::size_t size) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size; ++i) texts.emplace_back(40, 'x');
    if (texts.back().size() != 40) std::abort();
}

/// How many times as long the work on an input of ten times the size takes, in the time that this
/// process computes: about 10 where it is linear, 100 where it is quadratic. `work` takes a size;
/// with the smaller one it should compute for some milliseconds at least.
///
/// Whatever else the machine does only adds to that time, so the shortest of some tries is what the
/// work costs; while the growth looks more than linear, there are more tries. Programs that use the
/// same caches add to all tries with large inputs: how much, filling memory shows, in the same tries.
template <class Work>
double growth_by_ten(std::size_t size, Work work) {
    constexpr std::size_t kTexts = 20'000;
    Growth growth;
    Growth control;
    const auto result = [&] { return growth.factor() / std::max(1.0, control.factor() / 10); };
    for (int attempt = 0; attempt < 3 || (attempt < 12 && result() > kLinearGrowth); ++attempt) {
        growth.measure(size, work);
        control.measure(kTexts, fill_memory);
    }
    return result();
}

}  // namespace muster
