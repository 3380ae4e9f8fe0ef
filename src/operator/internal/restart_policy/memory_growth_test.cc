#include "operator/internal/restart_policy/memory_growth.h"

#include <gtest/gtest.h>

namespace muster::operators::memory_growth_test {
namespace {

using enum MemoryGrowth::Outcome;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST(MemoryGrowth, IsTwiceAsMuchWithinBounds) {
    struct Row {
        const char* name;
        MemoryLack lack;
        MemoryGrowth growth;
    };
    const auto as_before = [](std::int64_t had, std::optional<std::int64_t> left = {}) {
        return MemoryLack{.had = had, .would_be = had, .left = left};
    };
    const Row rows[] = {
        {"twice", as_before(2 * kGiB), {kMore, 4 * kGiB}},
        {"at most 8 GiB more", as_before(20 * kGiB), {kMore, 28 * kGiB}},
        {"just 8 GiB more", as_before(8 * kGiB), {kMore, 16 * kGiB}},
        {"not beyond 64 GiB", as_before(60 * kGiB), {kMore, 64 * kGiB}},
        {"64 GiB", as_before(64 * kGiB), {kMost, 64 * kGiB}},
        {"more than that", as_before(100 * kGiB), {kMost, 100 * kGiB}},
        {"in whole MiB", as_before(500'000'000), {kMore, 953 * kMiB}},
        {"very little", as_before(1000), {kMore, 2000}},
        {"no limit", {.had = 0, .would_be = 0}, {kUnlimited, 0}},
        {"no limit any more", {.had = kGiB, .would_be = 0}, {kUnlimited, 0}},
        {"no limit before", {.had = 0, .would_be = kGiB}, {kUnlimited, 0}},
        {"its template was raised", {.had = kGiB, .would_be = 16 * kGiB}, {kEnough, 16 * kGiB}},
        {"its template was raised a little",
         {.had = 4 * kGiB, .would_be = 5 * kGiB},
         {kEnough, 5 * kGiB}},
        {"its template was lowered", {.had = 4 * kGiB, .would_be = kGiB}, {kMore, 8 * kGiB}},
        {"as much as the job may", as_before(4 * kGiB, 4 * kGiB), {kMore, 8 * kGiB}},
        {"what is left", as_before(4 * kGiB, kGiB), {kMore, 5 * kGiB}},
        {"what is left is less than a MiB", as_before(4 * kGiB, 1000), {kNothingLeft, 4 * kGiB}},
        {"nothing is left", as_before(4 * kGiB, 0), {kNothingLeft, 4 * kGiB}},
        {"less than nothing", as_before(4 * kGiB, -kGiB), {kNothingLeft, 4 * kGiB}},
        {"any amount", as_before(INT64_MAX), {kMost, INT64_MAX}},
    };
    for (const Row& row : rows) {
        const MemoryGrowth growth = memory_after(row.lack);
        EXPECT_EQ(growth.outcome, row.growth.outcome) << row.name;
        EXPECT_EQ(growth.bytes, row.growth.bytes) << row.name;
    }
}

}  // namespace
}  // namespace muster::operators::memory_growth_test
