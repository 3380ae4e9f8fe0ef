#include "failure_policy/policy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <set>

#include "base/test_inputs.h"

namespace muster::failure_policy::policy_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const WallTime kNow = WallTime() + 1000h;

FailurePolicy policy(int max_restarts = 2, int give_up_after = 0) {
    return FailurePolicy(
        {.final_codes = {64},
         .bad_node_codes = {75},
         .bad_node_errors = {"NVLink"},
         .give_up_after = give_up_after},
        Budgets({job_protocol::Budget{}, job_protocol::Budget{.incidents = max_restarts},
                 job_protocol::Budget{.incidents = 1}, job_protocol::Budget{.incidents = 2}}));
}

job_protocol::FailureReport exited(int code, std::string error = "") {
    return {.kind = job_protocol::FailureKind::kWorkerExited,
            .node = "10.0.0.7",
            .rank = 3,
            .exit_code = code,
            .error = std::move(error)};
}
job_protocol::FailureReport of_node(job_protocol::FailureKind kind) {
    return {.kind = kind, .slot = 1, .node = "10.0.0.7"};
}

struct Row {
    const char* about;
    job_protocol::FailureReport seen;
    bool stepped;
    Action action;
    const char* rule;
};

std::vector<Row> rows() {
    job_protocol::FailureReport killed = exited(0);
    killed.exit_code.reset();
    killed.signal = SIGSEGV;
    job_protocol::FailureReport memory = killed;
    memory.kind = job_protocol::FailureKind::kOutOfMemory;
    return {
        {"a crash", exited(1, "ValueError: no"), false, Action::kRestart, "worker died"},
        {"a signal", killed, true, Action::kRestart, "worker died"},
        {"memory", memory, true, Action::kRestart, "out of memory"},
        {"a final code", exited(64), true, Action::kFail, "final exit code"},
        {"no such command", exited(127), false, Action::kFail, "can't start"},
        {"not executable", exited(126), false, Action::kFail, "can't start"},
        {"no script", exited(2, "python3: can't open file '/x/train.py': [Errno 2]"), false,
         Action::kFail, "can't start"},
        {"syntax", exited(1, "SyntaxError: invalid syntax"), false, Action::kFail, "can't start"},
        {"import", exited(1, "ModuleNotFoundError: No module named 'x'"), false, Action::kFail,
         "can't start"},
        {"an import after progress", exited(1, "ImportError: x"), true, Action::kRestart,
         "worker died"},
        {"an error that quotes another", exited(1, "RuntimeError: ImportError: x"), false,
         Action::kRestart, "worker died"},
        {"code of a bad node", exited(75), true, Action::kReplace, "bad node"},
        {"text of a bad node", exited(1, "CUDA error: NVLink down"), true, Action::kReplace,
         "bad node"},
        {"not started", of_node(job_protocol::FailureKind::kNotStarted), false, Action::kFail,
         "can't start"},
        {"not started again", of_node(job_protocol::FailureKind::kNotStarted), true,
         Action::kRestart, "worker died"},
        {"broke", of_node(job_protocol::FailureKind::kDisconnected), true, Action::kLeave,
         "node lost"},
        {"silent", of_node(job_protocol::FailureKind::kTimedOut), true, Action::kLeave,
         "node lost"},
        {"evicted", of_node(job_protocol::FailureKind::kNodeEvicted), true, Action::kLeave,
         "evicted"},
        {"check", of_node(job_protocol::FailureKind::kCheckFailed), false, Action::kReplace,
         "check failed"},
    };
}

TEST(FailurePolicy, OnlyWhatRunsCanFail) {
    job_protocol::FailureReport seen = exited(1);
    seen.generation = {.epoch = 1, .number = 2};
    const auto decided = [&](job_protocol::Generation current) {
        return policy().decide(seen, current, kNow).has_value();
    };
    EXPECT_TRUE(decided({.epoch = 1, .number = 2}));
    EXPECT_FALSE(decided({.epoch = 1, .number = 3})) << "its world has ended";
    EXPECT_FALSE(decided({.epoch = 2, .number = 1}));
    EXPECT_FALSE(decided({.epoch = 1, .number = 1}));
}

