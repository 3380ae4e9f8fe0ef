#include "master/ps_cluster/ps_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "base/rng.h"
#include "base/test_seeds.h"

namespace muster::master::ps_table_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PsAttendance server(std::int32_t rank, std::int32_t id, std::int32_t servers = 2) {
    return {.type = "ps",
            .id = id,
            .rank = rank,
            .address = fmt::format("ps-{}:2222", rank),
            .servers = servers,
            .places = 0,
            .versions = {},
            .started = id};
}
PsAttendance worker(std::int32_t place, std::int32_t places, std::int64_t started = 0) {
    return {.type = place == 0 ? "chief" : "worker",
            .id = place,
            .rank = place,
            .address = {},
            .place = place,
            .places = places,
            .versions = {},
            .started = started};
}

/// A table, and the lines of who attends, by name.
class PsTableTest : public ::testing::Test {
  protected:
    void come(const std::string& who, PsAttendance told) {
        const auto line = table.attends(who, std::move(told));
        ASSERT_TRUE(line) << line.error().message();
        lines[who] = *line;
        table.advance(now);
    }
    void go(const std::string& who) {
        table.leaves(who, lines.at(who));
        table.advance(now);
    }
    void pass(Duration time) {
        now += time;
        table.advance(now);
    }
    std::string said() const {
        const PsCluster& cluster = table.cluster();
        return fmt::format("{} {}{}", cluster.version, fmt::join(cluster.servers, ","),
                           cluster.complete ? "" : " incomplete");
    }

    PsTable table{7, ""};
    std::map<std::string, PsTable::Line> lines;
    Instant now = Instant() + 1h;
};

TEST_F(PsTableTest, AClusterIsMadeWhenEachRankHasAServer) {
    EXPECT_EQ(said(), "0  incomplete");
    come("b", server(1, 1));
    EXPECT_EQ(said(), "0  incomplete");
    come("a", server(0, 0));
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    EXPECT_EQ(table.cluster().epoch, 7u);
    // What is no server changes nothing.
    come("w", worker(0, 1));
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
}

TEST_F(PsTableTest, ABrokenConnectionIsNoFailureUntilTheGraceIsOver) {
    come("a", server(0, 0));
    come("b", server(1, 1));
    go("b");
    pass(4s);
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    come("b", server(1, 1));
    pass(1h);
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    // The end of an old connection is not that of the new one.
    const PsTable::Line old = lines["b"];
    come("b", server(1, 1));
    table.leaves("b", old);
    pass(1h);
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    go("b");
    EXPECT_EQ(table.wake_at(), now + 5s);
    pass(5s);
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222 incomplete");
}

TEST_F(PsTableTest, AReplacementIsTheNextVersion) {
    come("a", server(0, 0));
    come("b", server(1, 1));
    go("b");
    come("c", server(1, 2));
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222") << "it need not wait for the grace of what is gone";
    // The same program again after its connection broke.
    go("c");
    come("c", server(1, 2));
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222");
}

TEST_F(PsTableTest, ServersThatAreNoLongerWantedAreNotMissed) {
    come("a", server(0, 0));
    come("b", server(1, 1));
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    table.wants(1);
    pass(0s);
    EXPECT_EQ(said(), "2 ps-0:2222") << "it need not have gone";
    go("b");
    pass(1h);
    EXPECT_EQ(said(), "2 ps-0:2222");
    // More are waited for from when one of them is there, which was told so.
    table.wants(3);
    PsAttendance third = server(2, 4);
    PsAttendance second = server(1, 3);
    second.servers = third.servers = 3;
    come("a", server(0, 0));
    pass(0s);
    come("c", second);
    EXPECT_EQ(said(), "2 ps-0:2222 incomplete");
    come("d", third);
    EXPECT_EQ(said(), "3 ps-0:2222,ps-1:2222,ps-2:2222");
    for (const int nonsense : {0, -1, 1'000'000}) {
        table.wants(nonsense);
        pass(0s);
        EXPECT_EQ(said(), "3 ps-0:2222,ps-1:2222,ps-2:2222") << nonsense;
    }
}

