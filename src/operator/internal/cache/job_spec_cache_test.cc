#include "operator/internal/cache/job_spec_cache.h"

#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"

namespace muster::operators {
namespace {

std::shared_ptr<const jobs::Job> some_job() {
    return std::make_shared<const jobs::Job>(make_job({}));
}

TEST(RecentJobs, AJobIsKnownByItsUidAndGeneration) {
    RecentJobs recent(2, 2);
    const auto job = some_job();
    recent.put(JobUid("a"), 3, job, false);
    EXPECT_EQ(recent.find(JobUid("a"), 3), job);
    EXPECT_EQ(recent.find(JobUid("a"), 4), nullptr) << "the edited job";
    EXPECT_EQ(recent.find(JobUid("a"), 2), nullptr);
    EXPECT_EQ(recent.find(JobUid("b"), 3), nullptr);
    recent.forget(JobUid("a"));
    EXPECT_EQ(recent.find(JobUid("a"), 3), nullptr);
}

TEST(RecentJobs, ANewGenerationTakesThePlaceOfTheOld) {
    RecentJobs recent(2, 2);
    const auto edited = some_job();
    recent.put(JobUid("a"), 1, some_job(), false);
    recent.put(JobUid("a"), 2, edited, false);
    EXPECT_EQ(recent.find(JobUid("a"), 1), nullptr);
    EXPECT_EQ(recent.find(JobUid("a"), 2), edited);
}

TEST(RecentJobs, TheOneThatWasAskedForLongestAgoGoesFirst) {
    RecentJobs recent(2, 2);
    for (const char* uid : {"a", "b"}) recent.put(JobUid(uid), 1, some_job(), false);
    EXPECT_NE(recent.find(JobUid("a"), 1), nullptr);
    recent.put(JobUid("c"), 1, some_job(), false);
    EXPECT_NE(recent.find(JobUid("a"), 1), nullptr);
    EXPECT_EQ(recent.find(JobUid("b"), 1), nullptr);
    EXPECT_NE(recent.find(JobUid("c"), 1), nullptr);
}

TEST(RecentJobs, WhatNothingWasDoneForIsKept) {
    RecentJobs recent(1, 3);
    const auto puts = [&](const char* uid, bool is_new) {
        recent.put(JobUid(uid), 1, some_job(), is_new);
    };
    const auto knows = [&](const char* uid) { return recent.find(JobUid(uid), 1) != nullptr; };
    for (const char* uid : {"a", "b", "c"}) puts(uid, true);
    puts("d", false);
    for (const char* uid : {"a", "b", "c", "d"}) EXPECT_TRUE(knows(uid)) << uid;
    puts("e", true);
    EXPECT_FALSE(knows("d")) << "one too many new ones is as any other";
    EXPECT_TRUE(knows("e"));
    puts("a", false);
    EXPECT_TRUE(knows("a"));
    EXPECT_FALSE(knows("e")) << "what is no longer new has a place among the others";
    puts("f", true);
    EXPECT_TRUE(knows("f") && knows("a") && knows("b") && knows("c"));
}

}  // namespace
}  // namespace muster::operators
