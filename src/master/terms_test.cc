#include "master/terms.h"

#include <gtest/gtest.h>

#include "master/job.h"

namespace muster::master::terms_test {
namespace {

using namespace std::chrono_literals;

Terms nodes(int least, int most) { return {.min_nodes = least, .max_nodes = most}; }

TEST(Terms, BecomeTheOptionsOfAJob) {
    const Terms terms{.min_nodes = 2,
                      .max_nodes = 6,
                      .node_unit = 2,
                      .grow_at_failure = true,
                      .last_call = 7s,
                      .silence = 3s,
                      .broken_grace = 4s,
                      .healthy_grace = 40s,
                      .budgets = {{.charge = Charge::kMemory, .incidents = 3, .window = 60s}},
                      .policy = {.final_codes = {64}}};
    JobOptions before{.first_epoch = 17, .reconnect = 70ms, .terms_of_nodes = true};
    before.budgets[static_cast<std::size_t>(Charge::kWorker)].incidents = 9;
    const JobOptions job = with_terms(before, terms);
    EXPECT_EQ(job.membership.min_nodes, 2);
    EXPECT_EQ(job.membership.max_nodes, 6);
    EXPECT_EQ(job.membership.node_unit, 2);
    EXPECT_TRUE(job.membership.grow_at_failure);
    EXPECT_EQ(job.membership.last_call, 7s);
    EXPECT_EQ(job.membership.rejoin, 6s) << "longer than it takes to notice silence";
    EXPECT_EQ(job.claim, 5s);
    EXPECT_EQ(job.broken_grace, 4s);
    EXPECT_EQ(job.healthy_grace, 40s);
    EXPECT_EQ(job.policy.final_codes, std::set<int>{64});
    EXPECT_EQ(job.budgets[static_cast<std::size_t>(Charge::kMemory)],
              (Budget{.incidents = 3, .window = 60s}));
    EXPECT_FALSE(job.budgets[static_cast<std::size_t>(Charge::kWorker)].incidents)
        << "terms have no limit for it";
    EXPECT_EQ(job.first_epoch, 17u);
    EXPECT_EQ(job.reconnect, 70ms);
    EXPECT_TRUE(job.terms_of_nodes);
}

TEST(Terms, WhatDiffersIsNamedAsFlags) {
    const Terms job{.min_nodes = 2, .max_nodes = 4};
    struct Row {
        const char* about;
        void (*change)(Terms&);
        const char* text;
    };
    const Row rows[] = {
        {"nothing", [](Terms&) {}, ""},
        {"nodes", [](Terms& t) { t.max_nodes = 8; }, "--nnodes 2:8 (the job's: 2:4)"},
        {"a unit", [](Terms& t) { t.node_unit = 2; }, "--node-unit 2 (the job's: 1)"},
        {"growth", [](Terms& t) { t.grow_at_failure = true; },
         "--grow at-failure (the job's: now)"},
        {"the last call", [](Terms& t) { t.last_call = 1500ms; }, "last call 1.5 (the job's: 30)"},
        {"silence", [](Terms& t) { t.silence = 9s; }, "--heartbeat 9 (the job's: 5)"},
        {"a grace", [](Terms& t) { t.healthy_grace = 9s; }, "--stop-grace 9 (the job's: 30)"},
        {"another grace", [](Terms& t) { t.broken_grace = 9s; },
         "grace after a failure 9 (the job's: 2)"},
        {"a budget",
         [](Terms& t) { t.budgets = {{.charge = Charge::kWorker, .incidents = 3, .window = 60s}}; },
         "--max-restarts 3 in 60 s (the job's: no limit)"},
        {"a check",
         [](Terms& t) {
             t.check = NodeCheckKind::kLinks;
             t.exclude_slow = true;
         },
         "node check links, slow nodes are excluded (the job's: none)"},
        {"codes", [](Terms& t) { t.policy.final_codes = {3}; },
         "policy 1 final and 0 bad-node exit codes, 0 bad-node errors, --give-up-after 0 (the "
         "job's: 0 final and 0 bad-node exit codes, 0 bad-node errors, --give-up-after 0)"},
        {"what has no flag",
         [](Terms& t) { t.budgets = {{.charge = Charge::kNode, .incidents = 3}}; },
         "other budgets, or other exit codes or errors in its policy"},
        {"two things",
         [](Terms& t) {
             t.max_nodes = 8;
             t.node_unit = 2;
         },
         "--nnodes 2:8 (the job's: 2:4), --node-unit 2 (the job's: 1)"},
    };
    for (const Row& row : rows) {
        Terms given = job;
        row.change(given);
        EXPECT_EQ(difference(given, job), row.text) << row.about;
    }
}

TEST(JobTerms, AreThoseOfTheFirstNodeAndThenOfTheNewestAgent) {
    using enum JobTerms::Heard;
    constexpr bool kNew = true;
    constexpr bool kKnown = false;
    JobTerms terms{std::nullopt};
    EXPECT_EQ(terms.heard(std::nullopt, kNew), kNothing) << "an older agent";
    EXPECT_FALSE(terms.now());
    EXPECT_EQ(terms.heard(nodes(1, 2), kNew), kFirst);
    EXPECT_EQ(terms.heard(nodes(1, 2), kNew), kNothing);
    EXPECT_EQ(terms.heard(nodes(1, 3), kNew), kOthers);
    EXPECT_EQ(terms.now(), nodes(1, 2));
    EXPECT_EQ(terms.next(), nodes(1, 3));
    EXPECT_EQ(terms.heard(nodes(1, 4), kNew), kOthers);
    EXPECT_EQ(terms.heard(nodes(1, 3), kNew), kNothing) << "told before";
    EXPECT_EQ(terms.next(), nodes(1, 3)) << "of the newest agent";
    EXPECT_EQ(terms.heard(nodes(1, 4), kKnown), kNothing) << "weighed before";
    EXPECT_EQ(terms.heard(std::nullopt, kNew), kNothing);
    EXPECT_EQ(terms.next(), nodes(1, 3));
    terms.take_next();
    EXPECT_EQ(terms.now(), nodes(1, 3));
    EXPECT_FALSE(terms.next());
    EXPECT_EQ(terms.heard(nodes(1, 2), kNew), kOthers);
    EXPECT_EQ(terms.heard(nodes(1, 3), kNew), kNothing);
    EXPECT_FALSE(terms.next()) << "the newest agent has those that hold";
    terms.take_next();
    EXPECT_EQ(terms.now(), nodes(1, 3));
}

TEST(Terms, MayBeOfAnotherNumberOfNodes) {
    const auto of = [](int least, int most, int unit, int wanted) {
        const Terms made =
            with_nodes({.min_nodes = least, .max_nodes = most, .node_unit = unit}, wanted);
        return std::pair(made.min_nodes, made.max_nodes);
    };
    EXPECT_EQ(of(2, 2, 1, 4), std::pair(4, 4)) << "a fixed number";
    EXPECT_EQ(of(4, 4, 1, 2), std::pair(2, 2));
    EXPECT_EQ(of(1, 4, 1, 8), std::pair(1, 8)) << "a range";
    EXPECT_EQ(of(3, 4, 1, 2), std::pair(2, 2));
    EXPECT_EQ(of(2, 4, 2, 6), std::pair(2, 6));
    EXPECT_EQ(of(2, 4, 2, 1), std::pair(2, 4)) << "less than a unit can't be";
    EXPECT_EQ(of(2, 2, 1, 0), std::pair(2, 2));
}

TEST(JobTerms, ANumberOfNodesThatIsWantedGoesBeforeWhatAgentsWereTold) {
    JobTerms terms(nodes(2, 2));
    terms.wants_nodes(4);
    EXPECT_EQ(terms.now(), nodes(2, 2));
    EXPECT_EQ(terms.next(), nodes(4, 4));
    EXPECT_EQ(terms.heard(nodes(4, 4), true), JobTerms::Heard::kOthers);
    EXPECT_EQ(terms.heard(nodes(2, 2), true), JobTerms::Heard::kNothing) << "an older pod";
    EXPECT_EQ(terms.next(), nodes(4, 4));
    terms.take_next();
    EXPECT_EQ(terms.heard(nodes(2, 2), true), JobTerms::Heard::kNothing);
    EXPECT_FALSE(terms.next());
    terms.wants_nodes(2);
    EXPECT_EQ(terms.next(), nodes(2, 2));
    terms.wants_nodes(4);
    EXPECT_FALSE(terms.next()) << "it was taken back";
    JobTerms unknown{std::nullopt};
    unknown.wants_nodes(3);
    EXPECT_EQ(unknown.heard(nodes(2, 2), true), JobTerms::Heard::kFirst);
    EXPECT_EQ(unknown.now(), nodes(3, 3));
}

TEST(JobTerms, OfTheRecordHoldForThoseWhoComeBack) {
    JobTerms terms(nodes(2, 4));
    EXPECT_EQ(terms.heard(nodes(2, 2), false), JobTerms::Heard::kNothing);
    EXPECT_EQ(terms.now(), nodes(2, 4));
    EXPECT_FALSE(terms.next());
}

TEST(JobTerms, ToldOnesAreForgottenAtLast) {
    JobTerms terms(nodes(1, 1));
    for (int round = 0; round < 2; ++round)
        for (int most = 2; most < 100; ++most)
            EXPECT_EQ(terms.heard(nodes(1, most), true), JobTerms::Heard::kOthers)
                << "memory is bounded";
}

}  // namespace
}  // namespace muster::master::terms_test