TEST_F(PsTableTest, TheOldServerOfAMigrationCountsUntilItHasGone) {
    come("a", server(0, 0));
    come("b", server(1, 1));
    come("moved", server(1, 2));
    EXPECT_EQ(table.cluster().version, 1);
    go("b");
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222");
    pass(1h);
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222");
}

TEST_F(PsTableTest, OfSeveralProgramsOfAPodTheFirstCounts) {
    come("a", server(0, 0, 1));
    PsAttendance second = server(0, 0, 1);
    second.started = 100;
    come("0 comes before a", second);
    EXPECT_EQ(table.cluster().version, 1);
    go("0 comes before a");
    pass(1h);
    EXPECT_EQ(table.cluster().version, 1);
}

/// A program that muster attends for, or one that asks in the same container.
PsAttendance in_container(PsAttendance told, std::string container, std::int64_t started) {
    told.container = std::move(container);
    told.started = started;
    return told;
}

// Who attends for a container and a program in it end in any order, and find the next master so.
TEST_F(PsTableTest, TheProgramsOfAContainerAreOneServer) {
    come("a", server(0, 0));
    come("b", in_container(server(1, 1), "start of b", 1));
    come("b asks", in_container(server(1, 1), "start of b", 9));
    come("c", in_container(server(1, 2), "start of c", 10));
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    go("b");
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222") << "a part of it is still there";
    pass(1h);
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    go("b asks");
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222") << "once";
    pass(1h);
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222");

    come("c asks", in_container(server(1, 2), "start of c", 11));
    table = PsTable(8, table.kept());
    come("c asks", in_container(server(1, 2), "start of c", 11));
    come("a", server(0, 0));
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222") << "known by the program that came first";
    come("c", in_container(server(1, 2), "start of c", 10));
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222");
}

TEST_F(PsTableTest, AContainerThatStartsAgainIsAnotherServer) {
    come("a", server(0, 0, 1));
    come("b", in_container(server(0, 0, 1), "first", 1));
    go("a");
    pass(5s);
    EXPECT_EQ(said(), "2 ps-0:2222");
    go("b");
    come("c", in_container(server(0, 0, 1), "second", 2));
    EXPECT_EQ(said(), "3 ps-0:2222");
}

TEST_F(PsTableTest, MoreServersAreANewCluster) {
    come("a", server(0, 0, 1));
    EXPECT_EQ(said(), "1 ps-0:2222");
    come("b", server(1, 1, 2));
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222");
}

TEST_F(PsTableTest, TheHighestRanksAreDoneWithoutAfterAWhile) {
    come("a", server(0, 0, 3));
    come("b", server(1, 1, 3));
    pass(9min);
    EXPECT_EQ(said(), "0  incomplete");
    EXPECT_EQ(table.wake_at(), now + 1min);
    pass(1min);
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    pass(1h);
    EXPECT_EQ(said(), "1 ps-0:2222,ps-1:2222");
    come("c", server(2, 2, 3));
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222,ps-2:2222");
    // Not one from the middle: its parameters are nowhere.
    go("b");
    pass(24h);
    EXPECT_EQ(said(), "2 ps-0:2222,ps-1:2222,ps-2:2222 incomplete");
}

TEST_F(PsTableTest, TheNextMasterKnowsTheClusterAgain) {
    come("a", server(0, 0));
    come("b", server(1, 1));
    go("b");
    come("c", server(1, 2));
    const std::string kept = table.kept();

    PsTable same(8, kept);
    EXPECT_EQ(same.cluster().version, 2) << "no older version is handed out while it knows nothing";
    ASSERT_TRUE(same.attends("c", server(1, 2)));
    ASSERT_TRUE(same.attends("a", server(0, 0)));
    same.advance(now);
    EXPECT_EQ(same.cluster().version, 2);
    EXPECT_TRUE(same.cluster().complete);

    PsTable other(8, kept);
    ASSERT_TRUE(other.attends("a", server(0, 0)));
    ASSERT_TRUE(other.attends("d", server(1, 3)));
    other.advance(now);
    EXPECT_EQ(other.cluster().version, 3) << "one was replaced while there was no master";

    // Where the record was lost with its master, those who attend know.
    PsTable without(8, "");
    PsAttendance told = server(0, 0);
    told.kept = kept;
    ASSERT_TRUE(without.attends("a", told));
    EXPECT_EQ(without.cluster().version, 2);
    ASSERT_TRUE(without.attends("c", server(1, 2)));
    without.advance(now);
    EXPECT_EQ(without.cluster().version, 2);
    told.kept = "1 1";
    ASSERT_TRUE(without.attends("a", told));
    EXPECT_EQ(without.kept(), kept) << "what is older is nothing new";

    for (const std::string_view damaged : {"", "2", "x y", "-1 7", "99999999999999999999 1"})
        EXPECT_EQ(PsTable(8, damaged).cluster().version, 0) << damaged;
}

