#pragma once

#include <optional>
#include <vector>

#include "apiserver/authorization/authorization.h"
#include "net/http/http.h"

namespace muster::apiserver_http {

/// The user as whom a request is to be served.
struct Impersonation {
    apiserver::User user;
    /// What the sender must be allowed: the verb `impersonate` on each of these.
    std::vector<apiserver::Action> needed;
};

/// The content of the Impersonate-* fields; nullopt if there are none. kBadRequest for groups, a
/// uid or extra fields without a user, and for a second user or uid.
apiserver::StatusResult<std::optional<Impersonation>> read_impersonation(
    const net::HttpHeaders& headers);

}  // namespace muster::apiserver_http
