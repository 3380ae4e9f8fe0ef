#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/manifest_findings.h"
#include "operator/internal/planning/planner.h"

namespace muster::operators::planner_lifecycle_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

struct MixRow {
    std::string name;
    int workers;
    // So many pods of each phase, from index 0 on; the others are missing.
    int pending = 0;
    int running = 0;
    int succeeded = 0;
    std::vector<std::string> conditions = {"Created", "Running"};
};
class TestNormalPath : public ::testing::TestWithParam<MixRow> {};

// training-operator pkg/controller.v1/tensorflow/controller_test.go.
TEST_P(TestNormalPath, CreatesTheMissingAndCounts) {
    const MixRow& row = GetParam();
    const jobs::Job job = make_job({.masters = -1, .workers = row.workers});
    std::vector<PodSketch> pods;
    const auto add = [&](int count, PodPhase phase) {
        for (int i = 0; i < count; ++i)
            pods.push_back({.index = static_cast<int>(pods.size()), .phase = phase});
    };
    add(row.pending, PodPhase::kPending);
    add(row.running, PodPhase::kRunning);
    add(row.succeeded, PodPhase::kSucceeded);
    const auto missing = static_cast<std::size_t>(row.workers) - pods.size();
    Dependents dependents = make_dependents(pods);
    const Plan next = plan(job, {}, dependents, kNow);
    EXPECT_THAT(next.create_services, SizeIs(missing));
    EXPECT_THAT(next.delete_pods, IsEmpty());
    ASSERT_TRUE(next.status);
    EXPECT_EQ(next.status->start_time, kube::format_time(kNow));
    EXPECT_EQ(summary(*next.status), row.conditions);
    const jobs::ReplicaStatus& counts = next.status->replica_statuses.at("Worker");
    EXPECT_EQ(counts.failed, std::nullopt);
    EXPECT_EQ(counts.succeeded.value_or(0), row.succeeded);
    EXPECT_EQ(counts.active.value_or(0), row.running);
    EXPECT_THAT(next.create_pods, SizeIs(next.status->finished() ? 0 : missing));
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, TestNormalPath,
    ::testing::Values(MixRow{"NothingIsThere", 4, 0, 0, 0, {"Created"}},
                      MixRow{"AllArePending", 4, 4, 0, 0, {"Created"}},
                      MixRow{"SomeArePending", 4, 2, 0, 0, {"Created"}},
                      MixRow{"SomePendingSomeRunning", 4, 2, 1},
                      MixRow{"SomePendingSomeRunningOneSucceeded", 4, 1, 1, 1},
                      MixRow{"AllRun", 4, 0, 4},
                      MixRow{"AllSucceeded", 4, 0, 0, 4, {"Created", "Succeeded"}},
                      MixRow{"OneReplica", 1, 0, 1}),
    [](const auto& info) { return info.param.name; });

struct CleanRow {
    std::string name;
    std::string policy;
    std::vector<std::string> pods;
    std::vector<std::string> services;
};
class TestDeletePodsAndServices : public ::testing::TestWithParam<CleanRow> {};

// training-operator pkg/controller.v1/common/job_test.go.
TEST_P(TestDeletePodsAndServices, Finished) {
    const jobs::Job job = make_job({.workers = 3, .clean = GetParam().policy});
    Dependents ended = make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded},
                                        {.index = 0, .phase = PodPhase::kRunning},
                                        {.index = 1, .phase = PodPhase::kPending},
                                        {.index = 2, .phase = PodPhase::kFailed}});
    const jobs::JobStatus finished = status_after(job, ended);
    ASSERT_TRUE(finished.is("Succeeded"));
    Plan next = plan(job, finished, ended, kNow);
    EXPECT_THAT(names(next.delete_pods), ::testing::ElementsAreArray(GetParam().pods));
    EXPECT_THAT(names(next.delete_services), ::testing::ElementsAreArray(GetParam().services));
    EXPECT_FALSE(next.status);
    EXPECT_THAT(next.create_pods, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Upstream, TestDeletePodsAndServices,
                         ::testing::Values(CleanRow{"FinishedNoneKeepsAll", "None", {}, {}},
                                           CleanRow{"FinishedRunningKeepsEndedPodsAndTheirServices",
                                                    "Running",
                                                    {"demo-worker-0", "demo-worker-1"},
                                                    {"demo-worker-0", "demo-worker-1"}},
                                           CleanRow{"FinishedAllDeletesAll",
                                                    "All",
                                                    {"demo-master-0", "demo-worker-0",
                                                     "demo-worker-1", "demo-worker-2"},
                                                    {"demo-master-0", "demo-worker-0",
                                                     "demo-worker-1", "demo-worker-2"}}),
                         [](const auto& info) { return info.param.name; });

