#include "master/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/rng.h"
#include "base/test_seeds.h"
#include "master/membership_fixture.h"

namespace muster::master::membership_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Membership, LimitsThatNoWorldCouldKeepAreRefused) {
    struct Case {
        int least, most, unit;
        const char* wanted;
    };
    for (const Case& c : {
             Case{1, 1, 1, ""},
             Case{2, 4, 2, ""},
             Case{3, 4, 2, ""},
             Case{5, 8, 4, ""},
             Case{0, 1, 1, "--nnodes 0:1: a job has at least one node"},
             Case{3, 2, 1, "--nnodes 3:2: at least 3 nodes are more than at most 2"},
             Case{1, 2, 0, "--node-unit 0: must be above 0"},
             Case{1, 2, 3, "--node-unit 3: more than the 2 nodes of --nnodes 1:2"},
             Case{5, 7, 4, "no number of nodes from 5 to 7 is a multiple of it"},
         }) {
        const auto checked = check(limits(c.least, c.most, c.unit));
        EXPECT_EQ(checked.has_value(), *c.wanted == '\0') << c.least << ":" << c.most;
        if (!checked) {
            EXPECT_THAT(checked.error().message(), HasSubstr(c.wanted));
        }
    }
}

TEST(Membership, AWorldFormsAtOnceWhenAllAreThere) {
    Nodes nodes(limits(2, 3));
    nodes.join_all({"a", "b"});
    EXPECT_EQ(nodes.look(), "-");
    nodes.join("c");
    EXPECT_EQ(nodes.look(), "1: a0 b1 c2");
    EXPECT_EQ(nodes.look(), "= 1: a0 b1 c2");
    EXPECT_EQ(nodes.members.world()->generation, (Generation{.epoch = 1, .number = 1}));
}

TEST(Membership, AWorldFormsWithTheMinimumWhenTheLastCallIsOver) {
    Nodes nodes(limits(2, 4));
    nodes.join("a");
    EXPECT_EQ(nodes.look(), "-");
    EXPECT_EQ(nodes.members.wake_at(), Instant::max());
    nodes.join("b");
    EXPECT_EQ(nodes.look(10s), "-");
    EXPECT_EQ(nodes.members.wake_at(), nodes.now + 30s);
    nodes.join("c");
    EXPECT_EQ(nodes.look(29s), "-") << "a newcomer does not prolong it";
    EXPECT_EQ(nodes.look(1s), "1: a0 b1 c2");
    EXPECT_EQ(nodes.members.wake_at(), Instant::max());
}

TEST(Membership, OneWhoComesAndGoesPostponesNothing) {
    Nodes nodes(limits(2, 4));
    nodes.join_all({"a", "b"});
    nodes.look();
    for (int i = 0; i < 29; ++i) {
        const std::string flapping = "f" + std::to_string(i);
        nodes.join(flapping);
        EXPECT_EQ(nodes.look(500ms), "-");
        nodes.lose(flapping);
        EXPECT_EQ(nodes.look(500ms), "-");
    }
    EXPECT_EQ(nodes.look(1s), "1: a0 b1");
}

TEST(Membership, TheLastCallBeginsAnewWhenTheMinimumIsLost) {
    Nodes nodes(limits(2, 4));
    nodes.join_all({"a", "b"});
    nodes.look();
    nodes.lose("b");
    EXPECT_EQ(nodes.look(29s), "-");
    nodes.join("c");
    EXPECT_EQ(nodes.look(5s), "-");
    EXPECT_EQ(nodes.look(30s), "1: a0 c1");
}

TEST(Membership, WhoIsLeftGoesOnAtOnce) {
    Nodes nodes(limits(1, 3));
    nodes.join_all({"a", "b", "c"});
    nodes.look();
    nodes.lose("b");
    EXPECT_EQ(nodes.look(), "2: a0 c2");
    nodes.lose("a");
    EXPECT_EQ(nodes.look(), "3: c2");
    nodes.lose("c");
    EXPECT_EQ(nodes.look(), "-");
    nodes.join("d");
    EXPECT_EQ(nodes.look(), "-") << "a world that was lost begins as the first did";
    EXPECT_EQ(nodes.look(30s), "4: d2") << "in the place of the last that was there";
}

