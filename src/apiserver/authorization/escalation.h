#pragma once

#include "apiserver/requests/status_error.h"
#include "apiserver/requests/user.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

/// No user may grant what they do not have: 403 for a role whose rules `author` does not hold in
/// that namespace, unless they have the verb `escalate` on it; and for a binding to such a role,
/// unless they have the verb `bind` on the role. A role that gathers others, or did so before,
/// needs everything. That holds for each change, whatever field it is of, but for those of
/// ownership and finalizers alone. `before` is null for a new object. Objects of other kinds pass.
StatusResult<void> check_escalation(const WatchCache& cache, const User& author,
                                    const kube::ResourceType& type, const json::object* before,
                                    const json::object& after);

}  // namespace muster::apiserver
