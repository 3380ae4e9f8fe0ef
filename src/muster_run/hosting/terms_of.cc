#include "muster_run/hosting/terms_of.h"

#include <chrono>
#include <cstddef>

namespace muster::run {
namespace {

job_protocol::NodeCheckKind check_of(launch::NodeCheckMode mode) {
    switch (mode) {
        case launch::NodeCheckMode::kNone:
            return job_protocol::NodeCheckKind::kNone;
        case launch::NodeCheckMode::kNodes:
            return job_protocol::NodeCheckKind::kNodes;
        case launch::NodeCheckMode::kLinks:
            return job_protocol::NodeCheckKind::kLinks;
    }
    return job_protocol::NodeCheckKind::kNone;
}

}  // namespace

job_protocol::Terms terms_of(const launch::LaunchPlan& plan) {
    using std::chrono::ceil;
    using std::chrono::milliseconds;
    job_protocol::Terms terms{.min_nodes = plan.nodes.least,
                              .max_nodes = plan.nodes.most,
                              .node_unit = plan.node_unit,
                              .grow_at_failure = plan.grow_at_failure,
                              .last_call = ceil<milliseconds>(plan.times.last_call),
                              .silence = ceil<milliseconds>(plan.times.silence),
                              .broken_grace = ceil<milliseconds>(plan.times.broken_grace),
                              .healthy_grace = ceil<milliseconds>(plan.times.stop_grace),
                              .policy = plan.policy,
                              .check = check_of(plan.node_check),
                              .exclude_slow = plan.exclude_straggler};
    for (std::size_t i = 0; i < plan.budgets.size(); ++i)
        if (plan.budgets[i].incidents)
            terms.budgets.push_back({.charge = static_cast<job_protocol::Charge>(i),
                                     .incidents = *plan.budgets[i].incidents,
                                     .window = ceil<std::chrono::seconds>(plan.budgets[i].window)});
    return terms;
}

}  // namespace muster::run
