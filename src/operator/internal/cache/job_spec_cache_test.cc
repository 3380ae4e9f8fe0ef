#include "operator/internal/cache/job_spec_cache.h"

#include <gtest/gtest.h>

#include "operator/internal/job_fixture.h"

namespace muster::operators::job_spec_cache_test {
namespace {

std::shared_ptr<const jobs::Job> some_job() {
    return std::make_shared<const jobs::Job>(make_job({}));
}

TEST(JobSpecCache, AJobIsKnownByItsUidAndGeneration) {
    JobSpecCache specs(2, 2);
    const auto job = some_job();
    specs.put(JobUid("a"), 3, job, false);
    EXPECT_EQ(specs.find(JobUid("a"), 3), job);
    EXPECT_EQ(specs.find(JobUid("a"), 4), nullptr) << "the edited job";
    EXPECT_EQ(specs.find(JobUid("a"), 2), nullptr);
    EXPECT_EQ(specs.find(JobUid("b"), 3), nullptr);
    specs.forget(JobUid("a"));
    EXPECT_EQ(specs.find(JobUid("a"), 3), nullptr);
}

TEST(JobSpecCache, ANewGenerationTakesThePlaceOfTheOld) {
    JobSpecCache specs(2, 2);
    const auto edited = some_job();
    specs.put(JobUid("a"), 1, some_job(), false);
    specs.put(JobUid("a"), 2, edited, false);
    EXPECT_EQ(specs.find(JobUid("a"), 1), nullptr);
    EXPECT_EQ(specs.find(JobUid("a"), 2), edited);
}

TEST(JobSpecCache, TheOneThatWasAskedForLongestAgoGoesFirst) {
    JobSpecCache specs(2, 2);
    for (const char* uid : {"a", "b"}) specs.put(JobUid(uid), 1, some_job(), false);
    EXPECT_NE(specs.find(JobUid("a"), 1), nullptr);
    specs.put(JobUid("c"), 1, some_job(), false);
    EXPECT_NE(specs.find(JobUid("a"), 1), nullptr);
    EXPECT_EQ(specs.find(JobUid("b"), 1), nullptr);
    EXPECT_NE(specs.find(JobUid("c"), 1), nullptr);
}

TEST(JobSpecCache, WhatNothingWasDoneForIsKept) {
    JobSpecCache specs(1, 3);
    const auto puts = [&](const char* uid, bool is_new) {
        specs.put(JobUid(uid), 1, some_job(), is_new);
    };
    const auto knows = [&](const char* uid) { return specs.find(JobUid(uid), 1) != nullptr; };
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
}  // namespace muster::operators::job_spec_cache_test
