#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "operator/internal/cache/dependents.h"
#include "operator/internal/planning/job_outcome.h"
#include "operator/internal/scaling/scale_order.h"

namespace muster::operators {

// What the state of a type's replicas means for its members, for kinds whose ids rise.

/// The members that the status gets first. Pods may have been made for more replicas than are
/// wanted by then: their ids are used up. `seen` may be null.
Members first_members(const Members& wanted, const Dependents::OfType* seen);

/// Makes replicas count by their ranks, and only those of `members`.
void count_ranks(ReplicaTypeState& state, const Members& members);

/// The ranks of pods that run and are no longer wanted, until they are asked to go: none of their
/// successors is made before.
std::set<std::int32_t> ranks_still_held(const ReplicaTypeState& state,
                                        const Dependents& dependents);

/// Whether the creation of a pod of a type is under way: no id of it may leave until that shows.
bool makes_pods(const ReplicaTypeState& state, const Dependents& dependents);

/// The same members, with the resources that the state has for their ranks.
Members with_own_resources(const ReplicaTypeState& state);

/// The members from now on: as many as the spec wants, with others for those in `state.replaced`,
/// and without those whose ranks others have taken over; with the resources that single ranks have by
/// now; if a plan asks for more (`asked` is not null), as that says. `spares`: ids that leave first if
/// there are too many, as a status has them. Nothing if they stay as they are. Costs a few comparisons
/// then.
std::optional<Members> changed_members(const ReplicaTypeState& state, const JobFacts& facts,
                                       const Dependents& dependents,
                                       const ScaleOrder::OfType* asked = nullptr,
                                       std::string_view spares = {});

}  // namespace muster::operators
