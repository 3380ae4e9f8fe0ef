#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/values/time.h"
#include "operator/internal/job_fixture.h"
#include "operator/internal/planning/planner.h"

// What a kind says about itself as data (jobs::JobKind) and the planner acts on.

namespace muster::operators::planner_kinds_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// PyTorchJob with something changed, and a job of it that has workers alone.
class KindData : public ::testing::Test {
  protected:
    jobs::Job workers(const std::string& policy) const {
        jobs::Job job = make_job({.masters = -1, .workers = 2, .policy = policy});
        job.kind = &kind_;
        return job;
    }
    void decide_by_workers(jobs::SuccessPolicy success_policy) {
        success_policy.type = 1;
        kind_.success_policy = [success_policy](const jobs::Job&) { return success_policy; };
    }

    void limit_restarts(std::int32_t most) {
        kind_.restart_limit = [most](const jobs::Job&, const std::string& type) {
            return type == "Worker" ? std::optional(most) : std::nullopt;
        };
        decide_by_workers({});
    }

    jobs::JobKind kind_ = pytorch();
};

PodSketch worker(int index, PodPhase phase) {
    return {.index = index,
            .phase = phase,
            .exit_code = phase == PodPhase::kFailed ? std::optional(1) : std::nullopt};
}

struct ForgivenRow {
    std::string name;
    PodPhase first;
    PodPhase second;
    std::vector<std::string> with;     ///< the conditions where workers are forgiven
    std::vector<std::string> without;  ///< and where they are not
};

TEST_F(KindData, WhoIsForgivenFailsAlone) {
    const std::vector<std::string> runs = {"Created", "Running"};
    const std::vector<std::string> failed = {"Created", "Running=False", "Failed"};
    const std::vector<std::string> done = {"Created", "Running=False", "Succeeded"};
    const ForgivenRow rows[] = {
        {"both run", PodPhase::kRunning, PodPhase::kRunning, runs, runs},
        {"the second failed", PodPhase::kRunning, PodPhase::kFailed, runs, failed},
        {"the first failed", PodPhase::kFailed, PodPhase::kRunning, runs, failed},
        {"one is left, and waits", PodPhase::kPending, PodPhase::kFailed, runs, failed},
        {"both failed", PodPhase::kFailed, PodPhase::kFailed, failed, failed},
        {"the first is done", PodPhase::kSucceeded, PodPhase::kFailed, done, done},
    };
    for (const bool forgiven : {true, false}) {
        jobs::SuccessPolicy success_policy{.enough = jobs::SuccessPolicy::Enough::kFirst};
        if (forgiven) success_policy.forgive(1);
        decide_by_workers(success_policy);
        const jobs::Job job = workers("Never");
        const jobs::JobStatus running = status_after(
            job, make_dependents({worker(0, PodPhase::kRunning), worker(1, PodPhase::kRunning)}));
        for (const ForgivenRow& row : rows) {
            SCOPED_TRACE(row.name + (forgiven ? ", forgiven" : ""));
            Dependents pods = make_dependents({worker(0, row.first), worker(1, row.second)});
            const Plan next = plan(job, running, pods, kNow);
            EXPECT_THAT(summary(next.status.value_or(running)),
                        ::testing::ElementsAreArray(forgiven ? row.with : row.without));
            EXPECT_THAT(next.create_pods, IsEmpty()) << "what failed for good is not made again";
            EXPECT_THAT(next.delete_pods, IsEmpty());
        }
    }
}

TEST_F(KindData, RunningComesBeforeSucceededWhereTheKindSaysSo) {
    for (const bool runs_first : {false, true}) {
        kind_.runs_before_it_succeeds = runs_first;
        decide_by_workers({});
        const jobs::JobStatus status = status_after(
            workers("Never"),
            make_dependents({worker(0, PodPhase::kSucceeded), worker(1, PodPhase::kSucceeded)}));
        if (runs_first)
            EXPECT_THAT(summary(status), ElementsAre("Created", "Running=False", "Succeeded"));
        else
            EXPECT_THAT(summary(status), ElementsAre("Created", "Succeeded"));
    }
}

TEST_F(KindData, TypesThatDecideTogetherMustAllBeDone) {
    jobs::SuccessPolicy both{.type = 1};
    both.count(0);
    kind_.success_policy = [both](const jobs::Job&) { return both; };
    jobs::Job job = make_job({.masters = 1, .workers = 2, .policy = "Never"});
    job.kind = &kind_;
    const auto after = [&](PodPhase master) {
        return summary(status_after(job, make_dependents({{.type = "Master", .phase = master},
                                                          worker(0, PodPhase::kSucceeded),
                                                          worker(1, PodPhase::kSucceeded)})));
    };
    EXPECT_THAT(after(PodPhase::kRunning), ElementsAre("Created", "Running"));
    EXPECT_THAT(after(PodPhase::kSucceeded), ElementsAre("Created", "Succeeded"));
}

