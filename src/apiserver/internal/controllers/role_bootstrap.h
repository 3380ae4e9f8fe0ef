#pragma once

#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Makes and completes the default roles and bindings, at the start of a server. All are written at
/// once.
Task<Result<void>> post_default_roles(ServerState& state, Writer& writer);

}  // namespace muster::apiserver
