#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/conditions.h"

// What a plan makes of what is known of a job's integrations.

namespace muster::operators::planner_integrations_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

/// The default sketch, with a PodGroup or an autoscaler.
jobs::Job gang_job(const JobSketch& sketch = {}, const std::string& scheduler = "volcano") {
    jobs::Job job = make_job(sketch);
    job.platform.cluster = true;
    job.platform.gang_scheduler = scheduler;
    return job;
}

OwnedObjectPtr group_in(const std::string& phase, bool deleting = false) {
    auto record = std::make_shared<OwnedObjectRecord>();
    record->name = "demo";
    record->uid = "group-uid";
    record->owner_uid = JobUid("job-uid");
    record->phase = phase;
    record->deleting = deleting;
    return record;
}

IntegrationState seen(OwnedObjectPtr object, Knowledge knowledge = Knowledge::kCurrent,
                      IntegrationType type = IntegrationType::kVolcano, bool wanted = true) {
    IntegrationState integrations;
    integrations.objects.push_back({.desired = {type, wanted},
                                    .knowledge = knowledge,
                                    .problem = "the cluster has no such type",
                                    .object = std::move(object)});
    return integrations;
}

Plan plan_with(const jobs::Job& job, const IntegrationState& integrations,
               jobs::JobStatus status = {}, std::vector<PodSketch> pods = {}) {
    const JobRecord record = record_of(job);
    Dependents dependents = make_dependents(pods);
    dependents.configure(record.facts, status);
    return plan(record, status, dependents, {}, kNow, integrations);
}

struct HoldRow {
    std::string name;
    IntegrationState integrations;
    bool makes_pods;
    bool keeps;  ///< looks at the PodGroup
    std::vector<std::string> conditions;
    std::vector<std::string> told;
};

TEST(PlannerIntegrations, WhenPodsAreMade) {
    const auto plugins = IntegrationType::kSchedulerPlugins;
    for (const HoldRow& row : std::vector<HoldRow>{
             {"nothing known yet", seen(nullptr, Knowledge::kNone), false, false, {"Created"}, {}},
             {"no such type",
              seen(nullptr, Knowledge::kRefused),
              false,
              false,
              {"Created", "Blocked"},
              {"PyTorchJobPodGroupMissing"}},
             {"no PodGroup yet",
              seen(nullptr),
              false,
              true,
              {"Created", "Queued"},
              {"PyTorchJobQueued"}},
             {"Volcano has not looked at it",
              seen(group_in("")),
              false,
              true,
              {"Created", "Queued"},
              {"PyTorchJobQueued"}},
             {"no room in the queue",
              seen(group_in("Pending")),
              false,
              true,
              {"Created", "Queued"},
              {"PyTorchJobQueued"}},
             {"one of before on its way out",
              seen(group_in("Running", true)),
              false,
              true,
              {"Created", "Queued"},
              {"PyTorchJobQueued"}},
             {"admitted", seen(group_in("Inqueue")), true, true, {"Created"}, {}},
             {"scheduler-plugins admits nobody",
              seen(nullptr, Knowledge::kCurrent, plugins),
              true,
              true,
              {"Created"},
              {}},
             {"scheduler-plugins without its type",
              seen(nullptr, Knowledge::kRefused, plugins),
              false,
              false,
              {"Created", "Blocked"},
              {"PyTorchJobPodGroupMissing"}},
         }) {
        SCOPED_TRACE(row.name);
        const bool volcano = row.integrations.objects[0].desired.type == IntegrationType::kVolcano;
        const Plan made = plan_with(gang_job({}, volcano ? "volcano" : "mine"), row.integrations);
        EXPECT_THAT(made.create_pods, SizeIs(row.makes_pods ? 3 : 0));
        EXPECT_THAT(made.create_services, SizeIs(row.makes_pods ? 3 : 0));
        EXPECT_EQ(made.ensure_owned_objects, row.keeps);
        EXPECT_THAT(made.ensure_integrations, SizeIs(row.keeps ? 1 : 0));
        ASSERT_TRUE(made.status.has_value());
        EXPECT_EQ(summary(*made.status), row.conditions);
        EXPECT_EQ(reasons(made), row.told);
        EXPECT_EQ(made.status->start_time.empty(), !row.makes_pods)
            << "the time in a queue is not the job's";
    }
}

