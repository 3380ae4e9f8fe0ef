#include "agent/worker_state.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent::worker_state_test {
namespace {

using namespace std::chrono_literals;
using job_protocol::Generation;
using job_protocol::World;
using testing::AllOf;
using testing::HasSubstr;

const Instant kStart = Instant() + 1h;
const WallTime kToday = WallTime() + 20000h;

World world(std::uint64_t number, int nodes = 2, int own_rank = 0) {
    World all{.generation = {.epoch = 1, .number = number},
              .members = {},
              .restarts = static_cast<int>(number) - 1,
              .nodes = nodes,
              .ranks = nodes};
    for (int i = 0; i < nodes; ++i)
        all.members.push_back({.slot = i,
                               .incarnation = fmt::format("i{}", i),
                               .address = fmt::format("a{}", i),
                               .first_rank = i,
                               .group_rank = i});
    return as_told_to(all, own_rank);
}

/// A node with one worker, told by hand; connected.
class Story {
  public:
    explicit Story(std::optional<World> found = {}, WorkerStateOptions given = options())
        : state(std::move(given), std::move(found), kStart) {
        state.connected(true, "", now);
    }
    static WorkerStateOptions options() { return {.policy = {.final_codes = {64}}}; }

    void run(const World& what, int most_restarts = 0, std::uint64_t epoch = 1) {
        order(job_protocol::Run{.world = what, .most_restarts = most_restarts}, epoch);
    }
    template <class What>
    void order(What what, std::uint64_t epoch = 1) {
        EXPECT_TRUE(state.ordered({.epoch = epoch, .what = what, .why = "so it is", .grace = 3s}));
    }
    void dies(int exit_code = 1, std::string error = "") {
        state.ended({.generation = state.report().holds->generation,
                     .exit_code = exit_code,
                     .error = std::move(error)});
    }
    void away() { state.connected(false, "nobody listens", now); }

    /// "store 2", "start 2.1" (generation and attempt), "stop 3", "check 1", "-"; "ends: why".
    std::string next() {
        const WorkerAction act = state.next(now, kToday);
        if (const auto* begin = std::get_if<BeginStore>(&act))
            return fmt::format("store {}.{}", begin->world.generation.number,
                               begin->world.restarts);
        if (const auto* start = std::get_if<StartWorkers>(&act))
            return fmt::format("start {}.{}", start->world.generation.number,
                               start->world.restarts);
        if (const auto* stop = std::get_if<StopWorkers>(&act))
            return fmt::format(
                "stop {}", std::chrono::duration_cast<std::chrono::seconds>(stop->grace).count());
        if (const auto* check = std::get_if<CheckNode>(&act))
            return fmt::format("check {}", check->check.round);
        if (const auto* end = std::get_if<AgentEnd>(&act)) return "ends: " + end->text;
        return "-";
    }
    void started() { state.started({}, kToday); }
    void stopped() { state.stopped(now); }
    /// Runs the first world, as its group rank 0.
    void begin(int nodes = 2, int most_restarts = 0) {
        run(world(1, nodes), most_restarts);
        EXPECT_EQ(next(), "store 1.0");
        EXPECT_EQ(next(), "start 1.0");
        started();
        EXPECT_EQ(next(), "-");
    }