TEST_F(KindData, WhenAMasterOfOursHasSucceededNoWorkerIsReplaced) {
    struct Row {
        const char* name;
        PodPhase master;
        PodPhase second;
        bool ends;
    };
    const Row rows[] = {
        {"it runs, and a worker has failed", PodPhase::kRunning, PodPhase::kFailed, false},
        {"it is done, and all workers run", PodPhase::kSucceeded, PodPhase::kRunning, false},
        {"it is done, and a worker has missed it", PodPhase::kSucceeded, PodPhase::kFailed, true},
        {"it is done, and a worker waits", PodPhase::kSucceeded, PodPhase::kPending, true},
    };
    decide_by_workers({});
    for (const bool ours : {false, true}) {
        kind_.replica_types[0].own_program = ours;
        jobs::Job job = make_job({.masters = 1, .workers = 2, .policy = "OnFailure"});
        job.kind = &kind_;
        const auto pods = [](PodPhase master, PodPhase second) {
            return make_dependents({{.type = "Master", .phase = master},
                                    worker(0, PodPhase::kRunning),
                                    worker(1, second)});
        };
        const jobs::JobStatus running =
            status_after(job, pods(PodPhase::kRunning, PodPhase::kRunning));
        for (const Row& row : rows) {
            SCOPED_TRACE(std::string(row.name) + (ours ? ", ours" : ""));
            const Plan next = plan(job, running, pods(row.master, row.second), kNow);
            const bool succeeded = summary(next.status.value_or(running)).back() == "Succeeded";
            EXPECT_EQ(succeeded, ours && row.ends);
            if (succeeded) EXPECT_THAT(next.create_pods, IsEmpty());
        }
    }
}

TEST_F(KindData, AJobIsPendingUntilADecidingReplicaRunsWhereTheKindSaysSo) {
    kind_.tells_pending = true;
    kind_.reason_prefix = "Job";
    decide_by_workers({});
    const jobs::Job job = workers("Never");
    const jobs::JobStatus waits = status_after(
        job, make_dependents({worker(0, PodPhase::kPending), worker(1, PodPhase::kPending)}));
    EXPECT_THAT(summary(waits), ElementsAre("Created", "Pending"));
    EXPECT_EQ(waits.conditions[0].reason, "JobCreated");
    EXPECT_EQ(waits.conditions[1].reason, "JobPending");
    const jobs::JobStatus runs = status_after(
        job, make_dependents({worker(0, PodPhase::kRunning), worker(1, PodPhase::kPending)}),
        waits);
    EXPECT_THAT(summary(runs), ElementsAre("Created", "Running"));
    const jobs::JobStatus failed = status_after(
        job, make_dependents({worker(0, PodPhase::kFailed), worker(1, PodPhase::kPending)}), waits);
    EXPECT_THAT(summary(failed), ElementsAre("Created", "Failed"));

    jobs::Job rests = job;
    rests.run_policy.suspend = true;
    EXPECT_THAT(summary(status_after(rests, make_dependents({}), waits)),
                ElementsAre("Created", "Suspended"));
}

TEST_F(KindData, AReplicaThatRestartedAsOftenAsItsTypeMayIsGivenUp) {
    limit_restarts(2);
    const jobs::Job job = workers("OnFailure");
    const auto after = [&](std::int32_t in_a_row, std::optional<std::int32_t> exit_code) {
        PodSketch failed = worker(0, PodPhase::kFailed);
        failed.exit_code = exit_code;
        failed.restart_history.in_a_row = in_a_row;
        return summary(status_after(job, make_dependents({failed, worker(1, PodPhase::kRunning)})));
    };
    EXPECT_THAT(after(1, 1), ElementsAre("Created", "Restarting"));
    EXPECT_THAT(after(2, 1), ElementsAre("Created", "Failed"));
    EXPECT_THAT(after(2, std::nullopt), ElementsAre("Created", "Restarting"))
        << "a pod that was evicted has no exit code, and that is not its program's fault";
}

TEST_F(KindData, RestartsAreInARowIfThePodBetweenThemDidNotKeepUp) {
    limit_restarts(2);
    const auto after = [&](std::chrono::seconds lived) {
        PodSketch failed = worker(0, PodPhase::kFailed);
        failed.restart_history.in_a_row = 2;
        failed.created = kNow - lived;
        failed.ended_at = kNow;
        return summary(status_after(workers("OnFailure"),
                                    make_dependents({failed, worker(1, PodPhase::kRunning)})));
    };
    EXPECT_THAT(after(599s), ElementsAre("Created", "Failed"));
    EXPECT_THAT(after(600s), ElementsAre("Created", "Restarting"))
        << "what it costs months later is another row";
}

