#include "master/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::master::job_test {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const Instant kStart = Instant() + 1h;
const WallTime kToday = WallTime() + 20000h;

/// A job and agents that say by hand what is so with them; an incarnation is an address.
class Story {
  public:
    explicit Story(int least, int most, std::optional<int> max_restarts = {},
                   JobRecord record = {.epoch = 1})
        : job(options(least, most, max_restarts), std::move(record), kStart, services) {}

    static JobOptions options(int least, int most, std::optional<int> max_restarts) {
        JobOptions options{.membership = {.min_nodes = least, .max_nodes = most}};
        options.budgets[static_cast<std::size_t>(Charge::kWorker)].incidents = max_restarts;
        return options;
    }

    void join(const std::string& name, Report report = {}, std::optional<Slot> slot = {},
              bool can_host_master = false) {
        ASSERT_TRUE(job.joined({.incarnation = name,
                                .slot = slot,
                                .address = name,
                                .name = name,
                                .report = std::move(report),
                                .can_host_master = can_host_master},
                               now, wall));
        look();
    }
    void look(Duration after = {}) {
        now += after;
        wall += after;
        job.advance(now, wall);
        job.written(job.record_version());
    }
    void disconnected(const std::string& name) {
        job.disconnected(name, "the cable was cut", now);
        look();
    }
    void report(const std::string& name, Report report) {
        job.reported(name, std::move(report), now, wall);
        look();
    }
    /// As it was told to run.
    World held(const std::string& name) {
        const auto order = job.directive_for(name);
        return order && std::holds_alternative<Run>(order->what) ? std::get<Run>(order->what).world
                                                                 : World();
    }
    Report runs(const std::string& name) {
        Report report{.holds = held(name)};
        if (report.holds->own_rank == 0) report.store_ready = report.holds->generation;
        return report;
    }
    void begin(std::initializer_list<const char*> names) {
        for (const char* name : names) join(name);
        for (const char* name : names) report(name, runs(name));
    }
    FailureReport died(const std::string& name, std::string error = "") {
        const World world = held(name);
        return {.generation = world.generation,
                .restarts = world.restarts,
                .rank = world.own().first_rank,
                .exit_code = 1,
                .error = std::move(error)};
    }
    /// "run 2", "stop 1", "wait", "standby", "succeeded", "failed", "excluded", "-".
    std::string order(const std::string& name) {
        const auto order = job.directive_for(name);
        if (!order) return "-";
        if (const auto* wait = std::get_if<Wait>(&order->what))
            return wait->standby ? "standby" : "wait";
        if (const auto* run = std::get_if<Run>(&order->what))
            return fmt::format("run {}", run->world.generation.number);
        if (const auto* stop = std::get_if<Stop>(&order->what))
            return fmt::format("stop {}", stop->generation.number);
        switch (std::get<Verdict>(order->what).kind) {
            case Verdict::Kind::kSucceeded:
                return "succeeded";
            case Verdict::Kind::kFailed:
                return "failed";
            case Verdict::Kind::kExcluded:
                return "excluded";
        }
        return "?";
    }
    std::string orders(std::initializer_list<const char*> names) {
        std::string all;
        for (const char* name : names) all += (all.empty() ? "" : ", ") + order(name);
        return all;
    }

    Services services;
    Job job;
    Instant now = kStart;
    WallTime wall = kToday;
};

TEST(Job, TheOthersBeginWhenTheStoreOfTheFirstIsReady) {
    Story story(2, 2);
    story.join("a");
    EXPECT_EQ(story.orders({"a"}), "wait");
    story.join("b");
    EXPECT_EQ(story.orders({"a", "b"}), "run 1, wait");
    story.report("b", {.store_ready = Generation{.epoch = 1, .number = 1}});
    EXPECT_EQ(story.orders({"a", "b"}), "run 1, wait") << "it is not b's";
    story.report("a", story.runs("a"));
    EXPECT_EQ(story.orders({"a", "b"}), "run 1, run 1");
    EXPECT_EQ(story.held("b").members.size(), 2u);
    EXPECT_EQ(story.held("b").own().incarnation, "b");
}

