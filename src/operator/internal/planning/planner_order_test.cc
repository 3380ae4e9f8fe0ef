#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"

// A kind whose master starts when its workers are ready, as the launcher of an MPIJob does.

namespace muster::operators::planner_order_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const jobs::JobKind& ordered_kind() {
    static const jobs::JobKind kind = [] {
        jobs::JobKind made = pytorch();
        made.starts_after = [](const jobs::Job&, const std::string& type) {
            return type == "Master" ? std::string("Worker") : std::string();
        };
        return made;
    }();
    return kind;
}

jobs::Job ordered_job(const JobSketch& sketch = {}) {
    jobs::Job job = make_job(sketch);
    job.kind = &ordered_kind();
    return job;
}

struct OrderCase {
    std::string name;
    JobSketch job;
    std::vector<PodSketch> pods;
    std::vector<std::string> made;
};

TEST(Order, TheMasterIsMadeWhenTheLastWorkerIsReady) {
    const PodSketch failed{.index = 1, .phase = PodPhase::kFailed, .exit_code = 137};
    for (const OrderCase& row : std::vector<OrderCase>{
             {"at first the workers alone", {}, {}, {"Worker 0", "Worker 1"}},
             {"one runs and is not ready", {}, {{.index = 0}, {.index = 1, .ready = false}}, {}},
             {"one is pending", {}, {{.index = 0}, {.index = 1, .phase = PodPhase::kPending}}, {}},
             {"one is on its way out", {}, {{.index = 0}, {.index = 1, .deleting = true}}, {}},
             {"one is to be replaced", {}, {{.index = 0}, failed}, {}},
             {"all are ready", {}, {{.index = 0}, {.index = 1}}, {"Master 0"}},
             {"one is done already",
              {},
              {{.index = 0}, {.index = 1, .phase = PodPhase::kSucceeded}},
              {"Master 0"}},
             {"a third is wanted", {.workers = 3}, {{.index = 0}, {.index = 1}}, {"Worker 2"}},
             {"one that nobody wants does not stand for another",
              {.workers = 2},
              {{.index = 0}, {.index = 7}},
              {"Worker 1"}},
             {"no workers", {.workers = 0}, {}, {"Master 0"}},
             {"no such type", {.workers = -1}, {}, {"Master 0"}},
         }) {
        SCOPED_TRACE(row.name);
        const Plan next = plan(ordered_job(row.job), {}, make_dependents(row.pods), kNow);
        EXPECT_THAT(replicas(next.create_pods), testing::ElementsAreArray(row.made));
    }
}

TEST(Order, WithoutAnOrderNobodyWaits) {
    const Plan next = plan(make_job({}), {}, make_dependents({{.index = 0, .ready = false}}), kNow);
    EXPECT_THAT(replicas(next.create_pods), ElementsAre("Master 0", "Worker 1"));
}

TEST(Order, AMasterThatIsThereStaysWhenAWorkerGoes) {
    const jobs::Job job = ordered_job();
    Dependents dependents = make_dependents(kAllRunning);
    const jobs::JobStatus status = status_after(job, dependents);
    const PodPtr worker = make_pod({.index = 1});
    dependents.apply(&worker, nullptr);
    const Plan next = plan(job, status, dependents, kNow);
    EXPECT_THAT(replicas(next.create_pods), ElementsAre("Worker 1"));
    EXPECT_THAT(next.delete_pods, IsEmpty());
}

TEST(Order, AMasterThatIsMadeAgainWaitsAgain) {
    const jobs::Job job = ordered_job();
    Dependents dependents = make_dependents({{.index = 0}, {.index = 1, .ready = false}});
    EXPECT_THAT(plan(job, {}, dependents, kNow).create_pods, IsEmpty());
    const PodPtr before = make_pod({.index = 1, .ready = false});
    const PodPtr ready = make_pod({.index = 1});
    dependents.apply(&before, &ready);
    EXPECT_THAT(replicas(plan(job, {}, dependents, kNow).create_pods), ElementsAre("Master 0"));
    // PendingDeletion for once.
    dependents.pod_create_sent({0, 0}, Instant{1h});
    EXPECT_THAT(plan(job, {}, dependents, kNow).create_pods, IsEmpty());
}

TEST(Order, NothingStartsWhileSuspendedAndAllOverWhenResumed) {
    jobs::Job job = ordered_job({.suspend = true});
    EXPECT_THAT(plan(job, {}, Dependents(), kNow).create_pods, IsEmpty());
    const jobs::JobStatus suspended = status_after(job, Dependents());
    job = ordered_job();
    EXPECT_THAT(replicas(plan(job, suspended, Dependents(), kNow).create_pods),
                ElementsAre("Worker 0", "Worker 1"));
}

}  // namespace
}  // namespace muster::operators::planner_order_test
