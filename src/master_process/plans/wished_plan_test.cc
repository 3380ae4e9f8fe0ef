#include "master_process/plans/wished_plan.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::master_process::wished_plan_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

json::value plan(const std::string& spec = R"("ownerJob": "demo")",
                 const std::string& status = "{}") {
    return json::parse(
        R"({"metadata": {"name": "demo-plan", "generation": 3, "resourceVersion": "7",
        "labels": {"scale-type": "auto"},
        "ownerReferences": [{"kind": "ElasticJob", "name": "demo", "controller": true}]},
        "spec": {)" +
        spec + R"(}, "status": )" + status + "}");
}

TEST(WishedPlan, WhatTheOperatorSaysOfIt) {
    struct Row {
        std::string name;
        std::string spec;
        std::string status;
        PlanState state;
    };
    const std::string asks = R"("ownerJob": "demo", "migratePods": [{"name": "a"}, 3])";
    for (const Row& row : std::vector<Row>{
             {"empty", R"("ownerJob": "demo")", "{}", {.generation = 3}},
             {"not taken up", asks, "{}", {.generation = 3, .asks = true, .moved = {"a"}}},
             {"waits",
              asks,
              R"({"phase": "Pending", "observedGeneration": 3})",
              {.generation = 3, .asks = true, .moved = {"a"}}},
             {"done",
              asks,
              R"({"phase": "Succeeded", "observedGeneration": 3})",
              {.generation = 3, .asks = true, .ended = true, .moved = {"a"}}},
             {"an earlier one is done",
              asks,
              R"({"phase": "Failed", "observedGeneration": 2})",
              {.generation = 3, .asks = true, .moved = {"a"}}},
             {"refused",
              asks,
              R"({"phase": "Failed", "observedGeneration": 3, "message": "no"})",
              {.generation = 3, .asks = true, .ended = true, .why_refused = "no", .moved = {"a"}}},
         }) {
        const auto state = state_of(plan(row.spec, row.status), "demo");
        ASSERT_TRUE(state) << row.name;
        EXPECT_EQ(*state, row.state) << row.name;
    }
}

TEST(WishedPlan, AnObjectOfSomeoneElseIsNotWritten) {
    json::value unlabelled = plan();
    unlabelled.at("metadata").as_object().erase("labels");
    json::value unowned = plan();
    unowned.at("metadata").as_object().erase("ownerReferences");
    for (const json::value& other :
         {unlabelled, unowned, plan(R"("ownerJob": "other")"), json::value(), json::value(3),
          json::parse(R"({"metadata": [], "spec": 3})")}) {
        const auto state = state_of(other, "demo");
        ASSERT_FALSE(state);
        EXPECT_THAT(state.error().message(), HasSubstr("delete it, or give yours another name"));
    }
}

std::string spec_after(const std::string& spec, const master::Wish& wish,
                       const std::set<std::string>& asked = {}, bool refused = false) {
    const auto made = with_wish(plan(spec), wish, asked, refused);
    if (!made) return "as it is";
    EXPECT_EQ(made->at_pointer("/metadata/resourceVersion"), "7") << "it is compared and set";
    return json::serialize(made->at("spec"));
}

TEST(WishedPlan, TheWishIsTheWholeSpec) {
    const WallTime until{std::chrono::seconds(1'767'225'600)};
    const std::string none = R"("ownerJob": "demo")";
    const std::string moves = none + R"(, "migratePods": [{"name": "a"}])";
    EXPECT_EQ(spec_after(none, {}), "as it is");
    EXPECT_EQ(
        spec_after(none, {.left_out = {{"n1", until}, {"n2"}}, .moved = {"a"}, .spares = {"b"}}),
        R"({"ownerJob":"demo","excludedNodes":[{"node":"n1","until":"2026-01-01T00:00:00Z"},)"
        R"({"node":"n2"}],"migratePods":[{"name":"a"}],"sparePods":[{"name":"b"}]})");
    EXPECT_EQ(spec_after(none + R"(, "excludedNodes": [{"node": "n1"}])", {.left_out = {{"n1"}}}),
              "as it is");
    EXPECT_EQ(spec_after(none + R"(, "sparePods": [{"name": "b"}])", {}), R"({"ownerJob":"demo"})");
    EXPECT_EQ(spec_after(none + R"(, "sparePods": 3, "excludedNodes": null)", {}),
              R"({"ownerJob":"demo"})");
    EXPECT_EQ(spec_after(moves, {.moved = {"a"}}), "as it is");
    EXPECT_EQ(spec_after(moves, {.moved = {"b"}}),
              R"({"ownerJob":"demo","migratePods":[{"name":"b"}]})");
    EXPECT_EQ(spec_after(moves, {}), R"({"ownerJob":"demo"})");
}

TEST(WishedPlan, APodIsAskedToMoveOnce) {
    const std::string moves = R"("ownerJob": "demo", "migratePods": [{"name": "a"}])";
    EXPECT_EQ(spec_after(moves, {.moved = {"a"}}, {"a"}), "as it is");
    EXPECT_EQ(spec_after(moves, {}, {"a"}), "as it is") << "that it is done is worth no write";
    EXPECT_EQ(spec_after(moves, {.moved = {"a", "b"}}, {"a"}),
              R"({"ownerJob":"demo","migratePods":[{"name":"b"}]})");
    EXPECT_EQ(spec_after(moves, {.spares = {"c"}}, {"a"}),
              R"({"ownerJob":"demo","sparePods":[{"name":"c"}]})");
}

TEST(WishedPlan, AfterARefusalTheRestIsAskedAgain) {
    const std::string both =
        R"("ownerJob": "demo", "excludedNodes": [{"node": "n1"}], "migratePods": [{"name": "a"}])";
    EXPECT_EQ(spec_after(both, {.left_out = {{"n1"}}, .moved = {"a"}}, {"a"}, true),
              R"({"ownerJob":"demo","excludedNodes":[{"node":"n1"}]})");
    EXPECT_EQ(spec_after(R"("ownerJob": "demo", "excludedNodes": [{"node": "n1"}])",
                         {.left_out = {{"n1"}}}, {"a"}, true),
              "as it is")
        << "what was refused as a whole is not tried again";
    EXPECT_EQ(spec_after(R"("ownerJob": "demo", "psHosts": 3)", {}, {}, true),
              R"({"ownerJob":"demo"})");
}

}  // namespace
}  // namespace muster::master_process::wished_plan_test
