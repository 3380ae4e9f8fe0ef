#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/planner.h"

namespace muster::operators::planner_failure_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

struct FailureRow {
    std::string name;
    std::string policy;
    std::optional<std::int32_t> exit_code;
    bool restarts;
    std::string message;
};

class WorkerFailure : public ::testing::TestWithParam<FailureRow> {};

// training-operator pkg/controller.v1/tensorflow/pod_test.go "Exit Code" and "Unretryable Exit
// Code", docs of ReplicaSpec.restartPolicy, and the historical replica-restart-policy matrix.
TEST_P(WorkerFailure, Decides) {
    const FailureRow& row = GetParam();
    const jobs::Job job = make_job({.policy = row.policy});
    const jobs::JobStatus running = status_after(job, make_dependents(kAllRunning));
    Dependents failed =
        make_dependents({{.type = "Master"},
                         {.index = 0},
                         {.index = 1, .phase = PodPhase::kFailed, .exit_code = row.exit_code}});
    Plan next = plan(job, running, failed, kNow);
    ASSERT_TRUE(next.status);
    EXPECT_EQ(next.status->conditions.back().message, row.message);
    EXPECT_EQ(next.status->replica_statuses["Worker"].failed, 1);
    if (row.restarts) {
        EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Restarting"));
        EXPECT_EQ(next.status->conditions.back().reason, "PyTorchJobRestarting");
        EXPECT_THAT(names(next.delete_pods), ElementsAre("demo-worker-1"));
        EXPECT_THAT(reasons(next), ElementsAre("PyTorchJobRestarting"));
        EXPECT_EQ(next.status->completion_time, "");
    } else {
        EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Running=False", "Failed"));
        EXPECT_EQ(next.status->conditions.back().reason, "PyTorchJobFailed");
        EXPECT_THAT(next.delete_pods, IsEmpty());
        EXPECT_THAT(reasons(next), ElementsAre("PyTorchJobFailed"));
        // Upstream leaves it out after a permanent exit code, which breaks its TTL.
        EXPECT_EQ(next.status->completion_time, kube::format_time(kNow));
    }
}

const std::string kRestarts = "job demo is restarting because Worker replica(s) failed.";
const std::string kPermanent = "job \"demo\" is failing because \"Worker\" replica(s) failed.";
const std::string kNever = "PyTorchJob demo is failed because 1 Worker replica(s) failed.";

INSTANTIATE_TEST_SUITE_P(
    Upstream, WorkerFailure,
    ::testing::Values(FailureRow{"AlwaysEvicted", "Always", std::nullopt, true, kRestarts},
                      FailureRow{"Always1", "Always", 1, true, kRestarts},
                      FailureRow{"OnFailureEvicted", "OnFailure", std::nullopt, true, kRestarts},
                      FailureRow{"OnFailure1", "OnFailure", 1, true, kRestarts},
                      FailureRow{"Never1", "Never", 1, false, kNever},
                      FailureRow{"NeverKilled", "Never", 137, false, kNever},
                      FailureRow{"NeverEvicted", "Never", std::nullopt, false, kNever},
                      FailureRow{"ExitCode1", "ExitCode", 1, false, kPermanent},
                      FailureRow{"ExitCode0", "ExitCode", 0, false, kPermanent},
                      FailureRow{"ExitCode127", "ExitCode", 127, false, kPermanent},
                      FailureRow{"ExitCode130", "ExitCode", 130, true, kRestarts},
                      FailureRow{"ExitCodeEvicted", "ExitCode", std::nullopt, true, kRestarts}),
    [](const auto& info) { return info.param.name; });

TEST(Planner, ARestartIsAskedForAndToldOnce) {
    const jobs::Job job = make_job({});
    Dependents dependents = make_dependents(
        {{.type = "Master"}, {.index = 0}, {.index = 1, .phase = PodPhase::kFailed}});
    const jobs::JobStatus status = status_after(job, dependents);
    dependents.delete_sent({1, 1}, "worker1", Instant::max());
    EXPECT_TRUE(plan(job, status, dependents, kNow + 10s).empty());
}

TEST(Planner, AfterARestartTheJobRunsAgain) {
    const jobs::Job job = make_job({});
    jobs::JobStatus status = status_after(
        job, make_dependents(
                 {{.type = "Master"}, {.index = 0}, {.index = 1, .phase = PodPhase::kFailed}}));
    ASSERT_THAT(summary(status), ElementsAre("Created", "Restarting"));
    // The failed pod is gone.
    Dependents gone = make_dependents({{.type = "Master"}, {.index = 0}});
    Plan next = plan(job, status, gone, kNow);
    EXPECT_THAT(replicas(next.create_pods), ElementsAre("Worker 1"));
    status = status_after(job, make_dependents(kAllRunning), status);
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running"));
}

struct DeletedRow {
    std::string name;
    std::string policy;
    std::vector<std::string> conditions;
};
class RunningPodDeleted : public ::testing::TestWithParam<DeletedRow> {};

// A running pod that a user deletes or a node's drain evicts, while it terminates.
TEST_P(RunningPodDeleted, Decides) {
    const jobs::Job job = make_job({.policy = GetParam().policy});
    jobs::JobStatus status = status_after(job, make_dependents(kAllRunning));
    Dependents going =
        make_dependents({{.type = "Master"}, {.index = 0}, {.index = 1, .deleting = true}});
    Plan next = plan(job, status, going, kNow);
    EXPECT_THAT(summary(*next.status), ::testing::ElementsAreArray(GetParam().conditions));
    EXPECT_THAT(next.create_pods, IsEmpty()) << "its slot is taken until it is gone";
    EXPECT_THAT(next.delete_pods, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, RunningPodDeleted,
    ::testing::Values(DeletedRow{"Always", "Always", {"Created", "Restarting"}},
                      DeletedRow{"OnFailure", "OnFailure", {"Created", "Restarting"}},
                      DeletedRow{"ExitCode", "ExitCode", {"Created", "Restarting"}},
                      // Upstream fails the job: see docs/compatibility.md.
                      DeletedRow{"Never", "Never", {"Created", "Restarting"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster::operators::planner_failure_test
