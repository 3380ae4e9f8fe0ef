#include "cli/internal/push/job_progress.h"

#include <gtest/gtest.h>

namespace muster::cli::job_progress_test {
namespace {

using namespace std::chrono_literals;

Instant after(Duration time) { return Instant(1h + time); }

JobView job_that(std::vector<std::string> holds) {
    JobView job;
    for (std::string& type : holds) job.conditions.push_back({std::move(type), true, "", ""});
    return job;
}

TEST(JobProgress, ATimeOfWaitingAndOneOfRunning) {
    JobProgress progress;
    progress.observe(after(0s), nullptr, 0);
    EXPECT_EQ(progress.metrics(after(1s)), (JobMetrics{}));
    const JobView waits = job_that({});
    progress.observe(after(2s), &waits, 0);
    EXPECT_EQ(progress.metrics(after(5s)), (JobMetrics{.state = "Created", .wait_seconds = 3}));
    const JobView runs = job_that({"Created", "Running"});
    progress.observe(after(12s), &runs, 0);
    EXPECT_EQ(progress.metrics(after(13s)),
              (JobMetrics{.state = "Running", .wait_seconds = 10, .run_seconds = 1}));
    const JobView again = job_that({"Created", "Restarting"});
    progress.observe(after(20s), &again, 2);
    const JobView done = job_that({"Created", "Succeeded"});
    progress.observe(after(30s), &done, 2);
    const JobMetrics last{
        .state = "Succeeded", .wait_seconds = 10, .run_seconds = 18, .restarts = 2};
    EXPECT_EQ(progress.metrics(after(99s)), last);
    progress.observe(after(40s), nullptr, 0);
    EXPECT_EQ(progress.metrics(after(99s)), last) << "a job that is gone";
}

TEST(JobProgress, AJobThatNeverRanHasOnlyWaited) {
    JobProgress progress;
    const JobView waits = job_that({"Created", "Suspended"});
    progress.observe(after(0s), &waits, 0);
    EXPECT_EQ(progress.metrics(after(1s)).state, "Suspended");
    const JobView failed = job_that({"Created", "Failed"});
    progress.observe(after(4s), &failed, 0);
    EXPECT_EQ(progress.metrics(after(9s)), (JobMetrics{.state = "Failed", .wait_seconds = 4}));
}

}  // namespace
}  // namespace muster::cli::job_progress_test
