#pragma once

#include <optional>
#include <string_view>

#include "apiserver/access.h"
#include "base/result.h"
#include "net/tls.h"

namespace muster::apiserver {

inline constexpr std::string_view kAnonymous = "system:anonymous";
inline constexpr std::string_view kMasters = "system:masters";

/// Who sent a request with this Authorization header and client certificate: kUnauthorized for a
/// credential that is not valid, the anonymous user where there is none. A credential that is there
/// and wrong never counts as none.
Result<User> authenticate(const AccessOptions& options, std::string_view authorization,
                          const std::optional<net::PeerCertificate>& certificate);

}  // namespace muster::apiserver
