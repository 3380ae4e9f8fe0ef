#pragma once

#include "apiserver/internal/server_state.h"
#include "apiserver/requests/reply.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"

namespace muster::apiserver {

/// Answers a TokenRequest (POST serviceaccounts/NAME/token): the request with the token in its
/// status. 404 if the server has no signing key.
StatusResult<Reply> grant_token(ServerState& state, const Target& target,
                                const kube::Request& request);

}  // namespace muster::apiserver
