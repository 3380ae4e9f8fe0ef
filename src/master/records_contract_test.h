#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "base/test_loop.h"
#include "master/records.h"

namespace muster::master {

/// A place where records are kept, shared by several masters.
struct RecordsPlace {
    virtual ~RecordsPlace() = default;
    virtual TestLoop& loop() = 0;
    /// Opens it for another master.
    virtual std::unique_ptr<Records> open() = 0;
};

class RecordsContract
    : public ::testing::TestWithParam<std::function<std::unique_ptr<RecordsPlace>()>> {
  protected:
    Result<JobRecord> claim(Records& records) { return place->loop().await(records.claim()); }
    Result<void> write(Records& records, JobRecord record) {
        return place->loop().await(records.write(std::move(record)));
    }

    std::unique_ptr<RecordsPlace> place = GetParam()();
};

inline JobRecord full_record(std::uint64_t epoch) {
    return {.epoch = epoch,
            .incidents = {{.charge = Charge::kMemory,
                           .when = WallTime(std::chrono::seconds(1'700'000'000)),
                           .generation = {.epoch = 1, .number = 4},
                           .restarts = 3,
                           .error = "bytes \xff\xfe of any kind"}},
            .excluded = {"one"},
            .end = Verdict{.kind = Verdict::Kind::kFailed,
                           .text = "why",
                           .cause =
                               FailureReport{
                                   .kind = FailureKind::kOutOfMemory, .rank = 0, .signal = 9}},
            .sections = {{"shards", std::string("a\0\xff", 3)}, {"tally", "III"}},
            .terms = Terms{.min_nodes = 2, .max_nodes = 4}};
}

TEST_P(RecordsContract, EachClaimIsTheNextEpoch) {
    const auto one = place->open();
    const auto other = place->open();
    EXPECT_EQ(claim(*one)->epoch, 1u);
    EXPECT_EQ(claim(*other)->epoch, 2u);
    EXPECT_EQ(claim(*one)->epoch, 3u);
}

TEST_P(RecordsContract, WhatWasWrittenIsThereForTheNextMaster) {
    const auto one = place->open();
    ASSERT_TRUE(claim(*one));
    ASSERT_TRUE(write(*one, full_record(1)));
    const auto other = place->open();
    const auto found = claim(*other);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, full_record(2));
}

TEST_P(RecordsContract, WhoseEpochIsOverWritesNoMore) {
    const auto one = place->open();
    ASSERT_TRUE(claim(*one));
    ASSERT_TRUE(write(*one, full_record(1)));
    const auto other = place->open();
    ASSERT_TRUE(claim(*other));
    JobRecord late = full_record(1);
    late.excluded.clear();
    const auto refused = write(*one, late);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kConflict);
    EXPECT_EQ(*claim(*other), full_record(3));
}

}  // namespace muster::master
