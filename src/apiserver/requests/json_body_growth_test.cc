#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apiserver/requests/json_body.h"
#include "base/test_growth.h"

// Bodies of requests in JSON, before anyone knows what they are.

namespace muster::apiserver::json_body_growth_test {
namespace {

std::string wide(std::size_t size) {
    return "{" + repeated(size, [](std::size_t i) { return fmt::format("\"k{}\":{{}},", i); }) +
           "\"k\":1}";
}
std::string one_key(std::size_t size) {
    return "{" + repeated(size, [](std::size_t) { return std::string("\"k\":[],"); }) + "\"k\":1}";
}
std::string pairs(std::size_t size) {
    return "{" + repeated(size, [](std::size_t i) { return fmt::format("\"k{}\":1,", i / 2); }) +
           "\"k\":1}";
}
std::string list(std::size_t size) {
    return "[" + repeated(size, [](std::size_t) { return std::string("[],\"\\u0041\",-1.5e3,"); }) +
           "1]";
}
std::string text(std::size_t size) { return "\"" + std::string(size, 'x') + "\""; }
std::string digits(std::size_t size) { return std::string(size, '9'); }
std::string depth(std::size_t size) { return std::string(size, '['); }
/// The path of each key that is there twice has the long one.
std::string below_a_long_key(std::size_t size) {
    return "{\"" + std::string(10 * size, 'k') + "\":{" +
           repeated(size, [](std::size_t i) { return fmt::format("\"k{}\":1,", i / 2); }) +
           "\"k\":1}}";
}
void body(std::string_view text) { (void)parse_json_body(text); }

class JsonBodyGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(JsonBodyGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(Shapes, JsonBodyGrowth,
                         ::testing::Values(GrowthCase{"wide", wide, body, 3'000},
                                           GrowthCase{"one_key", one_key, body, 3'000},
                                           GrowthCase{"pairs", pairs, body, 3'000},
                                           GrowthCase{"list", list, body, 3'000},
                                           GrowthCase{"text", text, body, 300'000},
                                           GrowthCase{"digits", digits, body, 100'000},
                                           GrowthCase{"depth", depth, body, 100'000},
                                           GrowthCase{"below_a_long_key", below_a_long_key, body,
                                                      3'000}),
                         ::testing::PrintToStringParamName());

TEST(JsonBody, DuplicatesBelowALongKeyTakeNoMoreThanTheBody) {
    const std::string sent = below_a_long_key(10'000);
    const auto parsed = parse_json_body(sent);
    ASSERT_TRUE(parsed);
    std::size_t named = 0;
    for (const std::string& field : parsed->duplicate_fields) named += field.size();
    EXPECT_GT(named, 0u);
    EXPECT_LT(named, 2 * sent.size());
}

}  // namespace
}  // namespace muster::apiserver::json_body_growth_test
