#pragma once

#include "apiserver/internal/writing/writer.h"

namespace muster::apiserver {

/// Creates and completes the default roles and bindings at the start of a server. The writes are
/// concurrent.
Task<Result<void>> post_default_roles(ServerState& state, Writer& writer);

}  // namespace muster::apiserver
