// A job whose master was told no terms: it has those of its nodes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "master/job.h"
#include "master/node_check/node_check_service.h"

namespace muster::master::job_terms_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Instant kStart = Instant() + 1h;
const WallTime kToday = WallTime() + 20000h;

Terms terms(int least, int most, std::optional<int> max_restarts = {}) {
    Terms made{.min_nodes = least, .max_nodes = most, .last_call = 0s};
    if (max_restarts)
        made.budgets = {{.charge = Charge::kWorker, .incidents = *max_restarts, .window = 0s}};
    return made;
}

class JobTermsTest : public ::testing::Test {
  protected:
    void begin(JobRecord record = {.epoch = 7}, std::uint64_t first_epoch = 7) {
        job.emplace(JobOptions{.first_epoch = first_epoch, .terms_of_nodes = true},
                    std::move(record), now, services);
    }
    /// `known`: the newest epoch that the agent has heard of.
    void join(const std::string& name, std::optional<Terms> its_terms, std::uint64_t known = 0,
              std::optional<World> holds = {}) {
        ASSERT_TRUE(job->joined({.incarnation = name,
                                 .slot = {},
                                 .address = name,
                                 .name = name,
                                 .epoch_seen = known,
                                 .report = {.holds = std::move(holds)},
                                 .terms = std::move(its_terms)},
                                now, wall));
        look();
    }
    void look(Duration after = {}) {
        now += after;
        wall += after;
        job->advance(now, wall);
        job->written(job->record_version());
        for (Notice& notice : job->take_notices()) notices.push_back(std::move(notice.text));
    }
    /// "2: a b", in the order of ranks; "-": none.
    std::string world() const {
        if (job->world() == nullptr) return "-";
        std::string text = fmt::format("{}:", job->world()->generation.number);
        for (const Member& member : job->world()->members) text += " " + member.address;
        return text;
    }
    void dies(const std::string& name) {
        const World& world = *job->world();
        Report report{.holds = world};
        for (const Member& member : world.members)
            if (member.incarnation == name) report.holds->own_rank = member.group_rank;
        report.evidence = {{.generation = world.generation,
                            .restarts = world.restarts,
                            .exit_code = 1,
                            .error = fmt::format("failure {}", ++failures)}};
        job->reported(name, report, now, wall);
        look();
    }

    Instant now = kStart;
    WallTime wall = kToday;
    Services services;
    std::optional<Job> job;
    std::vector<std::string> notices;
    int failures = 0;
};

TEST_F(JobTermsTest, AreThoseOfTheFirstNodeThatJoins) {
    begin();
    EXPECT_EQ(job->wake_at(), Instant::max()) << "there is nothing to wait for but nodes";
    join("a", terms(2, 2));
    EXPECT_EQ(world(), "-");
    join("b", terms(2, 2));
    EXPECT_EQ(world(), "1: a b");
    EXPECT_EQ(job->record().terms, terms(2, 2)) << "for the next master";
    EXPECT_THAT(notices, IsEmpty());
}

TEST_F(JobTermsTest, AreKeptBeforeAnyAgentIsToldAnything) {
    begin();
    ASSERT_TRUE(job->joined({.incarnation = "a", .slot = {}, .address = "a", .terms = terms(1, 1)},
                            now, wall));
    EXPECT_TRUE(job->unwritten());
}

TEST_F(JobTermsTest, AnAgentThatSaysNoneIsServedByWhatOthersSay) {
    begin();
    join("old", std::nullopt);
    EXPECT_EQ(world(), "-") << "how many nodes the job has is not known";
    EXPECT_THAT(job->waits_for(), HasSubstr("how many nodes the job has"));
    const auto order = job->directive_for("old");
    ASSERT_TRUE(order);
    EXPECT_THAT(std::get<Wait>(order->what).text, HasSubstr("how many nodes the job has"));
    join("new", terms(2, 2));
    EXPECT_EQ(world(), "1: old new");
    EXPECT_EQ(job->waits_for(), "");
}

TEST_F(JobTermsTest, OthersAreToldOnceAndHoldFromTheNextWorldOn) {
    begin();
    join("a", terms(1, 1, 5));
    EXPECT_EQ(world(), "1: a");
    join("b", terms(1, 1, 1));
    join("c", terms(1, 1, 1));
    EXPECT_THAT(notices,
                ElementsAre("b has other terms than the job: --max-restarts 1 (the job's: 5); they "
                            "hold from the next world on"));
    dies("a");
    EXPECT_EQ(world(), "2: a");
    EXPECT_EQ(job->record().terms, terms(1, 1, 1));
    EXPECT_FALSE(job->end()) << "the first failure was decided before";
    dies("a");
    ASSERT_TRUE(job->end());
    EXPECT_THAT(job->end()->text, HasSubstr("1 of 1 worker failures"))
        << "what was charged before counts";
}

TEST_F(JobTermsTest, BeforeTheFirstWorldOthersWaitForAllNodesWithTheFirstOnes) {
    begin();
    join("a", terms(3, 3));
    join("b", terms(2, 2));
    EXPECT_EQ(world(), "-") << "one node with other flags does not decide";
    join("c", terms(2, 2));
    EXPECT_EQ(world(), "1: a b c");
}

