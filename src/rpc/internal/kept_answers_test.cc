#include "rpc/internal/kept_answers.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"

namespace muster::rpc::kept_answers_test {
namespace {

using Seen = KeptAnswers::Seen;

TEST(KeptAnswers, ACallThatComesAgainIsNotRunAgain) {
    KeptAnswers kept(10);
    EXPECT_EQ(kept.begin(1), Seen::kNew);
    EXPECT_EQ(kept.begin(1), Seen::kRunning);
    EXPECT_TRUE(kept.end(1, "one"));
    EXPECT_EQ(kept.begin(1), Seen::kAnswered);
    EXPECT_EQ(kept.answer(1), "one");
    EXPECT_EQ(kept.size(), 1u);
    kept.forget(1);
    EXPECT_EQ(kept.size(), 0u);
}

TEST(KeptAnswers, WhatNobodyWaitsForAnyMoreIsNotKept) {
    KeptAnswers kept(10);
    kept.begin(1);
    kept.forget(1);
    EXPECT_EQ(kept.running(), 1u) << "it runs on";
    EXPECT_FALSE(kept.end(1, "late"));
    EXPECT_EQ(kept.running(), 0u);
    kept.forget(7);
}

TEST(KeptAnswers, AClientHasSoManyAndNoMore) {
    KeptAnswers kept(2);
    kept.begin(1);
    kept.begin(2);
    EXPECT_EQ(kept.begin(3), Seen::kTooMany);
    EXPECT_EQ(kept.begin(2), Seen::kRunning);
    kept.end(1, "");
    EXPECT_EQ(kept.begin(3), Seen::kTooMany) << "an answer that is kept counts";
    kept.forget(1);
    EXPECT_EQ(kept.begin(3), Seen::kNew);
}

TEST(KeptAnswers, ForgettingWhatRunsMakesNoRoomForMore) {
    KeptAnswers kept(2);
    kept.begin(1);
    kept.begin(2);
    kept.forget(1);
    kept.forget(2);
    EXPECT_EQ(kept.begin(4), Seen::kTooMany);
    kept.end(1, "");
    EXPECT_EQ(kept.begin(4), Seen::kNew);
}

// Calls that are repeated, overtaken and answered in any order, beside one that never ends:
// each runs once, and its client gets the answer of that run.
TEST(KeptAnswers, EachCallHasOneEffectWhateverTheOrder) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Rng rng(seed);
        KeptAnswers kept(8);
        ASSERT_EQ(kept.begin(1), Seen::kNew);
        std::multiset<std::uint64_t> ran;
        std::set<std::uint64_t> running;
        std::set<std::uint64_t> wanted;
        std::uint64_t next = 2;
        std::uint64_t answered = 0;
        for (int step = 0; step < 400; ++step) {
            if (rng.chance(0.3) && wanted.size() < 6) wanted.insert(next++);
            if (!running.empty() && rng.chance(0.4)) {
                const std::uint64_t done = *running.begin();
                running.erase(done);
                kept.end(done, std::to_string(done));
            }
            if (wanted.empty()) continue;
            const std::uint64_t id =
                *std::next(wanted.begin(), static_cast<std::ptrdiff_t>(rng.below(wanted.size())));
            switch (kept.begin(id)) {
                case Seen::kNew:
                    ran.insert(id);
                    running.insert(id);
                    break;
                case Seen::kAnswered:
                    ASSERT_EQ(kept.answer(id), std::to_string(id));
                    ++answered;
                    wanted.erase(id);
                    kept.forget(id);
                    break;
                case Seen::kRunning:
                    ASSERT_TRUE(running.contains(id)) << "seed " << seed;
                    break;
                case Seen::kTooMany:
                    ASSERT_FALSE(ran.contains(id)) << "seed " << seed;
                    break;
            }
        }
        for (std::uint64_t id : ran) ASSERT_EQ(ran.count(id), 1u) << "seed " << seed;
        ASSERT_GT(answered, 20u) << "seed " << seed;
    }
}

}  // namespace
}  // namespace muster::rpc::kept_answers_test
