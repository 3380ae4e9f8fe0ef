#include "master_process/records/patient_records.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/log.h"
#include "base/test_loop.h"
#include "master/memory_records.h"

namespace muster::master_process::patient_records_test {
namespace {

using namespace std::chrono_literals;
using Fault = master::MemoryRecords::Fault;
using testing::HasSubstr;
using testing::SizeIs;

class PatientRecordsTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    void SetUp() override {
        log::set_sink([this](log::Level, std::string_view line) { lines.emplace_back(line); });
    }
    void TearDown() override { log::set_sink({}); }

    master::MemoryRecords below{clock, 1ms};
    PatientRecords records{below, clock};
    std::vector<std::string> lines;
};

TEST_F(PatientRecordsTest, AClaimWaitsForRecordsThatAreAway) {
    const Instant away_until = clock.now() + 10min;
    below.set_faults([&] { return clock.now() < away_until ? Fault::kFails : Fault::kNone; });
    const auto claimed = await(records.claim());
    ASSERT_TRUE(claimed);
    EXPECT_EQ(claimed->epoch, 1u);
    EXPECT_LE(clock.now() - away_until, 3s) << "it looks again soon enough";
    EXPECT_THAT(lines, SizeIs(testing::AllOf(testing::Ge(9u), testing::Le(12u))))
        << "one line a minute";
    EXPECT_THAT(lines.front(), HasSubstr("the job's record can't be reached"));
}

TEST_F(PatientRecordsTest, AnAnswerThatIsLostCostsAnEpochAndNothingElse) {
    int calls = 0;
    below.set_faults([&] { return ++calls == 1 ? Fault::kLost : Fault::kNone; });
    EXPECT_EQ(await(records.claim())->epoch, 2u);
}

TEST_F(PatientRecordsTest, WritesAreNotRepeatedHere) {
    ASSERT_TRUE(await(records.claim()));
    below.set_faults([] { return Fault::kFails; });
    EXPECT_FALSE(await(records.write({.epoch = 1})))
        << "the master does that, which may be deposed";
}

}  // namespace
}  // namespace muster::master_process::patient_records_test