struct LastCountRow {
    std::string name;
    JobSketch job;
    PodSketch second;  ///< of the workers; the others run
    WallTime now = kNow;
    std::optional<std::int32_t> active;  ///< of the workers, when the job has failed
};
class LastCountOfAFailedJob : public ::testing::TestWithParam<LastCountRow> {};

// mpi-operator's last status counts no workers either (updateMPIJobStatus()); that of
// training-operator still counts pods that it deletes next.
TEST_P(LastCountOfAFailedJob, HasNoPodThatGoesNext) {
    const LastCountRow& row = GetParam();
    const jobs::Job job = make_job(row.job);
    const jobs::JobStatus running = status_after(job, make_dependents(kAllRunning));
    Dependents dependents = make_dependents({{.type = "Master"}, {.index = 0}, row.second});
    const Plan end = plan(job, running, dependents, row.now);
    ASSERT_TRUE(end.status && end.status->is("Failed"));
    EXPECT_EQ(end.status->replica_statuses.at("Worker").active, row.active);
    EXPECT_EQ(end.status->replica_statuses.at("Master").active,
              row.active ? std::optional(1) : std::nullopt);
    const Plan next = plan(job, *end.status, dependents, row.now);
    EXPECT_EQ(next.delete_pods.empty(), row.active.has_value());
    EXPECT_FALSE(next.status);
    EXPECT_FALSE(plan(job, *end.status, {}, row.now).status) << "nor when the pods are gone";
}

INSTANTIATE_TEST_SUITE_P(
    Policies, LastCountOfAFailedJob,
    ::testing::Values(LastCountRow{.name = "PodsThatGo",
                                   .job = {.policy = "Never", .clean = "Running"},
                                   .second = {.index = 1, .phase = PodPhase::kFailed},
                                   .active = std::nullopt},
                      LastCountRow{.name = "AllPodsGo",
                                   .job = {.policy = "Never", .clean = "All"},
                                   .second = {.index = 1, .phase = PodPhase::kFailed},
                                   .active = std::nullopt},
                      LastCountRow{.name = "PodsThatStay",
                                   .job = {.policy = "Never"},
                                   .second = {.index = 1, .phase = PodPhase::kFailed},
                                   .active = 1},
                      LastCountRow{.name = "ALimitStopsThem",
                                   .job = {.deadline_seconds = 10},
                                   .second = {.index = 1},
                                   .now = kNow + 10s,
                                   .active = std::nullopt}),
    [](const auto& info) { return info.param.name; });

TEST(Planner, AnUnknownCleanPodPolicyMeansAll) {
    jobs::Job job = make_job({});
    Dependents ended = make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded}});
    const jobs::JobStatus finished = status_after(job, ended);
    job.run_policy.clean_pod_policy = "Everything";
    EXPECT_THAT(plan(job, finished, ended, kNow).delete_pods, SizeIs(1));
}

TEST(Planner, WhatIsGoingIsNotDeletedAgain) {
    const jobs::Job job = make_job({.clean = "All"});
    Dependents ended = make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded}});
    const jobs::JobStatus finished = status_after(job, ended);
    const Plan first = plan(job, finished, ended, kNow);
    for (const auto& deletions : {first.delete_pods, first.delete_services})
        for (const Deletion& deletion : deletions)
            ended.delete_sent(deletion.slot, deletion.uid, Instant::max());
    EXPECT_TRUE(plan(job, finished, ended, kNow).empty());
}

TEST(Planner, AnUnfinishedJobIsNotCleanedUp) {
    const jobs::Job job = make_job({.clean = "All"});
    Dependents dependents = make_dependents(kAllRunning);
    EXPECT_THAT(plan(job, {}, dependents, kNow).delete_pods, IsEmpty());
}