TEST_F(KindData, AGroupThatRestartedAsOftenAsTheTypeMayIsGivenUp) {
    limit_restarts(2);
    jobs::Job job = workers("OnFailure");
    job.metadata.annotations["muster.dev/restart"] = "group";
    const auto after = [&](std::int32_t in_a_row, std::optional<std::int32_t> exit_code,
                           std::chrono::seconds lived) {
        jobs::JobStatus status = status_after(
            job, make_dependents({worker(0, PodPhase::kRunning), worker(1, PodPhase::kRunning)}));
        status.restart_generation = 7;
        status.restarts_in_a_row = in_a_row;
        status.last_restart_time = kube::format_time(kNow - lived);
        PodSketch failed = worker(0, PodPhase::kFailed);
        PodSketch beside = worker(1, PodPhase::kRunning);
        failed.exit_code = exit_code;
        failed.restart_history.generation = beside.restart_history.generation = 7;
        failed.created = kNow - lived;
        failed.ended_at = kNow;
        return summary(status_after(job, make_dependents({failed, beside}), status)).back();
    };
    EXPECT_EQ(after(1, 1, 60s), "Restarting");
    EXPECT_EQ(after(2, 1, 60s), "Failed");
    EXPECT_EQ(after(2, 1, 600s), "Restarting");
    EXPECT_EQ(after(2, std::nullopt, 60s), "Restarting");
}

// Taken over from an operator that had them made by batch Jobs.
TEST_F(KindData, PodsOfABatchJobAreAdoptedOnlyOnceItHasEnded) {
    const jobs::Job job = workers("OnFailure");
    const auto orphan = [](std::string uid, bool held, bool deleting = false) {
        auto pod = std::make_shared<PodRecord>(
            *make_pod({.index = 0, .deleting = deleting, .uid = std::move(uid)}));
        pod->name = "demo-worker-0-" + pod->uid;
        pod->owner.uid = JobUid();
        pod->of_batch_job = held;
        return pod;
    };
    const auto plan_beside = [&](std::vector<PodPtr> orphans, const jobs::JobStatus& status = {}) {
        Dependents pods = make_dependents({worker(1, PodPhase::kRunning)});
        return plan(job, status, pods, kNow, {.pods = std::move(orphans), .services = {}});
    };
    const Plan held = plan_beside({orphan("a", true), orphan("b", true)});
    EXPECT_THAT(held.end_batch_jobs_of, ElementsAre(SlotId{.type = 1, .index = 0}));
    EXPECT_TRUE(held.claims());
    EXPECT_THAT(held.adopt_pods, IsEmpty());
    EXPECT_THAT(held.create_pods, IsEmpty()) << "the one that is there is to be it";

    const Plan free = plan_beside({orphan("a", false)});
    EXPECT_THAT(free.end_batch_jobs_of, IsEmpty());
    EXPECT_THAT(free.adopt_pods, ElementsAre(Claim{"demo-worker-0-a", "a"}));
    EXPECT_THAT(free.create_pods, IsEmpty());

    const Plan going = plan_beside({orphan("a", true, true)});
    EXPECT_THAT(going.end_batch_jobs_of, IsEmpty());
    EXPECT_THAT(replicas(going.create_pods), ElementsAre("Worker 0"));

    decide_by_workers({});
    const jobs::JobStatus done = status_after(
        workers("Never"),
        make_dependents({worker(0, PodPhase::kSucceeded), worker(1, PodPhase::kSucceeded)}));
    EXPECT_FALSE(plan_beside({orphan("a", true)}, done).claims()) << "what is over stays as it is";
}

TEST_F(KindData, FailuresAreSaidInTheKindsWords) {
    kind_.words = {.failed = "{kind} {namespace}/{name}: {count} {type} down",
                   .restarting = "{name} again, as {count} {type} left"};
    decide_by_workers({});
    const auto last_message = [&](const jobs::Job& job, PodSketch second) {
        return status_after(job, make_dependents({worker(0, PodPhase::kRunning), second}))
            .conditions.back()
            .message;
    };
    EXPECT_EQ(last_message(workers("Never"), worker(1, PodPhase::kFailed)),
              "PyTorchJob default/demo: 1 Worker down");
    EXPECT_EQ(last_message(workers("OnFailure"),
                           {.index = 1, .phase = PodPhase::kRunning, .deleting = true}),
              "demo again, as 1 Worker left");
}

}  // namespace
}  // namespace muster::operators::planner_kinds_test