TEST(FailurePolicy, FollowsItsTable) {
    std::set<std::string_view> seen{"the same error again", "the same failure each time"};
    for (Row row : rows()) {
        FailurePolicy decides = policy();
        decides.progress_is_seen();
        const job_protocol::Generation now{.epoch = 1, .number = 5};
        row.seen.generation = now;
        if (row.stepped) decides.stepped(now);
        const auto decision = decides.decide(row.seen, now, kNow);
        ASSERT_TRUE(decision) << row.about;
        EXPECT_EQ(decision->rule->name, row.rule) << row.about;
        EXPECT_EQ(decision->action, row.action) << row.about;
        EXPECT_EQ(decides.budgets().spent(decision->rule->charge, kNow),
                  decision->rule->charge == job_protocol::Charge::kNothing ? 0 : 1)
            << row.about;
        seen.insert(decision->rule->name);
    }
    for (const Rule& rule : failure_rules()) EXPECT_TRUE(seen.contains(rule.name)) << rule.name;
}

TEST(FailurePolicy, DocsHaveTheTable) {
    std::ifstream file(source_path("docs/elastic.md"));
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::size_t at = 0;
    for (const Rule& rule : failure_rules()) {
        const std::size_t found = page.find(fmt::format("\n| {} | {} |", rule.name, rule.when));
        EXPECT_NE(found, std::string::npos) << rule.name;
        EXPECT_GE(found, at) << rule.name << " stands too early";
        at = found;
    }
}

/// Incident after incident, each in the next generation.
struct Story {
    FailurePolicy decides = policy();
    job_protocol::Generation now{.epoch = 1, .number = 0};

    Decision next(job_protocol::FailureReport seen, bool stepped = false, WallTime at = kNow) {
        ++now.number;
        if (stepped) decides.stepped(now);
        seen.generation = now;
        return *decides.decide(seen, now, at);
    }
};

TEST(FailurePolicy, MaxRestartsIsWhatTorchrunsUsersThinkItIs) {
    Story story;
    EXPECT_EQ(story.next(exited(1, "a")).action, Action::kRestart);
    EXPECT_EQ(story.next(exited(1, "b")).action, Action::kRestart);
    const Decision last = story.next(exited(1, "c"));
    EXPECT_EQ(last.action, Action::kFail);
    EXPECT_EQ(
        last.text,
        "worker 3 on node 0 (10.0.0.7) exited with code 1: c; all restarts are used up (2 of 2 "
        "worker failures (--max-restarts)): the job ends");
    Story none{.decides = policy(0)};
    EXPECT_EQ(none.next(exited(1)).action, Action::kFail);
}

TEST(FailurePolicy, EachCauseHasItsOwnBudget) {
    Story story;
    EXPECT_EQ(story.next(of_node(job_protocol::FailureKind::kTimedOut)).action, Action::kLeave);
    EXPECT_EQ(story.next(of_node(job_protocol::FailureKind::kDisconnected)).action, Action::kLeave);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(story.next(of_node(job_protocol::FailureKind::kNodeEvicted)).action,
                  Action::kLeave);
    EXPECT_EQ(story.next(exited(1, "a")).action, Action::kRestart);
    EXPECT_EQ(story.next(exited(1, "b")).action, Action::kRestart);
    EXPECT_EQ(story.next(of_node(job_protocol::FailureKind::kTimedOut)).action, Action::kFail);
}

TEST(FailurePolicy, OneIncidentIsChargedOnceHoweverManyDie) {
    Story story;
    story.next(exited(1, "the cause"));
    for (int rank = 0; rank < 8; ++rank) {
        job_protocol::FailureReport victim = exited(1, "connection closed by peer");
        victim.generation = story.now;
        victim.rank = rank;
        EXPECT_FALSE(story.decides.decide(victim, story.now, kNow)) << rank;
    }
    EXPECT_EQ(story.decides.budgets().spent(job_protocol::Charge::kWorker, kNow), 1);
    job_protocol::FailureReport late = exited(1);
    late.generation = story.now;
    ++story.now.number;
    EXPECT_FALSE(story.decides.decide(late, story.now, kNow)) << "of a generation that has passed";
    EXPECT_EQ(story.decides.last()->error, "the cause");
}

