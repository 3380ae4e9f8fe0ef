#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/planning/planner.h"
#include "operator/internal/scaling/scale_fixture.h"

// A ScalePlan enters the status with the members that it leads to, or not at all.

namespace muster::operators::planner_scale_test {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr WallTime kTime{std::chrono::seconds(1'767'225'700)};

class PlannerScale : public ::testing::Test {
  protected:
    explicit PlannerScale(const std::string& more_spec = {})
        : job(elastic_record(elastic_object(replica_spec("worker", 2), more_spec),
                             R"({"dlrover-master": {"ids": "0", "next": 1},
                                 "worker": {"ids": "0-1", "next": 2}})")),
          status(job->status.unpack()) {
        dependents.configure(job->facts, status);
    }
    Plan made(const std::string& spec) {
        const jobs::ScalePlanReview review = jobs::review_scale_plan(plan_object("p", spec));
        const Result<ScaleOrder> order = order_of(review.plan.spec, "u", 3, *job, status);
        EXPECT_TRUE(order.has_value());
        return plan(*job, status, dependents, {}, kTime, {}, &*order);
    }
    static std::vector<SlotId> slots(const Plan& plan) {
        std::vector<SlotId> all;
        for (const PodCreation& creation : plan.create_pods) all.push_back(creation.slot);
        return all;
    }

    JobPtr job;
    jobs::JobStatus status;
    Dependents dependents;
};

TEST_F(PlannerScale, IsNotedInTheWriteThatChangesTheMembers) {
    const Plan made_plan = made(R"("removePods": [{"type": "worker", "id": 0}])");
    ASSERT_TRUE(made_plan.status.has_value());
    EXPECT_EQ(made_plan.status->plan->uid, "u");
    EXPECT_EQ(made_plan.status->plan->generation, 3);
    EXPECT_EQ(made_plan.status->members.at("worker").ids, "1");
    EXPECT_FALSE(made_plan.only_counts);
    EXPECT_THAT(slots(made_plan), Not(Contains(SlotId{3, 0}))) << "it leaves";
    EXPECT_THAT(slots(made_plan), Contains(SlotId{3, 1}));
    EXPECT_THAT(slots(made_plan), Not(Contains(SlotId{3, 2})));
}

TEST_F(PlannerScale, OneThatChangesNothingIsNotedToo) {
    const Plan made_plan = made(workers(2));
    ASSERT_TRUE(made_plan.status.has_value());
    EXPECT_EQ(made_plan.status->plan->uid, "u");
    EXPECT_EQ(made_plan.status->members, status.members);
}

TEST_F(PlannerScale, WaitsWhileAPodOfItsTypeIsBeingMade) {
    dependents.pod_create_sent({3, 1}, Instant::max());
    for (const std::string& spec :
         {std::string(R"("removePods": [{"type": "worker", "id": 1}])"), workers(1), workers(4)}) {
        const Plan made_plan = made(spec);
        if (made_plan.status) {
            EXPECT_FALSE(made_plan.status->plan.has_value()) << spec;
            EXPECT_EQ(made_plan.status->members, status.members) << spec;
        }
    }
}

class PlannerScaleSuspended : public PlannerScale {
  protected:
    PlannerScaleSuspended() : PlannerScale(R"("suspend": true,)") {}
};

TEST_F(PlannerScaleSuspended, WaitsForTheJob) {
    const Plan made_plan = made(workers(4));
    ASSERT_TRUE(made_plan.status.has_value());
    EXPECT_FALSE(made_plan.status->plan.has_value());
    EXPECT_EQ(made_plan.status->members, status.members);
}

TEST_F(PlannerScale, WhatTheManifestHasByNowIsNoLongerAsked) {
    status.plan = jobs::ExecutedPlan{
        .uid = "u",
        .generation = 3,
        .replicas = {{"worker", {.replicas = 5, .instead_of = 1, .resource = {}}}}};
    const Plan made_plan = plan(*job, status, dependents, {}, kTime);
    ASSERT_TRUE(made_plan.status.has_value());
    EXPECT_EQ(made_plan.status->plan,
              (jobs::ExecutedPlan{.uid = "u", .generation = 3, .replicas = {}}));
}

TEST_F(PlannerScale, FewerWorkersBeginWithTheSpares) {
    const std::string fewer = workers(1);
    EXPECT_EQ(made(fewer).status->members.at("worker").ids, "0");
    EXPECT_EQ(made(R"("sparePods": [{"type": "worker", "id": 0}], )" + fewer)
                  .status->members.at("worker")
                  .ids,
              "1")
        << "those of the plan itself";
    status.plan = jobs::ExecutedPlan{.uid = "before",
                                     .generation = 1,
                                     .replicas = {},
                                     .excluded_nodes = {},
                                     .spares = {{"worker", "0"}}};
    EXPECT_EQ(made(fewer).status->members.at("worker").ids, "1") << "those of a plan before";
}

TEST_F(PlannerScale, AnEditTakesTheSparesFirstToo) {
    json::value object = elastic_object(replica_spec("worker", 1));
    job = elastic_record(object,
                         R"({"dlrover-master": {"ids": "0", "next": 1},
                             "worker": {"ids": "0-2", "next": 3}})",
                         R"(, "plan": {"uid": "u", "generation": 1,
                                       "spares": {"worker": "1,7-9", "ps": "x"}})");
    status = job->status.unpack();
    dependents.configure(job->facts, status);
    const Plan made_plan = plan(*job, status, dependents, {}, kTime);
    ASSERT_TRUE(made_plan.status.has_value());
    EXPECT_EQ(made_plan.status->members.at("worker").ids, "0") << "1 as a spare, then the highest";
}

TEST_F(PlannerScale, NewPodsAreKeptFromNodesUntilTheirTime) {
    const auto at = [&](std::chrono::seconds after) {
        return plan(*job, status, dependents, {}, kTime + after);
    };
    EXPECT_THAT(at({}).excluded_nodes, ::testing::IsEmpty());
    status.plan =
        jobs::ExecutedPlan{.uid = "u",
                           .generation = 1,
                           .replicas = {},
                           .excluded_nodes = {{.node = "n1", .until = "2026-01-01T00:02:40Z"},
                                              {.node = "n2", .until = ""}},
                           .spares = {}};
    const Plan before = at(std::chrono::seconds(59));
    EXPECT_THAT(slots(before), Contains(SlotId{3, 0}));
    EXPECT_THAT(before.excluded_nodes, ::testing::ElementsAre("n1", "n2"));
    EXPECT_THAT(at(std::chrono::seconds(60)).excluded_nodes, ::testing::ElementsAre("n2"));
    for (std::int32_t id = 0; id < 2; ++id) dependents.pod_create_sent({3, id}, Instant::max());
    dependents.pod_create_sent({0, 0}, Instant::max());
    EXPECT_THAT(at({}).excluded_nodes, ::testing::IsEmpty()) << "no pod is made";
}

}  // namespace
}  // namespace muster::operators::planner_scale_test
