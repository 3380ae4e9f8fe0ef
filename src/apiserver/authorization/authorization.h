#pragma once

#include <string>
#include <string_view>

#include "apiserver/authorization/action.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

struct Decision {
    bool allowed = false;
    /// Which binding allows it, or what kept a role from being read; may be empty.
    std::string reason;
};

/// Members of system:masters may do everything; others what roles give them, as the cache has them
/// at this moment. Whether the server lives may be asked by anybody.
Decision decide(const WatchCache& cache, const User& user, const Action& action);

/// 403 with a real server's wording.
StatusError forbidden_for(const User& user, const Action& action, const Decision& decision);
/// The same unless `user` may do it.
StatusResult<void> authorize(const WatchCache& cache, const User& user, const Action& action);

}  // namespace muster::apiserver
