#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "apiserver/authentication/access_options.h"
#include "apiserver/requests/user.h"
#include "base/result.h"
#include "net/tls/tls.h"

namespace muster::apiserver {

/// The owner of a bearer token that is not among the options; kUnauthorized if it has none. Null: there
/// are no such tokens.
using TokenCheck = std::function<Result<User>(std::string_view token)>;

/// The sender of a request with this Authorization header and client certificate: kUnauthorized for
/// invalid credentials, the anonymous user if there are none and it is allowed. Credentials that are present but
/// wrong never count as none.
Result<User> authenticate(const AccessOptions& options, std::string_view authorization,
                          const std::optional<net::PeerCertificate>& certificate,
                          const TokenCheck& check_token = nullptr);

/// The user of the admin token, or of a known one; nullopt for any other. Takes the same time however
/// much of a token is right.
std::optional<User> user_of_token(const AccessOptions& options, std::string_view token);

}  // namespace muster::apiserver