TEST(Job, AFailureStopsAllAndBeginsAnewOnce) {
    Story story(2, 2);
    story.begin({"a", "b"});
    Report report = story.runs("b");
    report.evidence = {story.died("b", "ValueError: no")};
    story.report("b", report);
    EXPECT_EQ(story.orders({"a", "b"}), "run 2, stop 1");
    const auto stop = story.job.directive_for("b");
    EXPECT_THAT(stop->why, HasSubstr("worker 1 on node 1 (b) exited with code 1: ValueError: no"));
    EXPECT_EQ(stop->grace, 2s);
    story.report("b", report);
    EXPECT_EQ(story.orders({"a", "b"}), "run 2, stop 1") << "it was heard";
    story.report("b", {.gave_up = Generation{.epoch = 1, .number = 1}});
    EXPECT_EQ(story.orders({"a", "b"}), "run 2, wait");
    EXPECT_EQ(story.job.record().incidents.size(), 1u);
}

/// A worker counts its steps from its own start, so each attempt's count starts at zero.
TEST(Job, TheSameErrorEndsItOnlyWhereNoStepWasMadeBetween) {
    for (const auto& [steps, ends] :
         {std::pair<std::vector<std::uint64_t>, bool>({9, 9, 3, 1}, false),
          {{0, 0, 0}, false},
          {{9, 0}, true},
          {{1, 1, 0}, true},
          {{0, 4, 0}, true}}) {
        Story story(1, 1);
        story.begin({"a"});
        for (const std::uint64_t count : steps) {
            EXPECT_FALSE(story.job.end());
            Report report = story.runs("a");
            if (count > 0) report.steps = count;
            report.evidence = {story.died("a", "KeyError: 'loss'")};
            story.report("a", report);
            if (!story.job.end()) story.report("a", story.runs("a"));
        }
        EXPECT_EQ(story.job.end().has_value(), ends) << fmt::format("{}", fmt::join(steps, ", "));
    }
}

TEST(Job, NothingIsChargedForWhatComesAfterTheFirst) {
    Story story(2, 2, 1);
    story.begin({"a", "b"});
    Report one = story.runs("a");
    one.evidence = {story.died("a"), story.died("a")};
    Report other = story.runs("b");
    other.evidence = {story.died("b")};
    story.report("a", one);
    story.report("b", other);
    EXPECT_EQ(story.job.record().incidents.size(), 1u);
    EXPECT_FALSE(story.job.end());
}

TEST(Job, IsWrittenBeforeAnythingFollows) {
    Story story(1, 1);
    story.begin({"a"});
    Report report = story.runs("a");
    report.evidence = {story.died("a")};
    EXPECT_FALSE(story.job.unwritten());
    story.job.reported("a", report, story.now, story.wall);
    EXPECT_TRUE(story.job.unwritten());
    const auto version = story.job.record_version();
    story.job.written(version);
    EXPECT_FALSE(story.job.unwritten());
}

TEST(Job, WhoComesBackInTimeWasNotLost) {
    Story story(1, 2);
    story.begin({"a", "b"});
    const Report report = story.runs("b");
    story.disconnected("b");
    EXPECT_EQ(story.job.wake_at(), story.now + 100ms);
    story.look(99ms);
    story.join("b", report);
    story.look(1h);
    EXPECT_EQ(story.orders({"a", "b"}), "run 1, run 1");
    story.disconnected("b");
    story.look(100ms);
    EXPECT_EQ(story.orders({"a", "b"}), "run 2, -");
    story.join("b", report);
    EXPECT_EQ(story.order("b"), "stop 1") << "it still runs what is over";
}

TEST(Job, WhoFallsSilentHasHadItsTime) {
    Story story(1, 2);
    story.begin({"a", "b"});
    story.job.timed_out("b", "nothing was heard for 5000 ms", story.now, story.wall);
    story.look();
    EXPECT_EQ(story.orders({"a", "b"}), "run 2, -");
    EXPECT_EQ(story.job.record().incidents.at(0).charge, Charge::kNode);
}