TEST(FailurePolicy, TheSameErrorTwiceWithoutProgressEndsTheJob) {
    struct Case {
        const char* about;
        bool progress_is_seen;
        bool stepped_between;
        const char* second;
        Action wanted;
    };
    for (const Case& c :
         {Case{"the same", true, false, "KeyError: 'x'", Action::kFail},
          Case{"another", true, false, "KeyError: 'y'", Action::kRestart},
          Case{"no error is known", true, false, "", Action::kRestart},
          Case{"progress between", true, true, "KeyError: 'x'", Action::kRestart},
          Case{"it can't be known", false, false, "KeyError: 'x'", Action::kRestart}}) {
        Story story;
        if (c.progress_is_seen) story.decides.progress_is_seen();
        EXPECT_EQ(story.next(exited(1, "KeyError: 'x'"), true).action, Action::kRestart) << c.about;
        const Decision second = story.next(exited(1, c.second), c.stepped_between);
        EXPECT_EQ(second.action, c.wanted) << c.about;
        if (c.wanted == Action::kFail) {
            EXPECT_THAT(second.text, HasSubstr("twice in the same way with no progress between"));
        }
    }
}

job_protocol::FailureReport killed_by(int signal, job_protocol::FailureKind kind) {
    job_protocol::FailureReport seen = exited(0);
    seen.kind = kind;
    seen.exit_code.reset();
    seen.signal = signal;
    return seen;
}

TEST(FailurePolicy, TheSameFailureEachTimeEndsTheJob) {
    using enum job_protocol::FailureKind;
    struct Case {
        const char* about;
        std::vector<job_protocol::FailureReport> seen;
        Duration between = 1min;
        int give_up_after = 3;
        bool ends = true;
    };
    const job_protocol::FailureReport same = exited(1, "KeyError: 'x'");
    job_protocol::FailureReport of_another_rank = same;
    of_another_rank.rank = 7;
    of_another_rank.slot = 1;
    const std::vector<Case> cases{
        {.about = "one error", .seen = {same, of_another_rank, same}},
        {.about = "no error is known", .seen = {exited(3), exited(3), exited(3)}},
        {.about = "a fault of the program",
         .seen = {killed_by(SIGSEGV, kWorkerExited), killed_by(SIGSEGV, kWorkerExited),
                  killed_by(SIGSEGV, kWorkerExited)}},
        {.about = "memory, but its own budget ends it first",
         .seen = {killed_by(SIGKILL, kOutOfMemory), killed_by(SIGKILL, kOutOfMemory)},
         .give_up_after = 2},
        {.about = "one less", .seen = {same, same}, .ends = false},
        {.about = "another between",
         .seen = {same, same, exited(1, "KeyError: 'y'"), same, same},
         .ends = false},
        {.about = "another code", .seen = {exited(1), exited(2), exited(1)}, .ends = false},
        {.about = "someone else ended it",
         .seen = {killed_by(SIGKILL, kWorkerExited), killed_by(SIGKILL, kWorkerExited),
                  killed_by(SIGKILL, kWorkerExited)},
         .ends = false},
        {.about = "each ran for long", .seen = {same, same, same}, .between = 11min, .ends = false},
        {.about = "without the flag",
         .seen = {same, same, same, same},
         .give_up_after = 0,
         .ends = false},
    };
    for (const Case& c : cases) {
        Story story{.decides = policy(9, c.give_up_after)};
        WallTime at = kNow;
        std::vector<Action> done;
        Decision last;
        for (const job_protocol::FailureReport& seen : c.seen) {
            last = story.next(seen, false, at += c.between);
            done.push_back(last.action);
        }
        std::vector<Action> wanted(c.seen.size(), Action::kRestart);
        if (c.ends) wanted.back() = Action::kFail;
        EXPECT_EQ(done, wanted) << c.about;
        if (c.ends)
            EXPECT_THAT(last.text, HasSubstr("--give-up-after 0 lets it continue")) << c.about;
    }
}

