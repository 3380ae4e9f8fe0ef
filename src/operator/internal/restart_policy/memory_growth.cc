#include "operator/internal/restart_policy/memory_growth.h"

#include <algorithm>

namespace muster::operators {
namespace {

constexpr std::int64_t kMostAtOnce = std::int64_t{8} << 30;
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

std::int64_t rounded(std::int64_t bytes) {
    return bytes < kMebibyte ? bytes : bytes / kMebibyte * kMebibyte;
}

}  // namespace

MemoryGrowth memory_after(const MemoryLack& lack) {
    using enum MemoryGrowth::Outcome;
    if (lack.had <= 0 || lack.would_be <= 0) return {.outcome = kUnlimited};
    if (lack.would_be > lack.had) return {.outcome = kEnough, .bytes = lack.would_be};
    if (lack.had >= kMostMemory) return {.outcome = kMost, .bytes = lack.would_be};
    std::int64_t wanted = std::min(lack.had + std::min(lack.had, kMostAtOnce), kMostMemory);
    if (lack.left) wanted = std::min(wanted, lack.would_be + std::max<std::int64_t>(*lack.left, 0));
    wanted = rounded(wanted);
    if (wanted <= lack.had) return {.outcome = kNothingLeft, .bytes = lack.would_be};
    return {.outcome = kMore, .bytes = wanted};
}

}  // namespace muster::operators
