#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/limits.h"
#include "operator/internal/planning/planner.h"

// What the plan makes of the decision about pods that wait; the decision has its own tests.

namespace muster::operators::planner_pending_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;
using Policy = jobs::PendingPolicy;

/// A PyTorchJob that ends when of three workers fewer than two are placed within 100 s.
const jobs::JobKind& waiting() {
    static const jobs::JobKind kind = [] {
        jobs::JobKind made = pytorch();
        made.pending_policy = [](const jobs::Job& job) {
            // As with --nnodes=$NODE_NUM.
            const std::int32_t workers = job.replicas.at("Worker").replicas.value_or(0);
            return Policy{.demand = Policy::Demand::kNecessary,
                          .timeout = 100s,
                          .too_few_timeout = 600s,
                          .needs = {{}, {.necessary = workers == 3 ? 2 : workers, .all = 3}}};
        };
        return made;
    }();
    return kind;
}

jobs::Job waiting_job() {
    jobs::Job job = make_job({.workers = 3});
    job.kind = &waiting();
    return job;
}

PodPtr refused(int index, WallTime since, std::string words = "0/3 nodes are available") {
    auto pod = std::make_shared<PodRecord>(
        *make_pod({.index = index, .phase = PodPhase::kPending, .created = kNow}));
    pod->problem =
        std::make_shared<const PodProblem>(PodProblem{.reason = "Unschedulable",
                                                      .message = "Error: " + std::move(words),
                                                      .refused_since = since,
                                                      .words_at = 7});
    return pod;
}

/// The master, and the workers from 0 on, run; the others were refused.
Dependents with_refused(int running, WallTime since = kNow) {
    std::vector<PodSketch> pods{{.type = "Master"}};
    for (int i = 0; i < running; ++i) pods.push_back({.index = i});
    Dependents dependents = make_dependents(pods);
    for (int i = running; i < 3; ++i) {
        const PodPtr pod = refused(i, since);
        const ServicePtr service = make_service("Worker", i);
        dependents.apply(nullptr, &pod);
        dependents.apply(nullptr, &service);
    }
    return dependents;
}

const jobs::JobCondition* condition(const jobs::JobStatus& status, std::string_view type) {
    const auto found = std::ranges::find(status.conditions, type, &jobs::JobCondition::type);
    return found == status.conditions.end() ? nullptr : &*found;
}

TEST(PlannerPending, NodesThatAreLeftOutAreNamed) {
    const jobs::Job job = waiting_job();
    jobs::JobStatus running = status_after(job, with_refused(1));
    running.plan =
        jobs::ExecutedPlan{.uid = "u",
                           .generation = 1,
                           .replicas = {},
                           .excluded_nodes = {{.node = "n1", .until = ""},
                                              {.node = "n2", .until = "2023-11-14T22:14:20Z"}}};
    Dependents dependents = with_refused(1);
    const Plan told = plan(job, running, dependents, kNow + 10s);
    ASSERT_TRUE(told.status);
    EXPECT_THAT(condition(*told.status, "Incomplete")->message,
                HasSubstr("unless 1 of them runs; the job leaves out these nodes: n1, n2 (until "
                          "2023-11-14T22:14:20Z). demo-worker-1: 0/3"));
    const Plan later = plan(job, *told.status, dependents, kNow + 60s);
    ASSERT_TRUE(later.status);
    EXPECT_THAT(condition(*later.status, "Incomplete")->message,
                HasSubstr("leaves out these nodes: n1. demo-worker-1"))
        << "n2 is not any more";
    EXPECT_THAT(
        condition(*plan(job, *told.status, dependents, kNow + 100s).status, "Failed")->message,
        HasSubstr("the job leaves out these nodes: n1"));
}

TEST(PlannerPending, WhatIsMissingIsTold) {
    const jobs::Job job = waiting_job();
    const jobs::JobStatus running = status_after(job, with_refused(1));
    Dependents dependents = with_refused(1);
    EXPECT_EQ(plan(job, running, dependents, kNow + 1s).requeue_at, kNow + 10s);
    const Plan told = plan(job, running, dependents, kNow + 10s);
    EXPECT_EQ(told.requeue_at, kNow + 100s);
    ASSERT_TRUE(told.status);
    EXPECT_THAT(summary(*told.status), ElementsAre("Created", "Running", "Incomplete"));
    const jobs::JobCondition& incomplete = *condition(*told.status, "Incomplete");
    EXPECT_EQ(incomplete.reason, "PyTorchJobUnschedulable");
    EXPECT_EQ(incomplete.message,
              "2 of 3 Worker pods (demo-worker-1, demo-worker-2) can't be scheduled since "
              "2023-11-14T22:13:20Z; the job ends at 2023-11-14T22:15:00Z with PendingTimeout "
              "unless 1 of them runs. demo-worker-1: 0/3 nodes are available");
    ASSERT_THAT(told.events, SizeIs(1));
    EXPECT_EQ(told.events[0],
              (JobEvent{kube::EventType::kWarning, "PyTorchJobUnschedulable", incomplete.message}));
    EXPECT_TRUE(plan(job, *told.status, dependents, kNow + 50s).empty()) << "it is told once";

    const jobs::JobStatus placed = *plan(job, *told.status, with_refused(2), kNow + 60s).status;
    EXPECT_THAT(condition(placed, "Incomplete")->message,
                AllOf(HasSubstr("1 of 3 Worker pods (demo-worker-2)"),
                      HasSubstr("the job continues without them")));
    const jobs::JobStatus whole = *plan(job, placed, with_refused(3), kNow + 70s).status;
    EXPECT_THAT(summary(whole), ElementsAre("Created", "Running"));
}

