#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/internal/disruption/coverage.h"
#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/requests/status_error.h"
#include "base/time/clock.h"
#include "kube/objects/resource_type.h"
#include "kube/objects/selector.h"

namespace muster::apiserver {

// Disruption budgets (policy/v1): how many pods may be evicted, and how an eviction uses them up.
// Pure.

extern const kube::ResourceType kDisruptionBudgets;

/// How many pods a controller wants; nullopt if it does not exist, or its kind has no scale.
using ScaleOf = std::function<std::optional<std::int64_t>(const PodController& controller)>;

struct BudgetState {
    json::object status;
    /// When an allowed eviction counts as abandoned; nullopt: never.
    std::optional<WallTime> requeue_at = std::nullopt;
};

/// The correct status of a budget. If it can't be determined, nothing may be evicted, and a
/// condition says why.
BudgetState budget_status(const json::object& budget, const Coverage& coverage,
                          const ScaleOf& scale_of, WallTime now);

/// The pods that a budget covers; nullopt: none, as it has no selector.
std::optional<kube::LabelSelector> covered_by(const json::object& budget);

/// The basis of an allowed eviction.
struct EvictionPermit {
    std::string budget = {};  ///< the budget that it uses up; may be empty
};

/// `budgets`: those that cover the pod. 500 if there is more than one.
StatusResult<EvictionPermit> permit_eviction(const json::object& pod,
                                             const std::vector<const json::object*>& budgets);

/// Takes one eviction from a budget and records its pod. 429 if there is none left, or the budget
/// has changed since it was last counted.
StatusResult<NextState> spend_eviction(const ResourceDef& def, const json::value& budget,
                                       std::string_view pod, WallTime now);

/// 429: the basis of the decision has changed meanwhile.
StatusError eviction_overtaken(std::string_view budget);

}  // namespace muster::apiserver
