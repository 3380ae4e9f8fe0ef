#include "operator/internal/planning/plan_execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "operator/internal/planning/member_changes.h"
#include "operator/internal/scaling/excluded_nodes.h"

namespace muster::operators {

bool may_execute(const ScaleOrder& order, const std::vector<ReplicaTypeState>& states,
                 const Dependents& dependents) {
    return std::ranges::none_of(states, [&](const ReplicaTypeState& state) {
        return order.of(state.facts.type) != nullptr &&
               (state.members == nullptr || makes_pods(state, dependents));
    });
}

std::string_view spares_of(const jobs::ExecutedPlan* plan, std::string_view type) {
    if (plan == nullptr) return {};
    const auto found = plan->spares.find(std::string(type));
    return found == plan->spares.end() ? std::string_view() : found->second;
}

void tell_executed(const ScaleOrder& order, const jobs::JobStatus& before, Draft& draft) {
    draft.tell(kube::EventType::kNormal, "Scaled",
               fmt::format("ScalePlan {} is executed.", order.plan_name));
    const auto now = excluded_now(order.executed, draft.now);
    if (!now.empty() && now != excluded_now(before.plan, draft.now))
        draft.tell(
            kube::EventType::kWarning, "NodesExcluded",
            fmt::format("No new pod of the job is placed on these nodes: {}.", names_of(now)));
}

}  // namespace muster::operators
