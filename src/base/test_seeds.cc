#include "base/test_seeds.h"

#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "base/parse_number.h"
#include "base/test_inputs.h"

namespace muster {

std::vector<std::uint64_t> seeds_of_this_run(std::uint64_t all, std::uint64_t slices) {
    const char* const variable = std::getenv("MUSTER_SEED_SLICE");
    const std::string_view slice = variable == nullptr ? "0" : variable;
    note_test_input("seeds", slice);
    std::uint64_t first = 1;
    std::uint64_t count = all;
    if (slice != "all") {
        const auto number = parse_number<std::uint64_t>(slice);
        if (!number) throw std::invalid_argument("MUSTER_SEED_SLICE is a number, or all");
        const std::uint64_t which = *number % slices;
        first = 1 + all * which / slices;
        count = 1 + all * (which + 1) / slices - first;
    }
    std::vector<std::uint64_t> seeds(count);
    std::iota(seeds.begin(), seeds.end(), first);
    return seeds;
}

}  // namespace muster
