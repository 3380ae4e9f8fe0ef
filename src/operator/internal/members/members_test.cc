#include "operator/internal/members/members.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.h"

namespace muster::operators::members_test {
namespace {

using ::testing::ElementsAre;

jobs::ReplicaMembers written(std::string ids, std::map<std::string, std::int32_t> ranks,
                             std::int32_t next) {
    return {.ids = std::move(ids), .ranks = std::move(ranks), .next = next};
}

/// "0-1,5=2 next 6": an id and its rank, where it differs.
std::string text_of(const Members& members) {
    std::string text;
    for (auto id = members.ids().next(0); id >= 0; id = members.ids().next(id + 1)) {
        if (!text.empty()) text += ",";
        text += fmt::format("{}", id);
        if (members.kept_rank(id)) text += fmt::format("={}", *members.kept_rank(id));
    }
    return text + fmt::format(" next {}", members.next());
}

IndexSet set_of(std::initializer_list<std::int32_t> ids) {
    IndexSet set;
    for (const std::int32_t id : ids) set.insert(id);
    return set;
}

TEST(Members, WhatThoseWhoLeaveHaveCostIsKept) {
    jobs::ReplicaMembers before = written("0-2,4", {{"4", 0}}, 5);
    before.restarts = {{"4", 2}};
    before.former_restarts = 7;
    const Members members = Members::read(before);
    const auto with = [&](const MemberChanges& changes,
                          const std::map<std::int32_t, std::int32_t>& restarts) {
        const jobs::ReplicaMembers after =
            with_restarts(members, next_members(members, changes), restarts).written();
        return std::pair(after.restarts, after.former_restarts.value_or(0));
    };
    const auto text = [](const char* id) { return std::string(id); };
    // Replaced: by id 5, with rank 1.
    EXPECT_EQ(with({.wanted = 3, .replaced = {1}}, {{1, 3}}),
              std::pair(std::map({std::pair(text("4"), 2), std::pair(text("5"), 3)}), 7));
    // Scaled away.
    EXPECT_EQ(with({.wanted = 2}, {{2, 3}}), std::pair(std::map({std::pair(text("4"), 2)}), 10));
    // Its successor was there before: its pod tells its own.
    EXPECT_EQ(with({.wanted = 3, .released = {0}}, {{0, 1}}),
              std::pair(std::map({std::pair(text("4"), 2)}), 8));
    // One that takes over is replaced: it had 2 from before it.
    EXPECT_EQ(with({.wanted = 3, .replaced = {4}}, {{4, 3}}),
              std::pair(std::map({std::pair(text("5"), 3)}), 7));
    EXPECT_EQ(leaving_ids(members, next_members(members, {.wanted = 1})),
              (std::vector<std::int32_t>{1, 2}));
}

TEST(Members, RestartsThatCanNotBeAreLeftOut) {
    jobs::ReplicaMembers wrong = written("0-1", {}, 2);
    wrong.restarts = {{"0", -3}, {"1", 2'000'000'000}, {"5", 1}, {"x", 1}};
    wrong.former_restarts = -1;
    const jobs::ReplicaMembers read = Members::read(wrong).written();
    EXPECT_EQ(read.restarts, (std::map<std::string, std::int32_t>{{"1", 10'000}}));
    EXPECT_EQ(read.former_restarts, std::nullopt);
}

TEST(Members, OfANewJobAreAsManyAsItWants) {
    EXPECT_EQ(text_of(Members::first(3)), "0,1,2 next 3");
    EXPECT_EQ(text_of(Members::first(0)), " next 0");
    EXPECT_EQ(Members::first(3).written(), written("0-2", {}, 3));
}

struct Row {
    const char* name;
    jobs::ReplicaMembers before;
    MemberChanges changes;
    const char* after;
};
class EachChange : public ::testing::TestWithParam<Row> {};

TEST_P(EachChange, GivesTheNextMembers) {
    const Row& row = GetParam();
    const Members before = Members::read(row.before);
    EXPECT_EQ(text_of(next_members(before, row.changes)), row.after);
    EXPECT_EQ(Members::read(next_members(before, row.changes).written()),
              next_members(before, row.changes));
}

const jobs::ReplicaMembers kThree = written("0-2", {}, 3);
const jobs::ReplicaMembers kReplaced = written("0,2-3", {{"3", 1}}, 4);
const jobs::ReplicaMembers kTakingOver = written("0-3", {{"3", 1}}, 4);

jobs::OwnResources own_memory(const char* amount) {
    return {.resource = {{"memory", json::value(amount)}},
            .instead_of = {{"memory", json::value("1Gi")}}};
}

/// Three, of which rank 1 has 2Gi and rank 2 has 3Gi.
jobs::ReplicaMembers with_own(std::string ids, std::map<std::string, std::int32_t> ranks,
                              std::int32_t next) {
    jobs::ReplicaMembers members = written(std::move(ids), std::move(ranks), next);
    members.resources = {{"1", own_memory("2Gi")}, {"2", own_memory("3Gi")}};
    return members;
}

/// "1:2Gi 2:3Gi".
std::string own_text(const Members& members) {
    std::string text;
    for (const auto& [rank, own] : members.own_resources())
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", rank,
                            own.resource.at("memory").as_string().c_str());
    return text;
}

TEST(Members, ResourcesBelongToRanks) {
    struct Row {
        const char* name;
        MemberChanges changes;
        const char* ids;
        const char* own;
    };
    for (const Row& row : std::vector<Row>{
             {"nothing", {.wanted = 3}, "0,1,2 next 3", "1:2Gi 2:3Gi"},
             {"a replacement", {.wanted = 3, .replaced = {1}}, "0,2,3=1 next 4", "1:2Gi 2:3Gi"},
             {"a migration", {.wanted = 3, .migrated = {2}}, "0,1,2,3=2 next 4", "1:2Gi 2:3Gi"},
             {"the rank goes", {.wanted = 2}, "0,1 next 3", "1:2Gi"},
             {"another one goes", {.wanted = 2, .removed = {1}}, "0,2 next 3", "2:3Gi"},
             {"it goes and comes again", {.wanted = 3, .removed = {1}}, "0,2,3=1 next 4", "2:3Gi"},
             {"it comes again with others",
              {.wanted = 3, .removed = {1}, .own_resources = {{1, own_memory("5Gi")}}},
              "0,2,3=1 next 4",
              "1:5Gi 2:3Gi"},
             {"more of one, none of the other",
              {.wanted = 3, .own_resources = {{1, own_memory("4Gi")}, {2, {}}}},
              "0,1,2 next 3",
              "1:4Gi"},
             {"of a new rank",
              {.wanted = 4, .own_resources = {{3, own_memory("4Gi")}}},
              "0,1,2,3 next 4",
              "1:2Gi 2:3Gi 3:4Gi"},
             {"of no rank",
              {.wanted = 3, .own_resources = {{7, own_memory("4Gi")}}},
              "0,1,2 next 3",
              "1:2Gi 2:3Gi"}}) {
        SCOPED_TRACE(row.name);
        const Members after = next_members(Members::read(with_own("0-2", {}, 3)), row.changes);
        EXPECT_EQ(text_of(after), row.ids);
        EXPECT_EQ(own_text(after), row.own);
        EXPECT_EQ(Members::read(after.written()), after);
    }
}

TEST(Members, ResourcesThatCantBeAreLeftOut) {
    jobs::ReplicaMembers members = written("0-3", {}, 4);
    members.resources = {
        {"0", {.resource = {{"memory", json::value("-1Gi")}}, .instead_of = {}}},
        {"1",
         {.resource = {{"nvidia.com/gpu", json::value(1)}, {"cpu", json::value(2)}},
          .instead_of = {{"memory", json::value("1Gi")}}}},
        {"2", {.resource = {{"memory", json::value(std::string(40, '1'))}}, .instead_of = {}}},
        {"3", {.resource = {{"memory", json::value()}, {"cpu", json::array()}}, .instead_of = {}}},
        {"4", own_memory("1Gi")},
        {"-1", own_memory("1Gi")},
        {"x", own_memory("1Gi")}};
    EXPECT_EQ(Members::read(members).own_resources(),
              (OwnResourcesByRank{{1, {.resource = {{"cpu", json::value(2)}}, .instead_of = {}}}}));
    members = written("0-4000", {}, 4001);
    for (int rank = 0; rank < 4000; ++rank)
        members.resources.emplace(std::to_string(rank), own_memory("2Gi"));
    EXPECT_EQ(Members::read(members).own_resources().size(), jobs::kMostOwnResources);
}

INSTANTIATE_TEST_SUITE_P(
    All, EachChange,
    ::testing::Values(
        Row{"Nothing", kThree, {.wanted = 3}, "0,1,2 next 3"},
        Row{"AReplacementKeepsTheRank", kThree, {.wanted = 3, .replaced = {1}}, "0,2,3=1 next 4"},
        Row{"AndSoDoesItsReplacement", kReplaced, {.wanted = 3, .replaced = {3}}, "0,2,4=1 next 5"},
        Row{"SeveralAtOnce", kThree, {.wanted = 3, .replaced = {2, 0}}, "1,3=2,4=0 next 5"},
        Row{"AStranger", kThree, {.wanted = 3, .replaced = {7, 1, 1}}, "0,2,3=1 next 4"},
        Row{"More", kThree, {.wanted = 5}, "0,1,2,3,4 next 5"},
        Row{"MoreAfterAReplacement", kReplaced, {.wanted = 5}, "0,2,3=1,4=3,5=4 next 6"},
        Row{"Fewer", kReplaced, {.wanted = 2}, "0,3=1 next 4"},
        Row{"FewerAndMore", written("0", {}, 3), {.wanted = 3}, "0,3=1,4=2 next 5"},
        Row{"NoneAtAll", kThree, {.wanted = 0}, " next 3"},
        Row{"FewerAndOneOfThemFailed", kThree, {.wanted = 2, .replaced = {2}}, "0,1 next 3"},
        Row{"SparesFirst", kThree, {.wanted = 1, .spares = set_of({0})}, "1 next 3"},
        Row{"ThenTheHighest", kThree, {.wanted = 1, .spares = set_of({1, 9})}, "0 next 3"},
        Row{"AFreeRankIsTakenFirst", written("1", {}, 3), {.wanted = 3}, "1,3=0,4=2 next 5"},
        Row{"RemovedIsReplacedIfAsManyAreWanted",
            kThree,
            {.wanted = 3, .removed = {1}},
            "0,2,3=1 next 4"},
        Row{"RemovedForGood", kThree, {.wanted = 2, .removed = {1}}, "0,2 next 3"},
        Row{"AMigrationHasBoth", kThree, {.wanted = 3, .migrated = {1}}, "0,1,2,3=1 next 4"},
        Row{"AndNotThree", kTakingOver, {.wanted = 3, .migrated = {1, 3}}, "0,1,2,3=1 next 4"},
        Row{"UntilTheOldOneLeaves", kTakingOver, {.wanted = 3, .released = {1}}, "0,2,3=1 next 4"},
        Row{"OrTheNewOne", kTakingOver, {.wanted = 3, .released = {3}}, "0,1,2 next 4"},
        Row{"OnlyOneOfThemLeaves",
            kTakingOver,
            {.wanted = 3, .released = {1, 3}},
            "0,2,3=1 next 4"},
        Row{"NoOtherIsReleased", kThree, {.wanted = 3, .released = {1}}, "0,1,2 next 3"},
        Row{"TheOldOneFails", kTakingOver, {.wanted = 3, .replaced = {1}}, "0,2,3=1 next 4"},
        Row{"TheNewOneFails", kTakingOver, {.wanted = 3, .replaced = {3}}, "0,1,2,4=1 next 5"},
        Row{"BothFail", kTakingOver, {.wanted = 3, .replaced = {1, 3}}, "0,2,4=1 next 5"},
        Row{"BothAreOneRank", kTakingOver, {.wanted = 1}, "0 next 4"},
        Row{"AnIdThatWasSeenIsNotUsedAgain",
            kThree,
            {.wanted = 4, .highest_seen = 8},
            "0,1,2,9=3 next 10"},
        Row{"AllIdsAreUsedUp",
            written("0-1", {}, jobs::kMaxReplicas),
            {.wanted = 3, .replaced = {1}, .migrated = {0}},
            "0,1,2 next 100000"}),
    [](const auto& info) { return info.param.name; });

// Others may write a status, too.
TEST(Members, AreReadSoThatTheyKeepTheRules) {
    const auto read = [](const jobs::ReplicaMembers& one) { return text_of(Members::read(one)); };
    EXPECT_EQ(read(written("0-2,x,5", {{"5", 1}, {"2", 2}, {"7", 1}, {"x", 1}}, 0)),
              "0,1,2,5=1 next 6");
    EXPECT_EQ(read(written("0-2", {{"1", -4}, {"2", 1'000'000'000}}, -7)), "0,1,2 next 3");
    EXPECT_EQ(read(written("0-4", {{"2", 0}, {"3", 0}, {"4", 0}}, 5)), "1,3=0,4=0 next 5");
    const Members many = Members::read(written("0-2000000000", {}, 2'000'000'000));
    EXPECT_EQ(many.size(), jobs::kMaxReplicas);
    EXPECT_EQ(many.next(), jobs::kMaxReplicas);
    EXPECT_FALSE(many.may_replace());
}

TEST(Members, TellWhoTakesOver) {
    const Members members = Members::read(kTakingOver);
    EXPECT_THAT(members.takeovers(), ElementsAre(Members::Takeover{.from = 1, .to = 3}));
    EXPECT_EQ(members.size(), 3);
    EXPECT_EQ(members.rank_of(3), 1);
    EXPECT_EQ(members.rank_of(2), 2);
}

/// Random changes, each the input of the next.
class RandomMembers {
  public:
    explicit RandomMembers(std::uint64_t seed) : rng_(seed), members_(Members::first(3)) {}

    void step() {
        MemberChanges changes{.wanted = wanted_};
        if (rng_.chance(0.3)) changes.wanted = wanted_ = static_cast<std::int32_t>(rng_.below(7));
        if (rng_.chance(0.5)) changes.replaced = some();
        if (rng_.chance(0.4)) changes.migrated = some();
        if (rng_.chance(0.2)) changes.highest_seen = static_cast<std::int32_t>(rng_.below(50));
        for (const Members::Takeover& one : members_.takeovers())
            if (rng_.chance(0.5)) changes.released.push_back(rng_.chance(0.7) ? one.from : one.to);
        const Members before = members_;
        members_ = next_members(before, changes);
        EXPECT_EQ(members_, next_members(before, changes)) << "equal inputs";
        EXPECT_EQ(members_, Members::read(members_.written()));
        check(before);
    }

    /// Nothing is under way, nothing fails.
    void rest() {
        MemberChanges changes{.wanted = wanted_};
        for (const Members::Takeover& one : members_.takeovers())
            changes.released.push_back(one.from);
        members_ = next_members(members_, changes);
        EXPECT_THAT(members_.takeovers(), ElementsAre());
        std::set<std::int32_t> ranks;
        for (auto id = members_.ids().next(0); id >= 0; id = members_.ids().next(id + 1))
            ranks.insert(members_.rank_of(id));
        EXPECT_EQ(static_cast<std::int32_t>(ranks.size()), wanted_);
        if (!ranks.empty()) EXPECT_EQ(*ranks.rbegin(), wanted_ - 1) << text_of(members_);
        EXPECT_EQ(next_members(members_, {.wanted = wanted_}), members_) << "and nothing changes";
    }

  private:
    std::vector<std::int32_t> some() {
        std::vector<std::int32_t> ids;
        for (auto id = members_.ids().next(0); id >= 0; id = members_.ids().next(id + 1))
            if (rng_.chance(0.3)) ids.push_back(id);
        return ids;
    }

    void check(const Members& before) {
        EXPECT_GE(members_.next(), before.next()) << "ids only rise";
        EXPECT_EQ(members_.size(), wanted_);
        std::map<std::int32_t, std::vector<std::int32_t>> by_rank;
        for (auto id = members_.ids().next(0); id >= 0; id = members_.ids().next(id + 1)) {
            EXPECT_LT(id, members_.next());
            if (!before.contains(id)) EXPECT_GE(id, before.next()) << "an id came back";
            if (before.contains(id)) EXPECT_EQ(members_.rank_of(id), before.rank_of(id));
            by_rank[members_.rank_of(id)].push_back(id);
        }
        std::size_t pairs = 0;
        for (const auto& [rank, ids] : by_rank) {
            EXPECT_LE(ids.size(), 2u) << "rank " << rank;
            if (ids.size() < 2) continue;
            ++pairs;
            EXPECT_THAT(members_.takeovers(), ::testing::Contains(Members::Takeover{
                                                  .from = ids.front(), .to = ids.back()}));
        }
        EXPECT_EQ(members_.takeovers().size(), pairs);
    }

    Rng rng_;
    Members members_;
    std::int32_t wanted_ = 3;
};

TEST(Members, KeepTheRulesThroughRandomChanges) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        RandomMembers life(seed);
        for (int i = 0; i < 40 && !HasFailure(); ++i) {
            life.step();
            if (i % 5 == 4) life.rest();
        }
        if (HasFailure()) break;
    }
}

}  // namespace
}  // namespace muster::operators::members_test