TEST(FailurePolicy, AStepBetweenAlikeFailuresIsProgress) {
    Story story{.decides = policy(9, 3)};
    story.decides.progress_is_seen();
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(story.next(exited(1, "KeyError: 'x'"), true).action, Action::kRestart) << i;
}

TEST(FailurePolicy, ProgressOfAWorldThatOnlyGrewCounts) {
    Story story;
    story.decides.progress_is_seen();
    story.next(exited(1, "KeyError: 'x'"));
    ++story.now.number;
    story.decides.stepped(story.now);
    EXPECT_EQ(story.next(exited(1, "KeyError: 'x'")).action, Action::kRestart);
}

TEST(FailurePolicy, WhatAnEarlierMasterChargedIsDecidedAgainAndNotChargedTwice) {
    const job_protocol::Generation generation{.epoch = 1, .number = 4};
    job_protocol::FailureReport died = exited(1, "ValueError: no");
    died.generation = generation;
    FailurePolicy first = policy();
    const auto decided = first.decide(died, generation, kNow);
    ASSERT_TRUE(decided && decided->charged);
    EXPECT_EQ(*decided->charged, (job_protocol::Incident{.charge = job_protocol::Charge::kWorker,
                                                         .when = kNow,
                                                         .generation = generation,
                                                         .error = "ValueError: no"}));
    FailurePolicy second = policy();
    second.remember(*decided->charged);
    second.progress_is_seen();
    const auto again = second.decide(died, generation, kNow);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->action, Action::kRestart);
    EXPECT_FALSE(again->charged);
    EXPECT_EQ(second.budgets().spent(job_protocol::Charge::kWorker, kNow), 1);
    EXPECT_FALSE(second.decide(died, generation, kNow)) << "that was the incident";
}

TEST(FailurePolicy, AGenerationMayHaveSeveralAttempts) {
    const job_protocol::Generation generation{.epoch = 1, .number = 4};
    FailurePolicy decides = policy();
    job_protocol::FailureReport died = exited(1, "ValueError: no");
    died.generation = generation;
    for (const int restarts : {3, 4}) {
        died.restarts = restarts;
        EXPECT_TRUE(decides.decide(died, generation, kNow)) << restarts;
        EXPECT_FALSE(decides.decide(died, generation, kNow)) << restarts;
    }
    died.restarts = 3;
    EXPECT_FALSE(decides.decide(died, generation, kNow)) << "it has passed";
    EXPECT_EQ(decides.budgets().spent(job_protocol::Charge::kWorker, kNow), 2);
}

TEST(FailurePolicy, SaysWhatHappenedWithNames) {
    job_protocol::FailureReport killed = exited(0);
    killed.exit_code.reset();
    killed.signal = SIGKILL;
    EXPECT_EQ(describe(killed), "worker 3 on node 0 (10.0.0.7) was killed by SIGKILL");
    killed.kind = job_protocol::FailureKind::kOutOfMemory;
    EXPECT_EQ(describe(killed),
              "worker 3 on node 0 (10.0.0.7) was killed for the memory that it used");
    EXPECT_EQ(describe(exited(1, "ValueError: not\n one\n line")),
              "worker 3 on node 0 (10.0.0.7) exited with code 1: ValueError: not ...");
    EXPECT_EQ(describe(of_node(job_protocol::FailureKind::kTimedOut)),
              "node 1 (10.0.0.7) has fallen silent");
    EXPECT_EQ(describe(of_node(job_protocol::FailureKind::kDisconnected)),
              "the connection to node 1 (10.0.0.7) broke");
}

}  // namespace
}  // namespace muster::failure_policy::policy_test
