#include "kube/values/equality.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <limits>

namespace muster::kube::equality_test {
namespace {

json::value J(std::string_view text) { return json::parse(text); }

TEST(Equality, IsThatOfTheValues) {
    const struct {
        std::string_view a;
        std::string_view b;
        bool equal;
    } kCases[] = {
        {"null", "null", true},
        {"null", "false", false},
        {"1", "1", true},
        {"1", "2", false},
        {"1", "1.0", false},
        {"1", R"("1")", false},
        {"18446744073709551615", "18446744073709551615", true},
        {R"("a")", R"("a")", true},
        {R"("a")", R"("b")", false},
        {"[]", "{}", false},
        {"[1,2]", "[1,2]", true},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1,2,3]", false},
        {"[1,2,3]", "[1,2]", false},
        {R"({"a":1,"b":2})", R"({"a":1,"b":2})", true},
        {R"({"a":1,"b":2})", R"({"b":2,"a":1})", true},
        {R"({"a":1,"b":2})", R"({"b":1,"a":2})", false},
        {R"({"a":1})", R"({"a":1,"b":2})", false},
        {R"({"a":1,"b":2})", R"({"a":1})", false},
        {R"({"a":1,"b":2})", R"({"a":1,"c":2})", false},
        {R"({"a":null})", R"({"b":null})", false},
        {R"({"a":[{"b":{"c":1}}]})", R"({"a":[{"b":{"c":1}}]})", true},
        {R"({"a":[{"b":{"c":1}}]})", R"({"a":[{"b":{"c":2}}]})", false},
    };
    for (const auto& row : kCases) {
        EXPECT_EQ(equal(J(row.a), J(row.b)), row.equal) << row.a << " and " << row.b;
        EXPECT_EQ(equal(J(row.b), J(row.a)), row.equal) << row.b << " and " << row.a;
        EXPECT_EQ(J(row.a) == J(row.b), row.equal) << row.a << " and " << row.b;
    }
}

TEST(Equality, ANumberIsTheSameWhateverItsSign) {
    const json::value a(std::int64_t{5});
    const json::value b(std::uint64_t{5});
    EXPECT_TRUE(equal(a, b));
    EXPECT_FALSE(equal(json::value(-1), json::value(std::numeric_limits<std::uint64_t>::max())));
}

// Hours, if each level copied what is below it.
TEST(Equality, OfADeepAndWideValueIsQuick) {
    json::array items;
    for (int i = 0; i < 100'000; ++i) items.push_back(json::object{{"k", i}});
    json::value deep = std::move(items);
    for (int level = 0; level < 190; ++level) {
        json::object around;
        around.emplace("a", std::move(deep));
        deep = std::move(around);
    }
    const json::value other = deep;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(equal(deep, other));
}

}  // namespace
}  // namespace muster::kube::equality_test
