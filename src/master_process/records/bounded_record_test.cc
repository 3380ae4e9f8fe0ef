#include "master_process/records/bounded_record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "job_protocol/protocol.h"

namespace muster::master_process::bounded_record_test {
namespace {

using job_protocol::JobRecord;
using job_protocol::Verdict;

std::size_t size_of(const JobRecord& record) {
    return job_protocol::to_wire(record).ByteSizeLong();
}

JobRecord record(int incidents, std::size_t error_bytes, int excluded) {
    JobRecord made{.epoch = 7,
                   .end = Verdict{.kind = Verdict::Kind::kFailed, .text = "why"},
                   .sections = {{"tally", "III"}}};
    for (int i = 0; i < incidents; ++i)
        made.incidents.push_back({.charge = job_protocol::Charge::kWorker,
                                  .restarts = i,
                                  .error = std::string(error_bytes, 'e')});
    for (int i = 0; i < excluded; ++i) made.excluded.push_back(fmt::format("agent-{}", i));
    return made;
}

TEST(BoundedRecord, WhatFitsStaysAsItIs) {
    const JobRecord small = record(3, 10, 3);
    EXPECT_EQ(within_bytes(small, size_of(small)), small);
}

TEST(BoundedRecord, TheOldestIncidentsGoFirst) {
    const JobRecord large = record(100, 100, 3);
    const JobRecord bounded = within_bytes(large, size_of(large) / 2);
    EXPECT_LE(size_of(bounded), size_of(large) / 2);
    ASSERT_GT(bounded.incidents.size(), 40u) << "no more than has to";
    EXPECT_EQ(bounded.incidents.back(), large.incidents.back());
    EXPECT_EQ(bounded.excluded, large.excluded);
    EXPECT_EQ(bounded.end, large.end);
}

TEST(BoundedRecord, TheNewestIncidentStaysWithTheBeginningOfItsError) {
    const JobRecord bounded = within_bytes(record(2, 100'000, 3), 10'000);
    ASSERT_EQ(bounded.incidents.size(), 1u);
    EXPECT_EQ(bounded.incidents.front().restarts, 1);
    EXPECT_EQ(bounded.incidents.front().error.size(), 4096u);
    EXPECT_EQ(bounded.excluded.size(), 3u);
    EXPECT_LE(size_of(bounded), 10'000u);
}

TEST(BoundedRecord, ThenWhoWasExcludedFirst) {
    const JobRecord bounded = within_bytes(record(1, 10, 1000), 5'000);
    EXPECT_LE(size_of(bounded), 5'000u);
    ASSERT_FALSE(bounded.excluded.empty());
    EXPECT_EQ(bounded.excluded.back(), "agent-999");
}

TEST(BoundedRecord, TheEndIsNeverLost) {
    JobRecord large = record(1, 10, 10);
    large.end->text = std::string(100'000, 't');
    large.end->cause = job_protocol::FailureReport{.error = std::string(100'000, 'c')};
    const JobRecord bounded = within_bytes(large, 10'000);
    EXPECT_LE(size_of(bounded), 10'000u);
    ASSERT_TRUE(bounded.end);
    EXPECT_EQ(bounded.end->text.size(), 4096u);
    EXPECT_EQ(bounded.epoch, 7u);
    const JobRecord smallest = within_bytes(record(5, 10, 5), 1);
    EXPECT_EQ(smallest.epoch, 7u);
    EXPECT_TRUE(smallest.end);
    EXPECT_EQ(smallest.sections, large.sections);
}

}  // namespace
}  // namespace muster::master_process::bounded_record_test
