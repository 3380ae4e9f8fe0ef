#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "kube/values/json.h"
#include "master/wishes/wishes.h"

namespace muster::master_process {

// A wish of a master as the spec of its ScalePlan, and what has become of it there: pure functions of
// the object.

/// What the operator says of the plan.
struct PlanState {
    std::int64_t generation = 0;
    bool asks = false;   ///< for anything
    bool ended = false;  ///< it has carried out or refused this generation
    std::string why_refused = {};
    std::set<std::string> moved = {};  ///< the pods that it asks to move

    friend bool operator==(const PlanState&, const PlanState&) = default;
};

/// kInvalid: it is no plan that the operator has made for the master of this job; the message says
/// what to do.
Result<PlanState> state_of(const json::value& plan, const std::string& job);

/// The object with this wish as its spec; nullopt if it says so already. `asked`: pods that it has
/// asked to move before, which is done once: what it still says of them makes no difference, unless
/// the operator has refused the whole for it (`refused`).
std::optional<json::value> with_wish(const json::value& plan, const master::Wish& wish,
                                     const std::set<std::string>& asked, bool refused);

}  // namespace muster::master_process
