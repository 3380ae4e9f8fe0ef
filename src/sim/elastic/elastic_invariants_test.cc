#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time/sim_clock.h"
#include "sim/elastic/invariants.h"

namespace muster::sim::elastic::elastic_invariants_test {
namespace {

using namespace std::chrono_literals;
using job_protocol::Verdict;
using job_protocol::World;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using WorkerEnded = Invariants::WorkerEnded;

/// Two nodes of one worker each, unless it says otherwise.
World world(std::uint64_t number, int own_rank = 0, int nodes = 2) {
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

Verdict verdict(Verdict::Kind kind) { return {.kind = kind, .text = "so it is"}; }

/// A job of two nodes that is told what happens.
class Story {
  public:
    Story() {
        rules.of_job({.membership = {.min_nodes = 1, .max_nodes = 2}}, false);
        for (const char* name : {"a0", "a1"}) rules.of_node(name, windows);
        rules.master_began();
    }
    void all_begin(std::uint64_t number) {
        rules.store_began("a0", world(number));
        rules.made(world(number));
        for (int node = 0; node < 2; ++node)
            rules.began(fmt::format("a{}", node), world(number, node));
    }
    void all_end(std::uint64_t number, WorkerEnded how) {
        for (int node = 0; node < 2; ++node)
            rules.worker_ended(fmt::format("a{}", node), world(number, node), node, how);
    }
    void record(std::vector<job_protocol::Incident> incidents, std::optional<Verdict> end = {},
                std::size_t number = 0) {
        job_protocol::JobRecord made;
        made.incidents = std::move(incidents);
        made.end = std::move(end);
        rules.recorded(made, number);
    }
    job_protocol::Incident incident(std::uint64_t number) const {
        return {.charge = job_protocol::Charge::kWorker,
                .generation = {.epoch = 1, .number = number},
                .restarts = static_cast<int>(number) - 1};
    }
    std::vector<std::string> broken() const {
        std::vector<std::string> names;
        for (const Violation& violation : ledger.violations()) names.push_back(violation.invariant);
        return names;
    }

    SimClock clock;
    Ledger ledger{clock};
    Invariants rules{clock, ledger, "job"};
    FaultWindows windows;
};

TEST(ElasticInvariants, AJobThatGoesWellBreaksNone) {
    Story story;
    story.all_begin(1);
    story.rules.worker_ended("a1", world(1, 1), 1, WorkerEnded::kDied);
    story.record({story.incident(1)});
    story.rules.stops("a0", world(1), 1s);
    story.rules.worker_ended("a0", world(1), 0, WorkerEnded::kStopped);
    story.all_begin(2);
    story.all_end(2, WorkerEnded::kDone);
    story.record({story.incident(1)}, verdict(Verdict::Kind::kSucceeded));
    story.rules.agent_ended("a0", {.kind = agent::AgentEnd::Kind::kSucceeded});
    EXPECT_THAT(story.broken(), IsEmpty());
    EXPECT_TRUE(story.rules.has_ended(Verdict::Kind::kSucceeded));
}

TEST(ElasticInvariants, AWorldOfAnotherSizeIsNone) {
    Story story;
    story.rules.store_began("a0", world(1, 0, 3));
    EXPECT_THAT(story.broken(), ElementsAre("worlds"));
}

TEST(ElasticInvariants, MembersAgreeOnTheirWorld) {
    Story story;
    story.rules.store_began("a0", world(1));
    World other = world(1);
    other.members[0].address = "a9";
    story.rules.began("a0", other);
    EXPECT_THAT(story.broken(), ::testing::Contains("worlds"));
}

TEST(ElasticInvariants, ARankHasOneHolder) {
    Story story;
    story.all_begin(1);
    story.rules.began("a1", world(1, 1));
    EXPECT_THAT(story.broken(), ElementsAre("ranks"));
}

TEST(ElasticInvariants, AFailureIsChargedOnceByAllMastersTogether) {
    Story story;
    story.all_begin(1);
    story.all_end(1, WorkerEnded::kDied);
    story.record({story.incident(1)});
    story.rules.master_began();
    story.record({story.incident(1)});
    EXPECT_THAT(story.broken(), IsEmpty());
    story.record({story.incident(1), story.incident(1)});
    EXPECT_THAT(story.broken(), ElementsAre("charges"));
}

TEST(ElasticInvariants, NoMoreIsChargedThanTheBudgetHas) {
    Story story;
    master::JobOptions options{.membership = {.min_nodes = 1, .max_nodes = 2}};
    options.budgets[static_cast<std::size_t>(job_protocol::Charge::kWorker)].incidents = 1;
    story.rules.of_job(std::move(options), false);
    std::vector<job_protocol::Incident> charged;
    for (std::uint64_t number = 1; number <= 2; ++number) {
        if (number == 2) story.rules.master_began();
        story.all_begin(number);
        story.all_end(number, WorkerEnded::kDied);
        charged.push_back(story.incident(number));
        EXPECT_THAT(story.broken(), IsEmpty());
        story.record(charged);
    }
    EXPECT_THAT(story.broken(), ElementsAre("charges"));
}

TEST(ElasticInvariants, AStoreIsEmptyWhenWorkersBegin) {
    Story story;
    story.all_begin(1);
    story.all_end(1, WorkerEnded::kDied);
    story.record({story.incident(1)});
    story.rules.began("a0", world(2));
    EXPECT_THAT(story.broken(), ElementsAre("stores"));
}

TEST(ElasticInvariants, HealthyWorkersStopForAReason) {
    Story story;
    story.all_begin(1);
    story.clock.advance_to(story.clock.now() + 1min);
    story.rules.stops("a0", world(1), 1s);
    EXPECT_THAT(story.broken(), ElementsAre("healthy-stop"));
}

TEST(ElasticInvariants, ALargerWorldIsAReasonEvenIfAMemberLeavesBeforeItIsTold) {
    for (const bool leaves : {true, false}) {
        Story story;
        story.all_begin(1);
        story.clock.advance_to(story.clock.now() + 1min);
        bool larger = true;  // while its member is there
        story.rules.of_masters([&] {
            job_protocol::World made = world(larger ? 2 : 3);
            if (larger) ++made.nodes;
            story.rules.made(made);
        });
        if (leaves)
            story.rules.leaves("a9");
        else
            story.rules.store_ended("a9");
        larger = false;
        story.rules.stops("a0", world(1), 1s);
        EXPECT_THAT(story.broken(), IsEmpty()) << leaves;
    }
}

TEST(ElasticInvariants, ANodeThatIsGoneIsAReason) {
    Story story;
    story.all_begin(1);
    story.windows.gone(story.clock.now());
    story.rules.stops("a0", world(1), 1s);
    EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(ElasticInvariants, SoIsAPlaceOfItsMasterThatIsGone) {
    Story story;
    FaultWindows place;
    story.rules.of_master_place(place);
    story.all_begin(1);
    place.gone(story.clock.now());
    story.rules.stops("a0", world(1), 1s);
    EXPECT_THAT(story.broken(), IsEmpty());
}

TEST(ElasticInvariants, APlaceThatIsGoneIsNoReasonOnceTheMastersAreElsewhere) {
    Story story;
    FaultWindows place;
    story.rules.of_master_place(place);
    place.gone(story.clock.now());
    story.clock.advance_to(story.clock.now() + 10s);
    story.rules.masters_moved();
    story.clock.advance_to(story.clock.now() + 10s);
    story.all_begin(1);
    story.clock.advance_to(story.clock.now() + 1min);
    story.rules.stops("a0", world(1), 1s);
    EXPECT_THAT(story.broken(), ElementsAre("healthy-stop"));
}

TEST(ElasticInvariants, AWorldAfterTheEndIsSeenBesideARecordThatNoMasterHasUsed) {
    Story story;
    story.all_begin(1);
    story.all_end(1, WorkerEnded::kDone);
    story.record({}, verdict(Verdict::Kind::kSucceeded));
    story.rules.new_record();
    story.rules.store_began("a0", world(2));
    EXPECT_THAT(story.broken(), testing::Contains("verdict"));
}

TEST(ElasticInvariants, WhatHasNotHappenedIsNotCharged) {
    Story story;
    story.all_begin(1);
    story.record({story.incident(1)});
    EXPECT_THAT(story.broken(), ElementsAre("charges"));
}

TEST(ElasticInvariants, AChargeIsForgottenOnlyWithItsRecord) {
    Story story;
    story.all_begin(1);
    story.all_end(1, WorkerEnded::kDied);
    story.record({story.incident(1)});
    const std::size_t another = story.rules.new_record();
    story.record({}, {}, another);
    EXPECT_THAT(story.broken(), IsEmpty());
    story.record({});
    EXPECT_THAT(story.broken(), ElementsAre("charges"));
}

TEST(ElasticInvariants, AnEndIsFinalInItsRecord) {
    Story story;
    story.all_begin(1);
    story.all_end(1, WorkerEnded::kDone);
    story.record({}, verdict(Verdict::Kind::kSucceeded));
    const std::size_t another = story.rules.new_record();
    story.record({}, {}, another);
    EXPECT_THAT(story.broken(), IsEmpty());
    EXPECT_FALSE(story.rules.end());
    EXPECT_TRUE(story.rules.has_ended(Verdict::Kind::kSucceeded));
    story.record({});
    EXPECT_THAT(story.broken(), ElementsAre("verdict"));
}

// Found by `muster simulate elastic-jobs --seed 42145`: the record could not be written for a minute, in
// which a node came and was lost.
TEST(ElasticInvariants, AWorldThatWasLostBeforeAnyoneWasToldOfItIsAReasonToStop) {
    for (const std::uint64_t lost : {1u, 2u}) {
        Story story;
        story.all_begin(1);
        job_protocol::Incident incident = story.incident(lost);
        incident.charge = job_protocol::Charge::kNode;
        if (lost == 2) story.record({incident});
        story.rules.stops("a0", world(1), 1s);
        EXPECT_EQ(story.broken().empty(), lost == 2);
    }
}

TEST(ElasticInvariants, AJobThatBeginsAgainForgetsAFailureWithItsCharges) {
    for (const bool again : {true, false}) {
        Story story;
        if (again) story.rules.begins_again();
        story.all_begin(1);
        story.all_end(1, WorkerEnded::kDied);
        story.record({story.incident(1)});
        Verdict failed = verdict(Verdict::Kind::kFailed);
        failed.cause = {.kind = job_protocol::FailureKind::kNotStarted,
                        .generation = {.epoch = 1, .number = 1}};
        story.record({story.incident(1)}, failed);
        EXPECT_THAT(story.broken(), IsEmpty());
        story.record({});
        EXPECT_EQ(story.broken().empty(), again);
        EXPECT_EQ(story.rules.end().has_value(), !again);
        story.rules.agent_ended("a0", {.kind = agent::AgentEnd::Kind::kFailed});
        if (!again) continue;
        EXPECT_THAT(story.broken(), IsEmpty()) << "the attempt has ended so";
        story.all_begin(2);
        story.all_end(2, WorkerEnded::kDone);
        story.record({}, verdict(Verdict::Kind::kSucceeded));
        EXPECT_THAT(story.broken(), IsEmpty());
        story.record({});
        EXPECT_THAT(story.broken(), ElementsAre("verdict")) << "a success is final";
    }
}

TEST(ElasticInvariants, AJobSucceedsWhenAllWorkersOfAWorldAreDone) {
    Story story;
    story.all_begin(1);
    story.rules.worker_ended("a0", world(1), 0, WorkerEnded::kDone);
    story.record({}, verdict(Verdict::Kind::kSucceeded));
    EXPECT_THAT(story.broken(), ElementsAre("verdict"));
}

TEST(ElasticInvariants, AnAgentEndsAsItsJob) {
    Story story;
    story.all_begin(1);
    story.rules.agent_ended("a0", {.kind = agent::AgentEnd::Kind::kSucceeded});
    EXPECT_THAT(story.broken(), ElementsAre("agent-end"));
}

TEST(ElasticInvariants, AnAgentLeavesWhenItIsToldTo) {
    Story story;
    story.rules.leaves("a0");
    story.rules.agent_ended("a0", {.kind = agent::AgentEnd::Kind::kLeft});
    EXPECT_THAT(story.broken(), IsEmpty());
    story.rules.agent_ended("a1", {.kind = agent::AgentEnd::Kind::kLeft});
    EXPECT_THAT(story.broken(), ElementsAre("agent-end"));
}

}  // namespace
}  // namespace muster::sim::elastic::elastic_invariants_test
