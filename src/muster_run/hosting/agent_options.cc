#include "muster_run/hosting/agent_options.h"

#include <utility>

#include "muster_run/hosting/terms_of.h"

namespace muster::run {
namespace {

/// A worker that has died waits for the next master.
constexpr Duration kRetryElsewhere = std::chrono::milliseconds(250);

}  // namespace

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
    options.terms = terms_of(plan);
    // The next master may be there at any moment, and this node can do nothing for it meanwhile.
    if (plan.rendezvous.where == launch::Rendezvous::Where::kElsewhere)
        options.rpc.most_retry = kRetryElsewhere;
    return options;
}

}  // namespace muster::run