TEST(Job, ANodeThatLeavesCostsNothing) {
    Story story(1, 2);
    story.begin({"a", "b"});
    Report report = story.runs("b");
    report.leaving = "the platform takes it away";
    story.report("b", report);
    EXPECT_EQ(story.orders({"a", "b"}), "run 2, -");
    EXPECT_TRUE(story.job.record().incidents.empty());
}

TEST(Job, AStandbyNodeTakesThePlaceAndTheOthersKeepTheirs) {
    Story story(2, 2);
    story.begin({"a", "b"});
    story.join("c");
    EXPECT_EQ(story.orders({"a", "b", "c"}), "run 1, run 1, standby");
    story.disconnected("a");
    story.look(100ms);
    EXPECT_EQ(story.orders({"b", "c"}), "stop 1, run 2");
    EXPECT_EQ(story.held("c").own().first_rank, 0);
}

TEST(Job, SucceedsWhenAllAreDone) {
    Story story(2, 3);
    story.join("a");
    story.join("b");
    story.look(30s);
    for (const char* name : {"a", "b"}) story.report(name, story.runs(name));
    Report report = story.runs("a");
    report.done = true;
    story.report("a", report);
    story.join("c");
    EXPECT_EQ(story.orders({"a", "b", "c"}), "run 1, run 1, standby") << "it comes too late";
    story.disconnected("a");
    story.look(1s);
    EXPECT_EQ(story.order("b"), "run 1") << "who is done is not missed";
    report = story.runs("b");
    report.done = true;
    story.report("b", report);
    EXPECT_EQ(story.orders({"b", "c"}), "succeeded, succeeded");
    story.join("a");
    EXPECT_EQ(story.order("a"), "succeeded");
    story.report("b", {.leaving = "now"});
    EXPECT_EQ(story.order("b"), "succeeded") << "an end is final";
}

TEST(Job, WhoIsDoneBeginsAnewWithTheOthers) {
    Story story(2, 2);
    story.begin({"a", "b"});
    Report done = story.runs("a");
    done.done = true;
    story.report("a", done);
    Report dead = story.runs("b");
    dead.evidence = {story.died("b")};
    story.report("b", dead);
    EXPECT_EQ(story.orders({"a", "b"}), "run 2, stop 1");
    story.report("a", done);
    story.report("a", story.runs("a"));
    story.report("b", story.runs("b"));
    EXPECT_FALSE(story.job.end()) << "it was done with the world before";
}

TEST(Job, ANewMasterKnowsTheWorldAndWhatItCost) {
    Story first(2, 2, 5);
    first.begin({"a", "b"});
    Report dead = first.runs("b");
    dead.evidence = {first.died("b")};
    JobRecord record = first.job.record();
    record.epoch = 2;
    Story second(2, 2, 5, record);
    second.join("a", first.runs("a"));
    EXPECT_EQ(second.order("a"), "-") << "what runs continues";
    second.join("b", first.runs("b"));
    EXPECT_EQ(second.orders({"a", "b"}), "run 1, run 1");
    second.report("b", dead);
    EXPECT_EQ(second.orders({"a", "b"}), "run 2, stop 1");
    EXPECT_EQ(second.held("a").generation, (Generation{.epoch = 2, .number = 2}));
    // It wrote that, but told no agent.
    record = second.job.record();
    record.epoch = 3;
    Story third(2, 2, 5, record);
    third.join("b", dead);
    third.join("a", first.runs("a"));
    EXPECT_EQ(third.orders({"a", "b"}), "-, -") << "there may be a newer world";
    third.look(2s);
    EXPECT_EQ(third.orders({"a", "b"}), "run 2, stop 1");
    EXPECT_EQ(third.job.record().incidents.size(), 1u) << "it is charged once";
}