TEST(PlannerPending, TheJobEndsWithTheReasonAndWhatRunsIsStopped) {
    const jobs::Job job = waiting_job();
    const jobs::JobStatus running = status_after(job, with_refused(1));
    Dependents dependents = with_refused(1);
    EXPECT_FALSE(plan(job, running, dependents, kNow + 99s).status->finished());
    const Plan last = plan(job, running, dependents, kNow + 100s);
    ASSERT_TRUE(last.status);
    EXPECT_THAT(summary(*last.status), ElementsAre("Created", "Running=False", "Failed"));
    const jobs::JobCondition& failed = last.status->conditions.back();
    EXPECT_EQ(failed.reason, "PyTorchJobPendingTimeout");
    EXPECT_EQ(failed.message,
              "PendingTimeout: 2 of 3 Worker pods (demo-worker-1, demo-worker-2) can't be "
              "scheduled since 2023-11-14T22:13:20Z, longer than 100 s, and the job needs 1 of "
              "them. demo-worker-1: 0/3 nodes are available");
    EXPECT_THAT(reasons(last), ElementsAre("PyTorchJobPendingTimeout"));
    EXPECT_EQ(last.requeue_at, std::nullopt);
    EXPECT_THAT(last.delete_pods, IsEmpty()) << "the end is on record first";
    // Though cleanPodPolicy is None.
    EXPECT_THAT(plan(job, *last.status, dependents, kNow + 101s).delete_pods, SizeIs(4));
}

// The clock is in the pods: whoever looks for the first time finds the same.
TEST(PlannerPending, ALookWithoutAPastEndsItAtTheSameTime) {
    const jobs::Job job = waiting_job();
    const WallTime late = kNow + 1h;
    const Plan early = plan(job, {}, with_refused(1, late - 99s), late);
    EXPECT_FALSE(early.status->finished());
    EXPECT_EQ(early.requeue_at, late + 1s);
    EXPECT_TRUE(plan(job, {}, with_refused(1, late - 100s), late).status->is("Failed"));
}

TEST(PlannerPending, AFailureOutranksIt) {
    jobs::Job job = waiting_job();
    job.replicas.at("Worker").restart_policy = "Never";
    const jobs::JobStatus running = status_after(job, with_refused(1));
    Dependents dependents = make_dependents(
        {{.type = "Master"}, {.index = 0, .phase = PodPhase::kFailed, .exit_code = 1}});
    for (int i = 1; i < 3; ++i) {
        const PodPtr pod = refused(i, kNow);
        dependents.apply(nullptr, &pod);
    }
    const Plan next = plan(job, running, dependents, kNow + 1h);
    EXPECT_EQ(next.status->conditions.back().reason, "PyTorchJobFailed");
}

TEST(PlannerPending, ASuspendedJobWaitsForNothing) {
    const jobs::Job job = waiting_job();
    const jobs::JobStatus told =
        *plan(job, status_after(job, with_refused(1)), with_refused(1), kNow + 20s).status;
    ASSERT_NE(condition(told, "Incomplete"), nullptr);
    jobs::Job suspended = waiting_job();
    suspended.run_policy.suspend = true;
    const Plan next = plan(suspended, told, with_refused(1), kNow + 1h);
    EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Running=False", "Suspended"));
    EXPECT_EQ(next.requeue_at, std::nullopt);
}

TEST(PlannerPending, OtherKindsWaitAsLongAsItTakes) {
    const jobs::Job job = make_job({.workers = 3});
    const jobs::JobStatus running = status_after(job, with_refused(1));
    EXPECT_THAT(summary(running), ElementsAre("Created", "Running"));
    const Plan next = plan(job, running, with_refused(1), kNow + 24h);
    EXPECT_TRUE(next.empty());
    EXPECT_EQ(next.requeue_at, std::nullopt);
}

TEST(PlannerPending, MoreReplicasForAJobThatRunsEndItNot) {
    jobs::Job job = waiting_job();
    const jobs::JobStatus running = status_after(job, with_refused(3));
    job.replicas.at("Worker").replicas = 4;
    const auto at = [&](std::chrono::seconds created, std::int32_t in_a_row) {
        Dependents dependents = with_refused(3);
        auto pod = std::make_shared<PodRecord>(*refused(3, kNow + created));
        pod->created = kNow + created;
        pod->restart_history.in_a_row = in_a_row;
        const PodPtr shared = std::move(pod);
        dependents.apply(nullptr, &shared);
        return plan(job, running, dependents, kNow + 1h).status.value();
    };
    EXPECT_FALSE(at(10min, 0).finished());
    EXPECT_THAT(condition(at(10min, 0), "Incomplete")->message, HasSubstr("demo-worker-3"));
    EXPECT_TRUE(at(10min, 1).finished()) << "it follows one that was there";
    EXPECT_TRUE(at(1min, 0).finished()) << "it is one of the first";
}

TEST(PlannerPending, OnesThatAreToGoDontWait) {
    const jobs::Job job = waiting_job();
    Dependents dependents = make_dependents({{.type = "Master"}, {.index = 0}});
    for (int i = 1; i < 3; ++i) {
        auto pod = std::make_shared<PodRecord>(*refused(i, kNow));
        pod->deleting = true;
        const PodPtr shared = std::move(pod);
        dependents.apply(nullptr, &shared);
    }
    EXPECT_FALSE(plan(job, {}, dependents, kNow + 1h).status->finished());
}

}  // namespace
}  // namespace muster::operators::planner_pending_test
