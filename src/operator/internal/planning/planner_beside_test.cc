#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/planner.h"

// Pods beside a job (jobs::ReplicaType::beside): they are made, replaced and stopped, and count for
// nothing else.

namespace muster::operators::planner_beside_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using namespace std::chrono_literals;

constexpr const char* kBeside = "ElasticMaster";

jobs::Job with_one(const JobSketch& sketch, const std::string& policy = "OnFailure") {
    jobs::Job job = make_job(sketch);
    jobs::ReplicaSpec beside = job.replicas.at("Worker");
    beside.replicas = 1;
    beside.restart_policy = policy;
    job.replicas.emplace(kBeside, std::move(beside));
    return job;
}

PodSketch beside(PodPhase phase, std::optional<std::int32_t> exit_code = std::nullopt) {
    return {.type = kBeside, .phase = phase, .exit_code = exit_code};
}
std::vector<PodSketch> workers(PodPhase first, PodPhase second) {
    return {{.index = 0, .phase = first}, {.index = 1, .phase = second}};
}
Dependents pods(std::vector<PodSketch> of_the_job, const PodSketch& one) {
    of_the_job.push_back(one);
    return make_dependents(of_the_job);
}

TEST(Beside, IsMadeWithTheJobAndHasAService) {
    const Plan first = plan(with_one({.masters = -1}), {}, make_dependents({}), kNow);
    EXPECT_THAT(replicas(first.create_pods),
                ElementsAre("Worker 0", "Worker 1", "ElasticMaster 0"));
    EXPECT_THAT(replicas(first.create_services),
                ElementsAre("Worker 0", "Worker 1", "ElasticMaster 0"));
}

TEST(Beside, CountsInNoStatus) {
    const PodSketch rows[] = {
        beside(PodPhase::kPending),   beside(PodPhase::kRunning),     beside(PodPhase::kSucceeded),
        beside(PodPhase::kFailed, 1), beside(PodPhase::kFailed, 137),
    };
    for (const char* policy : {"OnFailure", "ExitCode"}) {
        for (const PodPhase state : {PodPhase::kPending, PodPhase::kRunning}) {
            const JobSketch sketch{.masters = -1, .policy = "Never", .backoff_limit = 1};
            const jobs::JobStatus alone =
                status_after(make_job(sketch), make_dependents(workers(state, state)));
            for (const PodSketch& row : rows) {
                SCOPED_TRACE(static_cast<int>(row.phase));
                PodSketch restarted = row;
                restarted.node_restarts = 5;
                restarted.restart_history.restarts = 5;
                EXPECT_EQ(
                    status_after(with_one(sketch, policy), pods(workers(state, state), restarted)),
                    alone);
            }
        }
    }
}

TEST(Beside, DoesNotDecideTheResult) {
    const jobs::Job job = with_one({.masters = -1, .policy = "Never"});
    for (const PodPhase state : {PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed}) {
        EXPECT_THAT(
            summary(status_after(
                job, pods(workers(PodPhase::kSucceeded, PodPhase::kRunning), beside(state, 1)))),
            ElementsAre("Created", "Running"));
        EXPECT_THAT(
            summary(status_after(
                job, pods(workers(PodPhase::kSucceeded, PodPhase::kSucceeded), beside(state, 1)))),
            ElementsAre("Created", "Succeeded"));
    }
}

TEST(Beside, IsReplacedAsItsPolicySays) {
    struct Row {
        const char* policy;
        std::optional<std::int32_t> exit_code;
        bool replaced;
    };
    const Row rows[] = {
        {"ExitCode", 1, false},
        {"ExitCode", 137, true},
        {"ExitCode", std::nullopt, true},
        {"OnFailure", 1, true},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.policy) + " " + std::to_string(row.exit_code.value_or(-1)));
        const jobs::Job job = with_one({.masters = -1}, row.policy);
        const Plan next = plan(job, {},
                               pods(workers(PodPhase::kRunning, PodPhase::kRunning),
                                    beside(PodPhase::kFailed, row.exit_code)),
                               kNow);
        if (row.replaced)
            EXPECT_THAT(names(next.delete_pods), ElementsAre("demo-elasticmaster-0"));
        else
            EXPECT_THAT(next.delete_pods, IsEmpty());
        const Plan gone =
            plan(job, {}, make_dependents(workers(PodPhase::kRunning, PodPhase::kRunning)), kNow);
        EXPECT_THAT(replicas(gone.create_pods), ElementsAre("ElasticMaster 0"));
    }
}

