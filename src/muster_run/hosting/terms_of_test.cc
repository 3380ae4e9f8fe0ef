#include "muster_run/hosting/terms_of.h"

#include <gtest/gtest.h>

#include "muster_run/hosting/agent_options.h"
#include "muster_run/hosting/hosted_master.h"

namespace muster::run::terms_of_test {
namespace {

using namespace std::chrono_literals;
using job_protocol::Charge;

launch::LaunchPlan plan() {
    launch::LaunchPlan plan;
    plan.nodes = {.least = 2, .most = 6};
    plan.node_unit = 2;
    plan.grow_at_failure = true;
    plan.times.last_call = 7s;
    plan.times.silence = 1500us;
    plan.times.broken_grace = 3s;
    plan.times.stop_grace = 40s;
    plan.policy.final_codes = {64};
    plan.budgets[static_cast<std::size_t>(Charge::kMemory)] = {.incidents = 3, .window = 1500ms};
    plan.node_check = launch::NodeCheckMode::kLinks;
    plan.exclude_straggler = true;
    return plan;
}

TEST(TermsOf, HaveWhatThePlanSaysOfTheWholeJob) {
    const job_protocol::Terms expected{
        .min_nodes = 2,
        .max_nodes = 6,
        .node_unit = 2,
        .grow_at_failure = true,
        .last_call = 7s,
        .silence = 2ms,
        .broken_grace = 3s,
        .healthy_grace = 40s,
        .budgets = {{.charge = Charge::kMemory, .incidents = 3, .window = 2s}},
        .policy = {.final_codes = {64}},
        .check = job_protocol::NodeCheckKind::kLinks,
        .exclude_slow = true};
    EXPECT_EQ(terms_of(plan()), expected);
    EXPECT_EQ(agent_options(plan(), "secret").terms, expected);
}

TEST(TermsOf, AreThoseOfAMasterBesideTheAgent) {
    const master::JobOptions job = master_options(plan(), "secret").job;
    EXPECT_EQ(job.membership.max_nodes, 6);
    EXPECT_EQ(job.budgets[static_cast<std::size_t>(Charge::kMemory)].incidents, 3);
    EXPECT_FALSE(job.terms_of_nodes) << "it has its own";
}

TEST(TermsOf, AnAgentLooksOftenForAMasterThatIsElsewhere) {
    launch::LaunchPlan elsewhere = plan();
    elsewhere.rendezvous.where = launch::Rendezvous::Where::kElsewhere;
    EXPECT_EQ(agent_options(elsewhere, "secret").rpc.most_retry, 250ms);
    EXPECT_EQ(agent_options(plan(), "secret").rpc.most_retry, 1s);
}

}  // namespace
}  // namespace muster::run::terms_of_test
