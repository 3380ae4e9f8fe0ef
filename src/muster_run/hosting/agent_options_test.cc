#include "muster_run/hosting/agent_options.h"

#include <gtest/gtest.h>

namespace muster::run::agent_options_test {
namespace {

using namespace std::chrono_literals;

TEST(AgentOptions, HaveTheTimesOfThePlan) {
    launch::LaunchPlan plan;
    plan.times.join = 70s;
    plan.times.pend = 80s;
    plan.times.stop_grace = 9s;
    plan.times.silence = 4s;
    const agent::AgentOptions options = agent_options(plan, "secret");
    EXPECT_EQ(options.token, "secret");
    EXPECT_EQ(options.workers.join_timeout, 70s);
    EXPECT_EQ(options.workers.pend_timeout, 80s);
    EXPECT_EQ(options.workers.healthy_grace, 9s);
    EXPECT_EQ(options.rpc.liveness.dead_after, 4s);
}

TEST(AgentOptions, ATimeThatIsNotSaidIsNoLimit) {
    launch::LaunchPlan plan;
    plan.times.join.reset();
    const agent::AgentOptions options = agent_options(plan, "secret");
    EXPECT_EQ(options.workers.join_timeout, Duration::max());
    EXPECT_EQ(options.workers.pend_timeout, Duration::max());
}

}  // namespace
}  // namespace muster::run::agent_options_test
