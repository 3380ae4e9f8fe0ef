#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "base/async/task_fault.h"
#include "base/async/task_group.h"
#include "master/file_records.h"
#include "master/memory_records.h"
#include "master/records_contract_test.h"

namespace muster::master::records_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class OnDisk final : public RecordsPlace {
  public:
    OnDisk() {
        std::string made = (std::filesystem::temp_directory_path() / "records-XXXXXX").string();
        folder_ = mkdtemp(made.data());
    }
    ~OnDisk() override { std::filesystem::remove_all(folder_); }
    TestLoop& loop() override { return loop_; }
    std::unique_ptr<Records> open() override { return std::make_unique<FileRecords>(path()); }
    std::string path() const { return (folder_ / "record").string(); }

  private:
    RealLoop loop_;
    std::filesystem::path folder_;
};

class InMemory final : public RecordsPlace {
  public:
    TestLoop& loop() override { return loop_; }
    std::unique_ptr<Records> open() override { return std::make_unique<Way>(records_); }

  private:
    class Way final : public Records {
      public:
        explicit Way(MemoryRecords& to) : to_(to) {}
        Task<Result<JobRecord>> claim() override { return to_.claim(); }
        Task<Result<void>> write(JobRecord record) override { return to_.write(std::move(record)); }

      private:
        MemoryRecords& to_;
    };

    SimulatedLoop loop_;
    MemoryRecords records_{loop_.clock, 1ms};
};

template <class Place>
std::unique_ptr<RecordsPlace> make() {
    return std::make_unique<Place>();
}

INSTANTIATE_TEST_SUITE_P(All, RecordsContract, testing::Values(make<OnDisk>, make<InMemory>),
                         [](const auto& info) { return info.index == 0 ? "File" : "Memory"; });

TEST(FileRecords, AnExceptionOnTheThreadIsAnErrorOfItsCaller) {
    OnDisk place;
    const auto records = place.open();
    {
        const TaskFault fault("job record");
        const auto claimed = place.loop().await(records->claim());
        ASSERT_FALSE(claimed);
        EXPECT_THAT(claimed.error().message(), HasSubstr(place.path()));
        EXPECT_THAT(claimed.error().message(), HasSubstr("the log has it under the id"));
        EXPECT_FALSE(place.loop().await(records->write(JobRecord())));
    }
    EXPECT_TRUE(place.loop().await(records->claim()));
}

TEST(FileRecords, ManyWhoClaimAtOnceAllGetAnother) {
    OnDisk place;
    std::vector<std::unique_ptr<Records>> masters;
    std::set<std::uint64_t> epochs;
    TaskGroup tasks(place.loop().context.get_executor());
    const auto claim = [](Records& records, std::set<std::uint64_t>& epochs) -> Task<void> {
        for (int i = 0; i < 5; ++i) {
            const auto claimed = co_await records.claim();
            EXPECT_TRUE(claimed);
            if (claimed) epochs.insert(claimed->epoch);
        }
    };
    for (int i = 0; i < 8; ++i) {
        masters.push_back(place.open());
        tasks.spawn("claim", claim(*masters.back(), epochs));
    }
    place.loop().await(tasks.join());
    EXPECT_EQ(epochs.size(), 40u);
    EXPECT_EQ(*epochs.rbegin(), 40u);
}

TEST(FileRecords, AnEpochIsLaterThanWhatWasClaimedElsewhereMeanwhile) {
    OnDisk place;
    // The time at which each begins, as of a job whose master was elsewhere between.
    const std::pair<std::uint64_t, std::uint64_t> kRows[] = {
        {100, 100}, {500, 501}, {500, 502}, {200, 503}};
    for (const auto& [first, epoch] : kRows) {
        FileRecords records(place.path(), first);
        EXPECT_EQ(place.loop().await(records.claim())->epoch, epoch);
    }
}