TEST(Beside, ItsFailureRestartsNoGroup) {
    const jobs::Job job = with_one({.masters = -1, .group = true}, "ExitCode");
    const Plan next =
        plan(job, {},
             pods(workers(PodPhase::kRunning, PodPhase::kRunning), beside(PodPhase::kFailed, 137)),
             kNow);
    EXPECT_THAT(names(next.delete_pods), ElementsAre("demo-elasticmaster-0"));
    EXPECT_FALSE(next.status && next.status->restart_generation);
    const Plan group = plan(
        job, {}, pods(workers(PodPhase::kRunning, PodPhase::kFailed), beside(PodPhase::kRunning)),
        kNow);
    ASSERT_TRUE(group.status);
    EXPECT_EQ(group.status->restart_generation, 1) << "a worker's does";
    EXPECT_THAT(names(group.delete_pods), IsSupersetOf({"demo-elasticmaster-0", "demo-worker-0"}))
        << "and the new pods find no old one";
}

TEST(Beside, GoesWhenTheJobHasEndedAndNoPodOfItRuns) {
    struct Row {
        const char* clean;
        PodPhase second;
        PodPhase beside;
        bool goes;
    };
    const Row rows[] = {
        {"None", PodPhase::kRunning, PodPhase::kRunning, false},
        {"None", PodPhase::kPending, PodPhase::kRunning, false},
        {"None", PodPhase::kSucceeded, PodPhase::kRunning, true},
        {"None", PodPhase::kFailed, PodPhase::kPending, true},
        {"None", PodPhase::kSucceeded, PodPhase::kSucceeded, false},
        {"None", PodPhase::kFailed, PodPhase::kFailed, false},
        {"Running", PodPhase::kRunning, PodPhase::kRunning, true},
        {"Running", PodPhase::kRunning, PodPhase::kFailed, false},
        {"All", PodPhase::kSucceeded, PodPhase::kSucceeded, true},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.clean) + " " + std::to_string(static_cast<int>(row.second)) +
                     " " + std::to_string(static_cast<int>(row.beside)));
        jobs::Job job = with_one({.masters = -1, .policy = "Never", .clean = row.clean});
        const jobs::JobStatus ended =
            status_after(job, pods(workers(PodPhase::kFailed, row.second), beside(row.beside)),
                         status_after(job, pods(workers(PodPhase::kRunning, PodPhase::kRunning),
                                                beside(PodPhase::kRunning))));
        ASSERT_TRUE(ended.finished());
        const auto at = [&](WallTime now) {
            return plan(job, ended,
                        pods(workers(PodPhase::kFailed, row.second), beside(row.beside)), now);
        };
        const auto goes = [](const Plan& made) {
            return testing::Value(names(made.delete_pods), Contains("demo-elasticmaster-0"));
        };
        EXPECT_EQ(goes(at(kNow + 10s)), row.goes);
        const Plan at_once = at(kNow);
        if (row.goes && std::string_view(row.clean) == "None") {
            EXPECT_FALSE(goes(at_once)) << "it may be about to end";
            EXPECT_EQ(at_once.requeue_at, kNow + 10s);
        } else {
            EXPECT_EQ(goes(at_once), row.goes);
        }
    }
}

TEST(Beside, HasTimeToEndAfterTheLastPodOfTheJob) {
    const jobs::Job job = with_one({.masters = -1, .policy = "Never", .ttl_seconds = 12});
    const auto look = [&](std::optional<WallTime> end, const jobs::JobStatus& status,
                          WallTime now) {
        std::vector<PodSketch> ended = workers(PodPhase::kSucceeded, PodPhase::kSucceeded);
        ended[1].ended_at = end;
        return plan(job, status, pods(ended, beside(PodPhase::kRunning)), now);
    };
    const jobs::JobStatus over = *look(kNow, {}, kNow).status;
    EXPECT_EQ(look(kNow + 1s, over, kNow + 10s).requeue_at, kNow + 11s);
    EXPECT_THAT(look(kNow + 1s, over, kNow + 11s).delete_pods, testing::SizeIs(1));
    EXPECT_EQ(look(kNow + 9s, over, kNow + 10s).requeue_at, kNow + 12s) << "the job goes before";
}

TEST(Beside, GoesWithASuspension) {
    const Plan next = plan(
        with_one({.masters = -1, .suspend = true}), {},
        pods(workers(PodPhase::kRunning, PodPhase::kRunning), beside(PodPhase::kRunning)), kNow);
    EXPECT_THAT(names(next.delete_pods), Contains("demo-elasticmaster-0"));
}

}  // namespace
}  // namespace muster::operators::planner_beside_test
