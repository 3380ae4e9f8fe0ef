#include "kube/schema/pattern_steps.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>

namespace muster::kube::pattern_steps_test {
namespace {

Schema::Ptr with_x(const std::string& schema) {
    auto [read, causes] = Schema::from_openapi(
        json::parse(R"({"type":"object","properties":{"spec":{"type":"object","properties":{"x":)" +
                    schema + "}}}}"),
        "");
    EXPECT_TRUE(causes.empty()) << causes[0].message;
    return read;
}

std::string many_patterns(int count) {
    std::string properties;
    for (int i = 0; i < count; ++i)
        properties += (i == 0 ? "" : ",") + ("\"p" + std::to_string(i)) +
                      R"(":{"type":"string","pattern":"^a)" + std::to_string(i) + R"($"})";
    return R"({"type":"object","properties":{)" + properties + "}}";
}

TEST(PatternSteps, AreThoseOfTheLongest) {
    const std::string kLong = R"("pattern":"^[a-z]{1,63}$")";
    for (const std::string& schema :
         {R"({"type":"string",)" + kLong + "}",
          R"({"type":"array","items":{"type":"string",)" + kLong + "}}",
          R"({"type":"object","additionalProperties":{"type":"string",)" + kLong + "}}",
          R"({"type":"string","anyOf":[{"minLength":1},{)" + kLong + "}]}",
          R"({"type":"string","not":{)" + kLong + "}}",
          R"({"type":"string","pattern":"^a$","not":{)" + kLong + "}}",
          R"({"type":"array","items":{"type":"string"},"allOf":[{"items":{)" + kLong + "}}]}"}) {
        EXPECT_GT(most_pattern_steps(*with_x(schema)), 63u) << schema;
        EXPECT_LT(most_pattern_steps(*with_x(schema)), 200u) << schema;
    }
}

TEST(PatternSteps, AreFewOfAnOrdinaryOne) {
    EXPECT_EQ(most_pattern_steps(*with_x(R"({"type":"string"})")), 0u);
    EXPECT_LT(most_pattern_steps(
                  *with_x(R"({"type":"string","pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"})")),
              50u);
}

TEST(PatternSteps, AreManyWhereThereAreManyPatterns) {
    EXPECT_LT(most_pattern_steps(*with_x(many_patterns(16))), 20u);
    EXPECT_GE(most_pattern_steps(*with_x(many_patterns(17))), 1'000u);
}

}  // namespace
}  // namespace muster::kube::pattern_steps_test
