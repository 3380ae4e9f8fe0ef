#include "operator/internal/planning/member_changes.h"

#include <map>
#include <utility>

#include "jobs/scale_plan.h"

namespace muster::operators {
namespace {

/// The highest id of an object that no member can have had: the status was lost, or is another's.
std::int32_t highest_seen(const ReplicaTypeState& state) {
    std::int32_t highest = -1;
    const IndexSet& held = state.totals.held;
    for (auto id = held.next(state.members->next()); id >= 0; id = held.next(id + 1)) highest = id;
    return highest;
}

/// The new replica has taken over when it is ready or done; it is not needed if the old one is done.
std::vector<std::int32_t> ended_takeovers(const ReplicaTypeState& state,
                                          const Dependents& dependents) {
    std::vector<std::int32_t> released;
    for (const Members::Takeover& one : state.members->takeovers()) {
        const Slot* to = dependents.at({state.facts.type, one.to});
        const bool ready = to != nullptr && to->pod && to->pod->ready && to->pod->runs();
        if (state.done.contains(one.from))
            released.push_back(one.to);
        else if (ready || state.done.contains(one.to))
            released.push_back(one.from);
    }
    return released;
}

/// The pod of one that would leave is being made: no one could tell whose rank it holds once it is
/// there.
bool loses_unseen(const ReplicaTypeState& state, const Members& next,
                  const Dependents& dependents) {
    const IndexSet& ids = state.members->ids();
    for (auto id = ids.next(0); id >= 0; id = ids.next(id + 1))
        if (const Slot* slot = dependents.at({state.facts.type, id});
            !next.contains(id) && slot != nullptr && slot->creating_pod)
            return true;
    return false;
}

}  // namespace

Members first_members(const Members& wanted, const Dependents::OfType* seen) {
    auto highest = static_cast<std::int32_t>(seen == nullptr ? 0 : seen->slots.size()) - 1;
    for (; highest >= wanted.next(); --highest)
        if (const Slot& slot = seen->slots[static_cast<std::size_t>(highest)];
            !slot.empty() || slot.creating_pod)
            break;
    return next_members(wanted, {.wanted = wanted.size(), .highest_seen = highest});
}

void count_ranks(ReplicaTypeState& state, const Members& members) {
    jobs::ReplicaCounts& counts = state.counts;
    counts.first_succeeded = false;
    for (auto id = state.done.next(0); id >= 0; id = state.done.next(id + 1))
        if (members.contains(id))
            counts.first_succeeded |= members.rank_of(id) == 0;
        else
            state.done.erase(id);
    counts.wanted = members.size();
    counts.succeeded = state.done.size();
    for (const Members::Takeover& one : members.takeovers())
        if (state.done.contains(one.from) && state.done.contains(one.to)) --counts.succeeded;
}

std::set<std::int32_t> ranks_still_held(const ReplicaTypeState& state,
                                        const Dependents& dependents) {
    std::set<std::int32_t> ranks;
    const IndexSet& surplus = state.totals.surplus;
    for (auto id = surplus.next(0); id >= 0; id = surplus.next(id + 1))
        if (const Slot* slot = dependents.at({state.facts.type, id});
            slot != nullptr && slot->pod && !slot->pod->ended() && !dependents.is_going(*slot->pod))
            ranks.insert(slot->pod->rank);
    return ranks;
}

bool makes_pods(const ReplicaTypeState& state, const Dependents& dependents) {
    const IndexSet& ids = state.members->ids();
    for (auto id = ids.next(0); id >= 0; id = ids.next(id + 1))
        if (const Slot* slot = dependents.at({state.facts.type, id});
            slot != nullptr && slot->creating_pod)
            return true;
    return false;
}

namespace {

/// What the ranks have from now on whose templates have other amounts than their own were made for.
void end_own_resources(const ReplicaTypeState& state, const JobFacts& facts,
                       OwnResourcesByRank& changed) {
    for (const auto& [rank, own] : state.members->own_resources()) {
        const kube::ResourceList left = own_amounts(facts, state.facts.type, *state.members, rank);
        if (left.size() < own.resource.size())
            changed.try_emplace(
                rank, jobs::with_amounts(own, {}, facts.resources->written[state.facts.type]));
    }
}

}  // namespace

Members with_own_resources(const ReplicaTypeState& state) {
    return next_members(*state.members,
                        {.wanted = state.members->size(), .own_resources = state.own_resources});
}

std::optional<Members> changed_members(const ReplicaTypeState& state, const JobFacts& facts,
                                       const Dependents& dependents,
                                       const ScaleOrder::OfType* asked, std::string_view spares) {
    const Members& before = *state.members;
    MemberChanges changes{.wanted = asked != nullptr ? asked->wanted : state.facts.wanted,
                          .highest_seen = highest_seen(state),
                          .replaced = state.replaced,
                          .released = ended_takeovers(state, dependents),
                          .own_resources = state.own_resources};
    if (asked != nullptr) {
        changes.removed = asked->removed;
        changes.migrated = asked->migrated;
        for (const auto& [rank, own] : asked->own_resources)
            changes.own_resources.insert_or_assign(rank, own);
    }
    if (facts.resources) end_own_resources(state, facts, changes.own_resources);
    if (asked == nullptr && changes.replaced.empty() && changes.released.empty() &&
        changes.own_resources.empty() && before.size() == changes.wanted &&
        changes.highest_seen < before.next())
        return std::nullopt;
    if (before.size() > changes.wanted)
        changes.spares = IndexSet::parse(spares, jobs::kMaxReplicas);
    Members next = next_members(before, changes);
    if (next == before || loses_unseen(state, next, dependents)) return std::nullopt;
    std::map<std::int32_t, std::int32_t> restarts;
    for (const std::int32_t id : leaving_ids(before, next))
        restarts.emplace(id, dependents.restarts_of({state.facts.type, id}));
    return with_restarts(before, next, restarts);
}

}  // namespace muster::operators
