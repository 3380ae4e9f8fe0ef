#pragma once

#include <boost/json/object.hpp>

#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/pod_admission.h"
#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/requests/router.h"

namespace muster::apiserver {

// What a namespace and the classes of the cluster allow of an object that is complete.

/// Refuses a new object that is outside of the LimitRanges. Pure.
StatusResult<void> check_limits(const Target& target, const json::object& object,
                                const Surroundings& surroundings);
/// Refuses a second PriorityClass whose globalDefault is set.
StatusResult<void> check_default_class(const ServerState& state, const kube::ResourceType& type,
                                       const json::object& after);
/// Takes room in the quotas for what a change adds, if there is room.
StatusResult<Quotas::Claim> claim_room(ServerState& state, const ResourceDef& def,
                                       const store::StoreKey& key, const json::value& before,
                                       const NextState& next);

}  // namespace muster::apiserver
