#include "operator/internal/planning/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"

namespace muster::operators::planner_test {
namespace {

constexpr SlotId kMaster0{0, 0};
constexpr SlotId kWorker0{1, 0};

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

TEST(Planner, TheFirstPassCreatesEverythingAndSaysCreated) {
    const jobs::Job job = make_job({});
    Plan first = plan(job, {}, {}, kNow);
    EXPECT_THAT(replicas(first.create_pods), ElementsAre("Master 0", "Worker 0", "Worker 1"));
    EXPECT_THAT(replicas(first.create_services), ElementsAre("Master 0", "Worker 0", "Worker 1"));
    ASSERT_TRUE(first.status);
    EXPECT_THAT(summary(*first.status), ElementsAre("Created"));
    EXPECT_EQ(first.status->conditions[0].reason, "PyTorchJobCreated");
    EXPECT_EQ(first.status->conditions[0].message, "PyTorchJob demo is created.");
    EXPECT_EQ(first.status->start_time, kube::format_time(kNow));
    EXPECT_THAT(first.status->replica_statuses, SizeIs(2));
    EXPECT_EQ(first.status->replica_statuses["Worker"].selector,
              "training.kubeflow.org/job-name=demo,"
              "training.kubeflow.org/operator-name=pytorchjob-controller,"
              "training.kubeflow.org/replica-type=worker");
    EXPECT_THAT(first.events, IsEmpty());
}

TEST(Planner, WhatIsOnItsWayIsNotAskedForAgain) {
    const jobs::Job job = make_job({});
    Dependents dependents;
    const Instant later{1h};
    for (SlotId slot : {kMaster0, SlotId{1, 1}}) dependents.pod_create_sent(slot, later);
    for (SlotId slot : {kMaster0, kWorker0, SlotId{1, 1}})
        dependents.service_create_sent(slot, later);
    Plan next = plan(job, {}, dependents, kNow);
    EXPECT_THAT(replicas(next.create_pods), ElementsAre("Worker 0"));
    EXPECT_THAT(next.create_services, IsEmpty());
}

TEST(Planner, AQuietWorldNeedsNothing) {
    const jobs::Job job = make_job({});
    Dependents dependents = make_dependents(kAllRunning);
    const jobs::JobStatus status = status_after(job, dependents);
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running"));
    EXPECT_TRUE(plan(job, status, dependents, kNow + 1h).empty());
}

// training-operator pkg/core/status_test.go: phase to counter.
TEST(Planner, TestUpdateJobReplicaStatuses) {
    const jobs::Job job = make_job({.workers = 6, .policy = "OnFailure"});
    const jobs::JobStatus status = status_after(
        job, make_dependents({{.type = "Master", .phase = PodPhase::kPending},
                              {.index = 0, .phase = PodPhase::kFailed},
                              {.index = 1, .phase = PodPhase::kSucceeded},
                              {.index = 2, .phase = PodPhase::kRunning},
                              {.index = 3, .phase = PodPhase::kRunning, .deleting = true},
                              {.index = 4, .phase = PodPhase::kUnknown}}));
    const jobs::ReplicaStatus& workers = status.replica_statuses.at("Worker");
    EXPECT_EQ(workers.active, 1);
    EXPECT_EQ(workers.succeeded, 1);
    EXPECT_EQ(workers.failed, 2);
    const jobs::ReplicaStatus& master = status.replica_statuses.at("Master");
    EXPECT_EQ(master.active, std::nullopt);
    EXPECT_EQ(master.succeeded, std::nullopt);
    EXPECT_EQ(master.failed, std::nullopt);
}

// Upstream warns and counts neither. Whoever made the second pod, one replica has one pod.
TEST(Planner, OfTwoPodsOneStays) {
    const jobs::Job job = make_job({.workers = 1});
    Dependents dependents = make_dependents({{.type = "Master"}, {.index = 0}});
    auto second = std::make_shared<PodRecord>(*make_pod({.uid = "a-second"}));
    second->name = "made-by-hand";
    second->named_as_replica = false;
    const PodPtr as_known = second;
    dependents.apply(nullptr, &as_known);
    Plan next = plan(job, {}, dependents, kNow);
    EXPECT_EQ(next.status->replica_statuses["Worker"].active, 1);
    EXPECT_THAT(next.create_pods, IsEmpty());
    EXPECT_THAT(names(next.delete_pods), ElementsAre("made-by-hand"));
}

// training-operator pkg/util/train/train_util_test.go.
TEST(Planner, AMissingServiceIsMadeAgain) {
    const jobs::Job job = make_job({});
    Dependents dependents = make_dependents(kAllRunning);
    const jobs::JobStatus status = status_after(job, dependents);
    const ServicePtr service = make_service("Worker", 1);
    dependents.apply(&service, nullptr);
    Plan next = plan(job, status, dependents, kNow);
    EXPECT_THAT(replicas(next.create_services), ElementsAre("Worker 1"));
    EXPECT_THAT(next.create_pods, IsEmpty());
}

// "Should get the corresponding resources successfully": the master's end is the job's.
TEST(Planner, TheMastersSuccessIsTheJobs) {
    const jobs::Job job = make_job({});
    jobs::JobStatus status = status_after(job, make_dependents(kAllRunning));
    Plan next = plan(job, status,
                     make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded},
                                      {.index = 0},
                                      {.index = 1, .phase = PodPhase::kSucceeded}}),
                     kNow + 5s);
    ASSERT_TRUE(next.status);
    EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Running=False", "Succeeded"));
    EXPECT_EQ(next.status->conditions.back().reason, "PyTorchJobSucceeded");
    EXPECT_EQ(next.status->conditions.back().message, "PyTorchJob demo is successfully completed.");
    EXPECT_EQ(next.status->completion_time, kube::format_time(kNow + 5s));
    EXPECT_EQ(next.status->replica_statuses["Master"].succeeded, 1);
    // Those that still run count as succeeded, as upstream folds them.
    EXPECT_EQ(next.status->replica_statuses["Worker"].succeeded, 2);
    EXPECT_EQ(next.status->replica_statuses["Worker"].active, std::nullopt);
    EXPECT_EQ(next.events, (std::vector<JobEvent>{{kube::EventType::kNormal, "PyTorchJobSucceeded",
                                                   "PyTorchJob demo is successfully completed."}}));
}