TEST_F(PsTableTest, TheGlobalVersionNeverFalls) {
    const auto set = [&](std::int64_t version) {
        return table.version({.kind = VersionKind::kGlobal, .type = {}, .set = version}).value();
    };
    EXPECT_EQ(set(5), 5);
    EXPECT_EQ(set(1), 5) << "as the first server says whenever it starts";
    come("a", server(0, 0, 1));
    EXPECT_EQ(table.cluster().version, 6);
    EXPECT_EQ(table.version({.type = {}}).value(), 6);
    EXPECT_FALSE(table.version({.type = {}, .set = -1}));
    EXPECT_FALSE(table.version({.type = {}, .set = INT64_MAX}));
}

TEST_F(PsTableTest, EachTaskHasVersionsOfItsOwn) {
    const auto ask = [&](VersionKind kind, std::string type, std::int32_t rank,
                         std::optional<std::int64_t> set = {}) {
        return table.version({.kind = kind, .type = std::move(type), .rank = rank, .set = set})
            .value();
    };
    EXPECT_EQ(ask(VersionKind::kLocal, "worker", 1), 0);
    EXPECT_EQ(ask(VersionKind::kRestored, "worker", 1), -1);
    EXPECT_EQ(ask(VersionKind::kLocal, "worker", 1, 4), 4);
    EXPECT_EQ(ask(VersionKind::kRestored, "worker", 1, 3), 3);
    EXPECT_EQ(ask(VersionKind::kLocal, "worker", 1), 4);
    EXPECT_EQ(ask(VersionKind::kRestored, "worker", 1), 3);
    EXPECT_EQ(ask(VersionKind::kLocal, "worker", 2), 0);
    EXPECT_EQ(ask(VersionKind::kLocal, "ps", 1), 0);
    // A new master is told them again.
    PsAttendance told = worker(1, 2);
    told.versions = {{.type = "worker", .rank = 2, .local = 9}};
    come("w", told);
    EXPECT_EQ(ask(VersionKind::kLocal, "worker", 2), 9);
    EXPECT_EQ(ask(VersionKind::kRestored, "worker", 2), -1);
}

TEST_F(PsTableTest, WhoHasEndedHoldsUpNoOneAndWhoIsYetToComeDoes) {
    come("chief", worker(0, 3));
    EXPECT_THAT(table.expected(), ElementsAre(0, 1, 2));
    come("w1", worker(1, 3));
    come("w2", worker(2, 3));
    go("w1");
    EXPECT_THAT(table.expected(), ElementsAre(0, 1, 2)) << "it may come back";
    pass(5s);
    EXPECT_THAT(table.expected(), ElementsAre(0, 2));
    come("w1 again", worker(1, 3));
    EXPECT_THAT(table.expected(), ElementsAre(0, 1, 2));
    come("w3", worker(3, 5, 100));
    EXPECT_THAT(table.expected(), ElementsAre(0, 1, 2, 3, 4)) << "the newest knows the number";
    EXPECT_EQ(table.place_of("w3"), 3);
    EXPECT_EQ(table.place_of("nobody"), std::nullopt);
    come("ps", server(0, 0, 1));
    EXPECT_EQ(table.place_of("ps"), std::nullopt);
}

TEST_F(PsTableTest, ANewMasterWaitsForAShortTimeOnly) {
    table = PsTable(8, "2 1");
    come("chief", worker(0, 3));
    EXPECT_THAT(table.expected(), ElementsAre(0, 1, 2));
    EXPECT_EQ(table.wake_at(), now + 30s);
    pass(30s);
    EXPECT_THAT(table.expected(), ElementsAre(0));
}

