#include "base/rng.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace muster::rng_test {
namespace {

TEST(RngTest, EqualSeedsGiveEqualDraws) {
    Rng one(7), two(7), other(8);
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t drawn = one.next();
        EXPECT_EQ(drawn, two.next());
        differs |= drawn != other.next();
    }
    EXPECT_TRUE(differs);
}

TEST(RngTest, BelowStaysBelowAndReachesEveryValue) {
    Rng rng(1);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t drawn = rng.below(5);
        EXPECT_LT(drawn, 5u);
        seen.insert(drawn);
    }
    EXPECT_EQ(seen.size(), 5u);
}

TEST(RngTest, UnitIsInTheHalfOpenInterval) {
    Rng rng(2);
    for (int i = 0; i < 1000; ++i) {
        const double drawn = rng.unit();
        EXPECT_GE(drawn, 0.0);
        EXPECT_LT(drawn, 1.0);
    }
}

TEST(RngTest, UuidsAreVersionFourAndDiffer) {
    const std::regex form("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
    Rng rng(3);
    std::set<std::string> seen;
    for (int i = 0; i < 200; ++i) {
        const std::string uuid = rng.uuid();
        EXPECT_TRUE(std::regex_match(uuid, form)) << uuid;
        seen.insert(uuid);
    }
    EXPECT_EQ(seen.size(), 200u);
}

}  // namespace
}  // namespace muster::rng_test
