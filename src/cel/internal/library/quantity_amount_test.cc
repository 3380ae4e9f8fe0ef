#include "cel/internal/library/quantity_amount.h"

#include <gtest/gtest.h>

namespace muster::cel::quantity_amount_test {
namespace {

using Integer = std::optional<std::int64_t>;

Integer integer(std::string_view text) { return QuantityAmount::of_text(text).integer(); }

// As AsInt64() of k8s.io/apimachinery v0.33 has it.
TEST(QuantityAmountTest, IsAnIntegerAsKubernetesKeepsIt) {
    EXPECT_EQ(integer("0"), 0);
    EXPECT_EQ(integer("-000"), 0);
    EXPECT_EQ(integer("007"), 7);
    EXPECT_EQ(integer("+3"), 3);
    EXPECT_EQ(integer("-3k"), -3000);
    EXPECT_EQ(integer("1.5k"), 1500);
    EXPECT_EQ(integer("1e3"), 1000);
    EXPECT_EQ(integer("1E+3"), 1000);
    EXPECT_EQ(integer("12E"), Integer());  // more than 64 bits
    EXPECT_EQ(integer("1Ki"), 1024);
    EXPECT_EQ(integer("4Ti"), 4398046511104);
    // Kept as decimals, or as parts of one, although they are whole.
    EXPECT_EQ(integer("1.0"), Integer());
    EXPECT_EQ(integer("1000m"), Integer());
    EXPECT_EQ(integer("10e-1"), Integer());
    EXPECT_EQ(integer("0.5Gi"), Integer());
    EXPECT_EQ(integer("1Ei"), Integer());
    EXPECT_EQ(integer("1234567890123456789"), Integer());
    EXPECT_EQ(integer("1.5e-2147483648"), Integer());
    EXPECT_EQ(integer("0e2147483647"), 0);
}

TEST(QuantityAmountTest, SumsHaveTheSmallerUnit) {
    const auto of = QuantityAmount::of_text;
    EXPECT_EQ(of("1k").plus(of("24")).integer(), 1024);
    EXPECT_EQ(of("1").plus(of("1000m")).integer(), Integer());
    EXPECT_EQ(of("1").plus(of("0m")).integer(), 1);
    EXPECT_EQ(of("0").plus(of("1000m")).integer(), Integer());
    EXPECT_EQ(of("5").minus(QuantityAmount::of_units(7)).integer(), -2);
    EXPECT_EQ(of("9E").plus(of("9E")).integer(), Integer());
    EXPECT_EQ(of("1Ei").minus(of("1Ei")).integer(), Integer());
}

TEST(QuantityAmountTest, KnowsItsPowerOfTen) {
    const auto of = QuantityAmount::of_text;
    EXPECT_EQ(of("1100m").scale(), -3);
    EXPECT_EQ(of("2k").scale(), 3);
    EXPECT_EQ(of("1.5k").scale(), 2);
    EXPECT_EQ(of("1Ki").scale(), 0);
    EXPECT_EQ(of("1Ei").scale(), -9);
    EXPECT_EQ(of("9E").plus(of("9E")).scale(), 18);
    EXPECT_EQ(of("9E").plus(of("9E")).plus(of("1k")).scale(), 3);
}

}  // namespace
}  // namespace muster::cel::quantity_amount_test
