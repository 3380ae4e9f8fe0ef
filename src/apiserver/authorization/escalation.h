#pragma once

#include "apiserver/requests/status_error.h"
#include "apiserver/requests/user.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

/// Users may not grant rights that they do not have: 403 for a role with rules that `author` does
/// not hold in that namespace, unless they have the verb `escalate` on it; and for a binding to
/// such a role, unless they have the verb `bind` on the role. A role that aggregates others, or did
/// so before, takes full rights. This applies to a change of any field, except of owner references
/// and finalizers only. `before` is null for a new object. Objects of other kinds pass.
StatusResult<void> check_escalation(const WatchCache& cache, const User& author,
                                    const kube::ResourceType& type, const json::object* before,
                                    const json::object& after);

}  // namespace muster::apiserver
