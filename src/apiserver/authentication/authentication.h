#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "apiserver/authentication/access_options.h"
#include "apiserver/requests/user.h"
#include "base/result.h"
#include "net/tls/tls.h"

namespace muster::apiserver {

/// Whom a bearer token that is not the admin's belongs to; kUnauthorized for nobody's. Null:
/// there are no others.
using TokenCheck = std::function<Result<User>(std::string_view token)>;

/// Who sent a request with this Authorization header and client certificate: kUnauthorized for a
/// credential that is not valid, the anonymous user where there is none. A credential that is there
/// and wrong never counts as none.
Result<User> authenticate(const AccessOptions& options, std::string_view authorization,
                          const std::optional<net::PeerCertificate>& certificate,
                          const TokenCheck& check_token = nullptr);

/// The user of the admin token; nullopt for any other. Takes as long whatever is right of it.
std::optional<User> admin_of(const AccessOptions& options, std::string_view token);

}  // namespace muster::apiserver