TEST(FileRecords, WhatAnotherMasterWasChargedCountsWhereItIsNewer) {
    OnDisk place;
    const auto record = [](std::uint64_t epoch, std::string error) {
        return std::make_shared<const JobRecord>(JobRecord{
            .epoch = epoch, .incidents = {{.charge = Charge::kWorker, .error = std::move(error)}}});
    };
    const auto newest = [&](std::uint64_t first, std::shared_ptr<const JobRecord> known) {
        FileRecords records(place.path(), first, std::move(known));
        const auto claimed = place.loop().await(records.claim());
        return fmt::format("{} {}", claimed->epoch,
                           claimed->incidents.empty() ? "-" : claimed->incidents.back().error);
    };
    EXPECT_EQ(newest(7, nullptr), "7 -");
    EXPECT_EQ(newest(9, record(8, "elsewhere")), "10 elsewhere");
    EXPECT_EQ(newest(9, record(8, "older than what is here")), "11 elsewhere");
    EXPECT_EQ(newest(20, record(15, "there again")), "21 there again");
}

/// As the version before sections wrote it; and with a field that only a later version knows.
constexpr std::string_view kOldBytes(
    "\x08\x07\x12\x1d\x0a\x06worker\x10\x80\x80\xa8\xb1\xe3\x9f\xe7\xcb\x17\x1a\x04\x08\x01\x10\x04"
    "\x20\x03"
    "\x2a\x01x\x1a\x03one\x22\x34\x0a\x06"
    "failed\x12\x03why\x1a\x25\x0a\x0dout-of-memory\x12\x04\x08\x01\x10"
    "\x04\x20\x02\x2a\x08"
    "10.0.0.7"
    "0\x00@\x09",
    92);
constexpr std::string_view kLaterBytes("\xfa\x01\x03new", 6);

TEST(FileRecords, AFileOfAnotherVersionIsRead) {
    const JobRecord written{
        .epoch = 8,
        .incidents = {{.charge = Charge::kWorker,
                       .when = WallTime(std::chrono::seconds(1'700'000'000)),
                       .generation = {.epoch = 1, .number = 4},
                       .restarts = 3,
                       .error = "x"}},
        .excluded = {"one"},
        .end = Verdict{.kind = Verdict::Kind::kFailed,
                       .text = "why",
                       .cause = FailureReport{.kind = FailureKind::kOutOfMemory,
                                              .generation = {.epoch = 1, .number = 4},
                                              .slot = 2,
                                              .node = "10.0.0.7",
                                              .rank = 0,
                                              .signal = 9}}};
    for (const std::string_view later : {std::string_view(), kLaterBytes}) {
        OnDisk place;
        std::ofstream(place.path()) << kOldBytes << later;
        const auto claimed = place.loop().await(place.open()->claim());
        ASSERT_TRUE(claimed) << claimed.error().message();
        EXPECT_EQ(*claimed, written);
    }
}

TEST(FileRecords, AreForNobodyElse) {
    OnDisk place;
    ASSERT_TRUE(place.loop().await(place.open()->claim()));
    struct stat status{};
    ASSERT_EQ(stat(place.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST(FileRecords, ADamagedFileIsNamedAndKept) {
    OnDisk place;
    std::ofstream(place.path()) << "not a record";
    const auto claimed = place.loop().await(place.open()->claim());
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().code(), Code::kInvalid);
    EXPECT_THAT(claimed.error().message(), HasSubstr(place.path()));
    EXPECT_THAT(claimed.error().message(), HasSubstr("move it away"));
    EXPECT_EQ(std::filesystem::file_size(place.path()), 12u);
}

TEST(FileRecords, AFolderThatCantBeWrittenIsAnError) {
    RealLoop loop;
    FileRecords records("/nowhere/at/all/record");
    const auto claimed = loop.await(records.claim());
    ASSERT_FALSE(claimed);
    EXPECT_THAT(claimed.error().message(), HasSubstr("/nowhere/at/all/record.lock: opening"));
}

TEST(MemoryRecords, WhatIsLostOnTheWayIsWrittenAllTheSame) {
    SimulatedLoop loop;
    MemoryRecords records(loop.clock, 1ms);
    ASSERT_TRUE(loop.await(records.claim()));
    records.set_faults([] { return MemoryRecords::Fault::kLost; });
    EXPECT_FALSE(loop.await(records.write(full_record(1))));
    EXPECT_EQ(records.kept(), full_record(1));
    records.set_faults([] { return MemoryRecords::Fault::kFails; });
    EXPECT_FALSE(loop.await(records.claim()));
    EXPECT_EQ(records.kept().epoch, 1u);
}

}  // namespace
}  // namespace muster::master::records_test