TEST(Membership, WhoComesBackIsTakenInAtOnce) {
    Nodes nodes(limits(1, 2));
    nodes.join_all({"a", "b"});
    EXPECT_EQ(nodes.look(), "1: a0 b1");
    nodes.lose("a");
    EXPECT_EQ(nodes.look(), "2: b1");
    EXPECT_EQ(nodes.join("c"), "0");
    EXPECT_EQ(nodes.look(), "3: c0 b1");
}

TEST(Membership, StandbyNodesDisturbNoOtherAndTakeThePlaceOfWhatIsLost) {
    Nodes nodes(limits(3, 3));
    nodes.join_all({"a", "b", "c"});
    nodes.look();
    EXPECT_EQ(nodes.join("x"), "3");
    EXPECT_EQ(nodes.join("y"), "4");
    EXPECT_EQ(nodes.look(), "= 1: a0 b1 c2");
    nodes.lose("b");
    EXPECT_EQ(nodes.look(), "2: a0 x1 c2");
    EXPECT_EQ(nodes.members.slot_of("x"), 1);
    nodes.lose("y");
    EXPECT_EQ(nodes.look(), "= 2: a0 x1 c2");
}

TEST(Membership, StandbyNodesTakePlacesThatBecomeFreeWhileNoWorldIsThere) {
    Nodes nodes(limits(3, 3));
    nodes.join_all({"a", "b", "c", "standby"});
    EXPECT_EQ(nodes.look(), "1: a0 b1 c2");
    nodes.members.restart(nodes.now);
    nodes.lose("b");
    EXPECT_EQ(nodes.look(), "2: a0 standby1 c2");
}

// Ranks 1 and 2 were left when rank 0 went, and then one node was wanted.
TEST(Membership, AFreePlaceIsTakenAlsoIfTheLastWorldHadOnlyOthers) {
    Nodes nodes(limits(1, 3));
    nodes.join("b", 1);
    nodes.join("c", 2);
    EXPECT_EQ(nodes.look(), "-");
    EXPECT_EQ(nodes.look(30s), "1: b1 c2");
    nodes.lose("b");
    nodes.lose("c");
    nodes.members.limit_to(limits(1, 1));
    nodes.join("d", 1);
    EXPECT_EQ(nodes.look(), "2: d0");
}

TEST(Membership, WorldsHaveWholeUnits) {
    Nodes nodes(limits(2, 6, 2));
    nodes.join_all({"a", "b", "c"});
    nodes.look();
    EXPECT_EQ(nodes.look(30s), "1: a0 b1") << "c is left over";
    nodes.join("d");
    EXPECT_EQ(nodes.look(), "2: a0 b1 c2 d3") << "and makes a unit with d";
    nodes.lose("a");
    EXPECT_EQ(nodes.look(), "3: b1 c2");
    nodes.join("e");
    EXPECT_EQ(nodes.look(), "4: e0 b1 c2 d3");
}

TEST(Membership, TheMinimumIsRoundedUpToAUnit) {
    Nodes nodes(limits(3, 8, 4));
    nodes.join_all({"a", "b", "c"});
    EXPECT_EQ(nodes.look(1h), "-");
    EXPECT_EQ(nodes.members.shortage()->need, 4);
    nodes.join("d");
    nodes.look();
    EXPECT_EQ(nodes.look(30s), "1: a0 b1 c2 d3");
}

