#pragma once

#include <optional>
#include <vector>

#include "apiserver/authorization/authorization.h"
#include "net/http.h"

namespace muster::apiserver {

/// As whom a request is to be served.
struct Impersonation {
    User user;
    /// What whoever sent it needs: the verb `impersonate` on each of these.
    std::vector<Action> needed;
};

/// What the Impersonate-* fields ask for; nullopt where there are none. kBadRequest for groups, a
/// uid or extra fields without a user, and for a second user or uid.
StatusResult<std::optional<Impersonation>> read_impersonation(const net::HttpHeaders& headers);

}  // namespace muster::apiserver
