#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/job.h"
#include "master/node_check/node_check_service.h"

namespace muster::master::job_check_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const Instant kStart = Instant() + 1h;
const WallTime kToday = WallTime() + 20000h;

/// A job that checks its nodes first; they say by hand what they find. An incarnation is an
/// address.
class Story {
  public:
    Story(int least, int most, NodeCheckOptions check = {}, JobRecord record = {.epoch = 1})
        : job({.membership = {.min_nodes = least, .max_nodes = most}}, std::move(record), kStart,
              services) {
        services.add(std::make_unique<NodeCheckService>(std::move(check), job));
    }

    void join(const std::string& name, Report report = {}, int port = 9) {
        ASSERT_TRUE(job.joined({.incarnation = name,
                                .slot = {},
                                .address = name,
                                .name = name,
                                .report = std::move(report),
                                .check_port = port},
                               now, wall));
        look();
    }
    void look(Duration after = {}) {
        now += after;
        wall += after;
        job.advance(now, wall);
        EXPECT_GT(job.wake_at(), now) << "or it would never rest";
        job.written(job.record_version());
    }
    void lose(const std::string& name) {
        job.timed_out(name, "it was silent", now, wall);
        look();
    }
    /// As its order asks; a link works unless its other end is named.
    void find(const std::string& name, const std::string& unreached = "", double flops = 1e9) {
        const auto order = job.directive_for(name);
        ASSERT_TRUE(order && std::holds_alternative<Check>(order->what)) << name;
        const Check& check = std::get<Check>(order->what);
        CheckResult result{.epoch = check.epoch, .round = check.round};
        if (check.compute) result.flops = result.memory_bytes = flops;
        for (const CheckPeer& peer : check.dials)
            result.links.push_back({.peer = peer.incarnation,
                                    .trouble = peer.incarnation == unreached ? "no answer" : "",
                                    .bytes_out = 1e9,
                                    .bytes_in = 1e9});
        job.reported(name, {.checked = result}, now, wall);
        look();
    }
    std::string order(const std::string& name) {
        const auto order = job.directive_for(name);
        if (!order) return "-";
        if (const auto* check = std::get_if<Check>(&order->what))
            return fmt::format("check {}", check->round);
        if (const auto* wait = std::get_if<Wait>(&order->what))
            return wait->standby ? "standby" : "wait";
        if (const auto* run = std::get_if<Run>(&order->what))
            return fmt::format("run {} of {}", run->world.own_rank, run->world.nodes);
        const auto* verdict = std::get_if<Verdict>(&order->what);
        return verdict == nullptr                          ? "stop"
               : verdict->kind == Verdict::Kind::kExcluded ? "excluded"
               : verdict->kind == Verdict::Kind::kFailed   ? "failed"
                                                           : "succeeded";
    }
    std::string orders(std::initializer_list<const char*> names) {
        std::string all;
        for (const char* name : names) all += (all.empty() ? "" : ", ") + order(name);
        return all;
    }
    std::string text(const std::string& name) {
        return std::get<Verdict>(job.directive_for(name)->what).text;
    }

    Services services;
    Job job;
    Instant now = kStart;
    WallTime wall = kToday;
};

TEST(JobCheck, HoldsTheFirstWorldBack) {
    Story story(2, 2);
    story.join("a");
    EXPECT_EQ(story.orders({"a"}), "wait");
    story.join("b");
    EXPECT_EQ(story.orders({"a", "b"}), "check 1, check 1");
    EXPECT_EQ(story.job.world(), nullptr);
    story.find("a");
    EXPECT_EQ(story.orders({"a", "b"}), "check 1, check 1");
    EXPECT_TRUE(story.job.take_notices().empty());
    story.find("b");
    EXPECT_EQ(story.orders({"a", "b"}), "run 0 of 2, wait");
    EXPECT_THAT(story.job.take_notices().at(0).text, HasSubstr("2 nodes in 0.00 s; 0 faulty"));
    EXPECT_TRUE(story.job.take_notices().empty());
    EXPECT_TRUE(story.job.record().incidents.empty());
}

TEST(JobCheck, IsMadeOnceAndNotOfThoseWhoComeLater) {
    Story story(1, 2);
    story.join("a");
    EXPECT_EQ(story.orders({"a"}), "wait") << "the last call";
    story.look(30s);
    EXPECT_EQ(story.orders({"a"}), "check 1");
    story.join("b");
    EXPECT_EQ(story.orders({"a", "b"}), "check 1, wait");
    EXPECT_THAT(std::get<Wait>(story.job.directive_for("b")->what).text, HasSubstr("are checked"));
    story.look(10s);
    EXPECT_THAT(std::get<Wait>(story.job.directive_for("b")->what).text, HasSubstr("are checked"));
    story.find("a");
    EXPECT_EQ(story.orders({"a", "b"}), "run 0 of 2, wait");
    story.lose("b");
    EXPECT_EQ(story.orders({"a"}), "run 0 of 1") << "and no check before it";
}

TEST(JobCheck, AStandbyNodeTakesThePlaceOfAFaultyNode) {
    Story story(2, 2);
    story.join("a");
    story.join("b");
    story.join("c");
    EXPECT_EQ(story.orders({"a", "b", "c"}), "check 1, check 1, wait");
    story.find("a", "b");
    story.find("b");
    EXPECT_EQ(story.orders({"a", "b", "c"}), "run 0 of 2, excluded, wait");
}

