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

// Disruption budgets (policy/v1): how many pods may be evicted, and what an eviction takes of that.
// Pure.

extern const kube::ResourceType kDisruptionBudgets;

/// How many pods a controller wants; nullopt when it is not there, or its kind has no scale.
using ScaleOf = std::function<std::optional<std::int64_t>(const PodController& controller)>;

struct BudgetState {
    json::object status;
    /// When an eviction that was let through counts as given up; nullopt: never.
    std::optional<WallTime> requeue_at = std::nullopt;
};

/// What the status of a budget has to be. Where that can't be told, nothing may be evicted, and its
/// condition says why.
BudgetState budget_status(const json::object& budget, const Coverage& coverage,
                          const ScaleOf& scale_of, WallTime now);

/// Which pods a budget covers; nullopt: none, as it has no selector.
std::optional<kube::LabelSelector> covered_by(const json::object& budget);

/// On what an eviction stands.
struct EvictionPermit {
    std::string budget = {};  ///< that has to pay for it; empty: none
};

/// `budgets`: those that cover the pod. 500 for more than one.
StatusResult<EvictionPermit> permit_eviction(const json::object& pod,
                                             const std::vector<const json::object*>& budgets);

/// Takes one eviction of a budget and notes whose it is. 429 when there is none left, or nobody has
/// counted since the budget changed.
StatusResult<NextState> spend_eviction(const ResourceDef& def, const json::value& budget,
                                       std::string_view pod, WallTime now);

/// 429: something that the decision stood on has changed meanwhile.
StatusError eviction_overtaken(std::string_view budget);

}  // namespace muster::apiserver
