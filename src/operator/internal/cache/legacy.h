#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/internal/cache/replica_totals.h"

namespace muster::operators {

/// What a replica leaves to the one that has its rank from now on, for kinds whose ids rise.
struct Legacy {
    SlotId to;
    std::int32_t restarts = 0;           ///< none for one that was there before: members have them
    std::optional<FormerObject> former;  ///< the pod that went
};

/// The legacies of the members that are not in `next`; `rules` still has the members before. Those
/// of ranks that are gone are not among them.
std::vector<Legacy> legacies(const CountingRules& rules, const Expectations* expectations,
                             const std::vector<SlotsOfType>& types, const JobMembers& next);

/// An operator before us may have died between the status that says who replaces a failed pod and
/// the creation of that one: the pods that failed, and are no members any more, by the vacant slots
/// that follow them. Restarts are not among it: the members have them.
std::vector<Legacy> legacies_of_the_gone(const CountingRules& rules,
                                         const std::vector<SlotsOfType>& types);

/// The slots that only one of both wants, in order.
std::vector<SlotId> changed_slots(const JobMembers& before, const JobMembers& next);

}  // namespace muster::operators
