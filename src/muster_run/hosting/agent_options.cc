#include "muster_run/hosting/agent_options.h"

#include <utility>

namespace muster::run {

agent::AgentOptions agent_options(const launch::LaunchPlan& plan, std::string token) {
    agent::AgentOptions options;
    options.token = std::move(token);
    options.slot = plan.rendezvous.slot;
    options.rack = plan.rack;
    options.workers.local_size = plan.local_size;
    options.workers.policy = plan.policy;
    options.workers.broken_grace = plan.times.broken_grace;
    options.workers.healthy_grace = plan.times.stop_grace;
    options.workers.join_timeout = plan.times.join.value_or(Duration::max());
    options.workers.pend_timeout = plan.times.pend.value_or(Duration::max());
    options.rpc.liveness = {.dead_after = plan.times.silence};
    return options;
}

}  // namespace muster::run
