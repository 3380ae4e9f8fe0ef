#pragma once

#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/status_error.h"
#include "base/time/clock.h"

namespace muster::apiserver {

/// Decides a DELETE, as the registry's BeforeDelete does: the grace period of pods, the finalizers
/// that the propagation policy asks for, and whether the object is removed immediately. Pure.
StatusResult<NextState> decide_delete(const ResourceDef& def, const json::value& current,
                                      const DeleteQuery& query, WallTime now);

}  // namespace muster::apiserver