// Its master may be lost with its node, and the record with it.
TEST(Job, WhoMayHostTheNextMasterIsToldTheRecord) {
    Story story(2, 2, 1);
    story.join("a", {}, {}, true);
    story.join("b");
    ASSERT_TRUE(story.job.directive_for("a")->record);
    EXPECT_THAT(story.job.directive_for("a")->record->incidents, testing::IsEmpty());
    EXPECT_EQ(story.job.directive_for("a"), story.job.directive_for("a")) << "nothing new is told";
    for (const char* name : {"a", "b"}) story.report(name, story.runs(name));
    Report dead = story.runs("b");
    dead.evidence = {story.died("b")};
    story.report("b", dead);
    ASSERT_EQ(story.job.record().incidents.size(), 1u);
    EXPECT_EQ(*story.job.directive_for("a")->record, story.job.record());
    EXPECT_FALSE(story.job.directive_for("b")->record) << "it will never host one";

    // So the next one, elsewhere, has nothing left to charge.
    JobRecord record = *story.job.directive_for("a")->record;
    record.epoch = 2;
    Story next(1, 2, 1, record);
    next.join("a");
    for (int i = 0; i < 2; ++i)
        next.look(60s);  // Other agents, and those that come during the last call.
    next.report("a", next.runs("a"));
    dead = next.runs("a");
    dead.evidence = {next.died("a")};
    next.report("a", dead);
    EXPECT_EQ(next.order("a"), "failed");
}

TEST(Job, WhoWasLostAndBeganAnewAloneWaitsForThoseWhoRunInItsPlace) {
    Story first(1, 1, 5);
    first.begin({"a"});
    Report cut_off = first.runs("a");
    first.join("standby");
    first.disconnected("a");
    first.look(1s);
    EXPECT_EQ(first.order("standby"), "run 2");
    JobRecord record = first.job.record();
    record.epoch = 2;
    cut_off.evidence = {first.died("standby")};
    cut_off.evidence[0].generation = cut_off.holds->generation;
    cut_off.evidence[0].restarts = 0;
    cut_off.holds->restarts = 1;
    Story second(1, 1, 5, record);
    second.join("a", cut_off);
    EXPECT_EQ(second.order("a"), "-") << "it was lost";
    second.join("standby", first.runs("standby"));
    EXPECT_EQ(second.order("standby"), "run 2");
}

TEST(Job, ANewMasterSaysWhyWhatRunsHasToStop) {
    Story first(1, 2);
    first.begin({"a", "b"});
    Report held = first.runs("b");
    Story second(1, 2, {}, {.epoch = 2});
    second.join("b", held);
    second.look(10s);
    ASSERT_EQ(second.order("b"), "run 2");
    EXPECT_THAT(second.job.directive_for("b")->why, HasSubstr("the job has a new master"));
}

TEST(Job, SaysThatTheWorldContinuesOnlyWhereItDoes) {
    Story story(1, 3);
    story.join("a");
    story.join("b");
    story.look(30s);
    story.disconnected("b");
    story.look(1s);
    EXPECT_THAT(story.job.why(), EndsWith("; the world continues without it"));
    Story two(2, 2);
    two.begin({"a", "b"});
    two.disconnected("b");
    two.look(1s);
    EXPECT_THAT(two.job.why(), EndsWith("; the world can't continue with 1 of at least 2 nodes"));
    two.look(4s);
    two.report("a", {});
    EXPECT_THAT(std::get<Wait>(two.job.directive_for("a")->what).text,
                HasSubstr("1 of at least 2 nodes have joined; no node has slot 1 (it was b), for"));
}

