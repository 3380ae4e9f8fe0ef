#pragma once

#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/status_error.h"
#include "base/time/clock.h"

namespace muster::apiserver {

/// Decides a DELETE, as the registry's BeforeDelete does: the grace of pods, the finalizers that
/// the propagation policy asks for, and whether the object goes at once. Pure.
StatusResult<NextState> decide_delete(const ResourceDef& def, const json::value& current,
                                      const DeleteQuery& query, WallTime now);

}  // namespace muster::apiserver
