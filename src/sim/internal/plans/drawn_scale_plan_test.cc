#include "sim/internal/plans/drawn_scale_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobs/scale_plan.h"

namespace muster::sim::drawn_scale_plan_test {
namespace {

using ::testing::UnorderedElementsAre;

std::set<std::string> fields_of_many(const std::vector<WorkerPod>& workers) {
    std::set<std::string> fields;
    Rng rng(7);
    for (int i = 0; i < 200; ++i) {
        const json::value plan{{"apiVersion", jobs::kScalePlans.api_version()},
                               {"kind", jobs::kScalePlans.kind},
                               {"metadata", {{"name", "plan"}}},
                               {"spec", draw_scale_plan("demo", workers, rng)}};
        for (const Cause& problem : jobs::review_scale_plan(plan).problems)
            ADD_FAILURE() << problem.field << ": " << problem.message;
        for (const auto& [key, value] : plan.at("spec").get_object()) fields.insert(key);
    }
    return fields;
}

TEST(DrawnScalePlan, AsksForAllThatAPlanMay) {
    EXPECT_THAT(fields_of_many({{"demo-0", 0}, {"demo-3", 3}}),
                UnorderedElementsAre("ownerJob", "replicaResourceSpecs", "createPods", "removePods",
                                     "migratePods", "excludedNodes", "sparePods"));
}

TEST(DrawnScalePlan, NamesNoPodsWhereThereAreNone) {
    EXPECT_THAT(fields_of_many({}), UnorderedElementsAre("ownerJob", "replicaResourceSpecs",
                                                         "removePods", "excludedNodes"));
}

}  // namespace
}  // namespace muster::sim::drawn_scale_plan_test