TEST(Job, ItsNodesKnowTheirAddressByWhoeverReachesThem) {
    JobOptions options{.membership = {.min_nodes = 2, .max_nodes = 2},
                       .guessed_addresses = {"docker", "ib", "wifi"}};
    Services services;
    Job job(options, {.epoch = 1}, kStart, services);
    const auto join = [&](std::string name, std::string address) {
        ASSERT_TRUE(
            job.joined({.incarnation = name, .slot = {}, .address = address}, kStart, kToday));
        job.advance(kStart, kToday);
        job.written(job.record_version());
    };
    join("a", "docker");
    job.reached_at("127.0.0.1");
    job.reached_at("ib");
    job.reached_at("wifi");
    join("b", "far");
    ASSERT_NE(job.world(), nullptr);
    EXPECT_EQ(job.world()->members[0].address, "ib");
    EXPECT_EQ(job.world()->members[1].address, "far");
    job.disconnected("b", "", kStart);
    job.disconnected("a", "", kStart);
    job.advance(kStart + 1s, kToday);
    join("c", "docker");
    join("d", "docker");
    ASSERT_NE(job.world(), nullptr);
    EXPECT_EQ(job.world()->members[1].address, "ib") << "of agents that come later, too";
}

TEST(Job, ANewMasterTellsTheEndOfTheOldOne) {
    Story story(1, 1, {},
                {.epoch = 2, .end = Verdict{.kind = Verdict::Kind::kFailed, .text = "why"}});
    story.join("a");
    EXPECT_EQ(story.order("a"), "failed");
}

TEST(Job, AMasterThatIsOverSaysSo) {
    Story story(1, 1);
    const auto joined = story.job.joined(
        {.incarnation = "a", .slot = {}, .address = "a", .epoch_seen = 2}, story.now, story.wall);
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().code(), Code::kConflict);
}

TEST(Job, RestartsOfANodeOnItsOwnAreCharged) {
    Story story(1, 1, 5);
    story.begin({"a"});
    Report report = story.runs("a");
    EXPECT_EQ(std::get<job_protocol::Run>(story.job.directive_for("a")->what).most_restarts, 5);
    FailureReport first = story.died("a");
    FailureReport second = first;
    second.restarts = 1;
    report.evidence = {first, second};
    report.holds->restarts = 2;
    for (int i = 0; i < 2; ++i) {
        story.disconnected("a");
        story.join("a", report);
        EXPECT_EQ(story.order("a"), "run 1");
        EXPECT_EQ(story.job.record().incidents.size(), 2u);
    }
    FailureReport third = first;
    third.restarts = 2;
    report.evidence.push_back(third);
    story.report("a", report);
    EXPECT_EQ(story.order("a"), "run 2");
    EXPECT_EQ(story.held("a").restarts, 3);
    EXPECT_EQ(story.job.record().incidents.size(), 3u);
}

TEST(Job, ASlotHasOneAgent) {
    Story story(1, 2);
    story.join("a", {}, 0);
    story.join("b", {}, 0);
    EXPECT_EQ(story.order("b"), "wait");
    story.look(7s);
    EXPECT_EQ(story.order("b"), "excluded");
    EXPECT_THAT(std::get<Verdict>(story.job.directive_for("b")->what).text,
                StartsWith("slot 0 is held by the agent a at a, which is alive"));
    // Another life of the same node, while the one before is away.
    story.disconnected("a");
    story.join("a2", {}, 0);
    EXPECT_EQ(story.orders({"a", "a2"}), "-, wait");
}

TEST(Job, ASuccessorWaitsForAsLongAsTheAgentBeforeItIsThere) {
    for (const bool told_first : {true, false}) {
        Story story(1, 2);
        if (told_first) story.job.expects_successors({0});
        story.join("a", {}, 0);
        story.join("other", {}, 1);
        story.report("a", story.runs("a"));
        story.join("b", {}, 0);
        story.look(6s);
        story.job.expects_successors({0});
        story.look(10h);
        EXPECT_EQ(story.orders({"a", "b"}), "run 1, wait");
        story.disconnected("a");
        story.look(1min);
        EXPECT_EQ(story.order("b"), "run 2");
        EXPECT_EQ(story.held("b").own().slot, 0);
    }
}

