#include "checkpoint/storage/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace muster::checkpoint::in_parallel_test {
namespace {

TEST(InParallel, EachPartIsDoneOnce) {
    for (const int threads : {-1, 0, 1, 3, 1000})
        for (const std::uint64_t parts : {0u, 1u, 2u, 500u}) {
            std::vector<std::atomic<int>> done(parts);
            int works = 0;
            ASSERT_TRUE(in_parallel(threads, parts, [&]() -> PartWork {
                ++works;
                return [&](std::uint64_t part) -> Result<void> {
                    ++done[part];
                    return {};
                };
            }));
            for (const auto& one : done) EXPECT_EQ(one, 1);
            EXPECT_LE(works, std::max<int>(1, static_cast<int>(parts))) << "no thread for nothing";
        }
}

TEST(InParallel, SeveralAreDoneAtOnce) {
    std::latch all(3);
    ASSERT_TRUE(in_parallel(3, 3, [&]() -> PartWork {
        return [&](std::uint64_t) -> Result<void> {
            all.arrive_and_wait();
            return {};
        };
    }));
}

TEST(InParallel, AfterAnErrorNoPartIsBegun) {
    std::atomic<int> done = 0;
    const auto result = in_parallel(1, 100, [&]() -> PartWork {
        return [&](std::uint64_t part) -> Result<void> {
            if (part == 7) return Error(Code::kUnavailable, "part 7");
            ++done;
            return {};
        };
    });
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message(), "part 7");
    EXPECT_EQ(done, 7);
}

}  // namespace
}  // namespace muster::checkpoint::in_parallel_test
