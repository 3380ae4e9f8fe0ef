#include "operator/internal/recent_jobs.h"

#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"

namespace muster::operators {
namespace {

std::shared_ptr<const jobs::Job> some_job() {
    return std::make_shared<const jobs::Job>(make_job({}));
}

TEST(RecentJobs, AJobIsKnownByItsUidAndGeneration) {
    RecentJobs recent(2);
    const auto job = some_job();
    recent.put(JobUid("a"), 3, job);
    EXPECT_EQ(recent.find(JobUid("a"), 3), job);
    EXPECT_EQ(recent.find(JobUid("a"), 4), nullptr) << "the edited job";
    EXPECT_EQ(recent.find(JobUid("a"), 2), nullptr);
    EXPECT_EQ(recent.find(JobUid("b"), 3), nullptr);
    recent.forget(JobUid("a"));
    EXPECT_EQ(recent.find(JobUid("a"), 3), nullptr);
}

TEST(RecentJobs, ANewGenerationTakesThePlaceOfTheOld) {
    RecentJobs recent(2);
    const auto edited = some_job();
    recent.put(JobUid("a"), 1, some_job());
    recent.put(JobUid("a"), 2, edited);
    EXPECT_EQ(recent.find(JobUid("a"), 1), nullptr);
    EXPECT_EQ(recent.find(JobUid("a"), 2), edited);
}

TEST(RecentJobs, TheOneThatWasAskedForLongestAgoGoesFirst) {
    RecentJobs recent(2);
    for (const char* uid : {"a", "b"}) recent.put(JobUid(uid), 1, some_job());
    EXPECT_NE(recent.find(JobUid("a"), 1), nullptr);
    recent.put(JobUid("c"), 1, some_job());
    EXPECT_NE(recent.find(JobUid("a"), 1), nullptr);
    EXPECT_EQ(recent.find(JobUid("b"), 1), nullptr);
    EXPECT_NE(recent.find(JobUid("c"), 1), nullptr);
}

}  // namespace
}  // namespace muster::operators
