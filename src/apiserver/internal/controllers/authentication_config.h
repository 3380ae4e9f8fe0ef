#pragma once

#include "apiserver/internal/server_state.h"
#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Posts the ConfigMap extension-apiserver-authentication, from which servers that extend this one
/// learn by what authority its clients are known. Does nothing on a server without an authority.
Task<Result<void>> post_authentication_config(ServerState& state, Writer& writer);

}  // namespace muster::apiserver