TEST(Membership, SlotsThatAreGivenAreKept) {
    Nodes nodes(limits(3, 3));
    EXPECT_EQ(nodes.join("c", 2), "2");
    EXPECT_EQ(nodes.join("a", 0), "0");
    EXPECT_EQ(nodes.join("other", 2),
              "slot 2 is held by the agent at c: give each node its own NODE_RANK, or none");
    EXPECT_EQ(nodes.join("a"), "this agent has already joined");
    EXPECT_EQ(nodes.join("b"), "1");
    EXPECT_EQ(nodes.look(), "1: a0 b1 c2");
    nodes.lose("c");
    EXPECT_EQ(nodes.join("c'", 2), "2") << "a new life of the same place";
    EXPECT_EQ(nodes.look(), "2: a0 b1 c'2");
}

TEST(Membership, ARackStandsWhereItsFirstNodeDoes) {
    Nodes nodes(limits(5, 6));
    for (const auto& [name, rack] :
         {std::pair("a", "left"), {"b", "right"}, {"c", ""}, {"d", "left"}, {"e", "right"}})
        nodes.join(name, {}, {}, rack);
    nodes.join("f");
    EXPECT_EQ(nodes.look(), "1: a0 d3 b1 e4 c2 f5") << "who tells no rack keeps its place";
    nodes.lose("a");
    EXPECT_EQ(nodes.look(), "2: b1 e4 c2 d3 f5");
}

TEST(Membership, RanksCountTheWorkersOfEach) {
    Nodes nodes(limits(3, 3));
    nodes.join("a", {}, {}, "", 2);
    nodes.join("b", {}, {}, "", 4);
    nodes.join("c", {}, {}, "", 1);
    nodes.look();
    std::vector<int> first;
    for (const Member& member : nodes.members.world()->members) first.push_back(member.first_rank);
    EXPECT_THAT(first, ElementsAre(0, 2, 6));
    EXPECT_EQ(nodes.members.world()->size(), 7);
}

TEST(Membership, RacksStandTogether) {
    Nodes nodes(limits(5, 5));
    nodes.join("a", 0, {}, "r1");
    nodes.join("b", 1, {}, "r2");
    nodes.join("c", 2, {}, "r1");
    nodes.join("d", 3);
    nodes.join("e", 4, {}, "r2");
    EXPECT_EQ(nodes.look(), "1: a0 c2 b1 e4 d3");
}

TEST(Membership, ARestartKeepsTheWorldAndTakesInWhoWaits) {
    Nodes nodes(limits(2, 4, 2));
    nodes.join_all({"a", "b", "c"});
    nodes.look();
    nodes.look(30s);
    nodes.members.restart(nodes.now);
    EXPECT_EQ(nodes.look(), "2: a0 b1");
}

TEST(Membership, WhoIsExcludedDoesNotComeBack) {
    Nodes nodes(limits(1, 2));
    nodes.join_all({"a", "b"});
    nodes.look();
    nodes.members.exclude("b", nodes.now);
    EXPECT_EQ(nodes.look(), "2: a0");
    EXPECT_EQ(nodes.join("b"), "this agent was excluded from the job");
    EXPECT_EQ(nodes.join("b2"), "1");
    EXPECT_EQ(nodes.look(), "3: a0 b21");
}

TEST(Membership, SaysWhoIsMissingAndSinceWhen) {
    Nodes nodes(limits(3, 4));
    nodes.join("b", 1);
    EXPECT_EQ(nodes.look(5s), "-");
    EXPECT_EQ(
        nodes.members.shortage(),
        (Shortage{.have = 1, .need = 3, .absent = {{0, ""}, {2, ""}, {3, ""}}, .since = kStart}));
    nodes.join_all({"a", "c"});
    nodes.look();
    EXPECT_EQ(nodes.members.shortage(), std::nullopt) << "the last call";
}

