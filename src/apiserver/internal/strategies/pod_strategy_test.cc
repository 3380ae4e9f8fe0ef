#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "apiserver/internal/strategies/strategies.h"
#include "base/test_growth.h"

namespace muster::apiserver::pod_strategy_test {
namespace {

bool may_become(const json::value& before, const json::value& after) {
    FieldErrors field_errors;
    pod_strategy().validate_update({{"spec", after}}, {{"spec", before}}, field_errors);
    return field_errors.empty();
}

TEST(PodStrategy, TolerationsAreOnlyAdded) {
    const json::value before = json::parse(
        R"({"tolerations":[{"key":"a","effect":"NoExecute","tolerationSeconds":3},{"key":"b","operator":"Exists"}]})");
    struct Row {
        const char* after;
        bool allowed;
    };
    constexpr Row kRows[] = {
        {R"([{"operator":"Exists","key":"b"},{"key":"c"},{"tolerationSeconds":3,"key":"a","effect":"NoExecute"}])",
         true},
        {R"([{"key":"a","effect":"NoExecute","tolerationSeconds":3}])", false},
        {R"([{"key":"a","effect":"NoExecute","tolerationSeconds":4},{"key":"b","operator":"Exists"}])",
         false},
        {R"([{"key":"a","effect":"NoExecute","tolerationSeconds":"3"},{"key":"b","operator":"Exists"}])",
         false},
        {R"([{"key":"a"},{"key":"b","operator":"Exists"}])", false},
        {R"([{"key":"a","effect":"NoExecute","tolerationSeconds":3},{"key":"b","operator":"Exists"},
             {"key":"c","operator":"In"}])",
         false},
        {R"([])", false},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(may_become(before, {{"tolerations", json::parse(row.after)}}), row.allowed)
            << row.after;
    EXPECT_FALSE(may_become(before, json::object()));
    EXPECT_TRUE(may_become(json::object(), before));
}

TEST(PodStrategy, GatesAreOnlyRemoved) {
    const json::value before = json::parse(R"({"schedulingGates":[{"name":"a"},{"name":"b"}]})");
    EXPECT_TRUE(may_become(before, json::parse(R"({"schedulingGates":[{"name":"b"}]})")));
    EXPECT_TRUE(may_become(before, json::object()));
    EXPECT_FALSE(may_become(before, json::parse(R"({"schedulingGates":[{"name":"c"}]})")));
}

TEST(PodStrategy, LookingForTolerationsGrowsWithThem) {
    const auto tolerations = [](std::size_t count, bool backwards) {
        json::array list;
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({{"key", fmt::format("k{}", backwards ? count - 1 - i : i)},
                            {"operator", "Exists"}});
        return json::value{{"tolerations", std::move(list)}};
    };
    EXPECT_LE(growth_by_ten(500,
                            [&](std::size_t size) {
                                ASSERT_TRUE(
                                    may_become(tolerations(size, false), tolerations(size, true)));
                            }),
              kLinearGrowth);
}

}  // namespace
}  // namespace muster::apiserver::pod_strategy_test