// Upstream visits types in random order and may set both (issue 1711).
TEST(Planner, AMasterThatSucceedsBesideAFailedWorkerWins) {
    for (const char* policy : {"Never", "ExitCode", "OnFailure"}) {
        const jobs::Job job = make_job({.policy = policy});
        Plan next =
            plan(job, status_after(job, make_dependents(kAllRunning)),
                 make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded, .exit_code = 0},
                                  {.index = 0, .phase = PodPhase::kFailed, .exit_code = 1},
                                  {.index = 1}}),
                 kNow);
        EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Running=False", "Succeeded"))
            << policy;
        EXPECT_THAT(next.delete_pods, IsEmpty()) << policy;
    }
}

TEST(Planner, AMasterThatFailsFails) {
    const jobs::Job job = make_job({.policy = "Never"});
    Plan next =
        plan(job, status_after(job, make_dependents(kAllRunning)),
             make_dependents({{.type = "Master", .phase = PodPhase::kFailed, .exit_code = 1},
                              {.index = 0},
                              {.index = 1, .phase = PodPhase::kSucceeded}}),
             kNow);
    EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Running=False", "Failed"));
    EXPECT_EQ(next.status->conditions.back().message,
              "PyTorchJob demo is failed because 1 Master replica(s) failed.");
    EXPECT_EQ(next.status->replica_statuses["Worker"].active, 1);
}

// With one replica restarting, the others' Running does not show (nor flap between passes).
TEST(Planner, RestartingOutranksRunning) {
    const jobs::Job job = make_job({});
    Dependents dependents = make_dependents(
        {{.type = "Master"}, {.index = 0}, {.index = 1, .phase = PodPhase::kFailed}});
    const jobs::JobStatus status = status_after(job, dependents);
    dependents.delete_sent({1, 1}, "worker1", Instant::max());
    EXPECT_THAT(summary(status), ElementsAre("Created", "Restarting"));
    EXPECT_TRUE(plan(job, status, dependents, kNow + 1min).empty());
}

TEST(Planner, AJobWithoutMasterEndsWithAllItsWorkers) {
    const jobs::Job job = make_job({.masters = -1, .policy = "OnFailure"});
    jobs::JobStatus status = status_after(
        job, make_dependents({{.index = 0}, {.index = 1, .phase = PodPhase::kSucceeded}}));
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running"));
    status = status_after(job,
                          make_dependents({{.index = 0, .phase = PodPhase::kSucceeded},
                                           {.index = 1, .phase = PodPhase::kSucceeded}}),
                          status);
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running=False", "Succeeded"));
}

// What kinds may differ in, with a kind made up for it.
TEST(Planner, AKindWithoutServicesGetsNone) {
    jobs::JobKind kind = pytorch();
    kind.services = false;
    jobs::Job job = make_job({});
    job.kind = &kind;
    Plan first = plan(job, {}, {}, kNow);
    EXPECT_THAT(first.create_pods, SizeIs(3));
    EXPECT_THAT(first.create_services, IsEmpty());
}

TEST(Planner, AKindMayEndWithItsFirstReplica) {
    jobs::JobKind kind = pytorch();
    kind.success_policy = [](const jobs::Job&) {
        return jobs::SuccessPolicy{.type = 1, .enough = jobs::SuccessPolicy::Enough::kFirst};
    };
    jobs::Job job = make_job({.masters = -1});
    job.kind = &kind;
    const auto ends_with = [&](int index) {
        return status_after(job, make_dependents({{.index = index, .phase = PodPhase::kSucceeded}}))
            .is("Succeeded");
    };
    EXPECT_FALSE(ends_with(1));
    EXPECT_TRUE(ends_with(0));
}

}  // namespace
}  // namespace muster::operators::planner_test