TEST(Membership, ANewAgentGoesOnWithTheWorkersOfAnother) {
    Nodes nodes(limits(2, 2));
    nodes.join_all({"a", "b"});
    EXPECT_EQ(nodes.look(), "1: a0 b1");
    EXPECT_TRUE(nodes.members.succeed("b", {.incarnation = "b2", .address = "b2"}));
    EXPECT_EQ(nodes.look(), "= 1: a0 b1") << "it is at the same place";
    EXPECT_EQ(nodes.members.slot_of("b2"), 1);
    EXPECT_EQ(nodes.members.slot_of("b"), std::nullopt);
    nodes.lose("b");
    EXPECT_EQ(nodes.look(), "= 1: a0 b1") << "old news";
    nodes.lose("b2");
    EXPECT_EQ(nodes.look(), "-");
    EXPECT_EQ(nodes.members.succeed("b2", {.incarnation = "b3"}).error().code(), Code::kNotFound);
}

TEST(Membership, GrowthCanBeHeldBack) {
    Nodes nodes(limits(1, 2));
    nodes.join("a");
    EXPECT_EQ(nodes.look(), "-");
    EXPECT_EQ(nodes.look(30s), "1: a0");
    nodes.members.hold_growth(true);
    nodes.join("b");
    EXPECT_EQ(nodes.look(), "= 1: a0");
    nodes.members.hold_growth(false);
    EXPECT_EQ(nodes.look(), "2: a0 b1");
}

TEST(Membership, GrowthCanWaitForAnotherReason) {
    const auto of_two = [](MembershipLimits limits) {
        limits.grow_at_failure = true;
        Nodes nodes(limits);
        nodes.join_all({"a", "b"});
        nodes.look();
        nodes.look(30s);
        nodes.join("c");
        EXPECT_EQ(nodes.look(1h), "= 1: a0 b1") << "a newcomer disturbs no worker";
        return nodes;
    };
    struct Case {
        const char* what;
        MembershipLimits limits;
        std::function<void(Nodes&)> happens;
        const char* then;
    };
    const Case cases[] = {
        {"a restart", limits(1, 4), [](Nodes& nodes) { nodes.members.restart(nodes.now); },
         "2: a0 b1 c2"},
        {"a member is lost", limits(1, 4), [](Nodes& nodes) { nodes.lose("a"); }, "2: b1 c2"},
        {"one is excluded", limits(1, 4),
         [](Nodes& nodes) { nodes.members.exclude("b", nodes.now); }, "2: a0 c2"},
        {"who waits is lost", limits(1, 4), [](Nodes& nodes) { nodes.lose("c"); }, "= 1: a0 b1"},
        {"all places are taken", limits(1, 4), [](Nodes& nodes) { nodes.join("d"); }, "= 1: a0 b1"},
        {"a restart, and no whole unit", limits(2, 4, 2),
         [](Nodes& nodes) { nodes.members.restart(nodes.now); }, "2: a0 b1"},
        {"a restart, and a whole unit", limits(2, 4, 2),
         [](Nodes& nodes) {
             nodes.join("d");
             nodes.members.restart(nodes.now);
         },
         "2: a0 b1 c2 d3"},
        {"a member is lost, and a standby node has its place", limits(2, 2),
         [](Nodes& nodes) { nodes.lose("b"); }, "2: a0 c1"},
        {"who was lost comes back", limits(1, 4),
         [](Nodes& nodes) {
             nodes.lose("a");
             nodes.look();
             nodes.join("a2");
         },
         "= 2: b1 c2"},
    };
    for (const Case& c : cases) {
        Nodes nodes = of_two(c.limits);
        c.happens(nodes);
        EXPECT_EQ(nodes.look(), c.then) << c.what;
    }
}

TEST(Membership, NoTwoAttemptsHaveTheSameNumber) {
    Nodes nodes(limits(1, 1));
    nodes.join("a");
    EXPECT_EQ(nodes.look(), "1: a0");
    EXPECT_EQ(nodes.members.world()->restarts, 0);
    nodes.members.restarted_alone(2);
    EXPECT_EQ(nodes.members.world()->restarts, 2);
    nodes.members.restart(nodes.now);
    EXPECT_EQ(nodes.look(), "2: a0");
    EXPECT_EQ(nodes.members.world()->restarts, 3);
}

// ---- whatever happens

