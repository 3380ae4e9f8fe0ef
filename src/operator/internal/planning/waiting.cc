#include "operator/internal/planning/waiting.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "kube/values/time.h"
#include "operator/internal/planning/conditions.h"
#include "operator/internal/scaling/excluded_nodes.h"

namespace muster::operators {
namespace {

/// Since when the job runs, or restarts after it has.
std::optional<WallTime> runs_since(const jobs::JobStatus& status) {
    for (const jobs::JobCondition& condition : status.conditions)
        if (condition.status == "True" &&
            (condition.type == conditions::kRunning || condition.type == conditions::kRestarting))
            return kube::parse_time(condition.last_transition_time);
    return std::nullopt;
}

/// Whoever takes over from a replica that still has its place is not missing.
bool takes_over(const ReplicaTypeState& state, std::int32_t id) {
    return state.members != nullptr &&
           std::ranges::any_of(state.members->takeovers(),
                               [&](const Members::Takeover& one) { return one.to == id; });
}

/// Since when the job has had all of the replicas that it wants now, if their number did not change.
WallTime whole_since(const jobs::JobStatus& status) {
    const WallTime never{};
    return std::max(kube::parse_time(status.start_time).value_or(never),
                    kube::parse_time(status.last_restart_time).value_or(never));
}

/// A first pod that was made long after those of the beginning.
bool joins(const PodRecord& pod, const jobs::JobStatus& status) {
    constexpr std::chrono::seconds kMakingThemTakes{60};
    const bool first = pod.restart_history.restarts == 0 && pod.restart_history.in_a_row == 0;
    return first && runs_since(status) && pod.created > whole_since(status) + kMakingThemTakes;
}

TypeInWait type_in_wait(const ReplicaTypeState& state, const jobs::PendingPolicy& policy,
                        const jobs::JobStatus& status, const Dependents& dependents) {
    TypeInWait type{.name = state.name,
                    .wanted = state.counts.wanted,
                    .running = state.counts.active + state.counts.succeeded,
                    .lost = state.totals.lost};
    if (state.facts.type < policy.needs.size()) type.need = policy.needs[state.facts.type];
    const IndexSet& pending = state.totals.pending;
    for (auto i = pending.next(0); i >= 0; i = pending.next(i + 1)) {
        const Slot* slot = dependents.at({state.facts.type, i});
        if (slot == nullptr || !slot->pod || takes_over(state, i)) continue;
        const PodRecord& pod = *slot->pod;
        if (pod.gated) continue;
        const bool refused = pod.problem && pod.problem->refused_since;
        type.waiting.push_back(
            {.pod = pod.name,
             .rank = pod.rank,
             .since = refused ? *pod.problem->refused_since : pod.created,
             .refused = refused,
             .joins = joins(pod, status),
             .why = refused ? pod.problem->scheduler_words() : std::string_view()});
    }
    return type;
}

}  // namespace

PendingDecision look_at_waiting(std::span<const ReplicaTypeState> states, const JobRecord& job,
                                const jobs::JobStatus& status, const Dependents& dependents,
                                WallTime now) {
    if (!job.facts->pending) return {};
    const jobs::PendingPolicy& policy = job.facts->pending->policy;
    std::vector<TypeInWait> types;
    for (const ReplicaTypeState& state : states)
        if (!state.totals.pending.empty())
            types.push_back(type_in_wait(state, policy, status, dependents));
    if (types.empty()) return {};
    PendingDecision decision = decide_pending(
        {.policy = policy, .runs_since = runs_since(status), .now = now, .types = types});
    if (decision.unschedulable && !decision.message.empty())
        if (const std::string nodes = names_of(excluded_now(status.plan, now)); !nodes.empty())
            decision.message += fmt::format("; the job leaves out these nodes: {}", nodes);
    return decision;
}

void tell_waiting(Draft& draft, const PendingDecision& decision) {
    if (decision.message.empty()) return remove_condition(draft.status, conditions::kIncomplete);
    const auto before = std::ranges::find(draft.status.conditions, conditions::kIncomplete,
                                          &jobs::JobCondition::type);
    std::string message = decision.condition(
        before == draft.status.conditions.end() ? std::string_view() : before->message);
    const std::string_view reason = decision.unschedulable ? "Unschedulable" : "TooFewRun";
    if (draft.set(conditions::kIncomplete, true, reason, message))
        draft.tell(kube::EventType::kWarning, reason, std::move(message));
}

}  // namespace muster::operators
