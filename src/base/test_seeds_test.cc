#include "base/test_seeds.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace muster::test_seeds_test {
namespace {

class TestSeeds : public ::testing::Test {
  protected:
    TestSeeds() {
        if (const char* const set = std::getenv("MUSTER_SEED_SLICE")) before_ = set;
    }
    ~TestSeeds() override {
        if (before_.empty()) {
            ::unsetenv("MUSTER_SEED_SLICE");
        } else {
            set(before_);
        }
    }

    static void set(const std::string& slice) { ::setenv("MUSTER_SEED_SLICE", slice.c_str(), 1); }

  private:
    std::string before_;
};

TEST_F(TestSeeds, TheSlicesTogetherAreAllOfThemOnce) {
    std::vector<std::uint64_t> together;
    for (int slice = 7; slice < 10; ++slice) {
        set(std::to_string(slice));
        for (const std::uint64_t seed : seeds_of_this_run(10, 3)) together.push_back(seed);
    }
    // 7 is the second of three.
    EXPECT_EQ(together, (std::vector<std::uint64_t>{4, 5, 6, 7, 8, 9, 10, 1, 2, 3}));
}

TEST_F(TestSeeds, AllAreAll) {
    set("all");
    EXPECT_EQ(seeds_of_this_run(4, 2), (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(TestSeeds, WithoutTheVariableItIsTheFirstSlice) {
    ::unsetenv("MUSTER_SEED_SLICE");
    EXPECT_EQ(seeds_of_this_run(4, 2), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(TestSeeds, AnythingElseIsRefused) {
    set("first");
    EXPECT_THROW(seeds_of_this_run(4, 2), std::invalid_argument);
}

}  // namespace
}  // namespace muster::test_seeds_test