TEST(Job, WhoComesBackToASlotThatAReplacementHasIsAStandbyNode) {
    Story story(1, 1);
    story.join("a", {}, 0);
    story.join("b");
    story.disconnected("a");
    story.look(100ms);
    EXPECT_EQ(story.order("b"), "run 2");
    EXPECT_EQ(story.held("b").own().slot, 0);
    story.join("a2", {}, 0);
    story.look(1h);
    EXPECT_EQ(story.order("a2"), "standby");
}

TEST(Job, WhoComesBackWhileAStandbyNodeTakesItsSlotIsAStandbyNodeAsWell) {
    Story story(1, 1);
    story.join("a", {}, 0);
    story.join("b");
    story.disconnected("a");
    story.join("a2", {}, 0);
    EXPECT_EQ(story.orders({"a2", "b"}), "standby, run 2");
    EXPECT_EQ(story.held("b").own().slot, 0);
}

TEST(Job, WhoComesBackToTheSlotOfOneThatWasDoneWaitsForTheWorldsEnd) {
    Story story(1, 2);
    story.join("a", {}, 0);
    story.join("b", {}, 1);
    for (const char* name : {"a", "b"}) story.report(name, story.runs(name));
    Report done = story.runs("b");
    done.done = true;
    story.report("b", done);
    story.disconnected("b");
    story.join("b2", {}, 1);
    EXPECT_EQ(story.orders({"a", "b2"}), "run 1, wait");
    Report dead = story.runs("a");
    dead.evidence = {story.died("a")};
    story.report("a", dead);
    EXPECT_EQ(story.orders({"a", "b2"}), "run 2, wait");
    EXPECT_EQ(story.held("a").nodes, 2);
}

TEST(Job, NothingHoldsBetweenAWorldsEndAndTheLookAtWhatFollows) {
    Story story(1, 2);
    story.begin({"a", "b"});
    story.job.reported("b", {.leaving = "the node is taken away"}, story.now, story.wall);
    EXPECT_EQ(story.order("a"), "-");
    story.look();
    EXPECT_EQ(story.order("a"), "run 2");
}

TEST(Job, WhereTheStoreWentWithItsAgentAllBeginAnewUnlessAllHaveBegun) {
    for (const bool has_begun : {false, true}) {
        Story story(2, 2);
        story.join("a");
        story.join("b");
        story.report("a", story.runs("a"));
        if (has_begun) story.report("b", story.runs("b"));
        const World held = story.held("a");
        story.disconnected("a");
        story.join("a2", {.holds = held});
        EXPECT_EQ(story.orders({"a2", "b"}), has_begun ? "run 1, run 1" : "run 2, stop 1");
        // The same as a new master finds it.
        Story next(2, 2, {}, {.epoch = 2});
        next.join("a2", {.holds = held});
        next.join("b", has_begun ? Report{.holds = as_told_to(held, 1)} : Report());
        EXPECT_EQ(next.orders({"a2", "b"}), has_begun ? "run 1, run 1" : "run 2, stop 1");
    }
}

TEST(Job, ANewAgentIsDoneOnceWithTheWorkersThatItTookOver) {
    Story story(2, 2);
    story.begin({"a", "b"});
    Report report = story.runs("b");
    report.done = true;
    story.report("b", report);
    story.disconnected("b");
    story.join("b2", report);
    EXPECT_FALSE(story.job.end()) << "a is not done";
    Report done = story.runs("a");
    done.done = true;
    story.report("a", done);
    EXPECT_TRUE(story.job.end());
}

TEST(Job, ANewAgentThatTookWorkersOverIsInTheWorld) {
    Story story(2, 2);
    story.begin({"a", "b"});
    const Report report = story.runs("b");
    story.disconnected("b");
    story.join("b2", report);
    EXPECT_EQ(story.orders({"a", "b", "b2"}), "run 1, -, run 1");
    story.look(1h);
    EXPECT_EQ(story.orders({"a", "b2"}), "run 1, run 1");
    EXPECT_TRUE(story.job.record().incidents.empty());
}

}  // namespace
}  // namespace muster::master::job_test
