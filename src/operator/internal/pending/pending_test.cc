#include "operator/internal/pending/pending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "kube/values/time.h"

namespace muster::operators::pending_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Demand = jobs::PendingPolicy::Demand;

constexpr WallTime kStart{std::chrono::seconds(1'700'000'000)};

/// A worker that a scheduler refused that long after the start, or one that was made then.
struct Waits {
    std::int32_t rank = 0;
    std::chrono::seconds at{};
    bool refused = true;
    bool joins = false;
};

struct Row {
    std::string name;
    std::vector<Waits> workers = {};
    std::chrono::seconds now = 0s;
    std::string_view end = {};
    std::optional<std::chrono::seconds> look_at = std::nullopt;
    std::string told = "";  ///< a part of the message
    // Of four workers:
    std::int32_t necessary = 3;
    std::int32_t all = 4;
    std::int32_t lost = 0;
    std::optional<std::chrono::seconds> runs_since = 0s;
    Demand demand = Demand::kNecessary;
    std::chrono::seconds timeout = 900s;
    bool together = false;
};

PendingDecision decide(const Row& row) {
    const jobs::PendingPolicy policy{.demand = row.demand,
                                     .timeout = row.timeout,
                                     .too_few_timeout = 600s,
                                     .together = row.together};
    TypeInWait type{.name = "worker",
                    .wanted = 4,
                    .running = 4 - row.lost - static_cast<std::int32_t>(row.workers.size()),
                    .lost = row.lost,
                    .need = {.necessary = row.necessary, .all = row.all}};
    static constexpr std::array<std::string_view, 4> kNames{"w-0", "w-1", "w-2", "w-3"};
    for (const Waits& one : row.workers)
        type.waiting.push_back({.pod = kNames.at(static_cast<std::size_t>(one.rank)),
                                .rank = one.rank,
                                .since = kStart + one.at,
                                .refused = one.refused,
                                .joins = one.joins,
                                .why = one.refused ? "0/3 nodes are available" : ""});
    std::optional<WallTime> runs_since;
    if (row.runs_since) runs_since = kStart + *row.runs_since;
    const std::vector<TypeInWait> types{type};
    return decide_pending(
        {.policy = policy, .runs_since = runs_since, .now = kStart + row.now, .types = types});
}

class DecidePending : public ::testing::TestWithParam<Row> {};

TEST_P(DecidePending, WaitsTellsOrEnds) {
    const Row& row = GetParam();
    const PendingDecision made = decide(row);
    EXPECT_EQ(made.end, row.end);
    std::optional<std::chrono::seconds> look_at;
    if (made.look_at)
        look_at = std::chrono::duration_cast<std::chrono::seconds>(*made.look_at - kStart);
    EXPECT_EQ(look_at, row.look_at);
    EXPECT_THAT(made.message, HasSubstr(row.told));
    EXPECT_EQ(made.message.empty(), row.told.empty());
}

const std::vector<Row> kRows = {
    {.name = "AllRun"},
    {.name = "NotToldAtOnce", .workers = {{3, 0s}}, .now = 9s, .look_at = 10s},
    {.name = "OneThatCanBeDoneWithout",
     .workers = {{3, 0s}},
     .now = 10h,
     .told = "1 of 4 worker pods (w-3) can't be scheduled since 2023-11-14T22:13:20Z; the job "
             "continues "
             "without them, and they join when they run"},
    {.name = "OneTooMany",
     .workers = {{2, 0s}, {3, 0s}},
     .now = 20s,
     .look_at = 900s,
     .told = "2 of 4 worker pods (w-2, w-3) can't be scheduled since 2023-11-14T22:13:20Z; the job "
             "ends "
             "at 2023-11-14T22:28:20Z with PendingTimeout unless 1 of them runs"},
    {.name = "AtTheEnd",
     .workers = {{2, 0s}, {3, 0s}},
     .now = 900s,
     .end = kPendingTimeout,
     .told = "PendingTimeout: 2 of 4 worker pods (w-2, w-3) can't be scheduled since "
             "2023-11-14T22:13:20Z, longer than 900 s, and the job needs 1 of them"},
    {.name = "ASecondBefore",
     .workers = {{2, 0s}, {3, 0s}},
     .now = 899s,
     .look_at = 900s,
     .told = "ends at"},
    // Upstream takes the pod that has waited longest, and ends the job at once.
    {.name = "TheLackBeganWithTheFirstOneTooMany",
     .workers = {{3, 0s}, {2, 5000s}},
     .now = 5020s,
     .look_at = 5900s,
     .told = "ends at"},
    {.name = "WhatWasGivenUpIsNoReserve",
     .workers = {{3, 0s}},
     .now = 900s,
     .end = kPendingTimeout,
     .told = "the job needs it",
     .lost = 1},
    {.name = "OnesThatStartAreNotRefused",
     .workers = {{2, 0s, false}, {3, 0s}},
     .now = 20s,
     .look_at = 60s,
     .told = "1 of 4 worker pods (w-3) can't be scheduled"},
    {.name = "NothingRunsYet",
     .workers = {{0, 0s}, {1, 0s}, {2, 0s}, {3, 0s}},
     .now = 20s,
     .look_at = 900s,
     .told = "unless 3 of them run",
     .runs_since = std::nullopt},
    {.name = "AllAreNeeded",
     .workers = {{2, 0s}, {3, 0s}},
     .now = 20s,
     .look_at = 900s,
     .told = "unless they run",
     .necessary = 4},
    {.name = "TheJobHasRunWithoutThoseThatJoin",
     .workers = {{2, 0s, true, true}, {3, 0s, false, true}},
     .now = 10h,
     .told = "1 of 4 worker pods (w-2) can't be scheduled since 2023-11-14T22:13:20Z; the job "
             "continues without them",
     .necessary = 4},
    {.name = "ThoseThatJoinAreNoReserve",
     .workers = {{1, 0s}, {2, 0s, true, true}, {3, 0s, true, true}},
     .now = 20s,
     .look_at = 900s,
     .told = "3 of 4 worker pods (w-1, w-2, w-3)",
     .necessary = 4},
    {.name = "NoLimit",
     .workers = {{2, 0s}, {3, 0s}},
     .now = 10h,
     .told = "; no time limit is set",
     .timeout = 0s},
    {.name = "NoDemand",
     .workers = {{0, 0s}, {1, 0s}, {2, 0s}, {3, 0s}},
     .now = 10h,
     .told = "; no time limit is set",
     .runs_since = std::nullopt,
     .demand = Demand::kNothing},
    {.name = "AllOfThem",
     .workers = {{3, 0s}},
     .now = 20s,
     .look_at = 900s,
     .told = "unless it runs",
     .demand = Demand::kAll},
    {.name = "AllOfThemButOfLowPriority",
     .workers = {{3, 0s}},
     .now = 10h,
     .told = "; the job continues without them",
     .all = 2,
     .demand = Demand::kAll},
    {.name = "OfHighPriorityBesideOneOfLow",
     .workers = {{3, 0s}, {1, 100s}},
     .now = 120s,
     .look_at = 900s + 100s,
     .told = "unless those of high priority run",
     .necessary = 1,
     .all = 2,
     .demand = Demand::kAll},
    {.name = "TogetherAsLongAsNoneHasRun",
     .workers = {{0, 0s}, {1, 0s}, {2, 0s}, {3, 0s}},
     .now = 10h,
     .told = "; they start together, however long that takes",
     .runs_since = std::nullopt,
     .together = true},
    {.name = "TogetherFromWhenTheFirstRan",
     .workers = {{2, 0s}, {3, 0s}},
     .now = 3610s,
     .look_at = 4500s,
     .told = "ends at",
     .runs_since = 3600s,
     .together = true},
    {.name = "TooFewForAnotherReason",
     .workers = {{2, 0s, false}, {3, 0s, false}},
     .now = 60s,
     .look_at = 600s,
     .told = "2 of 4 worker pods (w-2, w-3) don't run since 2023-11-14T22:13:20Z; the job ends at "
             "2023-11-14T22:23:20Z with UncompletedTimeout unless 1 of them runs"},
    {.name = "TooFewForTooLong",
     .workers = {{2, 0s, false}, {3, 0s, false}},
     .now = 600s,
     .end = kUncompletedTimeout,
     .told = "UncompletedTimeout: 2 of 4 worker pods (w-2, w-3) don't run"},
    {.name = "TooFewCountFromWhenTheFirstRan",
     .workers = {{2, 0s, false}, {3, 0s, false}},
     .now = 1000s,
     .look_at = 1500s,
     .told = "don't run",
     .runs_since = 900s},
    {.name = "TooFewWhileNoneRuns",
     .workers = {{0, 0s, false}, {1, 0s, false}, {2, 0s, false}, {3, 0s, false}},
     .now = 10h},
    {.name = "TooFewBeforeTheFirstRan",
     .workers = {{2, 0s, false}, {3, 0s, false}},
     .now = 10h,
     .runs_since = std::nullopt},
    {.name = "TooFewWithoutDemand",
     .workers = {{2, 0s, false}, {3, 0s, false}},
     .now = 10h,
     .demand = Demand::kNothing},
    {.name = "EnoughRun", .workers = {{3, 0s, false}}, .now = 10h},
    {.name = "TheLimitForNodesIsTheUsers",
     .workers = {{2, 0s}, {3, 0s}},
     .now = 1000s,
     .look_at = 7200s,
     .told = "with PendingTimeout",
     .timeout = 7200s},
};
INSTANTIATE_TEST_SUITE_P(Cases, DecidePending, ::testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

TEST(PendingDecision, ManyAreToldByTheirNumber) {
    const jobs::PendingPolicy policy{.demand = Demand::kNothing};
    TypeInWait type{.name = "worker", .wanted = 100};
    for (std::int32_t rank = 0; rank < 80; ++rank)
        type.waiting.push_back({.pod = "p", .rank = rank, .since = kStart, .refused = true});
    const std::vector<TypeInWait> types{type};
    const PendingDecision made =
        decide_pending({.policy = policy, .runs_since = {}, .now = kStart + 1min, .types = types});
    EXPECT_THAT(made.message,
                StartsWith("80 of 100 worker pods (p, p, p, p, p and 75 more) can't"));
}

TEST(PendingDecision, TheFirstTypeToEndTheJobIsTold) {
    const jobs::PendingPolicy policy{.demand = Demand::kNecessary, .timeout = 900s};
    const std::vector<TypeInWait> types{
        {.name = "ps",
         .wanted = 1,
         .need = {.necessary = 1},
         .waiting = {{.pod = "ps-0", .since = kStart + 10s, .refused = true, .why = "no disk"}}},
        {.name = "worker",
         .wanted = 1,
         .need = {.necessary = 1},
         .waiting = {{.pod = "w-0", .since = kStart, .refused = true, .why = "no GPU"}}}};
    const auto at = [&](std::chrono::seconds now) {
        return decide_pending(
            {.policy = policy, .runs_since = {}, .now = kStart + now, .types = types});
    };
    EXPECT_THAT(at(60s).message,
                AllOf(HasSubstr("1 of 1 ps pods (ps-0) can't be scheduled since"),
                      HasSubstr(", 1 of 1 worker pods (w-0) can't be scheduled since"),
                      HasSubstr("ends at 2023-11-14T22:28:20Z")));
    EXPECT_EQ(at(60s).words, "ps-0: no disk");
    EXPECT_THAT(at(900s).message, AllOf(HasSubstr("w-0"), Not(HasSubstr("ps-0"))));
    EXPECT_EQ(at(900s).words, "w-0: no GPU");
}

TEST(PendingDecision, OnlyNumbersInTheSchedulersWordsAreNoNews) {
    const PendingDecision made{.message = "2 of 4 wait", .words = "w-0: 0/13 nodes: 9 are full"};
    EXPECT_EQ(made.condition({}), "2 of 4 wait. w-0: 0/13 nodes: 9 are full");
    EXPECT_EQ(made.condition("2 of 4 wait. w-0: 0/9 nodes: 11 are full"),
              "2 of 4 wait. w-0: 0/9 nodes: 11 are full");
    for (const std::string_view other :
         {"2 of 4 wait. w-0: 0/13 nodes: 9 are tainted", "1 of 4 wait. w-0: 0/13 nodes: 9 are full",
          "2 of 4 wait. w-0: 0/13 nodes: 9 are full, too", "2 of 4 wait", "2 of 4 wait. "})
        EXPECT_EQ(made.condition(other), "2 of 4 wait. w-0: 0/13 nodes: 9 are full") << other;
    const PendingDecision silent{.message = "2 of 4 wait"};
    EXPECT_EQ(silent.condition("2 of 3 wait"), "2 of 4 wait");
}

}  // namespace
}  // namespace muster::operators::pending_test