TEST(Membership, KeepsItsPromisesWhateverHappens) {
    for (const std::uint64_t seed : seeds_of_this_run(300, 5)) {
        Rng rng(seed);
        const int unit = 1 + static_cast<int>(rng.below(3));
        const int most = unit * static_cast<int>(1 + rng.below(5)) + static_cast<int>(rng.below(2));
        const int least =
            1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(most / unit * unit)));
        Nodes nodes(limits(least, most, unit));
        std::vector<std::string> there;
        int born = 0;
        Generation newest;
        std::map<std::string, Slot> places;
        for (int step = 0; step < 300; ++step) {
            const bool had_world = nodes.members.world() != nullptr;
            if (rng.chance(0.55) || there.empty()) {
                there.push_back("n" + std::to_string(born++));
                nodes.join(there.back());
            } else if (rng.chance(0.9)) {
                const std::size_t victim = rng.below(there.size());
                nodes.lose(there[victim]);
                there.erase(there.begin() + static_cast<std::ptrdiff_t>(victim));
            } else {
                nodes.members.restart(nodes.now);
            }
            const bool changed = nodes.look(Duration(rng.below(40'000'000'000))).front() != '=';
            const World* world = nodes.members.world();
            if (world == nullptr) continue;
            const std::string where = fmt::format("seed {} step {}", seed, step);
            const auto size = static_cast<int>(world->members.size());
            ASSERT_TRUE(size >= least && size <= most && size % unit == 0) << where;
            ASSERT_TRUE(!changed || newest < world->generation) << where;
            newest = world->generation;
            int rank = 0;
            std::map<std::string, Slot> now_at;
            for (const Member& member : world->members) {
                ASSERT_THAT(there, testing::Contains(member.incarnation)) << where;
                ASSERT_EQ(nodes.members.slot_of(member.incarnation), member.slot) << where;
                ASSERT_EQ(member.first_rank, rank++) << where;
                now_at[member.incarnation] = member.slot;
                if (const auto before = places.find(member.incarnation);
                    had_world && before != places.end()) {
                    ASSERT_EQ(before->second, member.slot) << "a member keeps its place, " << where;
                }
            }
            ASSERT_EQ(now_at.size(), world->members.size()) << where;
            places = std::move(now_at);
            // No waiting node could be used.
            const int could = std::min(static_cast<int>(there.size()), most) / unit * unit;
            ASSERT_EQ(size, could) << where;
        }
    }
}

TEST(Membership, OtherLimitsHoldFromTheNextWorldOn) {
    Nodes nodes(limits(2, 2));
    nodes.join_all({"a", "b", "c", "d"});
    EXPECT_EQ(nodes.look(), "1: a0 b1");
    EXPECT_TRUE(nodes.members.would_grow_with(limits(2, 4)));
    EXPECT_TRUE(nodes.members.would_grow_with(limits(4, 4)));
    EXPECT_FALSE(nodes.members.would_grow_with(limits(2, 2)));
    EXPECT_FALSE(nodes.members.would_grow_with(limits(5, 8))) << "too few are there";
    EXPECT_TRUE(nodes.members.would_grow_with(limits(1, 6, 3)));
    EXPECT_FALSE(nodes.members.would_grow_with(limits(4, 6, 3)))
        << "a multiple from four on is six";
    MembershipLimits at_failure = limits(2, 4);
    at_failure.grow_at_failure = true;
    EXPECT_FALSE(nodes.members.would_grow_with(at_failure));
    nodes.members.limit_to(limits(2, 3));
    EXPECT_EQ(nodes.look(), "2: a0 b1 c2");
    EXPECT_FALSE(nodes.members.would_grow_with(limits(1, 1)));
    nodes.members.limit_to(limits(1, 1));
    EXPECT_EQ(nodes.look(), "= 2: a0 b1 c2") << "a world that runs stays";
    nodes.lose("b");
    EXPECT_EQ(nodes.look(), "3: a0");
    EXPECT_FALSE(nodes.members.would_grow_with(limits(1, 1)));
}

}  // namespace
}  // namespace muster::master::membership_test
