#pragma once

#include <functional>

#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/internal/writing/update_rules.h"

namespace muster::apiserver {

/// Makes a decision about a write, and again for as long as it lacks the object in other versions
/// (OwnerViews), which the webhook is asked for in between. If the webhook fails, so does an apply;
/// another write forgets who owns what. `state` outlives the call.
Task<StatusResult<NextState>> decide_with_views(
    ServerState& state, Ownership ownership, std::function<Task<StatusResult<NextState>>()> decide);

}  // namespace muster::apiserver