    WorkerState state;
    Instant now = kStart;
};

TEST(WorkerState, TheStoreIsThereBeforeTheWorkers) {
    Story story;
    EXPECT_EQ(story.next(), "-");
    story.order(job_protocol::Wait{});
    EXPECT_EQ(story.next(), "-");
    story.begin();
    EXPECT_EQ(story.state.report().store_ready, (Generation{.epoch = 1, .number = 1}));
    Story other;
    other.run(world(1, 2, 1));
    EXPECT_EQ(other.next(), "start 1.0") << "it is not its store";
    EXPECT_FALSE(other.state.report().store_ready);
}

TEST(WorkerState, TellsTheStepsOfThisAttemptAlone) {
    Story story;
    story.begin();
    EXPECT_EQ(story.state.report().steps, std::nullopt);
    story.state.stepped(3);
    story.state.stepped(2);
    EXPECT_EQ(story.state.report().steps, 3u);
    story.state.ended({.generation = {.epoch = 1, .number = 1}, .exit_code = 1, .steps = 5});
    EXPECT_EQ(story.state.report().steps, 5u) << "its last steps had not been read yet";
    story.run(world(2));
    EXPECT_EQ(story.next(), "store 2.1");
    EXPECT_EQ(story.next(), "stop 3");
    story.stopped();
    EXPECT_EQ(story.next(), "start 2.1");
    story.started();
    EXPECT_EQ(story.state.report().steps, std::nullopt);
}

TEST(WorkerState, TheStoreOfTheNextWorldDoesNotWaitForTheWorkersOfTheLast) {
    Story story;
    story.begin();
    story.run(world(2));
    EXPECT_EQ(story.next(), "store 2.1");
    EXPECT_EQ(story.next(), "stop 3");
    EXPECT_EQ(story.state.report().store_ready->number, 2u);
    EXPECT_EQ(story.state.report().gave_up, (Generation{.epoch = 1, .number = 1}))
        << "what was told to stop can't continue, even while it stops";
    EXPECT_EQ(story.next(), "-");
    story.stopped();
    EXPECT_EQ(story.next(), "start 2.1");
    EXPECT_EQ(story.state.report().gave_up, (Generation{.epoch = 1, .number = 1}));
}

TEST(WorkerState, WhatHoldsWhenTheyAreReadyCounts) {
    Story story;
    story.run(world(1, 2, 1));
    EXPECT_EQ(story.next(), "start 1.0");
    story.run(world(2, 2, 1));
    EXPECT_EQ(story.next(), "-") << "they begin";
    story.started();
    EXPECT_EQ(story.next(), "stop 3");
    story.run(world(3, 2, 1));
    story.stopped();
    EXPECT_EQ(story.next(), "start 3.2");
}

TEST(WorkerState, AnyOtherOrderStopsThem) {
    for (const decltype(job_protocol::Directive::what)& what :
         {decltype(job_protocol::Directive::what)(job_protocol::Wait{}),
          decltype(job_protocol::Directive::what)(
              job_protocol::Stop{.generation = {.epoch = 1, .number = 1}}),
          decltype(job_protocol::Directive::what)(job_protocol::Verdict{.text = "done"})}) {
        Story story;
        story.begin();
        story.order(what);
        EXPECT_EQ(story.next(), "stop 3");
        story.stopped();
        EXPECT_EQ(story.next(), what.index() == 3 ? "ends: done" : "-");
    }
}

TEST(WorkerState, WhoDiedIsToldAndNothingIsDoneHere) {
    Story story;
    story.begin();
    story.dies(1, "ValueError: no");
    EXPECT_EQ(story.next(), "-");
    ASSERT_EQ(story.state.report().evidence.size(), 1u);
    EXPECT_EQ(story.state.report().evidence[0].error, "ValueError: no");
    EXPECT_FALSE(story.state.report().done);
    story.run(world(2));
    EXPECT_EQ(story.next(), "store 2.1");
    EXPECT_EQ(story.next(), "stop 3");
    story.stopped();
    EXPECT_EQ(story.next(), "start 2.1");
    EXPECT_TRUE(story.state.report().evidence.empty());
}

TEST(WorkerState, IsDoneWhenAllEndedWell) {
    Story story;
    story.begin();
    story.dies(0);
    EXPECT_TRUE(story.state.report().done);
    EXPECT_EQ(story.next(), "-") << "the others may need it again";
    story.run(world(2));
    EXPECT_EQ(story.next(), "store 2.1");
    EXPECT_EQ(story.next(), "stop 3");
    story.stopped();
    EXPECT_EQ(story.next(), "start 2.1");
    EXPECT_FALSE(story.state.report().done);
}

TEST(WorkerState, AloneItBeginsAnewWhileNoMasterIsThere) {
    struct Case {
        const char* about;
        int nodes;
        int most_restarts;
        bool away;
        int exit_code;
        const char* wanted;
    };
    for (const Case& c :
         {Case{"alone", 1, 1, true, 1, "store 1.1"}, Case{"a master is there", 1, 1, false, 1, "-"},
          Case{"others are in the world", 2, 1, true, 1, "-"},
          Case{"nothing is left of the budget", 1, 0, true, 1, "-"},
          Case{"another try is of no use", 1, 1, true, 64, "-"}}) {
        Story story;
        story.begin(c.nodes, c.most_restarts);
        if (c.away) story.away();
        story.dies(c.exit_code);
        std::string next = story.next();
        if (next == "stop 2") next = story.next();
        EXPECT_EQ(next, c.wanted) << c.about;
    }
}

TEST(WorkerState, WhatItBeganAnewItselfIsTold) {
    Story story;
    story.begin(1, 1);
    story.away();
    story.dies();
    EXPECT_EQ(story.next(), "stop 2");
    EXPECT_EQ(story.state.report().holds->restarts, 1)
        << "a master that is back by now must not restart it again";
    EXPECT_EQ(story.next(), "store 1.1");
    story.stopped();
    EXPECT_EQ(story.next(), "start 1.1");
    story.started();
    const job_protocol::Report report = story.state.report();
    EXPECT_EQ(report.holds->restarts, 1);
    EXPECT_EQ(report.evidence.at(0).restarts, 0);
    EXPECT_FALSE(report.gave_up) << "the generation continues";
    story.dies();
    EXPECT_EQ(story.next(), "-") << "that was all of the budget";
    EXPECT_EQ(story.state.report().evidence.at(1).restarts, 1);
}

// An agent that was killed during a restart has reported it; its successor finds what it
// stopped.
TEST(WorkerState, WhatTheAgentBeforeBeganAnewIsBegun) {
    Story story(world(1, 1));
    World again = world(1, 1);
    again.restarts = 1;
    story.run(again);
    EXPECT_EQ(story.next(), "stop 2");
    EXPECT_EQ(story.state.report().holds->restarts, 1);
    EXPECT_EQ(story.next(), "store 1.1");
    story.stopped();
    EXPECT_EQ(story.next(), "start 1.1");
    story.started();
    EXPECT_EQ(story.next(), "-");
    EXPECT_FALSE(story.state.report().gave_up) << "the generation continues";
}

TEST(WorkerState, AnOrderThatCameMeanwhileCounts) {
    Story story;
    story.begin(1, 1);
    story.away();
    story.dies();
    EXPECT_EQ(story.next(), "stop 2");
    story.state.connected(true, "", story.now);
    story.run(world(2, 1), 1);
    EXPECT_EQ(story.next(), "store 2.1");
    story.stopped();
    EXPECT_EQ(story.next(), "start 2.1");
    EXPECT_TRUE(story.state.report().evidence.empty());
}

TEST(WorkerState, AnOlderMasterIsNotObeyed) {
    Story story;
    story.begin();
    story.run(world(1), 0, 2);
    const auto refused = story.state.ordered({.epoch = 1, .what = job_protocol::Verdict{}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kConflict);
    EXPECT_EQ(story.next(), "-");
    EXPECT_EQ(story.state.epoch_seen(), 2u);
}

TEST(WorkerState, TheEndIsKnownWhenTheMasterThatToldItIsGone) {
    Story story;
    story.begin();
    story.run(world(1));
    EXPECT_FALSE(story.state.knows_the_end());
    story.order(job_protocol::Verdict{});
    story.away();
    EXPECT_TRUE(story.state.knows_the_end()) << "also while workers here still end";
}

TEST(WorkerState, WorkersThatAreFoundGoOn) {
    Story story(world(4, 2, 1));
    EXPECT_EQ(story.next(), "-");
    EXPECT_EQ(story.state.report().holds, world(4, 2, 1));
    story.run(world(4, 2, 1));
    EXPECT_EQ(story.next(), "-");
    story.run(world(5, 2, 1));
    EXPECT_EQ(story.next(), "stop 3");
}

TEST(WorkerState, WhatCouldNotStartIsEvidence) {
    Story story;
    story.run(world(1, 2, 1));
    EXPECT_EQ(story.next(), "start 1.0");
    story.state.started(Error(Code::kNotFound, "train: no such file"), kToday);
    EXPECT_EQ(story.state.report().evidence.at(0).kind, job_protocol::FailureKind::kNotStarted);
    EXPECT_EQ(story.state.report().evidence.at(0).error, "train: no such file");
}

TEST(WorkerState, GivesUpWhenNoWorldComes) {
    Story story;
    story.order(job_protocol::Wait{.text = "slot 3 is nobody's"});
    story.now += 10min - 1s;
    EXPECT_EQ(story.next(), "-");
    EXPECT_TRUE(story.state.say_waiting(story.now));
    EXPECT_EQ(story.state.wake_at(), kStart + 10min);
    story.now += 1s;
    EXPECT_THAT(story.next(),
                HasSubstr("no world after 600 s (join_timeout of --rdzv-conf): slot 3"));
    Story alone;
    alone.away();
    alone.now += 10min;
    EXPECT_THAT(alone.next(), HasSubstr("the job's master can't be reached: nobody listens"));
}

TEST(WorkerState, AStandbyNodeWaitsAsLongAsItTakes) {
    Story story;
    story.order(job_protocol::Wait{.standby = true});
    story.now += 1000h;
    EXPECT_EQ(story.next(), "-");
    story.away();
    EXPECT_EQ(story.next(), "-");
    EXPECT_EQ(story.state.wake_at(), story.now + 10min);
}

TEST(WorkerState, AStandbyNodeWaitsNoLongerThanItShall) {
    WorkerStateOptions options = Story::options();
    options.pend_timeout = 70s;
    Story story({}, options);
    EXPECT_EQ(story.next(), "-");
    story.now += 5min;
    EXPECT_EQ(story.next(), "-") << "it does not stand by";
    story.order(job_protocol::Wait{.standby = true});
    EXPECT_EQ(story.next(), "-");
    EXPECT_EQ(story.state.wake_at(), story.now + 70s);
    story.now += 69s;
    story.order(job_protocol::Wait{.text = "a world forms"});
    EXPECT_EQ(story.next(), "-");
    story.now += 1min;
    story.order(job_protocol::Wait{.standby = true});
    EXPECT_EQ(story.next(), "-") << "the time is that without a break";
    story.now += 70s;
    EXPECT_THAT(story.next(), AllOf(HasSubstr("no place for this node after 70 s"),
                                    HasSubstr("pend_timeout of --rdzv-conf")));
}

TEST(WorkerState, GivesUpAMasterThatDoesNotComeBackWhenAllWorkersHaveEnded) {
    Story story;
    story.begin();
    story.away();
    EXPECT_EQ(story.state.wake_at(), Instant::max()) << "workers go on";
    story.now += 10h;
    story.dies(0);
    EXPECT_FALSE(story.state.has_workers());
    EXPECT_EQ(story.next(), "-");
    EXPECT_EQ(story.state.wake_at(), story.now + 10min);
    story.now += 10min;
    EXPECT_EQ(story.next(), "stop 30") << "what they left behind may finish";
    EXPECT_NE(story.state.report().leaving, "") << "if the master comes just now";
    story.stopped();
    const auto end = std::get<AgentEnd>(story.state.next(story.now, kToday));
    EXPECT_EQ(end.kind, AgentEnd::Kind::kGaveUp) << "others may still train";
    EXPECT_TRUE(end.had_joined);
    EXPECT_THAT(end.text, AllOf(HasSubstr("the workers of this node have ended with 0"),
                                HasSubstr("could not be reached for 600 s"),
                                HasSubstr("nobody listens"), HasSubstr("no success")));
}

TEST(WorkerState, SaysWhatFailedWhenNoMasterComesToDecide) {
    Story story;
    story.begin();
    story.away();
    story.dies(1, "ValueError: no");
    EXPECT_EQ(story.next(), "-");
    story.now += 10min;
    EXPECT_EQ(story.next(), "stop 30");
    story.stopped();
    EXPECT_THAT(story.next(),
                HasSubstr("First, worker 0 on node 0 (a0) exited with code 1: ValueError: no"));
}

TEST(WorkerState, WorkersThatCouldNotStartHaveEnded) {
    Story story;
    story.run(world(1, 2, 1));
    EXPECT_EQ(story.next(), "start 1.0");
    story.state.started(Error(Code::kNotFound, "train: no such file"), kToday);
    story.away();
    EXPECT_EQ(story.next(), "-");
    story.now += 10min;
    EXPECT_EQ(story.next(), "stop 30");
}

TEST(WorkerState, AMasterThatComesBackInTimeIsObeyed) {
    Story story;
    story.begin();
    story.dies(0);
    EXPECT_EQ(story.next(), "-");
    story.now += 10h;
    EXPECT_EQ(story.next(), "-") << "it is there, and others still train";
    story.away();
    EXPECT_EQ(story.next(), "-");
    story.now += 9min;
    story.state.connected(true, "", story.now);
    EXPECT_EQ(story.state.wake_at(), Instant::max());
    story.away();
    story.now += 9min;
    EXPECT_EQ(story.next(), "-") << "each absence counts for itself";
    story.order(job_protocol::Verdict{.text = "done"});
    EXPECT_EQ(story.next(), "stop 3");
    story.stopped();
    EXPECT_EQ(story.next(), "ends: done");
}

TEST(WorkerState, WorkersThatStillRunAreNotGivenUp) {
    WorkerStateOptions options = Story::options();
    options.local_size = 2;
    Story story({}, options);
    story.begin();
    story.dies(0);
    story.away();
    story.now += 100h;
    EXPECT_EQ(story.next(), "-");
    EXPECT_TRUE(story.state.has_workers());
}

TEST(WorkerState, WaitsForALaterWorldAsLongAsForTheFirst) {
    Story story;
    story.begin();
    story.now += 10h;
    story.order(job_protocol::Stop{.generation = {.epoch = 1, .number = 1}});
    EXPECT_EQ(story.next(), "stop 3");
    story.stopped();
    story.order(job_protocol::Wait{.text = "slot 1 is nobody's"});
    EXPECT_EQ(story.next(), "-");
    story.now += 10min;
    EXPECT_THAT(story.next(), HasSubstr("slot 1 is nobody's"));
}

TEST(WorkerState, AStandbyNodeHasTheWholeTimeWhenTheWorldEnds) {
    Story story;
    story.order(job_protocol::Wait{.standby = true});
    EXPECT_EQ(story.next(), "-");
    story.now += 1000h;
    story.order(job_protocol::Wait{.text = "slot 1 is nobody's"});
    EXPECT_EQ(story.next(), "-");
    story.now += 10min;
    EXPECT_THAT(story.next(), HasSubstr("slot 1 is nobody's"));
}

TEST(WorkerState, SaysAfterAWhileAndThenAgainWhatItWaitsFor) {
    Story story;
    const auto said = [&](Duration later) {
        story.now += later;
        EXPECT_EQ(story.next(), "-");
        return story.state.say_waiting(story.now).value_or("-");
    };
    story.order(job_protocol::Wait{.text = "slot 3 is nobody's"});
    EXPECT_EQ(said(4s), "-");
    EXPECT_EQ(story.state.wake_at(), kStart + 5s);
    EXPECT_EQ(said(1s), "slot 3 is nobody's");
    EXPECT_EQ(said(59s), "-");
    EXPECT_EQ(said(1s), "slot 3 is nobody's");
    story.away();
    EXPECT_EQ(said(2min), "-") << "that there is no master is said elsewhere";
    Story standby;
    standby.order(job_protocol::Wait{.standby = true});
    EXPECT_EQ(standby.next(), "-");
    EXPECT_FALSE(standby.state.say_waiting(standby.now + 1h));
    Story busy;
    busy.begin();
    EXPECT_FALSE(busy.state.say_waiting(busy.now + 1h));
    EXPECT_TRUE(busy.state.has_workers());
}

TEST(WorkerState, AStopHasAReasonAlsoWhereTheMasterGivesNone) {
    Story story;
    story.begin();
    EXPECT_TRUE(story.state.ordered(
        {.epoch = 1, .what = job_protocol::Stop{.generation = {.epoch = 1, .number = 1}}}));
    const WorkerAction stop = story.state.next(story.now, kToday);
    EXPECT_NE(std::get<StopWorkers>(stop).why, "");
}

TEST(WorkerState, LeavesWhenItsWorkersHaveEnded) {
    Story story;
    story.begin();
    story.state.leave("SIGTERM");
    EXPECT_EQ(story.state.report().leaving, "SIGTERM");
    EXPECT_EQ(story.next(), "stop 30");
    story.run(world(2));
    EXPECT_EQ(story.next(), "-");
    story.stopped();
    EXPECT_EQ(story.next(), "ends: SIGTERM");
}

TEST(WorkerState, ACheckIsMadeOnceAndTold) {
    Story story;
    story.order(job_protocol::Check{.epoch = 1, .round = 1});
    EXPECT_EQ(story.next(), "check 1");
    EXPECT_EQ(story.next(), "-");
    story.now += 1h;
    EXPECT_EQ(story.next(), "-") << "it does not give up while its master checks it";
    EXPECT_FALSE(story.state.report().checked);
    story.state.checked({.epoch = 1, .round = 1, .flops = 5});
    EXPECT_EQ(story.state.report().checked->flops, 5);
    story.order(job_protocol::Check{.epoch = 1, .round = 1});
    EXPECT_EQ(story.next(), "-");
    story.order(job_protocol::Check{.epoch = 2, .round = 1}, 2);
    EXPECT_EQ(story.next(), "check 1") << "of another master";
    story.state.checked({.epoch = 1, .round = 1, .flops = 6});
    EXPECT_EQ(story.state.report().checked->flops, 5) << "that is the one before";
    story.order(job_protocol::Check{.epoch = 2, .round = 2}, 2);
    EXPECT_EQ(story.next(), "check 2");
    story.state.checked({.epoch = 2, .round = 2, .flops = 7});
    EXPECT_EQ(story.state.report().checked->flops, 7);
    story.run(world(1), 0, 2);
    EXPECT_EQ(story.next(), "store 1.0");
    EXPECT_EQ(story.next(), "start 1.0");
    EXPECT_FALSE(story.state.report().checked);
}

TEST(WorkerState, AnAgentThatLeavesIsNotChecked) {
    Story story;
    story.order(job_protocol::Check{.epoch = 1, .round = 1});
    story.state.leave("SIGTERM");
    EXPECT_EQ(story.next(), "ends: SIGTERM");
}

}  // namespace
}  // namespace muster::agent::worker_state_test
