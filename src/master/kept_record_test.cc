#include "master/kept_record.h"

#include <gtest/gtest.h>

namespace muster::master::kept_record_test {
namespace {

using namespace std::chrono_literals;

TEST(KeptRecord, ASectionIsAChangeLikeAnyOther) {
    KeptRecord record({.epoch = 3, .sections = {{"shards", "old"}}});
    ASSERT_TRUE(record.set_section("shards", "old"));
    EXPECT_EQ(record.version(), 0u) << "nothing to write";
    ASSERT_TRUE(record.set_section("tally", "one"));
    EXPECT_EQ(record.version(), 1u);
    EXPECT_EQ(record.written_version(), 0u);
    EXPECT_EQ(record.shared()->sections.at("tally"), "one");
    ASSERT_TRUE(record.set_section("shards", ""));
    EXPECT_FALSE(record.now().sections.contains("shards"));
    ASSERT_TRUE(record.set_section("shards", ""));
    EXPECT_EQ(record.version(), 2u);
}

TEST(KeptRecord, IsFinalWhenTheJobHasEnded) {
    KeptRecord record({.epoch = 3});
    record.end({.kind = Verdict::Kind::kSucceeded});
    const auto late = record.set_section("tally", "one");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), Code::kGone);
    EXPECT_EQ(record.version(), 1u);
}

TEST(KeptRecord, SaysWhatEarlierMastersCharged) {
    const WallTime now = std::chrono::sys_days(std::chrono::January / 2 / 2026) + 3h;
    std::array<Budget, kCharges> budgets;
    budgets[static_cast<std::size_t>(Charge::kWorker)] = {.incidents = 3};
    budgets[static_cast<std::size_t>(Charge::kNode)] = {.incidents = 5, .window = 24h};
    const Incident died{.charge = Charge::kWorker, .when = now - 2h, .error = "ValueError: no"};
    const Incident silent{.charge = Charge::kWorker, .when = now - 1h};
    const Incident lost{.charge = Charge::kNode, .when = now - 30min};
    const Incident long_ago{.charge = Charge::kNode, .when = now - 25h};
    const Incident unlimited{.charge = Charge::kMemory, .when = now - 1h, .error = "killed"};
    struct Case {
        std::vector<Incident> incidents;
        std::string wanted;
    };
    for (const Case& row : std::vector<Case>{
             {{}, ""},
             {{unlimited}, ""},
             {{long_ago}, ""},
             {{died},
              "charged before this master: 1 of 3 worker failures (--max-restarts), the last at "
              "2026-01-02T01:00:00Z: ValueError: no"},
             {{died, silent},
              "charged before this master: 2 of 3 worker failures (--max-restarts), the last at "
              "2026-01-02T02:00:00Z"},
             {{long_ago, died, unlimited, lost},
              "charged before this master: 1 of 3 worker failures (--max-restarts), the last at "
              "2026-01-02T01:00:00Z: ValueError: no; 1 of 5 lost nodes (--max-node-losses), the "
              "last at 2026-01-02T02:30:00Z"},
         })
        EXPECT_EQ(charged_before({.epoch = 2, .incidents = row.incidents}, budgets, now),
                  row.wanted);
}

TEST(KeptRecord, AnIncidentCountsForTheWindowOfItsBudget) {
    const WallTime now = WallTime() + std::chrono::hours(20000);
    EXPECT_EQ(counts_until({.incidents = 3, .window = std::chrono::minutes(10)}, now),
              now + std::chrono::minutes(10));
    EXPECT_EQ(counts_until({.incidents = 3}, now), std::nullopt);
}

}  // namespace
}  // namespace muster::master::kept_record_test
