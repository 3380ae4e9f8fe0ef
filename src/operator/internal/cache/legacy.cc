#include "operator/internal/cache/legacy.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "operator/internal/restart_policy/restart_policy.h"

namespace muster::operators {
namespace {

/// The latest id of each rank.
std::unordered_map<std::int32_t, std::int32_t> ids_by_rank(const Members& members,
                                                           const IndexSet& among) {
    std::unordered_map<std::int32_t, std::int32_t> found;
    for (auto id = among.next(0); id >= 0; id = among.next(id + 1)) found[members.rank_of(id)] = id;
    return found;
}

}  // namespace

std::vector<Legacy> legacies(const CountingRules& rules, const Expectations* expectations,
                             const std::vector<SlotsOfType>& types, const JobMembers& next) {
    std::vector<Legacy> all;
    std::unordered_map<std::int32_t, std::int32_t> heirs;
    std::size_t heirs_of = types.size();
    for (const SlotId from : changed_slots(*rules.members, next)) {
        const Members& before = (*rules.members)[from.type];
        if (from.type >= types.size() || !before.contains(from.index)) continue;
        if (heirs_of != from.type) heirs = ids_by_rank(next[from.type], next[from.type].ids());
        heirs_of = from.type;
        const auto heir = heirs.find(before.rank_of(from.index));
        const std::vector<Slot>& slots = types[from.type].slots;
        if (heir == heirs.end() || static_cast<std::size_t>(from.index) >= slots.size()) continue;
        const Slot& slot = slots[static_cast<std::size_t>(from.index)];
        ReplicaTotals own;
        add_to(own, rules, expectations, from, slot, +1);
        Legacy legacy{.to = {from.type, heir->second},
                      .restarts = before.contains(heir->second) ? 0 : own.restarts,
                      .former = std::nullopt};
        if (slot.pod && slot.pod->phase == PodPhase::kFailed) {
            legacy.former = former(*slot.pod);
            legacy.former->counted = own.due > 0;
        } else if (!slot.pod && slot.former) {
            legacy.former = *slot.former;
        }
        // An id comes back only if the status in which it left could not be written.
        if (legacy.former) legacy.former->id_unused = legacy.to > from;
        all.push_back(std::move(legacy));
    }
    return all;
}

std::vector<Legacy> legacies_of_the_gone(const CountingRules& rules,
                                         const std::vector<SlotsOfType>& types) {
    std::vector<Legacy> all;
    for (const TypeFacts& type : rules.facts->types) {
        if (type.type >= types.size()) continue;
        const auto& [slots, totals] = types[type.type];
        if (totals.vacant.empty() || totals.surplus.empty()) continue;
        const auto heirs = ids_by_rank((*rules.members)[type.type], totals.vacant);
        std::map<SlotId, Legacy> latest;  // of a rank
        for (auto id = totals.surplus.next(0); id >= 0; id = totals.surplus.next(id + 1)) {
            const PodPtr& pod = slots[static_cast<std::size_t>(id)].pod;
            if (!pod || pod->phase != PodPhase::kFailed) continue;
            const auto heir = heirs.find(pod->rank);
            if (heir == heirs.end() || heir->second <= id) continue;
            const Consequence next = consequence_of(PodEnd::kFailed, pod->final_exit_code,
                                                    rules.restart_rules(*pod, type));
            Legacy legacy{.to = {type.type, heir->second}, .restarts = 0, .former = former(*pod)};
            legacy.former->counted = next.counts;
            legacy.former->id_unused = true;
            const SlotId to = legacy.to;
            latest.insert_or_assign(to, std::move(legacy));
        }
        for (auto& [heir, legacy] : latest) all.push_back(std::move(legacy));
    }
    return all;
}

std::vector<SlotId> changed_slots(const JobMembers& before, const JobMembers& next) {
    std::vector<SlotId> changed;
    for (std::size_t type = 0; type < std::min(before.size(), next.size()); ++type) {
        const auto note = [&](const std::vector<std::int32_t>& ids) {
            for (const std::int32_t id : ids)
                changed.push_back({static_cast<std::uint8_t>(type), id});
        };
        note(leaving_ids(before[type], next[type]));
        note(leaving_ids(next[type], before[type]));
    }
    std::ranges::sort(changed);
    return changed;
}

}  // namespace muster::operators
