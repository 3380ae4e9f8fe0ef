#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "apiserver/authorization/action.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/watching/watch_cache.h"

namespace muster::apiserver {

struct Decision {
    bool allowed = false;
    /// The binding that allows it, or why a role could not be read; may be empty.
    std::string reason;
};

/// Members of system:masters may do everything; others what their roles allow, according to the
/// cache at this moment. Everyone may ask whether the server is alive.
Decision decide(const WatchCache& cache, const User& user, const Action& action);

/// The objects of a resource with which a user may do something.
struct AllowedNames {
    bool all = false;
    std::unordered_set<std::string> names = {};  ///< if not all
    std::string reason = {};                     ///< why a role could not be read; may be empty
    std::size_t looked_at = 0;                   ///< bytes of roles

    bool contain(std::string_view name) const { return all || names.contains(std::string(name)); }
};

/// decide() for all names at once; that of the action, which is one on a resource, does not count.
AllowedNames allowed_names(const WatchCache& cache, const User& user, const Action& action);

/// 403 in a real server's words.
StatusError forbidden_for(const User& user, const Action& action, const Decision& decision);
/// The same unless `user` may do it.
StatusResult<void> authorize(const WatchCache& cache, const User& user, const Action& action);

}  // namespace muster::apiserver