// What a finishing pod has shown must be on record before the pod may go.
TEST(Planner, ThePassThatFinishesDeletesNothing) {
    const jobs::Job job = make_job({.policy = "ExitCode", .clean = "All"});
    Plan next = plan(job, {},
                     make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded},
                                      {.index = 0, .phase = PodPhase::kFailed, .exit_code = 137}}),
                     kNow);
    EXPECT_TRUE(next.status->is("Succeeded"));
    EXPECT_THAT(next.delete_pods, IsEmpty());
    EXPECT_THAT(next.create_pods, IsEmpty());
}

TEST(Planner, AServiceLeftWithoutItsPodIsCleanedUpToo) {
    const jobs::Job job = make_job({.clean = "Running"});
    Dependents dependents = make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded}});
    const jobs::JobStatus finished = status_after(job, dependents);
    const ServicePtr left = make_service("Worker", 0);
    dependents.apply(nullptr, &left);
    EXPECT_THAT(names(plan(job, finished, dependents, kNow).delete_services),
                ElementsAre("demo-worker-0"));
}

TEST(Planner, AFinishedJobNeverChanges) {
    const jobs::Job job = make_job({});
    const jobs::JobStatus finished =
        status_after(job, make_dependents({{.type = "Master", .phase = PodPhase::kSucceeded}}));
    EXPECT_TRUE(plan(job, finished, {}, kNow).empty());
    EXPECT_TRUE(
        plan(job, finished, make_dependents({{.type = "Master", .phase = PodPhase::kFailed}}), kNow)
            .empty());
}

// tensorflow/job_test.go "Scale Up" and "Scale Down"; TestCalculatePodSliceSize.
TEST(Planner, ScaleUpCreatesTheMissing) {
    const jobs::Job job = make_job({.workers = 4});
    Plan next = plan(job, {}, make_dependents(kAllRunning), kNow);
    EXPECT_THAT(replicas(next.create_pods), ElementsAre("Worker 2", "Worker 3"));
}

TEST(Planner, ScaleDownDeletesTheHighestAndDoesNotCountThem) {
    const jobs::Job job = make_job({.workers = 1, .policy = "Never"});
    Plan next =
        plan(job, {},
             make_dependents(
                 {{.type = "Master"}, {.index = 0}, {.index = 1}, {.index = 4, .deleting = true}}),
             kNow);
    EXPECT_THAT(names(next.delete_pods), ElementsAre("demo-worker-1"));
    EXPECT_THAT(names(next.delete_services), ElementsAre("demo-worker-1", "demo-worker-4"));
    EXPECT_EQ(next.status->replica_statuses["Worker"].active, 1);
    EXPECT_EQ(next.status->replica_statuses["Worker"].failed, std::nullopt);
    EXPECT_FALSE(next.status->finished());
}

// Upstream creates and deletes slot 0 without end (issue 1709). The kind's rules refuse it for
// PyTorch, so the number is set on the loaded job.
TEST(Planner, ZeroReplicasMeansNone) {
    jobs::Job job = make_job({});
    job.replicas.at("Worker").replicas = 0;
    Plan next = plan(job, {}, {}, kNow);
    EXPECT_THAT(replicas(next.create_pods), ElementsAre("Master 0"));
    EXPECT_THAT(next.status->replica_statuses, SizeIs(2));
}

TEST(Planner, CreatedSuspendedMakesNothing) {
    const jobs::Job job = make_job({.suspend = true});
    Plan next = plan(job, {}, {}, kNow);
    EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Suspended"));
    EXPECT_EQ(next.status->start_time, "");
    EXPECT_THAT(next.status->replica_statuses, IsEmpty());
    EXPECT_THAT(next.create_pods, IsEmpty());
    EXPECT_THAT(reasons(next), ElementsAre("PyTorchJobSuspended"));
    EXPECT_TRUE(plan(job, *next.status, {}, kNow + 1min).empty()) << "told once";
}

