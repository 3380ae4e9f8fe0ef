#pragma once

#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

// Who owns the replicas of an object after a write to its Scale. As upstream, it is decided on the
// Scale, whose entries are those of the object that own the replicas. So a Scale without owners is
// not tracked before its first apply, no entry of a Scale has a time, and no one owns a zero. Pure.

/// Sets the replicas and updates metadata.managedFields of `object`. 409 where an apply meets other
/// owners.
StatusResult<void> scale_and_track(const ResourceDef& def, json::object& object,
                                   std::int64_t replicas, const Ownership& ownership, bool force);

}  // namespace muster::apiserver
