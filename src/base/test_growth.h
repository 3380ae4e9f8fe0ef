#pragma once

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// What is linear grows by when its input grows by ten, with what sorting and memory add: to sort 3,000 entries takes 14 times
/// as long as to sort 300. What grows with the input times its root grows by 31, and with its square by 100.
inline constexpr double kLinearGrowth = 15;

/// Ten runs with an input and one with an input of ten times the size, next to each other: whatever
/// else the machine does hits both alike.
template <class Work>
double growth_once(std::size_t size, Work& work) {
    const auto time_of = [&](int runs, std::size_t each) {
        const std::clock_t begin = std::clock();
        for (int run = 0; run < runs; ++run) work(each);
        return static_cast<double>(std::max<std::clock_t>(std::clock() - begin, 1));
    };
    const double ten_small = time_of(10, size);
    return 10 * time_of(1, 10 * size) / ten_small;
}

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
/// What no longer fits into the processor's caches costs more, and the more so while other programs
/// use them: how much, filling memory shows, in the same tries; it counts for at most half as much
/// again. What looks more than linear is tried again, and the least counts: a bad moment of the
/// machine passes, a product of two sizes does not.
template <class Work>
double growth_by_ten(std::size_t size, Work work) {
    constexpr std::size_t kTexts = 20'000;
    constexpr double kMostByCaches = 1.5;
    constexpr int kTries = 8;
    double growth = std::numeric_limits<double>::max();
    double control = growth;
    const auto result = [&] { return growth / std::clamp(control / 10, 1.0, kMostByCaches); };
    int tries = 0;
    do {
        growth = std::min(growth, growth_once(size, work));
        control = std::min(control, growth_once(kTexts, fill_memory));
    } while (result() > kLinearGrowth && ++tries < kTries);
    return result();
}

/// Something that comes from outside, of a size, and what reads it.
struct GrowthCase {
    const char* name;
    std::string (*input)(std::size_t size);
    void (*read)(std::string_view input);
    std::size_t size;
};

inline void PrintTo(const GrowthCase& of, std::ostream* out) { *out << of.name; }

/// growth_by_ten() of what reads the input.
inline double growth_of(const GrowthCase& of) {
    const std::string small = of.input(of.size);
    const std::string large = of.input(10 * of.size);
    return growth_by_ten(of.size,
                         [&](std::size_t size) { of.read(size == of.size ? small : large); });
}

/// `one` for each number below `size`, one after the other.
template <class One>
std::string repeated(std::size_t size, One one) {
    std::string all;
    for (std::size_t i = 0; i < size; ++i) all += one(i);
    return all;
}

}  // namespace muster