// pytorchjob_controller_test.go, suspend and resume; Suspended+Running and Suspended+None of
// TestDeletePodsAndServices.
TEST(Planner, SuspendAndResume) {
    for (const char* clean : {"None", "Running"}) {
        const jobs::Job job = make_job({.clean = clean});
        const jobs::Job suspended = make_job({.clean = clean, .suspend = true});
        Dependents running = make_dependents(kAllRunning);
        jobs::JobStatus status = status_after(job, running);

        Plan stop = plan(suspended, status, running, kNow + 1min);
        EXPECT_THAT(summary(*stop.status), ElementsAre("Created", "Running=False", "Suspended"));
        EXPECT_EQ(stop.status->conditions[1].reason, "PyTorchJobSuspended");
        EXPECT_EQ(stop.status->conditions[2].message, "PyTorchJob demo is suspended.");
        EXPECT_EQ(stop.status->replica_statuses["Worker"].active, std::nullopt);
        EXPECT_EQ(stop.status->start_time, kube::format_time(kNow));
        EXPECT_THAT(stop.delete_pods, SizeIs(3));
        EXPECT_THAT(stop.delete_services, SizeIs(3));
        status = *stop.status;

        Plan resume = plan(job, status, {}, kNow + 2min);
        EXPECT_THAT(summary(*resume.status),
                    ElementsAre("Created", "Running=False", "Suspended=False"));
        EXPECT_EQ(resume.status->conditions[2].reason, "PyTorchJobResumed");
        EXPECT_EQ(resume.status->start_time, kube::format_time(kNow + 2min));
        EXPECT_THAT(resume.create_pods, SizeIs(3));
        EXPECT_THAT(reasons(resume), ElementsAre("PyTorchJobResumed"));

        status = status_after(job, running, *resume.status);
        EXPECT_THAT(summary(status), ElementsAre("Created", "Suspended=False", "Running"));
    }
}

// Otherwise the pods that go would fail a job whose policy is Never.
TEST(Planner, AJobResumesWhenItsOldPodsAreGone) {
    const jobs::Job job = make_job({.policy = "Never"});
    const jobs::Job suspended = make_job({.policy = "Never", .suspend = true});
    const jobs::JobStatus status = status_after(suspended, make_dependents(kAllRunning));
    Plan early = plan(job, status, make_dependents({{.type = "Master", .deleting = true}}), kNow);
    EXPECT_FALSE(early.status);
    EXPECT_THAT(early.create_pods, IsEmpty());
    EXPECT_THAT(plan(job, status, {}, kNow).create_pods, SizeIs(3));
}

TEST(Planner, WarningsBecomeEvents) {
    EXPECT_EQ(warning_events({{"Ineffective", "is overwritten",
                               "spec.pytorchReplicaSpecs.Worker.template.spec.restartPolicy"},
                              {"Ineffective", "has no effect yet", "spec.runPolicy.backoffLimit"}}),
              (std::vector<JobEvent>{
                  {kube::EventType::kWarning, "SetPodTemplateRestartPolicy",
                   "spec.pytorchReplicaSpecs.Worker.template.spec.restartPolicy: is overwritten"},
                  {kube::EventType::kWarning, "Ineffective",
                   "spec.runPolicy.backoffLimit: has no effect yet"}}));
}

// --- jobs that can't be run

JobRecord invalid_record() {
    JobRecord record;
    record.kind = &pytorch();
    record.name = "demo";
    return record;
}

Error two_causes() {
    return Error(Code::kInvalid, "PyTorchJob demo is invalid")
        .with_causes({{"FieldValueRequired", "no container named pytorch", "spec.a"},
                      {"FieldValueForbidden", "must be 1", "spec.b"}});
}

TEST(PlanInvalid, FailsAndNamesEveryField) {
    const Error why = two_causes();
    Plan next = plan_invalid(invalid_record(), {}, why, kNow);
    ASSERT_TRUE(next.status);
    EXPECT_THAT(summary(*next.status), ElementsAre("Created", "Failed"));
    EXPECT_EQ(next.status->conditions[1].reason, "PyTorchJobFailedValidation");
    EXPECT_EQ(next.status->conditions[1].message,
              "PyTorchJob demo can't be run: spec.a: no container named pytorch; spec.b: must be "
              "1. Correct the manifest and create the job again.");
    EXPECT_EQ(next.status->completion_time, kube::format_time(kNow));
    EXPECT_THAT(reasons(next), ElementsAre("PyTorchJobFailedValidation"));
    EXPECT_TRUE(plan_invalid(invalid_record(), *next.status, why, kNow).empty());
}

TEST(PlanInvalid, AnEditDoesNotKillAJobThatRuns) {
    jobs::JobStatus running;
    running.start_time = kube::format_time(kNow);
    Plan next = plan_invalid(invalid_record(), running, two_causes(), kNow);
    EXPECT_FALSE(next.status);
    EXPECT_THAT(reasons(next), ElementsAre("PyTorchJobFailedValidation"));
}

}  // namespace
}  // namespace muster::operators::planner_lifecycle_test
