#include "operator/internal/scaling/excluded_nodes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kube/values/time.h"

namespace muster::operators::excluded_nodes_test {
namespace {

const WallTime kNow = *kube::parse_time("2026-01-01T00:10:00Z");
const std::string kPast = "2026-01-01T00:10:00Z";
const std::string kLater = "2026-01-01T01:00:00Z";

using Nodes = std::vector<jobs::ExcludedNode>;

TEST(ExcludedNodes, WhatAJobLeavesOutAfterAPlan) {
    struct Row {
        std::string name;
        Nodes before;
        Nodes asked;
        std::string after;
    };
    for (const Row& row : std::vector<Row>{
             {"none", {}, {}, ""},
             {"a first one", {}, {{"n1", kLater}}, "n1 (until " + kLater + ")"},
             {"without an end", {}, {{"n1", ""}}, "n1"},
             {"another one is the newest", {{"n1", ""}}, {{"n2", ""}}, "n1, n2"},
             {"the same once more", {{"n1", ""}, {"n2", ""}}, {{"n1", ""}}, "n1, n2"},
             {"for another time",
              {{"n1", ""}, {"n2", ""}},
              {{"n1", kLater}},
              "n2, n1 (until " + kLater + ")"},
             {"twice in a plan", {}, {{"n1", kLater}, {"n1", ""}}, "n1"},
             {"what is over", {{"n1", kPast}, {"n2", kLater}}, {}, "n2 (until " + kLater + ")"},
             {"a plan takes one back", {{"n1", ""}}, {{"n1", kPast}}, ""},
             {"written by others", {{"a b", ""}, {"", ""}, {"n1", "soon"}, {"n2", ""}}, {}, "n2"},
         })
        EXPECT_EQ(names_of(excluded_after(row.before, row.asked, kNow)), row.after) << row.name;
}

TEST(ExcludedNodes, TheNewestStay) {
    Nodes many;
    for (std::size_t i = 0; i < jobs::kMostExcludedNodes + 3; ++i)
        many.push_back({fmt::format("n{}", i), ""});
    const Nodes after = excluded_after(many, {{"last", ""}}, kNow);
    EXPECT_EQ(after.size(), jobs::kMostExcludedNodes);
    EXPECT_EQ(after.front().node, "n4");
    EXPECT_EQ(after.back().node, "last");
    EXPECT_EQ(names_of(after), "n4, n5, n6, n7, n8 and 27 more");
}

TEST(ExcludedNodes, OfAJobNow) {
    EXPECT_TRUE(excluded_now(std::nullopt, kNow).empty());
    jobs::ExecutedPlan plan;
    EXPECT_TRUE(excluded_now(plan, kNow).empty());
    plan.excluded_nodes = {{"n1", kLater}};
    EXPECT_EQ(names_of(excluded_now(plan, kNow)), "n1 (until " + kLater + ")");
    EXPECT_TRUE(excluded_now(plan, *kube::parse_time(kLater)).empty());
}

}  // namespace
}  // namespace muster::operators::excluded_nodes_test
