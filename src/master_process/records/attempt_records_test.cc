#include "master_process/records/attempt_records.h"

#include <gtest/gtest.h>

#include "base/test_loop.h"
#include "master/memory_records.h"

namespace muster::master_process::attempt_records_test {
namespace {

using namespace std::chrono_literals;
using Kind = job_protocol::Verdict::Kind;
using job_protocol::JobRecord;

class AttemptRecordsTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    /// What the next master finds of a record.
    JobRecord found_after(JobRecord left) {
        left.epoch = await(below.claim())->epoch;
        EXPECT_TRUE(await(records.write(left)));
        return *await(records.claim());
    }

    master::MemoryRecords below{clock, 1ms};
    AttemptRecords records{below};
};

TEST_F(AttemptRecordsTest, OfAnAttemptThatFailedTheEpochIsLeft) {
    const JobRecord full{.excluded = {"a"},
                         .end = job_protocol::Verdict{.kind = Kind::kFailed, .text = "budget"},
                         .sections = {{"s", "x"}},
                         .terms = job_protocol::Terms{}};
    const JobRecord found = found_after(full);
    EXPECT_EQ(found, JobRecord{.epoch = 2});
    EXPECT_EQ(await(records.claim()), JobRecord{.epoch = 3}) << "and until it is written";
}

TEST_F(AttemptRecordsTest, AnyOtherRecordIsAsItWas) {
    const JobRecord rows[] = {
        {},
        {.excluded = {"a"}, .sections = {{"s", "x"}}},
        {.excluded = {"a"}, .end = job_protocol::Verdict{.kind = Kind::kSucceeded, .text = "done"}},
    };
    for (JobRecord row : rows) {
        const JobRecord found = found_after(row);
        row.epoch = found.epoch;
        EXPECT_EQ(found, row);
    }
}

}  // namespace
}  // namespace muster::master_process::attempt_records_test