TEST(JobCheck, TheOthersGoOnWithoutAFaultyNode) {
    Story other(2, 3);
    other.join("a");
    other.join("b");
    other.join("c");
    other.find("a", "b");
    other.find("b");
    other.find("c");
    EXPECT_EQ(other.orders({"a", "b", "c"}), "wait, wait, check 2");
    other.find("c", "b");
    EXPECT_EQ(other.orders({"a", "b", "c"}), "wait, excluded, wait") << "the last call of two";
    EXPECT_EQ(other.text("b"),
              "node 1 (b) failed the check: no link of it works: the link from node 2 (c) to node "
              "1 (b) does not work (no answer); it is excluded from the job");
    other.look(30s);
    EXPECT_EQ(other.orders({"a", "b", "c"}), "run 0 of 2, excluded, wait");
    EXPECT_THAT(other.job.record().excluded, ElementsAre("b"));
    EXPECT_EQ(other.job.record().incidents.size(), 1u);
    EXPECT_EQ(other.job.record().incidents[0].charge, Charge::kNode);
}

TEST(JobCheck, TooFewAreLeft) {
    Story story(3, 3);
    for (const char* name : {"a", "b", "c"}) story.join(name);
    story.find("a", "c");
    story.find("b");
    story.find("c");
    story.find("b", "c");
    EXPECT_EQ(story.orders({"a", "b", "c"}), "failed, failed, excluded");
    EXPECT_THAT(story.text("a"),
                HasSubstr("the node check leaves 2 of at least 3 nodes: node 2 (c) failed"));
    ASSERT_TRUE(story.job.end()->cause);
    EXPECT_EQ(story.job.end()->cause->kind, FailureKind::kCheckFailed);
    EXPECT_EQ(story.job.end()->cause->slot, 2);
}

TEST(JobCheck, WhoIsSlowGoesOnlyIfThatWasAsked) {
    for (const bool exclude : {false, true}) {
        Story story(2, 3, {.exclude_slow = exclude});
        for (const char* name : {"a", "b", "c"}) story.join(name);
        story.find("a");
        story.find("b", "", 1e8);
        story.find("c");
        if (exclude) story.look(30s);
        EXPECT_EQ(story.orders({"a", "b", "c"}),
                  exclude ? "run 0 of 2, excluded, wait" : "run 0 of 3, wait, wait");
        const auto lines = story.job.take_notices();
        EXPECT_TRUE(lines.at(1).warns);
        EXPECT_THAT(lines.at(1).text, HasSubstr("node 1 (b) is slow"));
        if (exclude) EXPECT_THAT(story.text("b"), HasSubstr("it is slow: its processor does 0.10"));
    }
}

TEST(JobCheck, ANodeThatGoesWhileItRuns) {
    Story story(1, 2);
    story.join("a");
    story.join("b");
    story.lose("b");
    EXPECT_EQ(story.orders({"a"}), "check 1");
    story.find("a", "b");
    EXPECT_EQ(story.orders({"a"}), "wait") << "one is enough after the last call";
    story.look(30s);
    EXPECT_EQ(story.orders({"a"}), "run 0 of 1");
}

TEST(JobCheck, ANodeThatSaysNothing) {
    Story story(1, 2);
    story.join("a");
    story.join("b");
    story.find("a", "b");
    story.look(20s);
    EXPECT_EQ(story.orders({"a", "b"}), "wait, excluded");
    EXPECT_THAT(story.text("b"), HasSubstr("it did not answer for 20 s"));
}

TEST(JobCheck, AnAgentWithoutAPortIsLetThrough) {
    Story story(2, 2);
    story.join("a", {}, 0);
    story.join("b");
    EXPECT_EQ(story.orders({"a", "b"}), "wait, check 1");
    story.find("b");
    EXPECT_EQ(story.orders({"a", "b"}), "run 0 of 2, wait");
    EXPECT_THAT(story.job.take_notices().at(1).text, HasSubstr("not checked"));
}

TEST(JobCheck, ANewMasterChecksOnlyWhereNothingHasRun) {
    World world{.generation = {.epoch = 1, .number = 1},
                .members = {{.slot = 0, .incarnation = "a", .address = "a"}},
                .nodes = 1,
                .ranks = 1};
    Story runs(1, 1, {}, {.epoch = 2});
    runs.join("a", {.holds = world, .store_ready = world.generation});
    EXPECT_EQ(runs.orders({"a"}), "run 0 of 1");

    Story new_one(1, 1, {}, {.epoch = 2});
    new_one.join("a", {.checked = CheckResult{.epoch = 1, .round = 1}});
    new_one.look(1min);  // No agent that runs something has come.
    EXPECT_EQ(new_one.orders({"a"}), "check 1") << "what was found for the master before is not it";
    new_one.find("a");
    EXPECT_EQ(new_one.orders({"a"}), "run 0 of 1");
}

TEST(JobCheck, AnEmptyBudgetOfNodesEndsTheJob) {
    JobOptions options{.membership = {.min_nodes = 1, .max_nodes = 1}};
    options.budgets[static_cast<std::size_t>(Charge::kNode)].incidents = 0;
    Services services;
    Job job(options, {.epoch = 1}, kStart, services);
    services.add(std::make_unique<NodeCheckService>(NodeCheckOptions(), job));
    ASSERT_TRUE(job.joined({.incarnation = "a", .slot = {}, .address = "a", .check_port = 9},
                           kStart, kToday));
    job.advance(kStart, kToday);
    job.reported("a", {.checked = CheckResult{.epoch = 1, .round = 1, .trouble = "bad"}}, kStart,
                 kToday);
    job.advance(kStart, kToday);
    ASSERT_TRUE(job.end());
    EXPECT_THAT(job.end()->text, HasSubstr("too many nodes were lost"));
}

}  // namespace
}  // namespace muster::master::job_check_test
