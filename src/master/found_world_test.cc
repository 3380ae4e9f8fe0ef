// What a new master makes of the worlds that its agents hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/membership_fixture.h"

namespace muster::master::found_world_test {
namespace {

TEST(FoundWorld, ANewMasterTakesOverTheWorldThatItFinds) {
    Nodes nodes(limits(2, 3), true, 2);
    const World old = world_of({"a", "b", "c"}, 7);
    nodes.join("c", 2, as_told_to(old, 2));
    nodes.join("a", 0, old);
    EXPECT_EQ(nodes.look(1s), "-");
    nodes.join("b", 1, as_told_to(old, 1));
    EXPECT_EQ(nodes.look(), "7: a0 b1 c2");
    EXPECT_EQ(*nodes.members.world(), old) << "no worker has to restart";
    nodes.lose("a");
    EXPECT_EQ(nodes.look(), "8: b1 c2");
    EXPECT_EQ(nodes.members.world()->generation.epoch, 2u);
}

TEST(FoundWorld, WhoDoesNotComeBackToANewMasterIsLost) {
    Nodes nodes(limits(2, 3), true, 2);
    const World old = world_of({"a", "b", "c"}, 7);
    nodes.join("a", 0, old);
    nodes.join("c", 2, as_told_to(old, 2));
    nodes.join("x");
    EXPECT_EQ(nodes.members.wake_at(), kStart + 2s);
    EXPECT_EQ(nodes.look(2s), "-");
    EXPECT_EQ(nodes.members.wake_at(), kStart + 10s);
    EXPECT_EQ(nodes.look(7s), "-");
    EXPECT_EQ(nodes.look(1s), "8: a0 x1 c2") << "a newcomer has its place";
}

TEST(FoundWorld, AMasterThatAgentsMustFindFirstGivesThemTheirTimeFromThenOn) {
    MembershipLimits far = limits(2, 2);
    far.await_first = true;
    Nodes nodes(far, true, 2);
    const World old = world_of({"a", "b"}, 7);
    EXPECT_EQ(nodes.members.wake_at(), Instant::max());
    EXPECT_EQ(nodes.look(1h), "-");
    nodes.members.reached(nodes.now);
    nodes.join("a", 0, old);
    EXPECT_EQ(nodes.members.wake_at(), nodes.now + 2s);
    nodes.look(9s);
    nodes.members.reached(nodes.now);
    EXPECT_TRUE(nodes.members.is_rejoining());
    nodes.join("b", 1, as_told_to(old, 1));
    EXPECT_EQ(nodes.look(), "7: a0 b1");
}

TEST(FoundWorld, WhereAWorkerHasDiedNobodyIsWaitedForForLong) {
    Nodes nodes(limits(1, 2), true, 2);
    const World old = world_of({"a", "b"}, 7);
    nodes.join("b", 1, as_told_to(old, 1));
    EXPECT_EQ(nodes.look(1s), "-");
    nodes.members.holds("b", as_told_to(old, 1), {}, true);
    EXPECT_EQ(nodes.look(), "-") << "a may come back";
    EXPECT_EQ(nodes.members.wake_at(), kStart + 2s);
    EXPECT_EQ(nodes.look(1s), "8: b1");
}

TEST(FoundWorld, WhatDiedInAnOlderWorldIsNoReasonToHurry) {
    Nodes nodes(limits(1, 2), true, 2);
    nodes.join("a", 0, world_of({"a", "b"}, 6));
    nodes.members.holds("a", world_of({"a", "b"}, 6), {}, true);
    nodes.join("c", 1, as_told_to(world_of({"a", "c"}, 7), 1));
    EXPECT_EQ(nodes.look(2s), "7: a0 c1");
    Nodes others(limits(1, 2), true, 2);
    others.join("b", 1, as_told_to(world_of({"a", "b"}, 7), 1));
    EXPECT_EQ(others.look(5s), "-") << "its workers are well";
}

TEST(FoundWorld, TheNewestWorldCountsAlsoForThoseWhoWereNotToldOfIt) {
    Nodes nodes(limits(2, 2), true, 2);
    nodes.join("a", 0, world_of({"a", "b"}, 6));
    EXPECT_EQ(nodes.look(), "-");
    nodes.join("b", 1, as_told_to(world_of({"a", "b"}, 7), 1));
    EXPECT_EQ(nodes.look(), "7: a0 b1");
}

TEST(FoundWorld, AWorldIsFoundThatItsMembersBeginOnlyNow) {
    const World before = world_of({"a", "b"}, 6);
    const World old = world_of({"a", "b", "c"}, 7);
    Nodes nodes(limits(2, 3), true, 2);
    nodes.join("a", 0, before);
    nodes.join("c", 2, as_told_to(old, 2));
    nodes.join("b", 1, as_told_to(before, 1));
    EXPECT_EQ(nodes.look(), "-") << "c has a larger one, and does not know all who are in it";
    nodes.members.holds("b", as_told_to(old, 1), Generation{.epoch = 1, .number = 6});
    EXPECT_EQ(nodes.look(), "7: a0 b1 c2");
}

TEST(FoundWorld, AMemberKeepsTheSlotThatItTookFromWhoWasGivenIt) {
    World old = world_of({"standby", "b"}, 7);
    for (const bool comes_first : {false, true}) {
        Nodes nodes(limits(2, 2), true, 2);
        if (comes_first) nodes.join("a", 0);
        nodes.join("standby", 5, old);
        if (!comes_first) nodes.join("a", 0);
        EXPECT_EQ(nodes.look(1s), "-");
        nodes.join("b", 1, as_told_to(old, 1));
        EXPECT_EQ(nodes.look(), "7: standby0 b1");
        EXPECT_EQ(nodes.members.slot_of("a"), 2) << "a standby node";
    }
}

TEST(FoundWorld, SlotsThatAreGivenCountAlsoWhereNothingIsFound) {
    Nodes nodes(limits(3, 3), true, 2);
    nodes.join("c", 2);
    nodes.join("x");
    nodes.join("a", 0);
    EXPECT_EQ(nodes.look(2s), "1: a0 x1 c2");
}

TEST(FoundWorld, AWorldIsFoundFromWhatEachMemberWasTold) {
    const World old = world_of({"a", "b", "c"}, 7);
    for (const auto& [first, second] : {std::pair(1, 2), std::pair(2, 1), std::pair(0, 1)}) {
        Nodes nodes(limits(2, 3), true, 2);
        for (const int rank : {first, second, 3 - first - second}) {
            EXPECT_EQ(nodes.look(), "-");
            const Member& member = old.members[static_cast<std::size_t>(rank)];
            nodes.join(member.incarnation, member.slot, as_told_to(old, rank));
        }
        EXPECT_EQ(nodes.look(), "7: a0 b1 c2");
        EXPECT_EQ(*nodes.members.world(), old);
    }
}

TEST(FoundWorld, AWorldThatAMemberHasStoppedIsNotTakenOver) {
    Nodes nodes(limits(2, 2), true, 2);
    const World old = world_of({"a", "b"}, 7);
    nodes.join("a", 0, old);
    EXPECT_TRUE(nodes.members.join({.incarnation = "b",
                                    .slot = 1,
                                    .address = "b",
                                    .gave_up = Generation{.epoch = 1, .number = 7}}));
    EXPECT_EQ(nodes.look(1s), "-") << "there may be a newer one";
    EXPECT_EQ(nodes.look(1s), "8: a0 b1");
}

TEST(FoundWorld, AWorldThatAMemberHasStoppedWaitsForThoseOfTheNext) {
    // Of a and b a was taken away, which is no incident; c runs in its place, and b is to.
    Nodes nodes(limits(2, 2), true, 2);
    nodes.join("a", {}, world_of({"a", "b"}, 7));
    nodes.join("b", {}, as_told_to(world_of({"a", "b"}, 7), 1));
    nodes.members.holds("b", as_told_to(world_of({"a", "b"}, 7), 1),
                        Generation{.epoch = 1, .number = 7});
    EXPECT_EQ(nodes.look(), "-");
    nodes.join("c", {}, world_of({"c", "b"}, 8));
    EXPECT_EQ(nodes.look(), "8: c0 b1");
}

TEST(FoundWorld, NewcomersDoNotTakeThePlacesOfThoseWhoComeBackToANewMaster) {
    Nodes nodes(limits(2, 3), true, 2);
    const World old = world_of({"a", "b"}, 7);
    EXPECT_EQ(nodes.join("x"), "3") << "a standby node";
    nodes.join("b", 1, as_told_to(old, 1));
    EXPECT_EQ(nodes.look(), "-");
    nodes.join("a", 0, old);
    EXPECT_EQ(nodes.look(), "7: a0 b1");
    EXPECT_EQ(nodes.look(), "8: a0 b1 x2") << "there is room for it";
}

TEST(FoundWorld, StandbyNodesThatAreTheFirstToComeToANewMasterDoNotEndTheWorld) {
    Nodes nodes(limits(1, 1), true, 2);
    nodes.join("standby");
    EXPECT_EQ(nodes.look(1s), "-");
    nodes.join("a", {}, world_of({"a"}, 7));
    EXPECT_EQ(nodes.look(), "7: a0");
    EXPECT_EQ(nodes.look(1h), "= 7: a0");
}

TEST(FoundWorld, AWorldThatWasToEndWaitsForThoseOfTheNext) {
    // a was lost, and has taken its workers through that; b runs in its place.
    World next = world_of({"b"}, 8);
    next.restarts = 1;
    for (const bool comes : {true, false}) {
        Nodes nodes(limits(1, 1), true, 2);
        nodes.members.was_to_end({.epoch = 1, .number = 7}, 0);
        nodes.join("a", {}, world_of({"a"}, 7));
        EXPECT_EQ(nodes.look(1s), "-");
        if (comes) nodes.join("b", {}, next);
        EXPECT_EQ(nodes.look(1s), comes ? "8: b0" : "7: a0");
    }
    Nodes nodes(limits(1, 1), true, 2);
    nodes.members.was_to_end({.epoch = 1, .number = 7}, 0);
    nodes.join("b", {}, next);
    EXPECT_EQ(nodes.look(), "8: b0");
}

TEST(FoundWorld, ANewLifeOfAMemberHoldsNothing) {
    Nodes nodes(limits(2, 2), true, 2);
    nodes.join("a", 0, world_of({"a", "b"}, 7));
    EXPECT_EQ(nodes.look(), "-");
    nodes.join("b2", 1);
    EXPECT_EQ(nodes.look(1s), "-") << "it may be one that had to give its slot to b";
    EXPECT_EQ(nodes.look(1s), "8: a0 b21")
        << "the first b has lost its slot and does not come back";
}

TEST(FoundWorld, ANewMasterFindsTheWorldOfAnAgentThatTookWorkersOver) {
    Nodes nodes(limits(2, 2), true, 2);
    const World old = world_of({"a", "b"}, 7);
    nodes.join("a", 0, old);
    nodes.join("b2", 1, as_told_to(old, 1));
    EXPECT_EQ(nodes.look(), "7: a0 b1");
    EXPECT_EQ(nodes.members.world()->members[1].incarnation, "b2");
}

TEST(FoundWorld, AFoundWorldDoesNotGrowEitherWhenGrowthWaits) {
    MembershipLimits waits = limits(1, 3);
    waits.grow_at_failure = true;
    Nodes nodes(waits, true, 2);
    const World old = world_of({"a", "b"}, 7);
    nodes.join("x");
    nodes.join("a", 0, old);
    nodes.join("b", 1, old);
    EXPECT_EQ(nodes.look(), "7: a0 b1");
    EXPECT_EQ(nodes.look(1h), "= 7: a0 b1");
    nodes.members.restart(nodes.now);
    EXPECT_EQ(nodes.look(), "8: a0 b1 x2");
}

TEST(FoundWorld, WithNothingFoundANewMasterBeginsAnew) {
    Nodes nodes(limits(2, 2), true, 2);
    nodes.join_all({"a", "b"});
    EXPECT_EQ(nodes.look(), "-") << "these may be standby nodes, and the members not back yet";
    EXPECT_EQ(nodes.members.wake_at(), nodes.now + 2s);
    EXPECT_EQ(nodes.look(2s), "1: a0 b1") << "all are there and none holds a world";
    Nodes few(limits(1, 2), true, 2);
    few.join("a");
    EXPECT_EQ(few.look(10s), "-");
    EXPECT_EQ(few.look(30s), "1: a0");
}

}  // namespace
}  // namespace muster::master::found_world_test
