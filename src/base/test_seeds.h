#pragma once

#include <cstdint>
#include <vector>

namespace muster {

/// The seeds of a long random test, 1 to `all`, that this run plays: one of `slices` equal parts.
/// MUSTER_SEED_SLICE says which (`./dev test` sets another number with each commit), or `all`, as
/// `./dev drill seeds` does. Throws std::invalid_argument when the variable is neither.
std::vector<std::uint64_t> seeds_of_this_run(std::uint64_t all, std::uint64_t slices);

}  // namespace muster