TEST_F(JobTermsTest, AJobThatCouldNeverBeginIsMendedByNewPods) {
    begin();
    join("a", terms(5, 5));
    join("b", terms(5, 5));
    job->timed_out("a", "silence", now, wall);
    join("a2", terms(2, 2));
    EXPECT_EQ(world(), "-");
    job->timed_out("b", "silence", now, wall);
    join("b2", terms(2, 2));
    EXPECT_EQ(world(), "1: a2 b2");
}

TEST_F(JobTermsTest, AJobThatIsToHaveMoreNodesGrowsWhenTheyAreThere) {
    begin();
    join("a", terms(2, 2));
    join("b", terms(2, 2));
    join("c", terms(4, 4));
    EXPECT_EQ(world(), "1: a b") << "three are too few for the new terms";
    join("d", terms(4, 4));
    EXPECT_EQ(world(), "2: a b c d");
}

TEST_F(JobTermsTest, ASmallerNumberOfNodesDisturbsNoWorld) {
    begin();
    join("a", terms(2, 2));
    join("b", terms(2, 2));
    join("c", terms(1, 1));
    EXPECT_EQ(world(), "1: a b");
    dies("a");
    EXPECT_EQ(world(), "2: a");
}

TEST_F(JobTermsTest, AJobThatIsToHaveFewerNodesContinuesWithThose) {
    begin();
    for (const char* name : {"a", "b", "c", "d"}) join(name, terms(4, 4));
    EXPECT_EQ(world(), "1: a b c d");
    job->wants_nodes(2);
    look();
    EXPECT_EQ(world(), "1: a b c d") << "no world ends for it";
    for (const char* name : {"c", "d"}) {
        job->reported(name, {.leaving = "the job is to have two nodes"}, now, wall);
        look();
    }
    EXPECT_EQ(world(), "2: a b") << "though all of its agents were told of four";
    EXPECT_EQ(job->record().terms, terms(2, 2));
    job->wants_nodes(4);
    look();
    EXPECT_EQ(world(), "2: a b");
    for (const char* name : {"c2", "d2"}) join(name, terms(4, 4));
    EXPECT_EQ(world(), "3: a b c2 d2");
}

TEST_F(JobTermsTest, OfTheRecordHoldForTheNextMaster) {
    begin();
    join("a", terms(2, 2, 3));
    join("b", terms(2, 2, 3));
    const World before = *job->world();
    const JobRecord record = job->record();
    Services others;
    JobRecord claimed = record;
    claimed.epoch = 8;
    now += 1h;  // no agent could reach it until now
    Job next(JobOptions{.first_epoch = 7, .terms_of_nodes = true}, claimed, kStart, others);
    EXPECT_EQ(next.terms(), terms(2, 2, 3));
    next.advance(now, wall);
    for (const Member& member : before.members) {
        World held = before;
        held.own_rank = member.group_rank;
        ASSERT_TRUE(next.joined({.incarnation = member.incarnation,
                                 .slot = {},
                                 .address = member.address,
                                 .epoch_seen = 7,
                                 .report = {.holds = held},
                                 .terms = terms(1, 9)},
                                now, wall));
        next.advance(now, wall);
    }
    ASSERT_NE(next.world(), nullptr);
    EXPECT_EQ(next.world()->generation, before.generation) << "no worker is disturbed";
    EXPECT_THAT(next.take_notices(), IsEmpty()) << "what they say was weighed before";
    EXPECT_FALSE(next.unwritten()) << "a quiet job writes nothing";
}

/// A pod of the master was made again as the first one, by an operator that has not seen the one before.
TEST_F(JobTermsTest, AWorldIsFoundThoughItsRecordIsLostAndTheMasterWasNotTold) {
    begin();
    join("a", terms(1, 2));
    join("b", terms(1, 2));
    const World before = *job->world();
    begin({.epoch = 9}, 9);
    for (const Member& member : before.members) {
        World held = before;
        held.own_rank = member.group_rank;
        join(member.incarnation, terms(1, 2), 7, held);
    }
    ASSERT_NE(job->world(), nullptr);
    EXPECT_EQ(job->world()->generation, before.generation) << "no worker is disturbed";
    look(1min);
    EXPECT_EQ(job->world()->generation, before.generation);
}

/// Numbers of generations never begin again.
TEST_F(JobTermsTest, AMasterThatHasMadeAWorldFindsNoOther) {
    begin();
    join("a", terms(1, 1));
    const World before = *job->world();
    job->timed_out("a", "silent", now, wall);
    look(10min);
    join("b", terms(1, 1), 6, before);
    look(1min);
    ASSERT_NE(job->world(), nullptr);
    EXPECT_LT(before.generation, job->world()->generation);
}

TEST_F(JobTermsTest, SayWhetherThereIsANodeCheck) {
    for (const NodeCheckKind kind : {NodeCheckKind::kNone, NodeCheckKind::kNodes}) {
        Services with_check;
        Job checked(JobOptions{.first_epoch = 7, .terms_of_nodes = true}, {.epoch = 7}, now,
                    with_check);
        with_check.add(std::make_unique<NodeCheckService>(NodeCheckOptions{}, checked));
        Terms its_terms = terms(1, 1);
        its_terms.check = kind;
        ASSERT_TRUE(checked.joined(
            {.incarnation = "a", .slot = {}, .address = "a", .check_port = 7, .terms = its_terms},
            now, wall));
        checked.advance(now, wall);
        EXPECT_EQ(checked.world() != nullptr, kind == NodeCheckKind::kNone);
    }
}

}  // namespace
}  // namespace muster::master::job_terms_test
