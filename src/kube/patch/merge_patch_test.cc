#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "kube/patch/patch.h"
#include "kube/schema/schema.h"

namespace muster::kube::merge_patch_test {
namespace {

struct Row {
    const char* target;
    const char* patch;
    const char* result;
};

// RFC 7386 appendix A, the rows whose patch is an object, and the example of its section 3.
TEST(MergePatch, Applies) {
    constexpr Row kRows[] = {
        {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
        {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
        {R"({"a":"b"})", R"({"a":null})", R"({})"},
        {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
        {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
        {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
        {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
        {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
        {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
        {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
        {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
        {R"({"a":[1]})", R"({"a":[null,{"b":null}]})", R"({"a":[null,{"b":null}]})"},
        {R"({"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},
             "tags":["example","sample"],"content":"x"})",
         R"({"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},
             "tags":["example"]})",
         R"({"title":"Hello!","author":{"givenName":"John"},"tags":["example"],"content":"x",
             "phoneNumber":"+01-123-456-7890"})"},
    };
    for (const Row& row : kRows) {
        Result<json::value> result =
            apply_merge_patch(json::parse(row.target), json::parse(row.patch));
        ASSERT_TRUE(result) << row.patch;
        EXPECT_EQ(*result, json::parse(row.result)) << row.target << " " << row.patch;
    }
}

TEST(MergePatch, RefusesWhatIsNoObject) {
    for (const char* patch : {"null", "[]", "\"a\"", "1", R"([{"op":"add"}])"}) {
        Result<json::value> result = apply_merge_patch(json::object(), json::parse(patch));
        ASSERT_FALSE(result) << patch;
        EXPECT_EQ(result.error().code(), Code::kBadRequest);
    }
}

TEST(MergePatch, IsMadeFromADifference) {
    constexpr Row kRows[] = {
        // from, to, patch
        {R"({})", R"({})", R"({})"},
        {R"({"a":1,"b":{"c":[1]}})", R"({"b":{"c":[1]},"a":1})", R"({})"},
        {R"({"a":1})", R"({"a":2})", R"({"a":2})"},
        {R"({"a":1})", R"({})", R"({"a":null})"},
        {R"({})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
        {R"({"a":{"b":1,"c":2}})", R"({"a":{"b":1,"d":3}})", R"({"a":{"c":null,"d":3}})"},
        {R"({"a":[1,2]})", R"({"a":[2]})", R"({"a":[2]})"},
        {R"({"a":{"b":1}})", R"({"a":[1]})", R"({"a":[1]})"},
        {R"({"a":[1]})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
        {R"({"a":{"b":1}})", R"({"a":{}})", R"({"a":{"b":null}})"},
        {R"({"a":1})", R"({"a":{}})", R"({"a":{}})"},
        {R"({"status":{"phase":"Pending"}})",
         R"({"status":{"phase":"Running","conditions":[{"type":"Ready"}]}})",
         R"({"status":{"phase":"Running","conditions":[{"type":"Ready"}]}})"},
    };
    for (const Row& row : kRows) {
        const json::value from = json::parse(row.target);
        const json::value to = json::parse(row.patch);
        const json::value patch = make_merge_patch(from, to);
        EXPECT_EQ(patch, json::parse(row.result)) << row.target << " " << row.patch;
        EXPECT_EQ(apply_merge_patch(from, patch).value(), to) << row.target << " " << row.patch;
    }
}

TEST(MergePatch, ANullOfTheGoalCountsAsAbsent) {
    EXPECT_EQ(make_merge_patch(json::parse(R"({"a":1})"), json::parse(R"({"a":null,"b":null})")),
              json::parse(R"({"a":null})"));
    EXPECT_EQ(make_merge_patch(json::parse(R"({"a":{}})"), json::parse(R"({"a":{"b":null}})")),
              json::object());
}

TEST(MergePatch, KeepsTheOrderOfMembers) {
    Result<json::value> result = apply_merge_patch(json::parse(R"({"a":1,"b":2,"c":3})"),
                                                   json::parse(R"({"a":null,"b":4})"));
    ASSERT_TRUE(result);
    EXPECT_EQ(json::serialize(*result), R"({"b":4,"c":3})");
}

TEST(MergePatchCost, OfRemovingMembersGrowsWithTheObject) {
    json::object wide;
    json::object nulls;
    for (int i = 0; i < 200'000; ++i) {
        wide.emplace("k" + std::to_string(i), i);
        if (i % 2 == 0) nulls.emplace("k" + std::to_string(i), nullptr);
    }
    const json::value target{{"m", wide}};
    const json::value patch{{"m", nulls}};
    const Result<json::value> merged = apply_merge_patch(target, patch);
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->at("m").as_object().size(), 100'000);
    EXPECT_EQ(merged->at("m").as_object().begin()->key(), "k1") << "in their order";
    const Result<json::value> strategic =
        apply_strategic_merge_patch(target, patch, *core_schema("Pod"));
    ASSERT_TRUE(strategic);
    EXPECT_EQ(*strategic, *merged);
}

}  // namespace
}  // namespace muster::kube::merge_patch_test