TEST_F(PsTableTest, WhatCantBeIsRefused) {
    const auto refused = [&](PsAttendance told) {
        const auto answer = table.attends("x", std::move(told));
        return answer ? std::string("taken") : answer.error().message();
    };
    const auto with = [](auto change) {
        PsAttendance told = server(0, 0);
        change(told);
        return told;
    };
    using Told = PsAttendance&;
    EXPECT_THAT(refused(with([](Told told) { told.type = ""; })), HasSubstr("a type"));
    EXPECT_THAT(refused(with([](Told told) { told.address = ""; })), HasSubstr("reached"));
    EXPECT_THAT(refused(with([](Told told) { told.address = std::string(513, 'x'); })),
                HasSubstr("513 bytes"));
    EXPECT_THAT(refused(with([](Told told) { told.id = -1; })), HasSubstr("the id -1"));
    EXPECT_THAT(refused(with([](Told told) { told.rank = 1'000'000; })), HasSubstr("the rank"));
    EXPECT_THAT(refused(with([](Told told) { told.servers = 1'001; })), HasSubstr("servers 1001"));
    EXPECT_THAT(refused(with([](Told told) { told.places = 20'001; })), HasSubstr("places"));
    EXPECT_THAT(refused(with([](Told told) { told.place = -1; })), HasSubstr("the place -1"));
    EXPECT_THAT(refused(with([](Told told) { told.versions = {{.type = "", .rank = 0}}; })),
                HasSubstr("version"));
    EXPECT_EQ(table.cluster().version, 0);

    PsTable small(1, "", {.attendants = 1, .tasks = 1});
    ASSERT_TRUE(small.attends("a", server(0, 0)));
    EXPECT_TRUE(small.attends("a", server(0, 0))) << "it is the same one";
    EXPECT_THAT(small.attends("b", server(1, 1)).error().message(), HasSubstr("1 programs"));
    const auto told = [&](std::int32_t rank) {
        return small.version(
            {.kind = VersionKind::kLocal, .type = "worker", .rank = rank, .set = 1});
    };
    EXPECT_TRUE(told(0));
    EXPECT_TRUE(told(0));
    EXPECT_THAT(told(1).error().message(), HasSubstr("1 tasks"));
}

// Whatever comes and goes, and however often the master is another: a version never falls, and one
// version never means two clusters.
TEST(PsTableProperty, AVersionIsOneCluster) {
    for (const std::uint64_t seed : seeds_of_this_run(200, 1)) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        auto table = std::make_unique<PsTable>(1, "");
        std::map<std::string, std::pair<PsAttendance, PsTable::Line>> there;
        std::map<std::int64_t, std::vector<std::string>> clusters;
        Instant now = Instant() + 1h;
        std::int32_t next = 0;
        std::int64_t newest = 0;
        for (int step = 0; step < 200; ++step) {
            const std::uint64_t what = rng.below(10);
            if (what < 4) {
                PsAttendance told = server(static_cast<std::int32_t>(rng.below(3)), next, 3);
                // Of each program an address of its own, by which it is known again below.
                told.address = fmt::format("{}", next);
                const std::string who = fmt::format("p{}", next++);
                there[who] = {told, table->attends(who, told).value()};
            } else if (what < 7 && !there.empty()) {
                const auto one =
                    std::next(there.begin(), static_cast<long>(rng.below(there.size())));
                table->leaves(one->first, one->second.second);
                there.erase(one);
            } else if (what < 8) {
                table = std::make_unique<PsTable>(step, table->kept());
                for (auto& [who, one] : there) one.second = table->attends(who, one.first).value();
            } else {
                now += std::chrono::seconds(rng.below(8));
            }
            table->advance(now);
            const PsCluster& cluster = table->cluster();
            ASSERT_GE(cluster.version, newest);
            newest = cluster.version;
            if (!cluster.complete) continue;
            ASSERT_EQ(cluster.servers.size(), 3u);
            const auto [known, added] = clusters.emplace(cluster.version, cluster.servers);
            ASSERT_EQ(known->second, cluster.servers) << "version " << cluster.version;
        }
    }
}

}  // namespace
}  // namespace muster::master::ps_table_test
