#include "base/fault.h"

#include <gtest/gtest.h>

namespace muster::fault_test {
namespace {

int count_fires(int passes) {
    int fired = 0;
    for (int i = 0; i < passes; ++i) fired += fault_point() ? 1 : 0;
    return fired;
}

TEST(FaultPointTest, IsSilentWithoutAPlan) { EXPECT_EQ(count_fires(100), 0); }

TEST(FaultPointTest, AChosenSiteFiresAtItsRateAndAnUnchosenOneNever) {
    {
        FaultPlan all(1, 1.0, 0.5);
        const int fired = count_fires(1000);
        EXPECT_GT(fired, 400);
        EXPECT_LT(fired, 600);
    }
    {
        FaultPlan none(1, 0.0, 1.0);
        EXPECT_EQ(count_fires(1000), 0);
    }
    EXPECT_EQ(count_fires(10), 0);
}

TEST(FaultPointTest, AChoiceDoesNotDependOnWhereTheSourcesLie) {
    auto chosen = [](std::uint64_t seed, const char* file) {
        FaultPlan plan(seed, 0.5, 1.0);
        return plan.fires(file, 7);
    };
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
        EXPECT_EQ(chosen(seed, "../../src/kube/reflector.cc"),
                  chosen(seed, "/home/me/muster/src/kube/reflector.cc"));
}

TEST(FaultPointTest, EqualSeedsFireEqually) {
    auto run = [](std::uint64_t seed) {
        FaultPlan plan(seed, 0.5, 0.5);
        std::string fires;
        for (int i = 0; i < 50; ++i) {
            fires += fault_point() ? '1' : '0';
            fires += fault_point() ? '1' : '0';
        }
        return fires;
    };
    EXPECT_EQ(run(11), run(11));
    std::set<std::string> distinct;
    for (std::uint64_t seed = 0; seed < 8; ++seed) distinct.insert(run(seed));
    EXPECT_GT(distinct.size(), 1u);
}

}  // namespace
}  // namespace muster::fault_test