TEST(PlannerIntegrations, WhatHoldsIsToldOnceAndTakenBack) {
    const jobs::Job job = gang_job();
    const Plan first = plan_with(job, seen(nullptr));
    const Plan again = plan_with(job, seen(group_in("Pending")), *first.status);
    EXPECT_FALSE(again.status.has_value());
    EXPECT_THAT(again.events, IsEmpty());
    const Plan unknown = plan_with(job, seen(nullptr, Knowledge::kNone), *first.status);
    EXPECT_FALSE(unknown.status.has_value()) << "another operator has begun to look";
    const Plan admitted = plan_with(job, seen(group_in("Inqueue")), *first.status);
    EXPECT_THAT(summary(*admitted.status), ElementsAre("Created"));
    EXPECT_THAT(admitted.create_pods, SizeIs(3));

    const Plan blocked = plan_with(job, seen(nullptr, Knowledge::kRefused), *first.status);
    EXPECT_THAT(summary(*blocked.status), ElementsAre("Created", "Blocked"));
    EXPECT_THAT(blocked.status->conditions.back().message,
                HasSubstr("the cluster has no such type"));
    const Plan found = plan_with(job, seen(nullptr), *blocked.status);
    EXPECT_THAT(summary(*found.status), ElementsAre("Created", "Queued"));
}

TEST(PlannerIntegrations, PodsThatAreThereNeedNobodysLeave) {
    const jobs::Job job = gang_job();
    const Plan made = plan_with(job, seen(nullptr, Knowledge::kRefused), {}, kAllRunning);
    EXPECT_THAT(summary(*made.status), ElementsAre("Created", "Running"));
    EXPECT_FALSE(made.status->start_time.empty());
    const Plan one_gone =
        plan_with(job, seen(group_in("Pending")), *made.status, {{.type = "Master"}, {.index = 0}});
    EXPECT_THAT(one_gone.create_pods, IsEmpty());
    EXPECT_THAT(summary(*one_gone.status), ElementsAre("Created", "Running", "Queued"));
}

TEST(PlannerIntegrations, NobodyIsAskedOfPrioritiesBeforeTheyAreKnown) {
    IntegrationState integrations = seen(group_in("Inqueue"));
    integrations.priorities_known = false;
    EXPECT_THAT(plan_with(gang_job(), integrations).create_pods, IsEmpty());
}

TEST(PlannerIntegrations, ObjectsGoWithTheEndAndASuspension) {
    const IntegrationDeletion gone{IntegrationType::kVolcano, "group-uid"};
    jobs::JobStatus ended;
    set_condition(ended, {.type = "Succeeded", .reason = "x", .message = ""}, kNow);
    EXPECT_THAT(plan_with(gang_job(), seen(group_in("Running")), ended).delete_integrations,
                ElementsAre(gone));
    EXPECT_TRUE(plan_with(gang_job(), seen(group_in("Running", true)), ended).empty())
        << "on its way";
    EXPECT_TRUE(plan_with(gang_job(), seen(nullptr), ended).empty());

    const jobs::Job suspended = gang_job({.suspend = true});
    const Plan made = plan_with(suspended, seen(group_in("Running")));
    EXPECT_THAT(made.delete_integrations, ElementsAre(gone));
    EXPECT_FALSE(made.ensure_owned_objects);
    EXPECT_THAT(summary(*made.status), ElementsAre("Created", "Suspended"));

    const Plan resumed =
        plan_with(gang_job(), seen(group_in("Running")), *made.status, {{.deleting = true}});
    EXPECT_THAT(resumed.delete_integrations, ElementsAre(gone)) << "the old pods go first";
}

TEST(PlannerIntegrations, AnAutoscalerHoldsNothing) {
    const jobs::Job job = gang_job({}, "");
    const auto scaler = IntegrationType::kAutoscaler;
    for (Knowledge knowledge : {Knowledge::kNone, Knowledge::kRefused, Knowledge::kCurrent}) {
        const Plan made = plan_with(job, seen(nullptr, knowledge, scaler));
        EXPECT_THAT(made.create_pods, SizeIs(3));
        EXPECT_THAT(summary(*made.status), ElementsAre("Created"));
        // Where the type can't be seen, the answer to the request says why, and the job's events.
        EXPECT_THAT(made.ensure_integrations, SizeIs(knowledge == Knowledge::kNone ? 0 : 1));
    }
    const Plan unwanted = plan_with(job, seen(group_in(""), Knowledge::kCurrent, scaler, false));
    EXPECT_THAT(unwanted.delete_integrations,
                ElementsAre(IntegrationDeletion{scaler, "group-uid"}));
    EXPECT_FALSE(unwanted.ensure_owned_objects);
}

}  // namespace
}  // namespace muster::operators::planner_integrations_test
